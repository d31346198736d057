"""`m3bench report`: what was measured, as a file to look at or to pass on."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from m3bench.server.commands.record import Data, Json, StoreAt, find_run, record, why_not_written

if TYPE_CHECKING:
    from m3bench.server.scorecard.pages.run import TaskShown
    from m3bench.server.store.records import RunRecord


def report(
    what: Annotated[
        str,
        typer.Argument(
            metavar="RUN|SET",
            help="A run's handle, its beginning, or `latest`; or the folder of a result set.",
            show_default=True,
        ),
    ] = "latest",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File for the page. By default named after task and run.")
    ] = None,
    png: Annotated[Path | None, typer.Option(help="File for a picture of the card, 1200 pixels wide.")] = None,
    tasks: Annotated[
        Path | None, typer.Option(help="Folder of the set the task is from; the bundled set when left out.")
    ] = None,
    data: Data = None,
    store: StoreAt = None,
    json: Json = False,
) -> None:
    """Write a run or a whole result set as one HTML file to look at or pass on.

    Of a run: question, calls over time, what matched, what each fault cost.
    Of a set: metrics with intervals, families, levels, faults, errors, and every run. The file
    needs no network and no server. `--png` draws a picture of the
    card as well, or alone when no page is named; `--json` prints what the page
    shows instead of writing it.
    """
    if Path(what).is_dir():
        _report_set(Path(what), output, png, tasks, json)
        return
    from m3bench.server.scorecard.pages.run import run_document, run_page

    with record(data, store) as opened:
        run = find_run(opened, what)
        calls = opened.calls(run.id)
    document = run_document(run, calls, _task_shown(run, tasks))
    if json:
        from m3bench.server.commands.screen import print_json

        print_json(document)
    if png is not None:
        _write_png(png, document, run)
    if output is not None or (png is None and not json):
        _write(output or Path(f"{_file_name(run.task)}-{run.id[:8]}.html"), run_page(document).encode())


def _report_set(folder: Path, output: Path | None, png: Path | None, tasks: Path | None, json: bool) -> None:
    from m3bench.server.lab.reports.paper.folder import set_at_hand
    from m3bench.server.lab.reports.slices import slices
    from m3bench.server.lab.reports.summary import set_document, set_page
    from m3bench.server.lab.results.resultset import read_resultset
    from m3bench.tasks.errors import UserError
    from m3bench.tasks.library import BUNDLED, Library

    if png is not None:
        raise UserError("--png draws the card of one run: name a run of the set, with --data its data folder.")
    results = read_resultset(folder)
    if not results.results:
        raise UserError(f"There is no scored run in {folder}.")
    known = set_at_hand(results, [Library(tasks or BUNDLED)])
    document = {**set_document(results), "slices": slices(results.results, known)}
    if json:
        from m3bench.server.commands.screen import print_json

        print_json(document)
    if output is not None or not json:
        _write(output or Path(f"{_file_name(results.header.name)}.html"), set_page(document).encode())


def _task_shown(run: "RunRecord", tasks: Path | None) -> "TaskShown | None":
    """The task of a run, when the set at hand is the one that the run was made with."""
    from m3bench.server.scorecard.pages.run import TaskShown
    from m3bench.tasks.library import BUNDLED, Library

    return TaskShown.of_run(run, Library(tasks or BUNDLED))


def _write_png(path: Path, document: dict[str, Any], run: "RunRecord") -> None:
    from m3bench.server.scorecard.migration import card_of
    from m3bench.server.scorecard.pages.picture import card_png
    from m3bench.tasks.errors import UserError

    card = card_of(run)
    if card is None:
        raise UserError("This run has no score card to draw: submit it and call score first.")
    _write(path, card_png(document, card))


def _file_name(task: str) -> str:
    return "".join(letter if letter.isascii() and (letter.isalnum() or letter in "-_") else "-" for letter in task)[:60]


def _write(path: Path, content: bytes) -> None:
    """Write a file a person named, whole or not at all."""
    from m3bench.tasks.atomic_files import write_atomically
    from m3bench.tasks.errors import InputFileError

    try:
        write_atomically(path, content)
    except OSError as error:
        raise InputFileError(path, why_not_written(path, error)) from error
    typer.echo(f"Written to {path}", err=True)
