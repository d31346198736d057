"""What a record holds so far, as pages of the live view: all scored runs together, the tasks, one task, and one run.

The same documents and pages as those of a site, made when they are asked for. Runs that the watcher may not see are
on none of them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import quote

from m3bench.server.lab.live.rows import SEALED
from m3bench.server.lab.reports.site.tasks import Tried, task_document, task_page, tasks_document, tasks_page
from m3bench.server.lab.reports.slices import set_at_hand, slices
from m3bench.server.lab.reports.summary import set_document, set_page
from m3bench.server.lab.results.documents import JsonDocument
from m3bench.server.lab.results.resultset import ResultSet, read_record
from m3bench.server.scorecard.pages.run import TaskShown, run_document, run_page
from m3bench.server.store.factory import open_store
from m3bench.server.store.location import RecordLocation
from m3bench.tasks.library import Library

HOME, RESULTS, TASKS, TASK, RUN = "/", "/live/results", "/live/tasks", "/live/task/", "/live/run/"

Visible = Callable[[str], bool]
"""Whether runs in a mode may be seen."""


@dataclass(frozen=True, kw_only=True)
class LiveLinks(JsonDocument):
    """The links that every page of the live view has, and those to the runs and tasks that a page shows."""

    home: str = HOME
    results: str = RESULTS
    tasks: str = TASKS
    board: None = None
    set: Mapping[str, str] = field(default_factory=dict)
    run: Mapping[str, str] = field(default_factory=dict)
    task: Mapping[str, str] = field(default_factory=dict)


def results_html(place: RecordLocation, library: Library, may_see: Visible) -> str | None:
    """The page of all scored runs; None when there is none that may be seen."""
    found = _seen(place, may_see)
    if found is None:
        return None
    runs = {result.run.id: RUN + result.run.id for result in found.results}
    tasks = {result.sample.task: _task(result.sample.task) for result in found.results}
    cuts = slices(found.results, set_at_hand(found, [library]))
    return set_page(replace(set_document(found, cuts), links=LiveLinks(run=runs, task=tasks)))


def tasks_html(place: RecordLocation, library: Library, may_see: Visible) -> str | None:
    """The list of tasks that were played; None when there is none."""
    tried = _tried(_seen(place, may_see))
    if not tried:
        return None
    at_hand = {task: shown for task, runs in tried.items() if (shown := TaskShown.of_run(runs[0][1].run, library))}
    return tasks_page(tasks_document(tried, at_hand, LiveLinks(task={task: _task(task) for task in tried})))


def task_html(place: RecordLocation, library: Library, task: str, may_see: Visible) -> str | None:
    """The page of a task with every run of it; None when it was not played."""
    tried = _tried(_seen(place, may_see)).get(task)
    if not tried:
        return None
    runs = {result.run.id: RUN + result.run.id for _, result in tried}
    shown = TaskShown.of_run(tried[0][1].run, library)
    return task_page(task_document(task, tried, shown, LiveLinks(run=runs)))


def run_html(place: RecordLocation, library: Library, name: str, may_see: Visible) -> str | None:
    """The page of a run, as `m3bench report` writes it; None when there is no such run, or none that may be seen.

    Args:
        place: Where the record is.
        library: The tasks of the server.
        name: The run's handle, or its beginning.
        may_see: Whether runs in a mode may be seen.
    """
    if not place.begun:
        return None
    # A connection of its own: this runs in a thread, beside the server's.
    store = open_store(place)
    try:
        run = store.run(name)
        if run is None or run.state not in SEALED or not may_see(run.mode):
            return None
        calls = store.calls(run.id)
    finally:
        store.close()
    links = LiveLinks(task={run.task: _task(run.task)})
    return run_page(run_document(run, calls, TaskShown.of_run(run, library)), links.to_json())


def _task(task: str) -> str:
    return TASK + quote(task, safe="")


def _seen(place: RecordLocation, may_see: Visible) -> ResultSet | None:
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
