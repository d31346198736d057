"""Why a metric has its value, and what became of each reference call, in a few words.

The sentences repeat the formula with the run's own counts, so that a reader can redo the arithmetic. One function per
metric, in one table for the profiles of the paper and one for profile `effect`; a metric without one is shown without
a reason.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import TypeAlias

from m3bench.server.scoring.alignment import CallAlignment
from m3bench.server.scoring.matching.agreement import Agreement, Disagreement
from m3bench.server.scoring.metrics import fewest_steps, order, taken_steps
from m3bench.server.scoring.profiles import AVERAGED, EFFECT, M3, NOTHING_NEEDED, PROFILES
from m3bench.server.scoring.trajectory_score import MatchedCalls, TrajectoryScore
from m3bench.server.scoring.words import value
from m3bench.tasks.trajectory import JSON

EFFECT_AVERAGE = "mean of the six, the last four times recall"
KINDS_ALONE = "Results are not known here, so calls are compared by the kinds of their arguments alone."

_MAX_CHARACTERS = 100
_MAX_VALUE = 42

_THINGS = {
    ("amazon", "asin"): "product",
    ("amazon", "keywords"): "product",
    ("dinox-mcp", "imageFileUri"): "picture",
    ("food_nutrition_mcp", "query"): "food",
    ("google-maps", "address"): "place",
    ("google-maps", "place_id"): "place",
    ("hugeicons-mcp", "query"): "icon",
    ("imagesorcery-mcp", "input_path"): "picture",
    ("metmuseum-mcp", "objectId"): "object",
    ("metmuseum-mcp", "q"): "object",
    ("nationalparks", "parkCode"): "park",
    ("nationalparks", "stateCode"): "state",
    ("nixos", "name"): "package or option",
    ("nixos", "query"): "package or option",
    ("ocr", "input_data"): "picture",
    ("okx", "instrument"): "market",
    ("openlibrary_mcp", "isbn"): "book",
    ("openlibrary_mcp", "title"): "book",
    ("paper_search", "paper_id"): "paper",
    ("paper_search", "query"): "topic",
    ("pyzbar-mcp", "image_paths"): "picture",
    ("Reddit-MCP-Server", "post_id"): "post",
    ("tmdb", "query"): "film",
    ("weather", "location"): "place",
    ("wiki", "query"): "subject",
    ("wiki", "title"): "article",
    ("yahoo-finance", "ticker"): "company",
}
"""What an argument stands for, by server, where its own name does not say."""

_Reasons: TypeAlias = Mapping[str, Callable[[TrajectoryScore], str]]


def reasons(score: TrajectoryScore) -> dict[str, str]:
    """The reason of every metric, by name."""
    return {name: reason(score, name) for name in PROFILES[score.profile].metrics}


def reason(score: TrajectoryScore, name: str) -> str:
    """Why the metric has its value, in a few words; empty for a metric nothing is known of."""
    by_effect = score.profile == EFFECT.name
    if by_effect and name == "average":
        return EFFECT_AVERAGE
    explainer = (_EFFECT_REASONS if by_effect else _PAPER_REASONS).get(name)
    if explainer is None:
        return ""
    if score.alignment.undefined:
        return NOTHING_NEEDED
    if score.alignment.both_empty:
        return "nothing was to be done" if by_effect else "both trajectories are empty"
    if not score.matches and by_effect:
        return "no call answered the reference"
    if not score.matches and name not in ("recall", "precision", "average"):
        return "no call matched"
    return explainer(score)


def answer_note(match: MatchedCalls) -> str:
    """How a reference call was answered by effect, when it was not by the same call."""
    if match.way == "another route":
        return "another route: " + ", ".join(dict.fromkeys(placed.call.tool for placed in match.answering))
    if match.way == "same effect":
        return "other arguments, the same effect"
    return f"{match.similarity:.0%} of what was wanted" if match.way == "partly" else ""


def miss_note(agreement: Agreement, tool: str = "") -> str:
    """What the nearest call of the same tool asked for instead.

    Args:
        agreement: How its arguments compare with those that were wanted.
        tool: The tool of both.
    """
    found = (*agreement.wrong, *agreement.reworded)
    return "; ".join(_wrong(argument, tool) for argument in found[:2]) if found else "it brought something else"


def _recall(score: TrajectoryScore) -> str:
    return f"{len(score.matches)} of {_count(score.alignment.reference_calls, 'reference call')} matched"


def _precision(score: TrajectoryScore) -> str:
    return f"{len(score.matches)} of {_count(score.alignment.actual_calls, 'actual call')} matched"


def _similarity(score: TrajectoryScore) -> str:
    if score.profile != M3.name:
        return _similarity_all(score)
    strong = score.alignment.strong_similarities
    matches = _count(len(strong), "strong match", "strong matches")
    return f"mean similarity {_mean(strong)} of {matches} × {_by_recall(score)}"


def _similarity_all(score: TrajectoryScore) -> str:
    similarities = [match.similarity for match in score.matches]
    return f"mean similarity {_mean(similarities)} × {_by_recall(score)}"


def _similarity_strong(score: TrajectoryScore) -> str:
    strong = score.alignment.strong_similarities
    return f"mean similarity {_mean(strong)} × {len(strong)} strong / {_count(score.alignment.reference_calls, 'call')}"


def _coherence(score: TrajectoryScore) -> str:
    torn = [
        f"{step + 1} is spread over actual {_steps(actual)}"
        for step, actual in sorted(score.alignment.actual_steps_by_step.items())
        if len(actual) > 1
    ]
    found = "reference step " + ", ".join(torn) if torn else "no reference step is spread"
    return f"{_short(found)}{_times_recall(score, 'step_coherence')}"


def _order(score: TrajectoryScore) -> str:
    comparable, inverted = order(score.alignment)
    found = f"{inverted} of {_count(comparable, 'pair')} turned round" if comparable else "nothing to put in order"
    if score.profile == M3.name:
        return f"{found}{_times_recall(score, 'order_consistency')}"
    return f"{found}, times the share of cross-step pairs matched"


def _purity(score: TrajectoryScore) -> str:
    mixed = [
        f"{actual + 1} mixes reference {_steps(references)}"
        for actual, references in sorted(_sources(score.alignment).items())
        if len(references) > 1
    ]
    found = "actual step " + ", ".join(mixed) if mixed else "no actual step mixes reference steps"
    return f"{_short(found)}{_times_recall(score, 'merge_purity')}"


def _average(score: TrajectoryScore) -> str:
    return f"mean of {len(AVERAGED)}: all of the above but the two variants of argument similarity"


_PAPER_REASONS: _Reasons = MappingProxyType(
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


def _effect_recall(score: TrajectoryScore) -> str:
    left_out = len(score.unneeded)
    rest = f"; {left_out} not needed in this run" if left_out else ""
    return f"{len(score.matches)} of {_count(score.alignment.wanted, 'needed call')} answered{rest}"


def _effect_precision(score: TrajectoryScore) -> str:
    alignment = score.alignment
    slips = alignment.actual_calls - alignment.counted_calls
    rest = f"; {_count(slips, 'slip')} counted as missed alone" if slips else ""
    return f"{len(alignment.answering)} of {_count(alignment.counted_calls, 'call')} answered something{rest}"


def _effect_similarity(score: TrajectoryScore) -> str:
    partly = sum(match.similarity < 1 for match in score.matches)
    return f"{_count(partly, 'answer')} only in part" if partly else "every answer is a full one"


def _effect_coherence(score: TrajectoryScore) -> str:
    return f"{_count(taken_steps(score.alignment), 'step')} where the plan takes {fewest_steps(score.alignment)}"


def _effect_order(score: TrajectoryScore) -> str:
    steps = score.alignment.dependent_steps
    early = sum(before > after for before, after in steps)
    return f"{early} of {_count(len(steps), 'dependence')} out of order" if steps else "nothing to put in order"


def _effect_purity(score: TrajectoryScore) -> str:
    steps = score.alignment.dependent_steps
    mixed = sum(before == after for before, after in steps)
    return f"{mixed} of {_count(len(steps), 'dependence')} sent together" if steps else "nothing to keep apart"


_EFFECT_REASONS: _Reasons = MappingProxyType(
    {
        "recall": _effect_recall,
        "precision": _effect_precision,
        "argument_similarity": _effect_similarity,
        "step_coherence": _effect_coherence,
        "order_consistency": _effect_order,
        "merge_purity": _effect_purity,
    }
)


def _sources(alignment: CallAlignment) -> dict[int, set[int]]:
    sources: dict[int, set[int]] = {}
    for link in alignment.links:
        sources.setdefault(link.actual_step, set()).add(link.reference_step)
    return sources


def _times_recall(score: TrajectoryScore, name: str) -> str:
    value, factor = score.metrics[name], score.metrics["recall"]
    return f": {value / factor:.3f} × {_by_recall(score)}" if value is not None and factor else ""


def _by_recall(score: TrajectoryScore) -> str:
    calls = score.alignment.reference_calls
    return f"recall {len(score.matches) / calls:.3f}" if calls else "recall 0"


def _mean(values: tuple[float, ...] | list[float]) -> str:
    return f"{math.fsum(values) / len(values):.3f}" if values else "0"


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def _steps(numbers: Iterable[int]) -> str:
    *most, last = (str(number + 1) for number in sorted(numbers))
    return f"steps {', '.join(most)} and {last}"


def _short(text: str) -> str:
    return text if len(text) <= _MAX_CHARACTERS else f"{text[: _MAX_CHARACTERS - 1]}…"


def _wrong(found: Disagreement, tool: str) -> str:
    name = _thing(tool, found.argument)
    if found.asked is None:
        return f"without {name}: {_shown(found.wanted)} wanted"
    if found.wanted is None:
        return f"{name} {_shown(found.asked)} asked, none wanted"
    other = "other" if name.endswith("s") and isinstance(found.wanted, list | tuple) else "another"
    return f"{other} {name}: {_shown(found.wanted)} wanted, {_shown(found.asked)} asked"


def _thing(tool: str, argument: str) -> str:
    """What an argument is about, in words."""
    known = _THINGS.get((tool.partition("/")[0], argument))
    return known or re.sub(r"(?<=[a-z])(?=[A-Z])", " ", argument).replace("_", " ").lower()


def _shown(item: JSON) -> str:
    match item:
        case {"latitude": int() | float() as latitude, "longitude": int() | float() as longitude, **rest} if not rest:
            return f"{latitude:.10g}, {longitude:.10g}"
    text = value(item, _MAX_VALUE)
    return text[1:-1] if isinstance(item, str) and text.endswith('"') else text
