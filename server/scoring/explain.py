"""A scored trajectory in words: the alignment step by step, then where each number comes from.

Gives plain lines with a kind, so that a terminal can colour them and an MCP client can read them as they are. Text
that came from outside is made safe to print: no escape sequences, no line breaks, no endless values.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

from m3bench.server.scoring.differences import DifferingArgument
from m3bench.server.scoring.reasons import KINDS_ALONE, answer_note, miss_note, reason
from m3bench.server.scoring.trajectory_score import MatchedCalls, PlacedCall, TrajectoryScore
from m3bench.server.scoring.words import printable, value
from m3bench.tasks.trajectory import Call

Kind: TypeAlias = Literal["title", "heading", "strong", "weak", "missed", "extra", "difference", "metric", "note"]

_MAX_ARGUMENTS = 100
_MARKS: Mapping[str, str] = MappingProxyType({"missing": "-", "extra": "+", "changed": "~"})


@dataclass(frozen=True, kw_only=True)
class ExplanationLine:
    """One line of an explanation."""

    kind: Kind
    text: str


def explain(score: TrajectoryScore, task: str, family: str | None = None) -> list[ExplanationLine]:
    """What was matched, missed and extra, and why each metric is what it is."""
    return list(_lines(score, task, family))


def _lines(score: TrajectoryScore, task: str, family: str | None) -> Iterator[ExplanationLine]:
    title = printable(task) + (f"  ({printable(family)})" if family else "")
    yield ExplanationLine(kind="title", text=f"{title}  profile {score.profile}")
    if score.references > 1:
        yield ExplanationLine(kind="note", text=f"Reference {score.reference + 1} of {score.references} fits best.")
    if not score.alignment.results_known:
        yield ExplanationLine(kind="note", text=KINDS_ALONE)
    yield from _steps(score)
    yield ExplanationLine(kind="heading", text="Where the numbers come from")
    for name, metric in score.metrics.items():
        label = name.replace("_", " ")
        if metric is None:
            why = printable(score.failures.get(name, ""))
            yield ExplanationLine(kind="missed", text=f"  {label:<27}   –    failed: {why}")
        else:
            text = f"  {label:<27} {metric:.3f}  {reason(score, name)}"
            yield ExplanationLine(kind="metric", text=text.rstrip())


def _steps(score: TrajectoryScore) -> Iterator[ExplanationLine]:
    """What became of each reference call, step by step, and which calls were extra."""
    width = max((len(printable(placed.call.tool)) for placed in _calls(score)), default=0)
    matched = {match.reference.index: match for match in score.matches}
    missed = {placed.index: placed for placed in score.missed}
    unneeded = {placed.index: placed for placed in score.unneeded}
    index = 0
    for number, size in enumerate(score.alignment.reference_sizes):
        yield ExplanationLine(kind="heading", text=f"Step {number + 1}" + ("" if size else "  (empty)"))
        for place in range(index, index + size):
            if place in matched:
                yield from _matched(matched[place], width)
            elif place in missed:
                yield from _alone(missed[place], width, "missed", _instead(score, missed[place]))
            else:
                tool = printable(unneeded[place].call.tool)
                yield ExplanationLine(kind="note", text=f"  ○ {tool:<{width}}  not needed: known without it")
        index += size
    if score.extra:
        yield ExplanationLine(kind="heading", text="Extra calls")
        for placed in score.extra:
            yield from _alone(placed, width, "extra")


def _calls(score: TrajectoryScore) -> Iterator[PlacedCall]:
    for match in score.matches:
        yield match.reference
    yield from score.missed
    yield from score.extra


def _matched(match: MatchedCalls, width: int) -> Iterator[ExplanationLine]:
    """How a reference call was answered: in which way or, where words are compared, how well."""
    strength: Literal["strong", "weak"]
    if match.way is None:
        full, strength = not match.differences, "strong" if match.strong else "weak"
        says: str = "equal" if full else strength
    else:
        full = match.similarity == 1
        strength, says = "strong" if full else "weak", printable(answer_note(match)) or match.way
    tool = printable(match.reference.call.tool)
    where = f"in step {match.actual.step + 1:<3} {match.similarity:.3f}"
    yield ExplanationLine(kind=strength, text=f"  {'✓' if full else '≈'} {tool:<{width}}  {where} {says}")
    for difference in match.differences:
        yield ExplanationLine(kind="difference", text=f"      {_MARKS[difference.kind]} {_difference(difference)}")


def _instead(score: TrajectoryScore, missed: PlacedCall) -> str:
    """What the nearest call asked for instead of a missed one, by effect."""
    near = score.alignment.nearest.get(missed.index)
    return miss_note(near.agreement, missed.call.tool) if near is not None else ""


def _difference(difference: DifferingArgument) -> str:
    name = printable(difference.argument)
    if difference.kind == "missing":
        return f"{name} is missing: {value(difference.reference)}"
    if difference.kind == "extra":
        return f"{name} is extra: {value(difference.actual)}"
    return f"{name}: {value(difference.reference)} → {value(difference.actual)}"


def _alone(
    placed: PlacedCall, width: int, kind: Literal["missed", "extra"], instead: str = ""
) -> Iterator[ExplanationLine]:
    mark, says = ("✗", "missed") if kind == "missed" else ("+", f"in step {placed.step + 1}")
    says = f"{says}: {printable(instead)}" if instead else says
    yield ExplanationLine(kind=kind, text=f"  {mark} {printable(placed.call.tool):<{width}}  {says}")
    if placed.call.arguments:
        yield ExplanationLine(kind="difference", text=f"      {_arguments(placed.call)}")


def _arguments(call: Call) -> str:
    text = ", ".join(f"{printable(name)}={value(item)}" for name, item in call.arguments.items())
    return text if len(text) <= _MAX_ARGUMENTS else f"{text[: _MAX_ARGUMENTS - 1]}…"
