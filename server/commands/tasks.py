"""`m3bench tasks`: look at tasks, make sets of them, and prove them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from m3bench.server.commands.gate import gate
from m3bench.server.commands.photo import fetch, photo

if TYPE_CHECKING:
    from m3bench.tasks.families.base import Family
    from m3bench.tasks.library import Library
    from m3bench.tasks.render.art import Art

commands = typer.Typer(name="tasks", help="List, show, generate and verify tasks.", no_args_is_help=True)
commands.command()(gate)
commands.command()(photo)
commands.command()(fetch)

Set = Annotated[Path | None, typer.Option("--tasks", help="Folder with a set of tasks; the bundled set when left out.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Seed = Annotated[int, typer.Option(help="Another seed gives other tasks.")]
Families = Annotated[list[str] | None, typer.Option("--family", help="Only these families; may be repeated.")]
Level = Annotated[
    list[str] | None,
    typer.Option(metavar="L1|L2|L3", help="Only tasks of this level of MCPVerse; may be repeated."),
]
Setting = Annotated[
    str | None, typer.Option(metavar="single|multi", help="Only tasks that need one server, or several.")
]
ArtFolder = Annotated[
    Path | None,
    typer.Option("--art", help="Folder with the art packages; fetched with npm into the user's cache when left out."),
]


@commands.command("list")
def list_tasks(tasks: Set = None, level: Level = None, setting: Setting = None, json: Json = False) -> None:
    """List the tasks of a set, all or those of a level or setting."""
    from rich.table import Table

    from m3bench.server.commands.screen import console, print_json
    from m3bench.tasks.levels import of_kind

    library = _library(tasks)
    chosen = of_kind(library.tasks.values(), setting, level or ())
    if json:
        rows = [_row(library, task.id) for task in chosen]
        print_json({"set": library.set.name, "version": library.set.version, "hash": library.hash, "tasks": rows})
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("task", "family", "difficulty", "level", "steps", "calls", "servers"):
        table.add_column(heading, justify="right" if heading in ("steps", "calls") else "left")
    for row in (_row(library, task.id) for task in chosen):
        names = (row["id"], row["family"], row["difficulty"], row["level"])
        table.add_row(*names, str(row["steps"]), str(row["calls"]), ", ".join(row["servers"]))
    console().print(table)


@commands.command()
def show(task: Annotated[str, typer.Argument(help="A task's id.")], tasks: Set = None, json: Json = False) -> None:
    """Show a task: its question, its fields and the path of its picture, as a client would get them."""
    from m3bench.server.commands.screen import print_json

    library = _library(tasks)
    found = library.task(task)
    paths = [str(library.folder / "pictures" / name) for name in found.pictures]
    paths += [str(library.folder / "recordings" / name) for name in found.recordings]
    if json:
        print_json({**_row(library, found.id), "question": found.question, "pictures": paths,
                    "asks": [field.shown() for field in found.fields]})  # fmt: skip
        return
    typer.echo(f"{found.id} ({found.family}, {found.difficulty})\n\n{found.question}\n")
    for field in found.fields:
        typer.echo(f"- {field.line}")
    for path in paths:
        typer.echo(path)


@commands.command()
def stats(tasks: Set = None, json: Json = False) -> None:
    """Count what a set holds: tasks, steps, calls, tools, and how unlike the tasks of a family are.

    For each family: in how many ways its tasks are solved (plan shapes: the tools, and which needs which), and the
    largest share of calls that two of its tasks have word for word in common.
    """
    from m3bench.server.commands.screen import print_json
    from m3bench.server.lab.authoring.statistics import statistics

    found = statistics(_library(tasks))
    if json:
        print_json(found)
        return
    shapes, shared = found.pop("plan_shapes"), found.pop("max_shared_calls")
    for name, value in found.items():
        shown = f"{value:.0%}" if isinstance(value, float) else value
        typer.echo(f"{name.replace('_', '-'):<15}{shown}")
    width = max(map(len, shapes), default=0)
    typer.echo(f"\n{'family':<{width}}  plan shapes  most shared calls")
    for family, count in shapes.items():
        typer.echo(f"{family:<{width}}  {count:>11}  {shared[family]:>17.0%}")


@commands.command()
def render(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write into.")],
    tasks: Set = None,
    family: Families = None,
    seed: Annotated[int | None, typer.Option(help="Draw new pictures from this seed, without playing tasks.")] = None,
    count: Annotated[int, typer.Option(min=1, help="New pictures per family.")] = 4,
    art: ArtFolder = None,
    json: Json = False,
) -> None:
    """Write a page of a set's tasks for people to read (tasks.html), and a contact sheet (contact.png).

    With a seed, new pictures and their contact sheet alone.
    """
    import random

    _make_folder(out)
    from m3bench.sandboxes.world.tables import load
    from m3bench.server.commands.screen import print_json, progress
    from m3bench.server.lab.authoring.contact_sheet import write_sheet
    from m3bench.server.lab.authoring.reading_page import write_page
    from m3bench.tasks.families.base import Kit

    made = []
    if seed is None:
        library = _library(tasks)
        chosen = [task for task in library.tasks.values() if not family or task.family in family]
        pictures = {name: library.picture(name) for task in chosen for name in task.pictures}
        made.append(write_page(out, f"{library.set.name} {library.set.version}", chosen))
    else:
        kit = Kit(_art(art), load)
        wanted = [(one, number) for one in _families(family) for number in range(1, count + 1)]
        pictures = {
            file: data
            for one, number in progress(wanted, len(wanted), "Drawing")
            for file, (data, _) in one.compose(random.Random(f"picture {one.name} {seed} {number} 0"), kit)
            .pictures(f"{one.name}-{number}")
            .items()
        }
    made.append(write_sheet(out, pictures))
    if json:
        print_json({"files": [str(path) for path in made], "pictures": len(pictures)})
        return
    for path in made:
        typer.echo(path)


@commands.command()
def generate(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write the set into.")],
    seed: Seed = 1,
    per_family: Annotated[int, typer.Option(min=1, help="Tasks per family.")] = 8,
    family: Families = None,
    name: Annotated[str, typer.Option(help="The set's name.")] = "generated",
    version: Annotated[str, typer.Option(help="The set's version.")] = "1",
    parallel: Annotated[int | None, typer.Option(min=1, help="Processes; one per core when left out.")] = None,
    art: ArtFolder = None,
    json: Json = False,
) -> None:
    """Make a set of tasks from a seed: pictures, questions, and references that were played.

    What is finished is kept: after a failure or a stop the same command goes on from there.
    """
    from shutil import rmtree

    from m3bench.server.commands.screen import counter, print_json
    from m3bench.server.lab.authoring.kept import UNFINISHED
    from m3bench.server.lab.authoring.sets import make_set

    chosen = [one.name for one in _families(family)]
    _make_folder(out)
    folder = _art(art).folder
    with counter(len(chosen), "Generating") as done:
        made = make_set(
            chosen, seed=seed, per_family=per_family, art=folder, name=name, version=version, parallel=parallel,
            progress=done, keep=out / UNFINISHED,
        )  # fmt: skip
    made.write(out)
    rmtree(out / UNFINISHED, ignore_errors=True)
    if json:
        print_json({"folder": str(out), "tasks": list(made.tasks)})
    typer.echo(f"{len(made.tasks)} tasks written to {out}", err=True)


@commands.command()
def plan(
    folder: Annotated[Path, typer.Argument(help="Folder with a set of tasks.")],
    sandbox: Annotated[
        str, typer.Option(help="Where references are played: process, docker or inprocess.")
    ] = "inprocess",
    in_order: Annotated[
        bool,
        typer.Option("--in-order", help="Each step follows from the one before it, also where no value shows it."),
    ] = False,
    json: Json = False,
) -> None:
    """Play the references of a set and write down what each of their calls gives and needs, in its plans.json.

    `generate` does this by itself, with --in-order; it is for sets that were written or changed by hand.
    """
    from m3bench.server.commands.screen import counter, print_json
    from m3bench.server.lab.authoring.planning import play_plans
    from m3bench.server.serving import interrupts
    from m3bench.server.serving.backend import backend_of
    from m3bench.server.settings import Settings
    from m3bench.tasks.atomic_files import write_atomically
    from m3bench.tasks.library import PLANS
    from m3bench.tasks.plan import Plan, Plans

    library = _library(folder)

    async def main() -> dict[str, tuple[Plan, ...]]:
        with counter(len(library.tasks), "Playing") as done:
            async with backend_of(Settings.of(sandbox=sandbox)) as backend:
                return await play_plans(library, backend, in_order=in_order, progress=done)

    write_atomically(folder / PLANS, Plans(plans=interrupts.run(main)).to_json())
    if json:
        print_json({"path": str(folder / PLANS), "tasks": len(library.tasks)})
    else:
        typer.echo(f"Plans of {len(library.tasks)} tasks written to {folder / PLANS}", err=True)


@commands.command()
def lint(tasks: Set = None, json: Json = False) -> None:
    """Look for what is wrong or unfair in a set without playing it.

    Ties where the best is asked for, answers that the question gives away, two answers that are one, broken references.
    The exit code is 1 when there is something.
    """
    from m3bench.server.commands.screen import print_json
    from m3bench.server.lab.authoring.fairness import unfair, unfair_together
    from m3bench.server.lab.authoring.lint import lint as look
    from m3bench.server.lab.authoring.lint import lint_set
    from m3bench.tasks.catalog import load_catalog

    library = _library(tasks)
    catalog = load_catalog().ready
    problems = [*lint_set(library), *unfair_together(library)]
    for task in library.tasks.values():
        problems += [f"{task.id}: {one}" for one in (*look(task, library, catalog), *unfair(task, library))]
    if json:
        print_json({"tasks": len(library.tasks), "hash": library.hash, "problems": problems})
    else:
        for problem in problems:
            typer.echo(problem)
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        typer.echo(f"{len(library.tasks)} tasks: {count if problems else 'nothing to mend'}.", err=True)
    if problems:
        raise typer.Exit(1)


@commands.command()
def verify(
    tasks: Set = None,
    json: Json = False,
    sandbox: Annotated[
        str, typer.Option(help="Where references are played: process, docker or inprocess.")
    ] = "process",
    parallel: Annotated[int, typer.Option(min=1, help="Tasks at a time.")] = 2,
) -> None:
    """Prove a set: every reference runs in a fresh sandbox, in any order of a step's calls, passes the task's checks
    and scores 1.

    The exit code is 1 when one does not. What is proved is remembered until the command comes to an end: after a stop
    it goes on from there.
    """
    from m3bench.server.commands.screen import counter, print_json
    from m3bench.server.lab.authoring.kept import KeptProofs, key_of
    from m3bench.server.lab.authoring.verification import verify as prove
    from m3bench.server.serving import interrupts
    from m3bench.server.serving.backend import backend_of
    from m3bench.server.settings import Settings

    library = _library(tasks)
    settings = Settings.of(sandbox=sandbox)
    proofs = KeptProofs(settings.data / "verify" / f"{key_of(library.hash, sandbox)[:32]}.jsonl")

    async def main() -> list[str]:
        with counter(len(library.tasks), "Verifying") as done:
            async with backend_of(settings) as backend:
                return await prove(library, backend, parallel=parallel, progress=done, proofs=proofs)

    problems = interrupts.run(main)
    proofs.clear()
    if json:
        print_json({"tasks": len(library.tasks), "hash": library.hash, "problems": problems})
    else:
        for problem in problems:
            typer.echo(problem)
        good = f"{len(library.tasks)} tasks: every reference runs, passes its checks and scores 1."
        typer.echo(good if not problems else f"{len(problems)} problems.", err=True)
    if problems:
        raise typer.Exit(1)


def _make_folder(path: Path) -> None:
    """Make a folder a person named, before the long work whose results go there."""
    from m3bench.tasks.errors import InputFileError

    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        what = "is a file: name a folder" if path.is_file() else f"cannot be made ({error.strerror})"
        raise InputFileError(path, what) from error


def _library(folder: Path | None) -> "Library":
    from m3bench.tasks.library import BUNDLED, Library

    return Library(folder or BUNDLED)


def _families(names: list[str] | None) -> "list[Family]":
    from m3bench.tasks.catalog import did_you_mean
    from m3bench.tasks.errors import UserError
    from m3bench.tasks.families.registry import EVERY, FAMILIES

    unknown = sorted(set(names or ()) - set(EVERY))
    if unknown:
        hint = did_you_mean(unknown[0], EVERY)
        raise UserError(f"There is no family {unknown[0]!r}: choose from {', '.join(EVERY)}.{hint}")
    return [EVERY[name] for name in names or FAMILIES]


def _art(folder: Path | None) -> "Art":
    from m3bench.tasks.render.art import Art
    from m3bench.tasks.render.packages import default_folder, fetch

    place = folder or default_folder()
    fetch(place)
    return Art(place)


def _row(library: "Library", id: str) -> dict[str, Any]:
    from m3bench.tasks.levels import level_of, setting_of

    task = library.tasks[id]
    steps = task.references[0].steps
    return {
        "id": id, "family": task.family, "difficulty": task.difficulty, "level": level_of(task),
        "setting": setting_of(task), "steps": len(steps), "calls": sum(len(step) for step in steps),
        "servers": list(task.servers), "fields": len(task.fields), "checks": len(task.checks),
        "references": len(task.references),
    }  # fmt: skip
