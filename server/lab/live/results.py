"""What a record holds so far, as pages of the live view: all scored runs together, the tasks, and one task.

The same documents and pages as those of a site, made when they are asked for. Runs that the watcher may not see are
on none of them.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from m3bench.server.lab.reports.paper.folder import set_at_hand
from m3bench.server.lab.reports.site.task import Tried, task_document, task_page, tasks_document, tasks_page
from m3bench.server.lab.reports.slices import slices
from m3bench.server.lab.reports.summary import set_document, set_page
from m3bench.server.lab.results.resultset import ResultSet, read_record
from m3bench.server.scorecard.pages.run import TaskShown
from m3bench.server.store.place import Place
from m3bench.server.store.records import RunRecord
from m3bench.tasks.library import Library

HOME, RESULTS, TASKS, TASK, RUN = "/", "/live/results", "/live/tasks", "/live/task/", "/live/run/"

Visible = Callable[[str], bool]
"""Whether runs in a mode may be seen."""


def links(**more: Any) -> dict[str, Any]:
    """The links that every page of the live view has."""
    return {"home": HOME, "results": RESULTS, "tasks": TASKS, "board": None, "set": {}, "run": {}, "task": {}, **more}


def run_links(run: RunRecord) -> dict[str, Any]:
    """The links of the page of a run."""
    return links(task={run.task: _task(run.task)})


def results_html(place: Place, library: Library, may_see: Visible) -> str | None:
    """The page of all scored runs; None when there is none that may be seen."""
    found = _seen(place, may_see)
    if found is None:
        return None
    runs = {result.run.id: RUN + result.run.id for result in found.results}
    tasks = {result.sample.task: _task(result.sample.task) for result in found.results}
    cuts = slices(found.results, set_at_hand(found, [library]))
    return set_page({**set_document(found), "slices": cuts, "links": links(run=runs, task=tasks)})


def tasks_html(place: Place, library: Library, may_see: Visible) -> str | None:
    """The list of tasks that were played; None when there is none."""
    tried = _tried(_seen(place, may_see))
    if not tried:
        return None
    at_hand = {task: shown for task, ones in tried.items() if (shown := TaskShown.of_run(ones[0][1].run, library))}
    return tasks_page({**tasks_document(tried, at_hand), "links": links(task={task: _task(task) for task in tried})})


def task_html(place: Place, library: Library, task: str, may_see: Visible) -> str | None:
    """The page of a task with every run of it; None when it was not played."""
    tried = _tried(_seen(place, may_see)).get(task)
    if not tried:
        return None
    runs = {result.run.id: RUN + result.run.id for _, result in tried}
    shown = TaskShown.of_run(tried[0][1].run, library)
    return task_page({**task_document(task, tried, shown), "links": links(run=runs)})


def _task(task: str) -> str:
    return TASK + quote(task, safe="")


def _seen(place: Place, may_see: Visible) -> ResultSet | None:
    if not place.begun:
        return None
    found = read_record(place)
    kept = tuple(result for result in found.results if may_see(result.run.mode))
    return replace(found, results=kept) if kept else None


def _tried(found: ResultSet | None) -> Mapping[str, list[Tried]]:
    tried: dict[str, list[Tried]] = {}
    for result in found.results if found is not None else ():
        client = result.card.client
        name = client.name if client is not None and client.name else "a client"
        tried.setdefault(result.sample.task, []).append((name, result))
    return dict(sorted(tried.items()))
