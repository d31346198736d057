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
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Literal

from m3bench.server.lab.interchange.verdict import VerdictDocument
from m3bench.server.lab.reports import figures
from m3bench.server.lab.reports.page import page
from m3bench.server.lab.reports.paper.analyses import analyses_of
from m3bench.server.lab.reports.paper.contents import tables
from m3bench.server.lab.reports.paper.folder import tables_and_figures
from m3bench.server.lab.reports.paper.tables import safe
from m3bench.server.lab.reports.site.tasks import (
    BESIDE,
    TasksDocument,
    Tried,
    task_document,
    task_page,
    tasks_document,
    tasks_page,
)
from m3bench.server.lab.reports.slices import set_at_hand, slices
from m3bench.server.lab.reports.standings import (
    BoardEntry,
    DocumentOf,
    Leaderboard,
    VerdictShown,
    leaderboard_document,
)
from m3bench.server.lab.reports.summary import RunLine, SetDocument, set_document, set_page
from m3bench.server.lab.results.comparability import distinct_names, over_common_tasks
from m3bench.server.lab.results.documents import JsonDocument, file_name
from m3bench.server.lab.results.resultset import Result, ResultSet, store_folder, task_set_of
from m3bench.server.scorecard.pages.run import TaskShown, run_document, run_page
from m3bench.server.scorecard.pages.small_pictures import with_small_pictures
from m3bench.server.scoring.aggregate import METRICS
from m3bench.server.scoring.statistics.estimates import Interval
from m3bench.server.store.layout import database
from m3bench.server.store.sqlite import SqliteStore
from m3bench.tasks.atomic_files import write_atomically
from m3bench.tasks.errors import InputFileError
from m3bench.tasks.json_types import JsonObject
from m3bench.tasks.library import Library

HOME, BOARD, TASKS = "index.html", "board.html", "tasks.html"
STYLES = ("card.css", "set.css", "leaderboard.css", "site.css")
COLUMNS = tuple(name for name in (*METRICS, "average") if not name.startswith("argument_similarity_"))
"""The metrics of a CSV file."""


@dataclass(frozen=True, kw_only=True)
class OtherRun(JsonDocument):
    """Another run of the same task."""

    set: str
    run: str
    repeat: int
    success: bool | None
    average: float | None


