"""A scored trajectory in words: the alignment step by step, then where each number comes from.

Gives plain lines with a kind, so that a terminal can colour them and an MCP client can read them as they are. Text
that came from outside is made safe to print: no escape sequences, no line breaks, no endless values.
"""

import json
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

from m3bench.server.scoring.differences import Difference
from m3bench.server.scoring.reasons import reason
from m3bench.server.scoring.trajectory_score import Match, Placed, TrajectoryScore
from m3bench.tasks.trajectory import JSON, Call

Kind: TypeAlias = Literal["title", "heading", "strong", "weak", "missed", "extra", "difference", "metric", "note"]

_MAX_VALUE = 60
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


def printable(text: str) -> str:
    """The text with everything a terminal could act upon written as an escape."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        character
        if unicodedata.category(character)[0] != "C" and character not in "\u2028\u2029"
        else _escape(character)
        for character in text
    )


def value(data: JSON, limit: int = _MAX_VALUE) -> str:
    """A JSON value on one line, cut to a length."""
    text = printable(json.dumps(data, ensure_ascii=False, separators=(", ", ": ")))
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _lines(card: TrajectoryScore, task: str, family: str | None) -> Iterator[Line]:
    title = printable(task) + (f"  ({printable(family)})" if family else "")
    yield Line(kind="title", text=f"{title}  profile {card.profile}")
    if card.references > 1:
        yield Line(kind="note", text=f"Reference {card.reference + 1} of {card.references} fits best.")
    width = max((len(printable(call.call.tool)) for call in _calls(card)), default=0)
    by_reference = {match.reference.index: match for match in card.matches}
    missed = {placed.index: placed for placed in card.missed}
    index = 0
    for number, size in enumerate(card.alignment.reference_sizes):
        yield Line(kind="heading", text=f"Step {number + 1}" + ("" if size else "  (empty)"))
        for place in range(index, index + size):
            if place in by_reference:
                yield from _matched(by_reference[place], width)
            else:
                yield from _alone(missed[place], width, "missed")
        index += size
    if card.extra:
        yield Line(kind="heading", text="Extra calls")
        for placed in card.extra:
            yield from _alone(placed, width, "extra")
    yield Line(kind="heading", text="Where the numbers come from")
    for name, metric in card.metrics.items():
        label = name.replace("_", " ")
        if metric is None:
            yield Line(kind="missed", text=f"  {label:<27}   –    failed: {printable(card.failures.get(name, ''))}")
        else:
            yield Line(kind="metric", text=f"  {label:<27} {metric:.3f}  {reason(card, name)}".rstrip())


def _calls(card: TrajectoryScore) -> Iterator[Placed]:
    for match in card.matches:
        yield match.reference
    yield from card.missed
    yield from card.extra


def _matched(match: Match, width: int) -> Iterator[Line]:
    strength: Kind = "strong" if match.strong else "weak"
    mark = "✓" if match.strong else "≈"
    tool = printable(match.reference.call.tool)
    says = "equal" if not match.differences else strength
    yield Line(
        kind=strength,
        text=f"  {mark} {tool:<{width}}  in step {match.actual.step + 1:<3} {match.similarity:.3f} {says}",
    )
    for difference in match.differences:
        yield Line(kind="difference", text=f"      {_MARKS[difference.kind]} {_difference(difference)}")


def _difference(difference: Difference) -> str:
    name = printable(difference.argument)
    if difference.kind == "missing":
        return f"{name} is missing: {value(difference.reference)}"
    if difference.kind == "extra":
        return f"{name} is extra: {value(difference.actual)}"
    return f"{name}: {value(difference.reference)} → {value(difference.actual)}"


def _alone(placed: Placed, width: int, kind: Literal["missed", "extra"]) -> Iterator[Line]:
    mark, says = ("✗", "missed") if kind == "missed" else ("+", f"in step {placed.step + 1}")
    yield Line(kind=kind, text=f"  {mark} {printable(placed.call.tool):<{width}}  {says}")
    if placed.call.arguments:
        yield Line(kind="difference", text=f"      {_arguments(placed.call)}")


def _arguments(call: Call) -> str:
    text = ", ".join(f"{printable(name)}={value(item)}" for name, item in call.arguments.items())
    return text if len(text) <= _MAX_ARGUMENTS else f"{text[: _MAX_ARGUMENTS - 1]}…"


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
