"""Asks the questions of the audit and counts, server by server, what came of them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from m3bench.sandboxes.context import Context
from m3bench.sandboxes.dispatcher import Dispatcher, ToolResult
from m3bench.sandboxes.selfcheck.audit.questions import Kind, Question
from m3bench.sandboxes.workspace import Workspace
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.outcome import text_of

Verdict = Literal["true", "wrong", "gap"]
"""A search that finds another thing than was meant is `wrong` too: it misleads. An answer that says of itself that it
is drawn and not reported is no claim about the real world: if it is not true by chance, it is a `gap`."""

_DRAWN = ("(Chosen for this offline world:", '"Synthetic":"Open High Low Close Volume"', '"synthetic": "lastPrice ')
"""How tools say so."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A question and what came of it."""

    question: Question
    verdict: Verdict
    text: str
    """What the tool answered."""

    @property
    def server(self) -> str:
        """Who was asked."""
        return self.question.tool.partition("/")[0]


async def ask(questions: Iterable[Question]) -> list[Finding]:
    """What came of each question, in order."""
    with TemporaryDirectory(prefix="m3bench-") as name:
        dispatcher = Dispatcher(load_catalog().ready, Context(workspace=Workspace(Path(name))))
        return [_judged(question, await dispatcher.call(question.tool, question.arguments)) for question in questions]


def _judged(question: Question, reply: ToolResult) -> Finding:
    text = text_of(reply.result)
    verdict: Verdict = "wrong"
    if reply.outcome in ("gap", "empty"):
        verdict = "gap"
    elif reply.outcome == "success" and question.holds(text):
        verdict = "true"
    elif question.kind == "fact" and any(mark in text for mark in _DRAWN):
        verdict = "gap"
    return Finding(question=question, verdict=verdict, text=text)


def counted(findings: Sequence[Finding]) -> dict[str, dict[Kind, Counter[Verdict]]]:
    """How often each verdict was given, by server and kind of question; `all` sums them up."""
    table: dict[str, dict[Kind, Counter[Verdict]]] = {}
    for finding in findings:
        for server in (finding.server, "all"):
            kinds = table.setdefault(server, {"fact": Counter(), "search": Counter()})
            kinds[finding.question.kind][finding.verdict] += 1
    return {name: table[name] for name in sorted(table, key=lambda name: (name == "all", name.lower()))}


def shares(counts: Mapping[Verdict, int]) -> dict[Verdict, float]:
    """The same as parts of one."""
    total = max(1, sum(counts.values()))
    return {"true": counts["true"] / total, "wrong": counts["wrong"] / total, "gap": counts["gap"] / total}
