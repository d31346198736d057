"""The truth gate of the world: facts and searches about the real world, asked of the tools and compared.

`facts.txt` and `searches.txt` were written from common knowledge, not from the world's tables: one question per line,
under headings that say which tool to ask and how to compare. The audit counts for each server how much is true, wrong
or misleading, and how much the world does not hold. What a tool should answer to what it does not hold is not tested
here.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from m3bench.sandboxes.context import Context
from m3bench.sandboxes.dispatcher import Dispatcher, ToolResult
from m3bench.sandboxes.workspace import Workspace
from m3bench.sandboxes.world.geo import Point, distance
from m3bench.tasks.catalog import Tool, load_catalog
from m3bench.tasks.outcome import text_of

Kind = Literal["fact", "search"]

_POSITION = re.compile(r'"lat"\s*:\s*(-?[\d.]+),\s*"lng"\s*:\s*(-?[\d.]+)')
_FILES: Mapping[Kind, str] = {"fact": "facts.txt", "search": "searches.txt"}


@dataclass(frozen=True, kw_only=True)
class AuditQuestion:
    """One question with what is known to be the answer."""

    kind: Kind
    tool: str
    asked: str
    arguments: Mapping[str, object]
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
def questions() -> tuple[AuditQuestion, ...]:
    """All of them, in the order of the files."""
    return tuple(question for kind in _FILES for question in _read(kind))


def _read(kind: Kind) -> Iterator[AuditQuestion]:
    heading: list[str] = []
    for line in (Path(__file__).parent / _FILES[kind]).read_text(encoding="utf-8").splitlines():
        if line.startswith("@"):
            heading = line.split()[1:]
        elif line and not line.startswith("#"):
            asked, _, expected = line.partition(" => ")
            yield _question(kind, heading, asked, expected)


def _question(kind: Kind, heading: list[str], asked: str, expected: str) -> AuditQuestion:
    name, argument, how, *rest = heading
    given = dict(part.split("=", 1) for part in rest if "=" in part)
    if argument == ".":
        given |= {key: value.replace("+", " ") for key, value in (part.split("=", 1) for part in asked.split())}
    else:
        given[argument] = asked
    tool = load_catalog().tool(name)
    return AuditQuestion(
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
    kinds = {schema.get("type"), *(option.get("type") for option in schema.get("anyOf", ()))}
    if "array" in kinds:
        return [text]
    if "integer" in kinds:
        return int(text)
    if "number" in kinds:
        return float(text)
    return text == "true" if "boolean" in kinds else text


Verdict = Literal["true", "wrong", "gap"]
"""A search that finds another thing than was meant is `wrong` too: it misleads. An answer that says of itself that it
is drawn and not reported makes no claim about the real world: if it is not true by chance, it is a `gap`."""

_DRAWN = ("(Chosen for this offline world:", '"Synthetic":"Open High Low Close Volume"', '"synthetic": "lastPrice ')
"""How tools say so."""


@dataclass(frozen=True, kw_only=True)
class AuditFinding:
    """A question, its verdict and the tool's answer."""

    question: AuditQuestion
    verdict: Verdict
    text: str
    """What the tool answered."""

    @property
    def server(self) -> str:
        """Who was asked."""
        return self.question.tool.partition("/")[0]


async def ask(questions: Iterable[AuditQuestion]) -> list[AuditFinding]:
    """The finding for each question, in order."""
    with TemporaryDirectory(prefix="m3bench-") as name:
        dispatcher = Dispatcher(load_catalog().ready, Context(workspace=Workspace(Path(name))))
        return [_judged(question, await dispatcher.call(question.tool, question.arguments)) for question in questions]


def _judged(question: AuditQuestion, reply: ToolResult) -> AuditFinding:
    text = text_of(reply.result)
    verdict: Verdict = "wrong"
    if reply.outcome in ("gap", "empty"):
        verdict = "gap"
    elif reply.outcome == "success" and question.holds(text):
        verdict = "true"
    elif question.kind == "fact" and any(mark in text for mark in _DRAWN):
        verdict = "gap"
    return AuditFinding(question=question, verdict=verdict, text=text)


def counted(findings: Sequence[AuditFinding]) -> dict[str, dict[Kind, Counter[Verdict]]]:
    """How often each verdict was given, by server and kind of question; `all` sums them up."""
    table: dict[str, dict[Kind, Counter[Verdict]]] = {}
    for finding in findings:
        for server in (finding.server, "all"):
            kinds = table.setdefault(server, {"fact": Counter(), "search": Counter()})
            kinds[finding.question.kind][finding.verdict] += 1
    return {name: table[name] for name in sorted(table, key=lambda name: (name == "all", name.lower()))}


def shares(counts: Mapping[Verdict, int]) -> dict[Verdict, float]:
    """The same counts as fractions of their sum."""
    total = max(1, sum(counts.values()))
    return {"true": counts["true"] / total, "wrong": counts["wrong"] / total, "gap": counts["gap"] / total}
