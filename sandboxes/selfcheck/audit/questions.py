"""Reads the questions of the audit: one per line, under headings that say which tool to ask and how to compare."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from m3bench.sandboxes.world.geo import Point, distance
from m3bench.tasks.catalog import Tool, load_catalog

Kind = Literal["fact", "search"]

_POSITION = re.compile(r'"lat"\s*:\s*(-?[\d.]+),\s*"lng"\s*:\s*(-?[\d.]+)')
_FILES: Mapping[Kind, str] = {"fact": "facts.txt", "search": "searches.txt"}


@dataclass(frozen=True, kw_only=True)
class Question:
    """One question with what is known to be the answer."""

    kind: Kind
    tool: str
    asked: str
    arguments: Mapping[str, Any]
    how: str
    """`words`, `number`, `position` or `first`."""
    detail: str
    """Of a number its name, of a position how many kilometres it may be off, of `first` how many characters count."""
    expected: str

    def holds(self, text: str) -> bool:
        """Whether an answer is what it should be."""
        match self.how:
            case "position":
                found = _POSITION.search(text)
                lat, lng = (float(part) for part in self.expected.split(","))
                if found is None:
                    return False
                return distance(Point(float(found[1]), float(found[2])), Point(lat, lng)) <= 1000 * float(self.detail)
            case "number":
                value, _, margin = self.expected.partition("±")
                found = re.search(rf"{re.escape(self.detail)}\W+?(-?\d+(?:\.\d+)?)", text)
                return found is not None and abs(float(found[1]) - float(value)) <= float(margin)
            case "first":
                return re.search(self.expected, text[: int(self.detail)]) is not None
            case _:
                return all(re.search(part, text, re.IGNORECASE) for part in self.expected.split(" & "))


@cache
def questions() -> tuple[Question, ...]:
    """All of them, in the order of the files."""
    return tuple(question for kind in _FILES for question in _read(kind))


def _read(kind: Kind) -> Iterator[Question]:
    heading: list[str] = []
    for line in (Path(__file__).parent / _FILES[kind]).read_text(encoding="utf-8").splitlines():
        if line.startswith("@"):
            heading = line.split()[1:]
        elif line and not line.startswith("#"):
            asked, _, expected = line.partition(" => ")
            yield _question(kind, heading, asked, expected)


def _question(kind: Kind, heading: list[str], asked: str, expected: str) -> Question:
    name, argument, how, *rest = heading
    given = dict(part.split("=", 1) for part in rest if "=" in part)
    if argument == ".":
        given |= {key: value.replace("+", " ") for key, value in (part.split("=", 1) for part in asked.split())}
    else:
        given[argument] = asked
    tool = load_catalog().tool(name)
    return Question(
        kind=kind,
        tool=name,
        asked=asked,
        arguments={key: _typed(tool, key, value) for key, value in given.items()},
        how=how,
        detail=next((part for part in rest if "=" not in part), ""),
        expected=expected,
    )


def _typed(tool: Tool, argument: str, text: str) -> object:
    schema = tool.input_schema["properties"][argument]
    kinds = {schema.get("type"), *(one.get("type") for one in schema.get("anyOf", ()))}
    if "array" in kinds:
        return [text]
    if "integer" in kinds:
        return int(text)
    if "number" in kinds:
        return float(text)
    return text == "true" if "boolean" in kinds else text
