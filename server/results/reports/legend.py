"""The metrics as every picture of a score card names them: label, meaning and formula, in one place."""

from typing import Any

from m3bench.server.scorecard.markdown import METRICS

FORMULAS = {
    "recall": "matches / reference calls",
    "precision": "matches / calls made",
    "argument_similarity": "mean similarity of the strong matches × recall",
    "step_coherence": "mean over matches of 1 / (steps that its reference step was spread over) × recall",
    "order_consistency": "(1 − pairs turned round / pairs of matches from different steps) × recall",
    "merge_purity": "(1 − entropy of reference steps within each step / its highest value) × recall",
}


def legend() -> list[dict[str, Any]]:
    """What each metric is, in the order in which they are shown."""
    return [
        {"name": name, "label": name.replace("_", " "), "meaning": meaning, "formula": FORMULAS[name]}
        for name, meaning in METRICS.items()
    ]
