"""Why a metric has its value, in a few words.

The sentence repeats the formula with the run's own counts, so that a reader can redo the arithmetic. One function per
metric; a metric without one is shown without a reason.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from m3bench.server.scoring.metrics import Alignment, order
from m3bench.server.scoring.profiles import AVERAGED, M3
from m3bench.server.scoring.trajectory_score import TrajectoryScore

_MAX_CHARACTERS = 100


def reason(card: TrajectoryScore, name: str) -> str:
    """Why the metric has its value, in a few words; empty for a metric nothing is known of."""
    if card.alignment.both_empty:
        return "both trajectories are empty"
    if not card.matches and name not in ("recall", "precision", "average"):
        return "no call matched"
    explainer = _REASONS.get(name)
    return explainer(card) if explainer else ""


def _recall(card: TrajectoryScore) -> str:
    return f"{len(card.matches)} of {_count(card.alignment.reference_calls, 'reference call')} matched"


def _precision(card: TrajectoryScore) -> str:
    return f"{len(card.matches)} of {_count(card.alignment.actual_calls, 'actual call')} matched"


def _similarity(card: TrajectoryScore) -> str:
    if card.profile != M3.name:
        return _similarity_all(card)
    strong = card.alignment.strong_similarities
    matches = _count(len(strong), "strong match", "strong matches")
    return f"mean similarity {_mean(strong)} of {matches} × {_by_recall(card)}"


def _similarity_all(card: TrajectoryScore) -> str:
    similarities = [link.similarity for link in card.alignment.links]
    return f"mean similarity {_mean(similarities)} × {_by_recall(card)}"


def _similarity_strong(card: TrajectoryScore) -> str:
    strong = card.alignment.strong_similarities
    return f"mean similarity {_mean(strong)} × {len(strong)} strong / {_count(card.alignment.reference_calls, 'call')}"


def _coherence(card: TrajectoryScore) -> str:
    torn = [
        f"{step + 1} is spread over actual {_steps(actual)}"
        for step, actual in sorted(card.alignment.actual_steps_by_step.items())
        if len(actual) > 1
    ]
    found = "reference step " + ", ".join(torn) if torn else "no reference step is spread"
    return f"{_short(found)}{_times_recall(card, 'step_coherence')}"


def _order(card: TrajectoryScore) -> str:
    comparable, inverted = order(card.alignment)
    found = f"{inverted} of {_count(comparable, 'pair')} turned round" if comparable else "nothing to put in order"
    if card.profile == M3.name:
        return f"{found}{_times_recall(card, 'order_consistency')}"
    return f"{found}, times the share of cross-step pairs matched"


def _purity(card: TrajectoryScore) -> str:
    mixed = [
        f"{actual + 1} mixes reference {_steps(references)}"
        for actual, references in sorted(_sources(card.alignment).items())
        if len(references) > 1
    ]
    found = "actual step " + ", ".join(mixed) if mixed else "no actual step mixes reference steps"
    return f"{_short(found)}{_times_recall(card, 'merge_purity')}"


def _average(card: TrajectoryScore) -> str:
    return f"mean of {len(AVERAGED)}: all of the above but the two variants of argument similarity"


_REASONS: Mapping[str, Callable[[TrajectoryScore], str]] = MappingProxyType(
    {
        "recall": _recall,
        "precision": _precision,
        "argument_similarity": _similarity,
        "argument_similarity_all": _similarity_all,
        "argument_similarity_strong": _similarity_strong,
        "step_coherence": _coherence,
        "order_consistency": _order,
        "merge_purity": _purity,
        "average": _average,
    }
)


def _sources(alignment: Alignment) -> dict[int, set[int]]:
    sources: dict[int, set[int]] = {}
    for link in alignment.links:
        sources.setdefault(link.actual_step, set()).add(link.reference_step)
    return sources


def _times_recall(card: TrajectoryScore, name: str) -> str:
    value, factor = card.metrics[name], card.metrics["recall"]
    return f": {value / factor:.3f} × {_by_recall(card)}" if value is not None and factor else ""


def _by_recall(card: TrajectoryScore) -> str:
    calls = card.alignment.reference_calls
    return f"recall {len(card.matches) / calls:.3f}" if calls else "recall 0"


def _mean(values: tuple[float, ...] | list[float]) -> str:
    return f"{math.fsum(values) / len(values):.3f}" if values else "0"


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def _steps(numbers: Iterable[int]) -> str:
    *most, last = (str(number + 1) for number in sorted(numbers))
    return f"steps {', '.join(most)} and {last}"


def _short(text: str) -> str:
    return text if len(text) <= _MAX_CHARACTERS else f"{text[: _MAX_CHARACTERS - 1]}…"
