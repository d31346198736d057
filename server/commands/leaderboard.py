"""`m3bench leaderboard`: result sets side by side, as a static site."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from m3bench.server.commands.options import Json
from m3bench.server.commands.screen import console, counter, plain_table, print_json
from m3bench.server.lab.reports.paper.groups import groups_of, result_folders
from m3bench.server.lab.reports.site.files import write_site
from m3bench.server.lab.reports.standings import BoardEntry, Leaderboard, leaderboard_document
from m3bench.server.lab.results.comparability import differences
from m3bench.server.lab.results.resultset import ResultSet, read_resultset
from m3bench.server.scoring.words import printable
from m3bench.tasks.errors import UserError
from m3bench.tasks.library import BUNDLED, Library


def leaderboard(
    sets: Annotated[
        list[Path],
        typer.Argument(
            metavar="FOLDER...", help="Result sets, or folders that hold some, such as a study's.", show_default=False
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FOLDER", help="Folder for the site; without one the table is printed."),
    ] = None,
    mixed: Annotated[
        bool, typer.Option("--mixed", help="Show sets that were made under different conditions, without ranks.")
    ] = False,
    common: Annotated[
        bool, typer.Option("--common", help="Compare over the tasks that all sets have, which must be 30 or more.")
    ] = False,
    joint: Annotated[
        bool,
        typer.Option(
            "--joint", help="Give ranks that all hold together at 95 %, instead of each by itself; they are wider."
        ),
    ] = False,
    tasks: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FOLDER", help="A set of tasks, for the questions and pictures of the site; may be repeated."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Rank result sets, as a table or a static site.

    \b
    m3bench leaderboard runs/oracle runs/sloppy
    m3bench leaderboard runs -o site            # open site/index.html
    m3bench leaderboard studies/first

    Prints what is solved and the averages with intervals, and ranks. A rank is the range of places that the data allow
    at 95 %. Sets must agree in everything that moves a number: versions, list of tasks, tool profile, solver, limits,
    scoring. --common compares sets with different lists of tasks over those that all have; --mixed shows others
    together, says what differs, and gives no ranks. The site needs no server: it has a page for every set, run and
    task, and everything as JSON, CSV, LaTeX and figures. Ranked runs have no page, because it would show the
    references.

    A folder that holds result sets, such as a study's, stands for those of its sets that have scored runs. When they
    fall into groups that do not compare, each group is a leaderboard of its own, in a folder of its name.
    """
    libraries = [Library(folder) for folder in (*(tasks or ()), BUNDLED)]

    def board(of: Sequence[ResultSet], folder: Path | None) -> Leaderboard:
        if folder is None:
            return leaderboard_document(of, mixed=mixed, common=common, joint=joint)
        with counter(2 * len(of), "Writing") as tell:
            return write_site(folder, of, mixed=mixed, common=common, joint=joint, libraries=libraries, tell=tell)

    groups = _groups(sets, together=mixed or common)
    boards = {name: board(of, None if out is None else out / name) for name, of in groups.items()}
    if json:
        documents = {name: document.to_json() for name, document in boards.items()}
        print_json(documents.get("", {"groups": documents}))
        return
    for name, document in boards.items():
        if name:
            typer.echo(f"{name}:")
        show(document.entries)
        for number, caution in document.cautions.items():
            typer.echo(f"By {number}: {caution}", err=True)
        if document.common is not None:
            typer.echo(f"Over the {document.common.tasks} tasks that all sets have.", err=True)
        for line in document.mixed:
            typer.echo(f"m3bench: not comparable: {line}", err=True)
        if out is not None:
            typer.echo(f"Written to {out / name}: open {out / name / 'index.html'}", err=True)


def _groups(given: Sequence[Path], *, together: bool) -> dict[str, Sequence[ResultSet]]:
    """The result sets that are meant, by the name of the group that they compare in; a single group has no name.

    Sets that are named one by one are one group, of which it is said why they do not compare.

    Raises:
        UserError: There is no scored run in them.
    """
    read = [read_resultset(folder) for meant in given for folder in _sets_in(meant)]
    if [found.folder for found in read] == list(given):
        return {"": read}
    scored = [found for found in read if found.results]
    if not scored:
        raise UserError(f"There is no scored run in {', '.join(map(str, given))}.")
    for found in read:
        if not found.results:
            typer.echo(f"m3bench: left out, because no run of it is scored: {found.folder}", err=True)
    groups = [] if together else groups_of(scored)
    for line in differences(scored) if len(groups) > 1 else ():
        typer.echo(f"m3bench: not comparable, and so on boards of their own: {line}", err=True)
    return {group.name: group.sets for group in groups} if len(groups) > 1 else {"": scored}


def _sets_in(folder: Path) -> list[Path]:
    """The result sets that a folder stands for: those in it, or itself, where reading it says what is wrong."""
    try:
        return result_folders([folder])
    except UserError:
        return [folder]


def show(entries: Sequence[BoardEntry]) -> None:
    """Print the table of a board; with the level of each set where bundles were verified."""
    numbers = ("solved", "95 % interval", "average", "95 % interval", "paper's metric", "samples")
    levels = ("level",) if any(entry.verdict is not None for entry in entries) else ()
    right = ("rank", "solved", "average", "paper's metric", "samples")
    table = plain_table("rank", "set", "kind", *levels, *numbers, right=right)
    for entry in entries:
        summary = entry.summary
        interval, solved = summary.intervals.get("average"), summary.success
        between = summary.success_interval
        table.add_row(
            entry.place,
            printable(entry.name),
            entry.kind,
            *("–" if entry.verdict is None else entry.verdict.verdict for _ in levels),
            "–" if solved is None else f"{solved * 100:.1f} %",
            f"{between.low * 100:.1f} … {between.high * 100:.1f} %" if between else "",
            f"{summary.metrics['average'] or 0:.3f}",
            f"{interval.low:.3f} … {interval.high:.3f}" if interval else "",
            "–" if summary.paper is None else f"{summary.paper:.3f}",
            str(summary.runs),
        )
    console().print(table)
