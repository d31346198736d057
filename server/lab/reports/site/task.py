"""The documents of tasks: one task with every run of it, and the list of all tasks.

A run is here as it is compared: what was handed in, which checks passed, which calls were made and which were missed.
Its own page has everything. Values that came from outside are bounded.
"""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from m3bench.server.lab.reports.page import page
from m3bench.server.lab.results.analyses.failures import class_of
from m3bench.server.lab.results.resultset import Result
from m3bench.server.scorecard.model import ActualCall, ReferenceCall, ScoreCard
from m3bench.server.scorecard.pages.legend import legend, profile_of
from m3bench.server.scorecard.pages.plain import cut, excerpt, shown
from m3bench.server.scorecard.pages.run import TaskShown, task_part
from m3bench.server.scorecard.pages.small_pictures import shrunk
from m3bench.server.store.records import handed_in

SCHEMA = 1
ANSWER, ARGUMENT, QUESTION = 3000, 300, 240
"""Characters of an answer, of an argument, and of a question in the list."""
SMALL, BESIDE = 240, 520
"""Pixels that a picture is wide or high at most, in the list of tasks and beside a run."""

SCRIPTS = ("card.js", "statistics.js", "alignment.js", "run.js", "task.js")
STYLES = ("card.css", "set.css", "site.css")

Tried = tuple[str, Result]
"""A set's name, and a run of the task in it."""


def task_page(document: Mapping[str, Any]) -> str:
    """The page of a task's document."""
    return page(f"{document['task']['id']} · m3bench", document, SCRIPTS, styles=STYLES)


def task_document(task: str, tried: Sequence[Tried], at_hand: TaskShown | None) -> dict[str, Any]:
    """What there is to show of a task.

    Args:
        task: Its id.
        tried: Its runs.
        at_hand: The task itself, when the set that it is from is known here.
    """
    known = task_part(at_hand) if at_hand is not None else {"id": cut(task, 200), "family": tried[0][1].card.family}
    return {
        "schema": SCHEMA,
        "kind": "task",
        "task": known,
        "legend": legend(profile_of(result.row for _, result in tried)),
        "runs": [_run(name, result) for name, result in tried],
        "summary": _summary([result for _, result in tried]),
    }


def tasks_document(tasks: Mapping[str, Sequence[Tried]], at_hand: Mapping[str, TaskShown]) -> dict[str, Any]:
    """What there is to show of all tasks together: one line for each."""
    return {
        "schema": SCHEMA,
        "kind": "tasks",
        "tasks": [_line(task, tried, at_hand.get(task)) for task, tried in tasks.items()],
    }


def tasks_page(document: Mapping[str, Any]) -> str:
    """The page of the list."""
    return page("Tasks · m3bench", document, ("card.js", "statistics.js", "tasks.js"), styles=STYLES)


def _line(task: str, tried: Sequence[Tried], at_hand: TaskShown | None) -> dict[str, Any]:
    known = at_hand.task if at_hand is not None else None
    return {
        "id": cut(task, 200),
        "family": tried[0][1].card.family,
        "difficulty": known and known.difficulty,
        "question": cut(known.question, QUESTION) if known else "",
        "picture": _small_url(at_hand) if at_hand is not None else None,
        **_summary([result for _, result in tried]),
    }


def _small_url(at_hand: TaskShown) -> str | None:
    kept = shrunk(*at_hand.pictures[0], SMALL) if at_hand.pictures else None
    return None if kept is None else f"data:image/jpeg;base64,{b64encode(kept).decode()}"


def _summary(results: Sequence[Result]) -> dict[str, Any]:
    checked = [result.card.success for result in results if result.card.success is not None]
    averages = [value for result in results if (value := result.card.average) is not None]
    return {
        "runs": len(results),
        "solved": sum(checked),
        "checked": len(checked),
        "average": fmean(averages) if averages else None,
    }


def _run(name: str, result: Result) -> dict[str, Any]:
    card, sample = result.card, result.sample
    return {
        "set": name,
        "run": result.run.id,
        "repeat": sample.repeat,
        "success": card.success,
        "class": class_of(result),
        "metrics": card.metrics,
        "paper": card.paper_average,
        "checks": [
            {"check": cut(check.check, 200), "passed": check.passed, "reason": cut(check.reason, 300)}
            for check in card.checks
        ],
        "answer": excerpt(said, ANSWER) if (said := handed_in(result.run)) else None,
        "steps": _steps(card),
        "missed": [_call(call) for call in _missed(card)],
        "calls": card.calls,
        "failed": card.calls_failed,
        "seconds": sample.seconds,
        "tokens": sample.usage.input_tokens + sample.usage.output_tokens,
        "cost": sample.usage.cost,
    }


def _steps(card: ScoreCard) -> list[list[dict[str, Any]]]:
    """The calls that were made, each with whether it answered something that was wanted."""
    matched = {place: match for match in card.alignment.matches for place in match.calls}
    steps, at = [], 0
    for step in card.alignment.actual_steps:
        calls = []
        for call in step:
            match = matched.get(at)
            kind = "extra" if match is None else "strong" if match.full else "weak"
            calls.append({**_call(call), "outcome": call.outcome, "mark": kind})
            at += 1
        steps.append(calls)
    return steps


def _missed(card: ScoreCard) -> list[ReferenceCall]:
    wanted = [call for _, call in card.alignment.reference_calls]
    known = set(card.alignment.not_needed)
    return [wanted[place] for place in card.alignment.missed if place not in known]


def _call(call: ReferenceCall | ActualCall) -> dict[str, Any]:
    return {"tool": cut(call.tool, 200), "arguments": shown(call.arguments, text=ARGUMENT, items=20, depth=4)}
