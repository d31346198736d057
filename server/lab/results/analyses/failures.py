"""Why runs failed: one class for every sample, from one list.

Classes are tried in the order of `CLASSES`, and the first that fits is the one. Each belongs to one line of the fault
table (`m3bench.tasks.fault`): what is void is charged to whoever broke, what a limit ended to the limit, what the
world does not hold to the world, and only the rest to the client. The rules need the score card alone.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from m3bench.server.lab.results.resultset import Result, ResultSet, Sample
from m3bench.server.scorecard.model import ScoreCard
from m3bench.tasks.fault import RULES, Fault

FailureClass = Literal[
    "solved", "unchecked", "limit", "world", "no answer", "no calls", "failed calls", "other arguments",
    "missing calls", "wrong answer",
    "void: tool", "void: sandbox", "void: proxy", "void: provider",
]  # fmt: skip

CLASSES: Mapping[FailureClass, tuple[Fault | None, str]] = {
    "solved": (None, "every field is right and every check passed"),
    "unchecked": (None, "the task has neither fields nor checks"),
    "limit": ("limit", "a limit ended the run before it was solved"),
    "world": ("world", "a needed call is missing, and the frozen world did not hold what was asked for"),
    "no answer": ("client", "nothing was handed in"),
    "no calls": ("client", "an answer was handed in without a single call"),
    "failed calls": ("client", "a needed call was refused or failed, and was not made good"),
    "other arguments": ("client", "a needed tool was called about something else"),
    "missing calls": ("client", "a needed call was not made"),
    "wrong answer": ("client", "every needed call was made, and the answer or a file is wrong"),
    "void: tool": ("tool", RULES["tool"].means),
    "void: sandbox": ("sandbox", RULES["sandbox"].means),
    "void: proxy": ("proxy", RULES["proxy"].means),
    "void: provider": ("provider", RULES["provider"].means),
}
"""By class: whom it is charged to, nobody when nothing failed, and what happened."""

_VOID: Mapping[Fault, FailureClass] = {
    "tool": "void: tool", "sandbox": "void: sandbox", "proxy": "void: proxy", "provider": "void: provider",
}  # fmt: skip


def class_of(result: Result) -> FailureClass:
    """The class of a scored sample."""
    card = result.card
    if card.success is None:
        return "unchecked"
    if card.success:
        return "solved"
    if result.sample.fault == "limit":
        return "limit"
    missed = card.alignment.missed
    if missed and card.excluded.get("world"):
        return "world"
    if not (result.run.answer or "").strip() and not result.run.fields:
        return "no answer"
    if not card.calls:
        return "no calls"
    if not missed:
        return "wrong answer"
    if _failed_tools(card) & {card.alignment.reference_calls[place][1].tool for place in missed}:
        return "failed calls"
    return "other arguments" if card.alignment.instead else "missing calls"


def class_of_void(sample: Sample) -> FailureClass:
    """The class of a void sample; what nobody else is charged with is our own fault."""
    return _VOID.get(sample.fault, "void: proxy")


def classes(results: ResultSet) -> dict[FailureClass, int]:
    """How many samples of a set, void ones included, fall into each class that occurs, in the order of the list."""
    return _counted([*map(class_of, results.results), *map(class_of_void, results.void)])


def in_words(result: Result) -> str:
    """Why a run did not solve its task: its class, what was wrong with the answer, what would have helped most."""
    card = result.card
    found = class_of(result)
    if found in ("solved", "unchecked"):
        return ""
    parts = [f"{found}: {CLASSES[found][1]}"]
    parts += [f"{check.check}: {check.reason}" for check in card.checks if not check.passed and check.reason][:2]
    parts += [improvement.text for improvement in card.improvements[:1]]
    return "; ".join(part.strip().rstrip(".") for part in parts) + "."


def _failed_tools(card: ScoreCard) -> set[str]:
    return {call.tool for _, call in card.alignment.actual_calls if call.failed}


def _counted(found: Sequence[FailureClass]) -> dict[FailureClass, int]:
    return {name: found.count(name) for name in CLASSES if name in found}


def shares(counts: Mapping[FailureClass, int], names: Iterable[FailureClass]) -> list[float]:
    """The share of samples in each of these classes."""
    total = sum(counts.values())
    return [counts.get(name, 0) / total if total else 0.0 for name in names]
