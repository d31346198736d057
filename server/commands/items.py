"""`m3bench lab items`: which tasks are hard, which discriminate, and which few say most."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from m3bench.server.commands.options import Json
from m3bench.server.commands.screen import console, plain_table, print_json, write_file
from m3bench.server.lab.reports.item_analysis import SHORT, ItemAnalysis, SetPlacement, ShortForm, analyse
from m3bench.server.lab.reports.paper.groups import result_folders
from m3bench.server.lab.results.resultset import ResultSet, read_resultset
from m3bench.server.scoring.statistics.items import ItemFit, ItemValue
from m3bench.tasks.errors import UserError


def items(
    sets: Annotated[
        list[Path],
        typer.Argument(
            metavar="FOLDER...", help="Result sets, or folders that hold some, such as a study's.", show_default=False
        ),
    ],
    short: Annotated[int, typer.Option(min=1, metavar="N", help="Tasks of the short form.")] = SHORT,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="File for the ids of the short form, for run --task @FILE."),
    ] = None,
    place: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FOLDER",
            help="Place a set that played some of the tasks among the others; may be repeated.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Show which tasks are hard, which discriminate, and which few say most.

    \b
    m3bench lab items runs -o short.txt
    m3bench run --model openai/gpt-5 --task @short.txt -o new
    m3bench lab items runs --place new

    Prints the share of sets that solve each task, and with four sets or more its difficulty and discrimination by the
    two-parameter logistic model, with standard errors. Tasks that abler sets solve less often are named: look at their
    references. The short form has the tasks that say most about sets like these, spread over families, with the error
    that it adds to a set's average and what it does to the order of sets, by cross-validation.

    --place predicts the average over all tasks of a set that played some of them, such as a short form.
    """
    found = analyse(list(_read(sets)), short, list(_read(place or ())))
    if out is not None:
        if found.short is None:
            raise UserError(f"There is no short form to write to {out}: {' '.join(found.notes)}")
        write_file(out, _listed(found.short, len(found.sets)))
        typer.echo(f"Written to {out}", err=True)
    if json:
        print_json(found.to_json())
        return
    if found.placed:
        _show_placed(found.placed, len(found.sets))
    else:
        _show(found)
    for note in found.notes:
        typer.echo(note, err=True)


def _read(folders: Iterable[Path]) -> Iterable[ResultSet]:
    for folder in result_folders(folders):
        results = read_resultset(folder)
        if results.results:
            yield results
        else:
            typer.echo(f"m3bench: left out, because no run of it is scored: {folder}", err=True)


def _listed(short: ShortForm, sets: int) -> str:
    head = f"# {len(short.tasks)} tasks of {short.families} families, a short form by what {sets} result sets solved"
    return "\n".join((head, *short.tasks, ""))


def _show(found: ItemAnalysis) -> None:
    chosen = set() if found.short is None else set(found.short.tasks)
    table = plain_table("task", "solved", "difficulty", "discrimination", "", right=("solved",))
    for item in found.items:
        notes = (_doubt(item), "short form" if item.task in chosen else "")
        shown = (_number(item.difficulty), _number(item.discrimination), ", ".join(filter(None, notes)))
        table.add_row(item.task, f"{item.solved * 100:.0f} %", *shown)
    console().print(table)
    if found.backwards:
        typer.echo(f"Abler sets solve these less often: {', '.join(found.backwards)}")
    if found.short is not None:
        _show_short(found.short)


def _doubt(item: ItemFit) -> str:
    return "backwards" if item.backwards else "may be backwards" if item.doubtful else ""


def _number(found: ItemValue | None) -> str:
    return "–" if found is None else f"{found.value:5.2f} ± {found.error:.2f}"


def _show_short(short: ShortForm) -> None:
    typer.echo(f"Short form: {len(short.tasks)} tasks of {short.families} families.")
    for number, accuracy in short.accuracy.items():
        orders = accuracy.orders
        typer.echo(
            f"By {number}: it adds an error of {accuracy.error:.3f} to a set's mean, {accuracy.worst:.3f} at worst. "
            f"Kendall's tau {orders.tau:.2f}: of {orders.pairs} pairs {orders.turned} change order, of the "
            f"{orders.clear} clear ones {orders.clear_turned}."
        )
    if not short.accuracy:
        typer.echo("The error it adds is not known: fewer than two sets played nearly all tasks.")


def _show_placed(placed: Iterable[SetPlacement], sets: int) -> None:
    table = plain_table("set", "by", "tasks", "predicted", "95 % interval", f"place among {sets}", right=("tasks",))
    for row in placed:
        low, high = row.places
        place = str(low) if low == high else f"{low}–{high}"
        between = f"{row.interval.low:.3f} … {row.interval.high:.3f}"
        table.add_row(row.name, row.number, str(row.tasks), f"{row.predicted:.3f}", between, place)
    console().print(table)
