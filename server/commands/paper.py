"""`m3bench lab paper`: what a paper needs of result sets, in one folder."""

from pathlib import Path
from typing import Annotated

import typer

from m3bench.server.commands.options import Json
from m3bench.server.commands.screen import counter, print_json
from m3bench.server.lab.reports.paper.data import parquet_at_hand
from m3bench.server.lab.reports.paper.folder import write_paper
from m3bench.server.lab.reports.paper.groups import read_groups, result_folders
from m3bench.tasks.errors import UserError
from m3bench.tasks.library import BUNDLED, Library


def paper(
    sets: Annotated[
        list[Path],
        typer.Argument(
            metavar="FOLDER...", help="Result sets, or folders that hold some, such as a study's.", show_default=False
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="Folder to write.")] = Path("paper"),
    tasks: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FOLDER", help="A set of tasks, besides the bundled one; may be repeated.", show_default=False
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Write tables, figures, data and methods of result sets, for a paper.

    \b
    m3bench lab paper studies/first -o paper

    It writes a folder:

    \b
    summary.md     one page: who solved how much, what is certain, why runs failed
    methods.md     a paragraph with versions and hashes; also as LaTeX
    tables/        CSV with every digit, LaTeX without packages
    figures/       SVG and PDF on a white background
    data/          a row for every sample and every call: Parquet, or JSON Lines
                   without the extra `parquet`
    numbers.json   every number; its leaderboard is that of `m3bench leaderboard`
    example.tex    a document with all of it

    Sets that were not made under the same conditions go into groups of their own and are never ranked together.
    """
    folders = result_folders(sets)
    groups, empty = read_groups(folders)
    if not groups:
        raise UserError(f"There is no scored run in {', '.join(map(str, folders))}.")
    libraries = [Library(folder) for folder in (*(tasks or ()), BUNDLED)]
    with counter(sum(len(group.sets) for group in groups), "Counting") as tell:
        files = write_paper(out, groups, empty, libraries, tell)
    if json:
        named = {group.name: [str(found.folder) for found in group.sets] for group in groups}
        print_json({"folder": str(out), "groups": named, "files": files})
        return
    for group in groups:
        typer.echo(f"{group.name}: {', '.join(found.header.name for found in group.sets)}")
    typer.echo(f"Written to {out}: {len(files)} files; begin with {out / 'summary.md'}", err=True)
    if not parquet_at_hand():
        typer.echo("The data is JSON Lines; Parquet needs: pip install 'm3bench[parquet]'", err=True)
