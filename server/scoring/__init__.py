"""How a run becomes numbers: pure functions over trajectories, the same for every profile.

    alignment    a run with its references goes in (`ScorableRun`); which call answers which comes out (`CallAlignment`)
    matching/    decides that, and so what counts as the same call: by `text` (embedded by `encoder`) or by `effect`
    metrics      a number for each question about an alignment; `profiles` says which matching and which metrics count
    scorer       puts these together: every reference is tried, the best one is kept as a `TrajectoryScore`
    ranges       the lowest and highest numbers over all ways to put the calls into steps
    reasons      each number in a few words; `explain` tells the whole alignment
    aggregate    many scored runs in one number, with an interval; `compare` two sets of them, `results` is their file

`score` and `score_many` are the way in; this package imports `tasks` and nothing else of ours. Nothing heavy is
imported before a text has to be embedded or an assignment solved.
"""

from m3bench.server.scoring.alignment import CallAlignment, ScorableRun
from m3bench.server.scoring.encoder import Encoder, open_encoder
from m3bench.server.scoring.profiles import EFFECT, PROFILES, Profile, find_profile
from m3bench.server.scoring.scorer import RangedScore, best_of, score, score_each, score_many, score_readings
from m3bench.server.scoring.signatures import Signatures, ToolSignature
from m3bench.server.scoring.trajectory_score import MatchedCalls, PlacedCall, TrajectoryScore

__all__ = [
    "EFFECT",
    "PROFILES",
    "CallAlignment",
    "Encoder",
    "MatchedCalls",
    "PlacedCall",
    "Profile",
    "RangedScore",
    "ScorableRun",
    "Signatures",
    "ToolSignature",
    "TrajectoryScore",
    "best_of",
    "find_profile",
    "open_encoder",
    "score",
    "score_each",
    "score_many",
    "score_readings",
]