@dataclass(frozen=True, kw_only=True)
class SiteLinks(JsonDocument):
    """The links that a page of a site has."""

    left_out: ClassVar[frozenset[str]] = frozenset({"of", "near", "others"})

    home: str
    board: str
    tasks: str | None
    set: Mapping[str, str]
    run: Mapping[str, str]
    task: Mapping[str, str]
    of: str | None = None
    """The set that a run is of."""
    near: tuple[str | None, str | None] | None = None
    """The pages before and after this one."""
    others: tuple[OtherRun, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class HomeDocument(JsonDocument):
    """The first page: the board in short."""

    schema: int
    kind: Literal["home"] = "home"
    mixed: tuple[str, ...]
    manifest: JsonObject
    entries: tuple[JsonObject, ...]
    tasks: int
    families: int
    links: SiteLinks
    downloads: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class SitePages:
    """The pages that a site has; the address of a page does not depend on what else is on the site."""

    sets: Mapping[str, str]
    """By the set's name."""
    runs: Mapping[str, str]
    """By the run's handle; those that have a page."""
    tasks: Mapping[str, str]
    """By the task's id; those that have a page."""

    @classmethod
    def of(cls, sets: Iterable[str], runs: Iterable[str], tasks: Iterable[str]) -> "SitePages":
        """The pages of these."""
        return cls(
            sets={name: f"sets/{file_name(name)}.html" for name in sets},
            runs={run: f"runs/{file_name(run)}.html" for run in runs},
            tasks={task: f"tasks/{file_name(task)}.html" for task in tasks},
        )

    def links(self, *, up: bool, runs: Iterable[str] = (), tasks: Iterable[str] = ()) -> SiteLinks:
        """The links that a page has: to the pages of the site, and to these runs and tasks where they have one.

        Args:
            up: Whether the page lies in a folder of the site.
            runs: Handles.
            tasks: Ids.
        """
        before = "../" if up else ""
        return SiteLinks(
            home=before + HOME,
            board=before + BOARD,
            tasks=before + TASKS if self.tasks else None,
            set={name: before + place for name, place in self.sets.items()},
            run={run: before + self.runs[run] for run in runs if run in self.runs},
            task={task: before + self.tasks[task] for task in tasks if task in self.tasks},
        )


def leaderboard_page(document: Leaderboard) -> str:
    """The page of a leaderboard's document."""
    scripts = ("card.js", "statistics.js", "leaderboard.js")
    return page("Board · m3bench", document.to_json(), scripts, styles=STYLES)


def home_page(document: HomeDocument) -> str:
    """The first page of a site."""
    return page("m3bench results", document.to_json(), ("card.js", "statistics.js", "home.js"), styles=STYLES)


def site(
    sets: Sequence[ResultSet],
    document: Leaderboard,
    libraries: Sequence[Library] = (),
    document_of: DocumentOf = set_document,
) -> Iterator[tuple[str, bytes]]:
    """The files of a site, each with its name.

    Args:
        sets: The sets.
        document: Their leaderboard.
        libraries: Sets of tasks at hand; questions and pictures come from them.
        document_of: Gives the document of a set.
    """
    names = distinct_names(sets)
    named = dict(zip(names, sets, strict=True))
    open_runs = {name: frozenset(_open_runs(results)) for name, results in named.items()}
    tried: dict[str, list[Tried]] = {}
    for name, results in named.items():
        for result in results.results:
            if result.run.id in open_runs[name]:
                tried.setdefault(result.sample.task, []).append((name, result))
    tried = dict(sorted(tried.items(), key=lambda item: _natural(item[0])))
    pages = SitePages.of(names, [run for runs in open_runs.values() for run in sorted(runs)], tried)
    at_hand = {task: shown for task in tried if (shown := _task_shown(tried[task], libraries)) is not None}
    downloads = list(_downloads(sets, document, libraries))
    yield from downloads
    links, offered = pages.links(up=False), tuple(name for name, _ in downloads)
    yield BOARD, leaderboard_page(replace(document, links=links, downloads=offered)).encode()
    listed = tasks_document(tried, at_hand, pages.links(up=False, tasks=tried))
    yield HOME, home_page(_home(document, listed, links, offered)).encode()
    if tried:
        yield TASKS, tasks_page(listed).encode()
    for number, (task, runs) in enumerate(tried.items()):
        near = _near(list(tried), number)
        links = pages.links(up=True, tasks=filter(None, near), runs=[result.run.id for _, result in runs])
        shown_task = task_document(task, runs, at_hand.get(task), replace(links, near=near))
        yield pages.tasks[task], task_page(shown_task).encode()
    small = {task: with_small_pictures(shown, BESIDE) for task, shown in at_hand.items()}
    for name, results in named.items():
        yield from _set_files(name, results, document_of(results), pages)
        yield from _run_files(name, results, pages, tried, small)


MAX_VOID = 0.1
"""The share of void samples above which a set that came as a bundle is shown without ranks."""


def write_site(
    folder: Path,
    sets: Sequence[ResultSet],
    *,
    mixed: bool = False,
    common: bool = False,
    joint: bool = False,
    libraries: Sequence[Library] = (),
    verdicts: Mapping[str, VerdictDocument] | None = None,
    tell: Callable[[str], None] = lambda name: None,
) -> Leaderboard:
    """Write a site into a folder; returns the document of its board.

    Args:
        folder: Where.
        sets: The sets.
        mixed: Put sets together although they were made under other conditions.
        common: Compare over the tasks that all sets have.
        joint: Give ranks that hold together at 95 %, and not each by itself.
        libraries: Sets of tasks at hand; questions and pictures come from them.
        verdicts: What came of verifying each set, by its name.
        tell: Is told twice of every set: when its numbers are known, and when it is about to be written.

    Raises:
        InputFileError: The folder cannot be written.
        UserError: The sets do not belong together.
    """
    made: dict[tuple[Path, str], SetDocument] = {}

    def document_of(results: ResultSet) -> SetDocument:
        # The board and the set's own page show the same numbers, and intervals take their time.
        key = (results.folder, results.header.name)
        if key not in made:
            made[key] = set_document(results, slices(results.results, set_at_hand(results, libraries)))
        tell(results.header.name)
        return made[key]

    known = (verdicts or {}).items()
    unranked = {name for name, verdict in known if verdict.coverage.void > MAX_VOID * verdict.coverage.planned}
    document = leaderboard_document(
        sets, mixed=mixed, common=common, joint=joint, document_of=document_of, unranked=unranked
    )
    entries = (replace(entry, verdict=_shown((verdicts or {}).get(entry.name))) for entry in document.entries)
    document = replace(document, entries=tuple(entries))
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


def _shown(verdict: VerdictDocument | None) -> VerdictShown | None:
    if verdict is None:
        return None
    return VerdictShown(
        verdict=verdict.verdict, summary=verdict.summary, proves=verdict.proves, cannot_prove=verdict.cannot_prove,
        signers=verdict.signers, starts=verdict.starts, coverage=verdict.coverage, notes=verdict.notes,
    )  # fmt: skip


def _set_files(
    name: str, results: ResultSet, document: SetDocument, pages: SitePages
) -> Iterator[tuple[str, bytes]]:  # fmt: skip
    """The page of a set, and its numbers."""
    # A site's readers need not know where a set lies on this machine.
    document = replace(document, folder="")
    stem = pages.sets[name].removesuffix(".html")
    yield f"{stem}.json", _json(document)
    yield f"{stem}.csv", _runs_csv(document.runs).encode()
    runs, tasks = ([result.run.id for result in results.results], [result.sample.task for result in results.results])
    here = Path(stem).name
    links = pages.links(up=True, runs=runs, tasks=tasks)
    document = replace(document, links=links, downloads=(f"{here}.json", f"{here}.csv"))
    yield f"{stem}.html", set_page(document).encode()


def _run_files(
    name: str,
    results: ResultSet,
    pages: SitePages,
    tried: Mapping[str, Sequence[Tried]],
    at_hand: Mapping[str, TaskShown],
) -> Iterator[tuple[str, bytes]]:
    """The pages of a set's runs."""
    shown = [result for result in results.results if result.run.id in pages.runs]
    if not shown or not database(store_folder(results.folder)).exists():
        return
    store = SqliteStore(store_folder(results.folder))
    try:
        for number, result in enumerate(shown):
            task = result.sample.task
            others = [(label, other) for label, other in tried.get(task, ()) if other.run.id != result.run.id]
            near = _near([other.run.id for other in shown], number)
            runs = [*filter(None, near), *(other.run.id for _, other in others)]
            links = replace(
                pages.links(up=True, runs=runs, tasks=[task]),
                of=name,
                near=near,
                others=tuple(_other(label, other) for label, other in others),
            )
            made = run_document(result.run, store.calls(result.run.id), at_hand.get(task))
            yield pages.runs[result.run.id], run_page(made, links.to_json()).encode()
    finally:
        store.close()


def _other(name: str, result: Result) -> OtherRun:
    card = result.card
    return OtherRun(
        set=name, run=result.run.id, repeat=result.sample.repeat, success=card.success, average=card.average
    )  # fmt: skip


def _near(names: Sequence[str], number: int) -> tuple[str | None, str | None]:
    """What comes before and after one of several."""
    return names[number - 1] if number > 0 else None, names[number + 1] if number + 1 < len(names) else None


def _natural(task: str) -> tuple[str, int, str]:
    """Tasks of a family by number."""
    family, _, number = task.rpartition("-")
    return (family, int(number), task) if number.isdecimal() and len(number) < 10 else (task, 0, task)


def _task_shown(tried: Sequence[Tried], libraries: Sequence[Library]) -> TaskShown | None:
    """The task of some runs, when the set that they were made with is at hand."""
    made = {str(task_set_of(result.run.manifest).get("hash")) for _, result in tried}
    task = tried[0][1].sample.task
    for library in libraries:
        if made == {library.hash} and task in library.tasks:
            return TaskShown.of(library, task)
    return None


def _home(board: Leaderboard, listed: TasksDocument, links: SiteLinks, downloads: tuple[str, ...]) -> HomeDocument:
    """The document of the first page: the board in short."""
    return HomeDocument(
        schema=board.schema,
        mixed=board.mixed,
        manifest=board.manifest,
        entries=tuple(_in_short(entry) for entry in board.entries),
        tasks=len(listed.tasks),
        families=len({task.family for task in listed.tasks}),
        links=links,
        downloads=downloads,
    )


def _in_short(entry: BoardEntry) -> JsonObject:
    whole, summary = entry.to_json(), entry.summary.to_json()
    kept = ("rank", "ranks", "name", "kind", "agent", "solver", "profile", "counts", "verdict")
    numbers = ("runs", "tasks", "profile", "success", "checked", "success_interval", "metrics", "intervals")
    return {
        **{name: whole[name] for name in kept if name in whole},
        "summary": {name: summary[name] for name in numbers},
    }


def _downloads(
    sets: Sequence[ResultSet], document: Leaderboard, libraries: Sequence[Library]
) -> Iterator[tuple[str, bytes]]:
    entries = document.entries
    yield "leaderboard.json", _json(document)
    yield "leaderboard.csv", _entries_csv(entries).encode()
    for name, (drawing, height) in (
        ("averages", figures.averages(entries)),
        ("families", figures.families(entries)),
    ):
        yield f"figures/{name}.svg", drawing.svg(height).encode()
        yield f"figures/{name}.png", drawing.png(height)
    analyses = analyses_of(sets, libraries)
    for name, data in tables_and_figures(list(tables(document, analyses)), entries, analyses):
        yield f"paper/{name}", data


def _json(document: JsonDocument) -> bytes:
    return f"{json.dumps(document.to_json(), ensure_ascii=False, indent=1)}\n".encode(errors="replace")


def _runs_csv(runs: Iterable[RunLine]) -> str:
    """The runs of a set, a row for each."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    plain = ("run", "task", "family", "repeat", "success", "class", "paper", "steps", "calls", "needed", "matched",
             "failed", "seconds", "tokens", "cost")  # fmt: skip
    writer.writerow([*plain, *COLUMNS, "checks_passed", "checks"])
    for run in runs:
        line = run.to_json()
        values = (safe(value) if isinstance(value := line[name], str) else value for name in plain)
        writer.writerow([*values, *(run.metrics.get(name) for name in COLUMNS), *run.checks])
    return text.getvalue()


def _entries_csv(entries: Iterable[BoardEntry]) -> str:
    """The sets of a board, a row for each."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        ["rank", "rank_high", "name", "kind", "agent", "solver", "profile", "scored", "void", "success", "success_low",
         "success_high", "average_rank", "average_rank_high", *COLUMNS, "average_low", "average_high",
         "m3_average", "input_tokens", "output_tokens", "cost", "manifest", "level"]
    )  # fmt: skip
    for entry in entries:
        summary, usage, by_average = entry.summary, entry.usage, entry.ranks.get("average")
        first = entry.ranks.get("solved") or by_average
        writer.writerow(
            [*(first.interval if first else ("", "")), safe(entry.name), entry.kind, safe(entry.agent), entry.solver,
             entry.profile, entry.counts.scored, entry.counts.void, summary.success, *_ends(summary.success_interval),
             *(by_average.interval if by_average else ("", "")), *(summary.metrics.get(name) for name in COLUMNS),
             *_ends(summary.intervals.get("average")), summary.paper, usage.input_tokens, usage.output_tokens,
             usage.cost, " ".join(entry.manifest), "" if entry.verdict is None else entry.verdict.verdict]
        )  # fmt: skip
    return text.getvalue()


def _ends(interval: Interval | None) -> tuple[float | str, float | str]:
    return ("", "") if interval is None else (interval.low, interval.high)
