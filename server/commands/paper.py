"""`m3bench paper`: what a paper needs of result sets, in one folder."""

from pathlib import Path
from typing import Annotated

import typer

from m3bench.server.commands.record import Json


def paper(
    sets: Annotated[
        list[Path],
        typer.Argument(
            metavar="FOLDER...", help="Result sets, or folders that hold some, such as a study's.", show_default=False
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write.")] = Path("paper"),
    tasks: Annotated[
        list[Path] | None,
        typer.Option(help="Folder with a set of tasks, beside the bundled one; may be repeated.", show_default=False),
    ] = None,
    json: Json = False,
) -> None:
    """Write tables, figures, data, methods and a summary of result sets, for a paper.

    \b
    summary.md     one page: who solved how much, what is certain, why runs failed
    methods.md     a paragraph with versions and hashes; also as LaTeX
    tables/        CSV with every digit, LaTeX without packages
    figures/       SVG and PDF on white ground
    data/          a row for every sample and every call: Parquet, or JSON Lines
                   without the extra `parquet`
    numbers.json   every number; its leaderboard is that of `m3bench leaderboard`
    example.tex    a document with all of it

    Sets that were not made under the same conditions go into groups of their
    own and are never ranked together.
    """
    from m3bench.server.commands.screen import counter, print_json
    from m3bench.server.lab.reports.paper.data import parquet_at_hand
    from m3bench.server.lab.reports.paper.folder import write_paper
    from m3bench.server.lab.reports.paper.groups import read_groups, result_folders
    from m3bench.tasks.errors import UserError
    from m3bench.tasks.library import BUNDLED, Library

    folders = result_folders(sets)
    groups, empty = read_groups(folders)
    if not groups:
        raise UserError(f"There is no scored run in {', '.join(map(str, folders))}.")
    libraries = [Library(folder) for folder in (*(tasks or ()), BUNDLED)]
    with counter(sum(len(group.sets) for group in groups), "Counting") as tell:
        files = write_paper(output, groups, empty, libraries, tell)
    if json:
        print_json({"folder": str(output), "groups": {one.name: [str(s.folder) for s in one.sets] for one in groups},
                    "files": files})  # fmt: skip
        return
    for group in groups:
        typer.echo(f"{group.name}: {', '.join(one.header.name for one in group.sets)}")
    typer.echo(f"Written to {output}: {len(files)} files; begin with {output / 'summary.md'}", err=True)
    if not parquet_at_hand():
        typer.echo("The data is JSON Lines; Parquet needs: pip install 'm3bench[parquet]'", err=True)
