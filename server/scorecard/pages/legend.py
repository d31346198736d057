"""The metrics as every picture of a score card names them: label, meaning and formula, in one place."""

from collections.abc import Iterable
from typing import TypedDict

from m3bench.server.scorecard.markdown import METRICS
from m3bench.server.scorecard.model import ScoringProfile
from m3bench.server.scoring.aggregate import Row

BY_EFFECT = {
    "recall": "reference calls answered / needed ones",
    "precision": "calls that answer something / calls made, without a few slips",
    "argument_similarity": "mean over answers of how much of what was wanted they gave",
    "step_coherence": "steps that the plan takes for what was answered / steps taken, at most 1",
    "order_consistency": "dependences in order / dependences",
    "merge_purity": "dependences not sent together / dependences",
}
FORMULAS = {
    "recall": "matches / reference calls",
    "precision": "matches / calls made",
    "argument_similarity": "mean similarity of the strong matches × recall",
    "step_coherence": "mean over matches of 1 / (steps that its reference step was spread over) × recall",
    "order_consistency": "(1 − pairs turned round / pairs of matches from different steps) × recall",
    "merge_purity": "(1 − entropy of reference steps within each step / its highest value) × recall",
}


class LegendEntry(TypedDict):
    """What one metric is."""

    name: str
    label: str
    meaning: str
    formula: str


def legend(profile: ScoringProfile = "effect") -> list[LegendEntry]:
    """What each metric is, in the order in which they are shown."""
    formulas = BY_EFFECT if profile == "effect" else FORMULAS
    return [
        {"name": name, "label": name.replace("_", " "), "meaning": meaning, "formula": formulas[name]}
        for name, meaning in METRICS.items()
    ]


def profile_of(rows: Iterable[Row]) -> ScoringProfile:
    """The scoring profile of some rows: by effect unless all of them follow the paper's metric."""
    profiles = {row.profile for row in rows}
    return "m3" if profiles == {"m3"} else "effect"
