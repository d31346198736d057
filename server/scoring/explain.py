"""A scored trajectory in words: the alignment step by step, then where each number comes from.

Gives plain lines with a kind, so that a terminal can colour them and an MCP client can read them as they are. Text
that came from outside is made safe to print: no escape sequences, no line breaks, no endless values.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

from m3bench.server.scoring.differences import Difference
from m3bench.server.scoring.effect_reasons import AVERAGE, KINDS_ALONE, answer_note, miss_note, reasons
from m3bench.server.scoring.reasons import reason
from m3bench.server.scoring.trajectory_score import Match, Placed, TrajectoryScore
from m3bench.server.scoring.words import printable, value
from m3bench.tasks.trajectory import Call

Kind: TypeAlias = Literal["title", "heading", "strong", "weak", "missed", "extra", "difference", "metric", "note"]

_MAX_ARGUMENTS = 100
_MARKS: Mapping[str, str] = MappingProxyType({"missing": "-", "extra": "+", "changed": "~"})


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line of an explanation."""

    kind: Kind
    text: str


def explain(card: TrajectoryScore, task: str, family: str | None = None) -> list[Line]:
    """What was matched, missed and extra, and why each metric is what it is."""
    return list(_lines(card, task, family))


def _lines(card: TrajectoryScore, task: str, family: str | None) -> Iterator[Line]:
    title = printable(task) + (f"  ({printable(family)})" if family else "")
    yield Line(kind="title", text=f"{title}  profile {card.profile}")
    if card.references > 1:
        yield Line(kind="note", text=f"Reference {card.reference + 1} of {card.references} fits best.")
    width = max((len(printable(call.call.tool)) for call in _calls(card)), default=0)
    if card.answers is not None and not card.answers.results_known:
        yield Line(kind="note", text=KINDS_ALONE)
    by_reference = {match.reference.index: match for match in card.matches}
    missed = {placed.index: placed for placed in card.missed}
    index = 0
    for number, size in enumerate(card.alignment.reference_sizes):
        yield Line(kind="heading", text=f"Step {number + 1}" + ("" if size else "  (empty)"))
        for place in range(index, index + size):
            if place in by_reference:
                yield from _matched(by_reference[place], width, card)
            elif place in missed:
                yield from _alone(missed[place], width, "missed", _instead(card, missed[place]))
            elif card.answers is not None:
                tool = printable(card.answers.reference_tools[place])
                yield Line(kind="note", text=f"  ○ {tool:<{width}}  not needed: known without it")
        index += size
    if card.extra:
        yield Line(kind="heading", text="Extra calls")
        for placed in card.extra:
            yield from _alone(placed, width, "extra")
    yield Line(kind="heading", text="Where the numbers come from")
    by_effect = {} if card.answers is None else {**reasons(card.answers), "average": AVERAGE}
    for name, metric in card.metrics.items():
        label = name.replace("_", " ")
        if metric is None:
            yield Line(kind="missed", text=f"  {label:<27}   –    failed: {printable(card.failures.get(name, ''))}")
        else:
            why = reason(card, name) if card.answers is None else by_effect.get(name, "")
            yield Line(kind="metric", text=f"  {label:<27} {metric:.3f}  {why}".rstrip())


def _calls(card: TrajectoryScore) -> Iterator[Placed]:
    for match in card.matches:
        yield match.reference
    yield from card.missed
    yield from card.extra


def _matched(match: Match, width: int, card: TrajectoryScore) -> Iterator[Line]:
    if card.answers is not None:
        yield from _answered(match, width, card)
        return
    strength: Kind = "strong" if match.strong else "weak"
    mark = "≈" if match.differences else "✓"
    tool = printable(match.reference.call.tool)
    says = "equal" if not match.differences else strength
    yield Line(
        kind=strength,
        text=f"  {mark} {tool:<{width}}  in step {match.actual.step + 1:<3} {match.similarity:.3f} {says}",
    )
    for difference in match.differences:
        yield Line(kind="difference", text=f"      {_MARKS[difference.kind]} {_difference(difference)}")


def _answered(match: Match, width: int, card: TrajectoryScore) -> Iterator[Line]:
    """How a reference call was answered by effect."""
    assert card.answers is not None
    answer = card.answers.answers[match.reference.index]
    tools = [card.answers.tools[index] for index in answer.actual]
    full = answer.similarity == 1
    yield Line(
        kind="strong" if full else "weak",
        text=f"  {'✓' if full else '≈'} {printable(match.reference.call.tool):<{width}}  in step "
        f"{match.actual.step + 1:<3} {answer.similarity:.3f} {printable(answer_note(answer, tools)) or answer.way}",
    )
    for difference in match.differences:
        yield Line(kind="difference", text=f"      {_MARKS[difference.kind]} {_difference(difference)}")


def _instead(card: TrajectoryScore, missed: Placed) -> str:
    """What the nearest call asked for instead of a missed one, by effect."""
    found = card.answers.rejected.get(missed.index) if card.answers is not None else None
    return miss_note(found[1], missed.call.tool) if found is not None else ""


def _difference(difference: Difference) -> str:
    name = printable(difference.argument)
    if difference.kind == "missing":
        return f"{name} is missing: {value(difference.reference)}"
    if difference.kind == "extra":
        return f"{name} is extra: {value(difference.actual)}"
    return f"{name}: {value(difference.reference)} → {value(difference.actual)}"


def _alone(placed: Placed, width: int, kind: Literal["missed", "extra"], instead: str = "") -> Iterator[Line]:
    mark, says = ("✗", "missed") if kind == "missed" else ("+", f"in step {placed.step + 1}")
    says = f"{says}: {printable(instead)}" if instead else says
    yield Line(kind=kind, text=f"  {mark} {printable(placed.call.tool):<{width}}  {says}")
    if placed.call.arguments:
        yield Line(kind="difference", text=f"      {_arguments(placed.call)}")


def _arguments(call: Call) -> str:
    text = ", ".join(f"{printable(name)}={value(item)}" for name, item in call.arguments.items())
    return text if len(text) <= _MAX_ARGUMENTS else f"{text[: _MAX_ARGUMENTS - 1]}…"
