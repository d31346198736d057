"""The files of a site: pages, the same numbers as JSON, CSV and LaTeX, and figures.

    index.html, board.html, tasks.html     home, every set beside every other, every task
    sets/ runs/ tasks/                     a page for each
    leaderboard.json, leaderboard.csv      the board; sets/NAME.json and .csv the runs of a set
    tables/*.tex, *.csv; figures/          for papers and slides

Ranked runs have no page of their own and are on no task's page: both would show the references of a secret set.
"""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from m3bench.server.lab.reports import figures
from m3bench.server.lab.reports.page import page
from m3bench.server.lab.reports.paper.contents import tables
from m3bench.server.lab.reports.paper.folder import analyses_of, set_at_hand, tables_and_figures
from m3bench.server.lab.reports.site.places import BOARD, HOME, TASKS, Places
from m3bench.server.lab.reports.site.task import (
    BESIDE,
    Tried,
    task_document,
    task_page,
    tasks_document,
    tasks_page,
)
from m3bench.server.lab.reports.slices import slices
from m3bench.server.lab.reports.standings import leaderboard_document
from m3bench.server.lab.reports.summary import set_document, set_page
from m3bench.server.lab.results.comparability import distinct_names, over_common_tasks
from m3bench.server.lab.results.resultset import ResultSet, store_folder
from m3bench.server.scorecard.pages.run import TaskShown, run_document, run_page
from m3bench.server.scorecard.pages.small_pictures import with_small_pictures
from m3bench.server.scoring.aggregate import METRICS
from m3bench.server.store.layout import database
from m3bench.server.store.sqlite import SqliteStore
from m3bench.tasks.atomic_files import write_atomically
from m3bench.tasks.errors import InputFileError
from m3bench.tasks.library import Library

STYLES = ("card.css", "set.css", "leaderboard.css", "site.css")
SHOWN = ("verdict", "summary", "proves", "cannot_prove", "signers", "starts", "coverage", "notes")
"""What a board shows of a verdict."""
COLUMNS = tuple(name for name in (*METRICS, "average") if not name.startswith("argument_similarity_"))
"""The metrics of a CSV file."""


def leaderboard_page(document: Mapping[str, Any]) -> str:
    """The page of a leaderboard's document."""
    return page("Board · m3bench", document, ("card.js", "statistics.js", "leaderboard.js"), styles=STYLES)


def home_page(document: Mapping[str, Any]) -> str:
    """The first page of a site."""
    return page("m3bench results", document, ("card.js", "statistics.js", "home.js"), styles=STYLES)


DocumentOf = Callable[[ResultSet], Mapping[str, Any]]


def site(
    sets: Sequence[ResultSet], document: Mapping[str, Any], libraries: Sequence[Library] = (),
    document_of: DocumentOf = set_document,
) -> Iterator[tuple[str, bytes]]:  # fmt: skip
    """The files of a site, each with its name.

    Args:
        sets: The sets.
        document: Their leaderboard.
        libraries: Sets of tasks at hand; questions and pictures come from them.
        document_of: Gives the document of a set.
    """
    names = distinct_names(sets)
    named = dict(zip(names, sets, strict=True))
    open_runs = {name: frozenset(_open_runs(one)) for name, one in named.items()}
    tried: dict[str, list[Tried]] = {}
    for name, one in named.items():
        for result in one.results:
            if result.run.id in open_runs[name]:
                tried.setdefault(result.sample.task, []).append((name, result))
    tried = dict(sorted(tried.items(), key=lambda item: _natural(item[0])))
    places = Places.of(names, [run for runs in open_runs.values() for run in sorted(runs)], tried)
    at_hand = {task: shown for task in tried if (shown := _task_shown(tried[task], libraries)) is not None}
    downloads = list(_downloads(sets, document, libraries))
    yield from downloads
    board = {**document, "links": places.links(up=False), "downloads": [name for name, _ in downloads]}
    yield BOARD, leaderboard_page(board).encode()
    listed = tasks_document(tried, at_hand)
    yield HOME, home_page(_home(board, listed)).encode()
    if tried:
        yield TASKS, tasks_page({**listed, "links": places.links(up=False, tasks=tried)}).encode()
    for number, (task, runs) in enumerate(tried.items()):
        near = _near(list(tried), number)
        links = places.links(up=True, tasks=filter(None, near), runs=[result.run.id for _, result in runs])
        one_task = {**task_document(task, runs, at_hand.get(task)), "links": links | {"near": near}}
        yield places.tasks[task], task_page(one_task).encode()
    small = {task: with_small_pictures(shown, BESIDE) for task, shown in at_hand.items()}
    for name, one in named.items():
        yield from _set_files(name, one, document_of(one), places, tried, small)


