"""`m3bench leaderboard`: result sets side by side, as a static site."""

from pathlib import Path
from typing import Annotated, Any

import typer

from m3bench.server.commands.record import Json


def leaderboard(
    sets: Annotated[list[Path], typer.Argument(metavar="SET...", help="Folders of result sets.", show_default=False)],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder for the site; without one the table is printed.")
    ] = None,
    mixed: Annotated[
        bool, typer.Option("--mixed", help="Show sets that were made under different conditions, without ranks.")
    ] = False,
    common: Annotated[
        bool, typer.Option("--common", help="Compare over the tasks that all sets have, which must be 30 or more.")
    ] = False,
    tasks: Annotated[
        list[Path] | None,
        typer.Option(help="Folder of a set of tasks: the site takes questions and pictures from it.", metavar="FOLDER"),
    ] = None,
    json: Json = False,
) -> None:
    """Compare result sets: solved and averages with intervals, ranks with ties, families.

    Sets must agree in everything that moves a number: versions, list of tasks,
    tool profile, solver, limits, scoring. --common compares sets with other
    lists of tasks over those that all have; --mixed shows others together,
    says what differs, and gives no ranks. The site needs no server: a page for
    every set, run and task, and everything as JSON, CSV, LaTeX and figures.
    Ranked runs have no page, because it would show the references.
    """
    from m3bench.server.commands.screen import counter, print_json
    from m3bench.server.lab.reports.site.files import write_site
    from m3bench.server.lab.reports.standings import leaderboard_document
    from m3bench.server.lab.results.resultset import read_resultset
    from m3bench.tasks.library import BUNDLED, Library

    read = [read_resultset(folder) for folder in sets]
    if output is None:
        document = leaderboard_document(read, mixed=mixed, common=common)
    else:
        libraries = [Library(folder) for folder in (*(tasks or ()), BUNDLED)]
        with counter(2 * len(read), "Writing") as tell:
            document = write_site(output, read, mixed=mixed, common=common, libraries=libraries, tell=tell)
    if json:
        print_json(document)
        return
    show(document["entries"])
    if document["common"]:
        typer.echo(f"Over the {document['common']['tasks']} tasks that all sets have.", err=True)
    for line in document["mixed"]:
        typer.echo(f"m3bench: not comparable: {line}", err=True)
    if output is not None:
        typer.echo(f"Written to {output}: open {output / 'index.html'}", err=True)


def show(entries: list[dict[str, Any]]) -> None:
    """Print the table of a board; with the level of each set where bundles were verified."""
    from rich.table import Table

    from m3bench.server.commands.screen import console

    table = Table(box=None, pad_edge=False)
    numbers = ("solved", "95 % interval", "average", "95 % interval", "paper's metric", "samples")
    levels = ("level",) if any("verdict" in entry for entry in entries) else ()
    for heading in ("rank", "set", "kind", *levels, *numbers):
        table.add_column(heading, justify="left" if heading in ("set", "kind", "level", "95 % interval") else "right")
    for entry in entries:
        summary = entry["summary"]
        interval, solved = summary["intervals"].get("average"), summary["success"]
        between = summary["success_interval"]
        table.add_row(
            "–" if entry["rank"] is None else str(entry["rank"]),
            entry["name"],
            entry["kind"],
            *(entry.get("verdict", {}).get("verdict", "–") for _ in levels),
            "–" if solved is None else f"{solved * 100:.1f} %",
            f"{between[0] * 100:.1f} … {between[1] * 100:.1f} %" if between else "",
            f"{summary['metrics']['average'] or 0:.3f}",
            f"{interval[0]:.3f} … {interval[1]:.3f}" if interval else "",
            "–" if summary["paper"] is None else f"{summary['paper']:.3f}",
            str(summary["runs"]),
        )
    console().print(table)
