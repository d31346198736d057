"""Scoring: pure functions over trajectories.

    texts, encoder ─→ align ─→ metrics ─→ trajectory_score ─→ aggregate, compare, explain

`score` and `score_many` are the way in; this package imports `tasks` and nothing else of ours. Nothing heavy is
imported before a text has to be embedded.
"""

from m3bench.server.scoring.encoder import Encoder, open_encoder
from m3bench.server.scoring.profiles import PROFILES, Profile, find_profile
from m3bench.server.scoring.scorer import Attempt, score, score_many
from m3bench.server.scoring.texts import Signature, Signatures
from m3bench.server.scoring.trajectory_score import Match, Placed, TrajectoryScore

__all__ = [
    "PROFILES",
    "Attempt",
    "Encoder",
    "Match",
    "Placed",
    "Profile",
    "Signature",
    "Signatures",
    "TrajectoryScore",
    "find_profile",
    "open_encoder",
    "score",
    "score_many",
]
