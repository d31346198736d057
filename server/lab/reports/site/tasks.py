"""The documents of tasks: one task with every run of it, and the list of all tasks.

A run is here as it is compared: what was handed in, which checks passed, which calls were made and which were missed.
Its own page has everything. Values that came from outside are bounded.
"""

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import ClassVar, Literal

from m3bench.server.lab.reports.page import page
from m3bench.server.lab.results.analyses.failures import FailureClass, class_of
from m3bench.server.lab.results.documents import JsonDocument
from m3bench.server.lab.results.resultset import Result
from m3bench.server.scorecard.model import ActualCall, ReferenceCall, ScoreCard
from m3bench.server.scorecard.pages.legend import legend, profile_of
from m3bench.server.scorecard.pages.plain import cut, excerpt, shown
from m3bench.server.scorecard.pages.run import TaskShown, task_part
from m3bench.server.scorecard.pages.small_pictures import shrunk
from m3bench.server.store.records import handed_in
from m3bench.tasks.json_types import JsonObject, JsonValue

SCHEMA = 1
ANSWER, ARGUMENT, QUESTION = 3000, 300, 240
"""Characters of an answer, of an argument, and of a question in the list."""
SMALL, BESIDE = 240, 520
"""Pixels that a picture is wide or high at most, in the list of tasks and beside a run."""

SCRIPTS = ("card.js", "statistics.js", "alignment.js", "run.js", "task.js")
STYLES = ("card.css", "set.css", "site.css")

Tried = tuple[str, Result]
"""A set's name, and a run of the task in it."""


@dataclass(frozen=True, kw_only=True)
class CheckLine(JsonDocument):
    """A check of a run."""

    check: str
    passed: bool
    reason: str


@dataclass(frozen=True, kw_only=True)
class CallLine(JsonDocument):
    """A call that was missed."""

    tool: str
    arguments: JsonValue


@dataclass(frozen=True, kw_only=True)
class MadeCallLine(CallLine):
    """A call that was made, and whether it answered something that was wanted."""

    outcome: str | None
    mark: Literal["extra", "strong", "weak"]


@dataclass(frozen=True, kw_only=True)
class TaskRunLine(JsonDocument):
    """A run of a task, as it is compared with others."""

    set: str
    run: str
    repeat: int
    success: bool | None
    class_: FailureClass
    metrics: Mapping[str, float | None]
    paper: float | None
    checks: tuple[CheckLine, ...]
    answer: Mapping[str, object] | None
    steps: tuple[tuple[MadeCallLine, ...], ...]
    missed: tuple[CallLine, ...]
    calls: int
    failed: int
    seconds: float
    tokens: int
    cost: float | None


@dataclass(frozen=True, kw_only=True)
class TaskSummary(JsonDocument):
    """What became of the runs of a task."""

    runs: int
    solved: int
    checked: int
    average: float | None


@dataclass(frozen=True, kw_only=True)
class TaskDocument(JsonDocument):
    """What there is to show of a task."""

    left_out: ClassVar[frozenset[str]] = frozenset({"links"})

    schema: int = SCHEMA
    kind: Literal["task"] = "task"
    task: Mapping[str, object]
    legend: Sequence[Mapping[str, object]]
    runs: tuple[TaskRunLine, ...]
    summary: TaskSummary
    links: JsonDocument | None = None
    """To other pages."""


@dataclass(frozen=True, kw_only=True)
class TaskLine(JsonDocument):
    """A task in the list of all."""

    id: str
    family: str
    difficulty: str | None
    question: str
    picture: str | None
    """As the address of its data."""
    summary: TaskSummary

    def to_json(self) -> JsonObject:
        """The summary's entries stand beside the others."""
        entries = super().to_json()
        del entries["summary"]
        return {**entries, **self.summary.to_json()}


@dataclass(frozen=True, kw_only=True)
class TasksDocument(JsonDocument):
    """What there is to show of all tasks together: one line for each."""

    left_out: ClassVar[frozenset[str]] = frozenset({"links"})

    schema: int = SCHEMA
    kind: Literal["tasks"] = "tasks"
    tasks: tuple[TaskLine, ...]
    links: JsonDocument | None = None
    """To other pages."""


def task_page(document: TaskDocument) -> str:
    """The page of a task's document."""
    return page(f"{document.task['id']} · m3bench", document.to_json(), SCRIPTS, styles=STYLES)


