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
        bool, typer.Option("--mixed", help="Combine sets that were made under different conditions.")
    ] = False,
    json: Json = False,
) -> None:
    """Compare result sets: averages with intervals, ranks with ties, families.

    Sets must agree in tasks, catalog, world, encoder and scoring; --mixed puts
    others together, and the page then says so. The site needs no server:
    index.html, a page for every set, leaderboard.json, leaderboard.csv, figures.
    """
    from m3bench.server.commands.screen import print_json
    from m3bench.server.results.reports.site import write_site
    from m3bench.server.results.reports.standings import leaderboard_document
    from m3bench.server.results.resultset import read_resultset

    read = [read_resultset(folder) for folder in sets]
    document = leaderboard_document(read, mixed=mixed) if output is None else write_site(output, read, mixed=mixed)
    if json:
        print_json(document)
        return
    _show(document["entries"])
    for line in document["mixed"]:
        typer.echo(f"m3bench: not comparable: {line}", err=True)
    if output is not None:
        typer.echo(f"Written to {output}: open {output / 'index.html'}", err=True)


def _show(entries: list[dict[str, Any]]) -> None:
    from rich.table import Table

    from m3bench.server.commands.screen import console

    table = Table(box=None, pad_edge=False)
    for heading in ("rank", "set", "kind", "average", "95 % interval", "solved", "paper's metric", "samples"):
        table.add_column(heading, justify="left" if heading in ("set", "kind", "95 % interval") else "right")
    for entry in entries:
        summary = entry["summary"]
        interval, solved = summary["intervals"].get("average"), summary["success"]
        table.add_row(
            str(entry["rank"]),
            entry["name"],
            entry["kind"],
            f"{summary['metrics']['average'] or 0:.3f}",
            f"{interval[0]:.3f} … {interval[1]:.3f}" if interval else "",
            "–" if solved is None else f"{solved * 100:.1f} %",
            "–" if summary["paper"] is None else f"{summary['paper']:.3f}",
            str(summary["runs"]),
        )
    console().print(table)