def write_site(
    folder: Path,
    sets: Sequence[ResultSet],
    *,
    mixed: bool = False,
    common: bool = False,
    libraries: Sequence[Library] = (),
    verdicts: Mapping[str, Mapping[str, Any]] | None = None,
    tell: Callable[[str], None] = lambda name: None,
) -> dict[str, Any]:
    """Write a site into a folder; returns the document of its board.

    Args:
        folder: Where.
        sets: The sets.
        mixed: Put sets together although they were made under other conditions.
        common: Compare over the tasks that all sets have.
        libraries: Sets of tasks at hand; questions and pictures come from them.
        verdicts: What came of verifying each set, by its name, as `Verdict.to_json` gives it.
        tell: Is told twice of every set: when its numbers are known, and when it is about to be written.

    Raises:
        InputFileError: The folder cannot be written.
        UserError: The sets do not belong together.
    """
    made: dict[tuple[Path, str], Mapping[str, Any]] = {}

    def document_of(results: ResultSet) -> Mapping[str, Any]:
        # The board and the set's own page show the same numbers, and intervals take their time.
        key = (results.folder, results.header.name)
        if key not in made:
            known = set_at_hand(results, libraries)
            made[key] = {**set_document(results), "slices": slices(results.results, known)}
        tell(results.header.name)
        return made[key]

    document = leaderboard_document(sets, mixed=mixed, common=common, document_of=document_of)
    for entry in document["entries"]:
        if (verdict := (verdicts or {}).get(entry["name"])) is not None:
            entry["verdict"] = {name: verdict[name] for name in SHOWN}
    if common:
        sets = over_common_tasks(sets)
    for name, data in site(sets, document, libraries, document_of):
        path = folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, data)
        except OSError as error:
            raise InputFileError(path, f"cannot be written ({error.strerror})") from error
    return document


def _open_runs(results: ResultSet) -> Iterator[str]:
    """The runs of a set that have a page: those whose calls are at hand and whose references are no secret."""
    if database(store_folder(results.folder)).exists():
        yield from (result.run.id for result in results.results if result.run.mode != "ranked")


def _set_files(
    name: str,
    results: ResultSet,
    document: Mapping[str, Any],
    places: Places,
    tried: Mapping[str, Sequence[Tried]],
    at_hand: Mapping[str, TaskShown],
) -> Iterator[tuple[str, bytes]]:
    """The page of a set, its numbers, and the pages of its runs."""
    # Where a set lies on this machine is no business of a site's readers.
    document = {**document, "folder": ""}
    runs = [result.run.id for result in results.results]
    stem = places.sets[name].removesuffix(".html")
    yield f"{stem}.json", _json(document)
    yield f"{stem}.csv", _runs_csv(document["runs"]).encode()
    links = places.links(up=True, runs=runs, tasks=[result.sample.task for result in results.results])
    here = Path(stem).name
    yield f"{stem}.html", set_page({**document, "links": links, "downloads": [f"{here}.json", f"{here}.csv"]}).encode()
    shown = [result for result in results.results if result.run.id in places.runs]
    if not shown or not database(store_folder(results.folder)).exists():
        return
    handles = [result.run.id for result in shown]
    store = SqliteStore(store_folder(results.folder))
    try:
        for number, result in enumerate(shown):
            task = result.sample.task
            others = [(label, one) for label, one in tried.get(task, ()) if one.run.id != result.run.id]
            near = _near(handles, number)
            links = places.links(up=True, runs=[*filter(None, near), *(one.run.id for _, one in others)], tasks=[task])
            links |= {
                "of": name,
                "near": near,
                "others": [
                    {"set": label, "run": one.run.id, "repeat": one.sample.repeat, "success": one.card.success,
                     "average": one.card.average}
                    for label, one in others
                ],
            }  # fmt: skip
            made = run_document(result.run, store.calls(result.run.id), at_hand.get(task))
            yield places.runs[result.run.id], run_page({**made, "links": links}).encode()
    finally:
        store.close()


def _near(names: Sequence[str], number: int) -> list[str | None]:
    """What comes before and after one of several."""
    return [names[at] if 0 <= at < len(names) else None for at in (number - 1, number + 1)]


