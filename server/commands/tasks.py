"""`m3bench tasks`: look at tasks, make sets of them, and prove them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from m3bench.tasks.library import Library

commands = typer.Typer(name="tasks", help="List, show, generate and verify tasks.", no_args_is_help=True)

Set = Annotated[Path | None, typer.Option("--tasks", help="Folder with a set of tasks; the bundled set when left out.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@commands.command("list")
def list_tasks(tasks: Set = None, json: Json = False) -> None:
    """List the tasks of a set."""
    from rich.table import Table

    from m3bench.server.commands.screen import console, print_json

    library = _library(tasks)
    if json:
        rows = [_row(library, id) for id in library.tasks]
        print_json({"set": library.set.name, "version": library.set.version, "hash": library.hash, "tasks": rows})
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("task", "family", "difficulty", "steps", "calls", "servers"):
        table.add_column(heading, justify="right" if heading in ("steps", "calls") else "left")
    for id in library.tasks:
        row = _row(library, id)
        table.add_row(
            id, row["family"], row["difficulty"], str(row["steps"]), str(row["calls"]), ", ".join(row["servers"])
        )
    console().print(table)


@commands.command()
def show(task: Annotated[str, typer.Argument(help="A task's id.")], tasks: Set = None) -> None:
    """Show a task: its question and the path of its picture, as a client would get them."""
    library = _library(tasks)
    found = library.task(task)
    typer.echo(f"{found.id} ({found.family}, {found.difficulty})\n\n{found.question}\n")
    for name in found.pictures:
        typer.echo(library.folder / "pictures" / name)


@commands.command()
def generate(
    art: Annotated[Path, typer.Option(help="The art package: what `npm pack @lobehub/fluent-emoji-3d@1.1.0` writes.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write the set into.")],
    seed: Annotated[int, typer.Option(help="Another seed gives other tasks.")] = 1,
    per_family: Annotated[int, typer.Option(min=1, help="Tasks per family.")] = 2,
    family: Annotated[list[str] | None, typer.Option(help="Only these families.")] = None,
    name: Annotated[str, typer.Option(help="The set's name.")] = "generated",
    version: Annotated[str, typer.Option(help="The set's version.")] = "1",
) -> None:
    """Make a set of tasks from a seed: pictures, questions, and references that were played."""
    import anyio

    from m3bench.server.app import App
    from m3bench.server.generation import generate as make
    from m3bench.server.settings import Settings
    from m3bench.tasks.errors import UserError
    from m3bench.tasks.families.registry import FAMILIES
    from m3bench.tasks.render.art import Art

    unknown = sorted(set(family or ()) - set(FAMILIES))
    if unknown:
        raise UserError(f"There is no family {unknown[0]!r}: choose from {', '.join(FAMILIES)}.")

    async def main() -> int:
        backend = App(Settings()).backend
        async with backend:
            made = await make(
                [FAMILIES[one] for one in family or FAMILIES], seed=seed, per_family=per_family, art=Art(art),
                backend=backend, out=out, name=name, version=version,
            )  # fmt: skip
        return len(made)

    typer.echo(f"{anyio.run(main)} tasks written to {out}", err=True)


@commands.command()
def verify(tasks: Set = None, json: Json = False) -> None:
    """Prove a set: every reference runs in a fresh sandbox, and scores 1 against itself.

    Exit code 1 when one does not.
    """
    import anyio

    from m3bench.server.commands.screen import print_json
    from m3bench.server.verification import verify as prove

    problems = anyio.run(prove, _library(tasks))
    if json:
        print_json({"problems": problems})
    else:
        for problem in problems:
            typer.echo(problem)
        typer.echo("Every reference runs and scores 1." if not problems else f"{len(problems)} problems.", err=True)
    if problems:
        raise typer.Exit(1)


def _library(folder: Path | None) -> "Library":
    from m3bench.tasks.library import BUNDLED, Library

    return Library(folder or BUNDLED)


def _row(library: "Library", id: str) -> dict[str, Any]:
    task = library.tasks[id]
    steps = task.references[0].steps
    return {
        "id": id, "family": task.family, "difficulty": task.difficulty, "steps": len(steps),
        "calls": sum(len(step) for step in steps), "servers": list(task.servers), "checks": len(task.checks),
    }  # fmt: skip