def task_document(
    task: str, tried: Sequence[Tried], at_hand: TaskShown | None, links: JsonDocument | None = None
) -> TaskDocument:
    """What there is to show of a task.

    Args:
        task: Its id.
        tried: Its runs.
        at_hand: The task itself, when the set that it is from is known here.
        links: To other pages.
    """
    known = task_part(at_hand) if at_hand is not None else {"id": cut(task, 200), "family": tried[0][1].card.family}
    return TaskDocument(
        task=known,
        legend=legend(profile_of(result.row for _, result in tried)),
        runs=tuple(_run(name, result) for name, result in tried),
        summary=_summary([result for _, result in tried]),
        links=links,
    )


def tasks_document(
    tasks: Mapping[str, Sequence[Tried]], at_hand: Mapping[str, TaskShown], links: JsonDocument | None = None
) -> TasksDocument:
    """What there is to show of all tasks together: one line for each."""
    return TasksDocument(
        tasks=tuple(_line(task, tried, at_hand.get(task)) for task, tried in tasks.items()), links=links
    )


def tasks_page(document: TasksDocument) -> str:
    """The page of the list."""
    return page("Tasks · m3bench", document.to_json(), ("card.js", "statistics.js", "tasks.js"), styles=STYLES)


def _line(task: str, tried: Sequence[Tried], at_hand: TaskShown | None) -> TaskLine:
    known = at_hand.task if at_hand is not None else None
    return TaskLine(
        id=cut(task, 200),
        family=tried[0][1].card.family,
        difficulty=None if known is None else known.difficulty,
        question=cut(known.question, QUESTION) if known else "",
        picture=_small_url(at_hand) if at_hand is not None else None,
        summary=_summary([result for _, result in tried]),
    )


def _small_url(at_hand: TaskShown) -> str | None:
    kept = shrunk(*at_hand.pictures[0], SMALL) if at_hand.pictures else None
    return None if kept is None else f"data:image/jpeg;base64,{b64encode(kept).decode()}"


def _summary(results: Sequence[Result]) -> TaskSummary:
    checked = [result.card.success for result in results if result.card.success is not None]
    averages = [value for result in results if (value := result.card.average) is not None]
    return TaskSummary(
        runs=len(results),
        solved=sum(checked),
        checked=len(checked),
        average=fmean(averages) if averages else None,
    )


def _run(name: str, result: Result) -> TaskRunLine:
    card, sample = result.card, result.sample
    return TaskRunLine(
        set=name,
        run=result.run.id,
        repeat=sample.repeat,
        success=card.success,
        class_=class_of(result),
        metrics=card.metrics,
        paper=card.paper_average,
        checks=tuple(
            CheckLine(check=cut(check.check, 200), passed=check.passed, reason=cut(check.reason, 300))
            for check in card.checks
        ),
        answer=excerpt(said, ANSWER) if (said := handed_in(result.run)) else None,
        steps=tuple(_steps(card)),
        missed=tuple(CallLine(tool=cut(call.tool, 200), arguments=_arguments(call)) for call in _missed(card)),
        calls=card.calls,
        failed=card.calls_failed,
        seconds=sample.seconds,
        tokens=sample.usage.input_tokens + sample.usage.output_tokens,
        cost=sample.usage.cost,
    )


def _steps(card: ScoreCard) -> Iterator[tuple[MadeCallLine, ...]]:
    """The calls that were made, each with whether it answered something that was wanted."""
    full = {place: match.full for match in card.alignment.matches for place in match.calls}
    place = 0
    for step in card.alignment.actual_steps:
        yield tuple(_made(call, full.get(at)) for at, call in enumerate(step, place))
        place += len(step)


def _made(call: ActualCall, full: bool | None) -> MadeCallLine:
    mark: Literal["extra", "strong", "weak"] = "extra" if full is None else "strong" if full else "weak"
    return MadeCallLine(
        tool=cut(call.tool, 200), arguments=_arguments(call), outcome=call.outcome, mark=mark
    )  # fmt: skip


def _missed(card: ScoreCard) -> list[ReferenceCall]:
    wanted = [call for _, call in card.alignment.reference_calls]
    known = set(card.alignment.not_needed)
    return [wanted[place] for place in card.alignment.missed if place not in known]


def _arguments(call: ReferenceCall | ActualCall) -> JsonValue:
    bounded: JsonValue = shown(call.arguments, text=ARGUMENT, items=20, depth=4)
    return bounded