def _natural(task: str) -> tuple[str, int, str]:
    """Tasks of a family by number."""
    family, _, number = task.rpartition("-")
    return (family, int(number), task) if number.isdecimal() and len(number) < 10 else (task, 0, task)


def _task_shown(tried: Sequence[Tried], libraries: Sequence[Library]) -> TaskShown | None:
    """The task of some runs, when the set that they were made with is at hand."""
    made = {str((result.run.manifest.get("tasks") or {}).get("hash")) for _, result in tried}
    task = tried[0][1].sample.task
    for library in libraries:
        if made == {library.hash} and task in library.tasks:
            return TaskShown.of(library, task)
    return None


def _home(board: Mapping[str, Any], listed: Mapping[str, Any]) -> dict[str, Any]:
    """The document of the first page: the board in short."""
    return {
        "schema": board["schema"],
        "kind": "home",
        "mixed": board["mixed"],
        "manifest": board["manifest"],
        "entries": [
            {name: entry[name] for name in ("rank", "ranks", "name", "kind", "agent", "solver", "profile", "counts",
                                            "verdict") if name in entry}
            | {"summary": {name: entry["summary"][name] for name in ("runs", "tasks", "profile", "success", "checked",
                                                                     "success_interval", "metrics", "intervals")}}
            for entry in board["entries"]
        ],
        "tasks": len(listed["tasks"]),
        "families": len({task["family"] for task in listed["tasks"]}),
        "links": board["links"],
        "downloads": board["downloads"],
    }  # fmt: skip


def _downloads(
    sets: Sequence[ResultSet], document: Mapping[str, Any], libraries: Sequence[Library]
) -> Iterator[tuple[str, bytes]]:
    yield "leaderboard.json", _json(document)
    yield "leaderboard.csv", _csv(document["entries"]).encode()
    for name, (drawing, height) in (
        ("averages", figures.averages(document["entries"])),
        ("families", figures.families(document["entries"])),
    ):
        yield f"figures/{name}.svg", drawing.svg(height).encode()
        yield f"figures/{name}.png", drawing.png(height)
    numbers = {"leaderboard": document, "analyses": analyses_of(sets, libraries)}
    for name, data in tables_and_figures(list(tables(document, numbers["analyses"])), numbers):
        yield f"paper/{name}", data


def _json(document: Mapping[str, Any]) -> bytes:
    return f"{json.dumps(document, ensure_ascii=False, indent=1)}\n".encode(errors="replace")


def _runs_csv(runs: Iterable[Mapping[str, Any]]) -> str:
    """The runs of a set, a row for each."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    plain = ("run", "task", "family", "repeat", "success", "class", "paper", "steps", "calls", "needed", "matched",
             "failed", "seconds", "tokens", "cost")  # fmt: skip
    writer.writerow([*plain, *COLUMNS, "checks_passed", "checks"])
    for run in runs:
        values = (_safe(value) if isinstance(value := run[name], str) else value for name in plain)
        writer.writerow([*values, *(run["metrics"].get(name) for name in COLUMNS), *run["checks"]])
    return text.getvalue()


def _csv(entries: Iterable[Mapping[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        ["rank", "name", "kind", "agent", "solver", "profile", "scored", "void", "success", "success_low",
         "success_high", "average_rank", *COLUMNS, "average_low", "average_high", "m3_average", "input_tokens",
         "output_tokens", "cost", "manifest", "level"]
    )  # fmt: skip
    for entry in entries:
        summary, usage = entry["summary"], entry["usage"]
        low, high = summary["intervals"].get("average", ("", ""))
        writer.writerow(
            [entry["rank"], _safe(entry["name"]), entry["kind"], _safe(entry["agent"]), entry["solver"],
             entry["profile"], entry["counts"]["scored"], entry["counts"]["void"], summary["success"],
             *(summary["success_interval"] or ("", "")), entry["ranks"].get("average", {}).get("rank"),
             *(summary["metrics"].get(name) for name in COLUMNS), low, high, summary["paper"], usage["input_tokens"],
             usage["output_tokens"], usage["cost"], " ".join(entry["manifest"]),
             entry.get("verdict", {}).get("verdict", "")]
        )  # fmt: skip
    return text.getvalue()


def _safe(text: str) -> str:
    """Text that a spreadsheet does not take for a formula."""
    return f"'{text}" if text[:1] in "=+-@\t\r" else text
