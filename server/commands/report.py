"""`m3bench report`: what was measured, as a file to look at or to pass on."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from m3bench.server.commands.options import Json, RecordOptions, Tasks
from m3bench.server.commands.recorded import records
from m3bench.server.commands.screen import print_json, write_file
from m3bench.server.lab.reports.slices import set_at_hand, slices
from m3bench.server.lab.reports.summary import set_document, set_page
from m3bench.server.lab.results.resultset import read_resultset
from m3bench.server.scorecard.migration import card_of
from m3bench.server.scorecard.pages.picture import card_png
from m3bench.server.scorecard.pages.run import TaskShown, run_document, run_page
from m3bench.tasks.errors import UserError
from m3bench.tasks.library import BUNDLED, Library


@dataclass(frozen=True, kw_only=True)
class ReportFiles:
    """What is written where."""

    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="The page. By default named after task and run."),
    ] = None
    png: Annotated[Path | None, typer.Option(metavar="FILE", help="A picture of the card, 1200 pixels wide.")] = None


def report(
    files: ReportFiles,
    where: RecordOptions,
    run: Annotated[
        str,
        typer.Argument(
            metavar="RUN|SET",
            help="A run's handle, its beginning, or `latest`; or the folder of a result set.",
            show_default=True,
        ),
    ] = "latest",
    tasks: Tasks = None,
    json: Json = False,
) -> None:
    """Write a run or a result set as one HTML file.

    \b
    m3bench report                           # the newest run
    m3bench report runs/oracle -o oracle.html
    m3bench report latest --png card.png

    For a run it shows the question, the calls over time, what matched, and what each fault cost; for a set, metrics
    with intervals, families, levels, faults, errors, and every run. The file needs no network and no server. --png also
    draws a picture of the card, or only that when no page is named; --json prints what the page shows instead of
    writing it.
    """
    if Path(run).is_dir():
        _report_set(Path(run), files, tasks, json)
        return
    with records(where) as opened:
        store, found = opened.find(run)
        calls = store.calls(found.id)
    # The task is shown when the set at hand is the one that the run was made with.
    document = run_document(found, calls, TaskShown.of_run(found, Library(tasks or BUNDLED)))
    if json:
        print_json(document)
    if files.png is not None:
        card = card_of(found)
        if card is None:
            raise UserError("This run has no score card to draw: submit it and call score first.")
        _write(files.png, card_png(document, card))
    if files.out is not None or (files.png is None and not json):
        _write(files.out or Path(f"{_file_name(found.task)}-{found.id[:8]}.html"), run_page(document).encode())


def _report_set(folder: Path, files: ReportFiles, tasks: Path | None, json: bool) -> None:
    if files.png is not None:
        raise UserError("--png draws the card of one run: name a run of the set, with --data its data folder.")
    results = read_resultset(folder)
    if not results.results:
        raise UserError(f"There is no scored run in {folder}.")
    known = set_at_hand(results, [Library(tasks or BUNDLED)])
    document = set_document(results, slices(results.results, known))
    if json:
        print_json(document.to_json())
    if files.out is not None or not json:
        _write(files.out or Path(f"{_file_name(results.header.name)}.html"), set_page(document).encode())


def _file_name(task: str) -> str:
    return "".join(letter if letter.isascii() and (letter.isalnum() or letter in "-_") else "-" for letter in task)[:60]


def _write(path: Path, content: bytes) -> None:
    write_file(path, content)
    typer.echo(f"Written to {path}", err=True)
