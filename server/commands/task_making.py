"""`m3bench tasks generate`, `plan` and `render`: make sets of tasks, and draw them to look at."""

import random
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from typing import Annotated

import typer

from m3bench.sandboxes.backends.result_cache import SEEN
from m3bench.sandboxes.world.tables import load
from m3bench.server.commands.options import ArtFolder, Families, Json, OutFolder, Sandbox, Tasks
from m3bench.server.commands.screen import counter, print_json, progress
from m3bench.server.lab.authoring.checkpoints import UNFINISHED
from m3bench.server.lab.authoring.planning import play_plans
from m3bench.server.lab.authoring.reading_page import write_page, write_sheet
from m3bench.server.lab.authoring.sets import SetRequest, make_set
from m3bench.server.serving import interrupts
from m3bench.server.serving.backend import backend_of
from m3bench.server.settings import Settings
from m3bench.tasks.atomic_files import write_atomically
from m3bench.tasks.catalog import did_you_mean
from m3bench.tasks.errors import InputFileError, UserError
from m3bench.tasks.families.base import Family, Kit
from m3bench.tasks.families.registry import EVERY, FAMILIES
from m3bench.tasks.library import BUNDLED, PLANS, Library
from m3bench.tasks.plan import Plan, Plans
from m3bench.tasks.render.art import Art
from m3bench.tasks.render.packages import default_folder, fetch


@dataclass(frozen=True, kw_only=True)
class GenerateOptions:
    """Which set is made."""

    out: OutFolder
    seed: Annotated[int, typer.Option(help="Another seed gives other tasks.")] = 1
    per_family: Annotated[int, typer.Option(min=1, metavar="N", help="Tasks per family.")] = 8
    family: Families = None
    name: Annotated[str, typer.Option(help="The set's name.")] = "generated"
    version: Annotated[str, typer.Option(help="The set's version.")] = "1"
    parallel: Annotated[int | None, typer.Option(min=1, metavar="N", help="Processes; by default one per core.")] = None
    art: ArtFolder = None


def render(
    out: OutFolder,
    tasks: Tasks = None,
    family: Families = None,
    seed: Annotated[int | None, typer.Option(help="Draw new pictures from this seed, without playing tasks.")] = None,
    count: Annotated[int, typer.Option(min=1, metavar="N", help="With --seed: pictures per family.")] = 4,
    art: ArtFolder = None,
    json: Json = False,
) -> None:
    """Draw a page and a contact sheet of a set's tasks, to look at.

    \b
    m3bench tasks render -o look                       # open look/tasks.html
    m3bench tasks render -o look --seed 7 --family movies

    It writes a page for people to read (tasks.html) and a contact sheet (contact.png); with a seed, only new pictures
    and their contact sheet. Prints the paths.
    """
    _make_folder(out)
    made = []
    if seed is None:
        library = Library(tasks or BUNDLED)
        chosen = [task for task in library.tasks.values() if not family or task.family in family]
        pictures = {name: library.picture(name) for task in chosen for name in task.pictures}
        made.append(write_page(out, f"{library.set.name} {library.set.version}", chosen))
    else:
        kit = Kit(_art(art), load)
        wanted = [(drawn, number) for drawn in _families(family) for number in range(1, count + 1)]
        pictures = {
            file: data
            for drawn, number in progress(wanted, len(wanted), "Drawing")
            for file, (data, _) in drawn.compose(random.Random(f"picture {drawn.name} {seed} {number} 0"), kit)
            .pictures(f"{drawn.name}-{number}")
            .items()
        }
    made.append(write_sheet(out, pictures))
    if json:
        print_json({"files": [str(path) for path in made], "pictures": len(pictures)})
        return
    for path in made:
        typer.echo(path)


def generate(options: GenerateOptions, json: Json = False) -> None:
    """Make a set of tasks from a seed.

    \b
    m3bench tasks generate -o mine --seed 5 --family movies --per-family 2
    m3bench serve --tasks mine

    It makes pictures, questions, and references that were played, and writes them as a set of tasks. Finished tasks are
    kept: after a failure or a stop the same command continues.
    """
    out = options.out
    chosen = [family.name for family in _families(options.family)]
    _make_folder(out)
    folder = _art(options.art).folder
    with counter(len(chosen), "Generating") as done:
        made = make_set(
            SetRequest(
                families=chosen,
                seed=options.seed,
                per_family=options.per_family,
                art=folder,
                name=options.name,
                version=options.version,
                seen=out / SEEN,
            ),
            parallel=options.parallel,
            progress=done,
            keep=out / UNFINISHED,
        )
    made.write(out)
    rmtree(out / UNFINISHED, ignore_errors=True)
    if json:
        print_json({"folder": str(out), "tasks": list(made.tasks)})
    typer.echo(f"{len(made.tasks)} tasks written to {out}", err=True)


def plan(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A set of tasks.")],
    sandbox: Sandbox = "inprocess",
    in_order: Annotated[
        bool,
        typer.Option("--in-order", help="Each step follows from the one before it, even where no value shows it."),
    ] = False,
    json: Json = False,
) -> None:
    """Write down what each call of a set's references gives and needs.

    \b
    m3bench tasks plan my-tasks

    It plays the references and writes the set's plans.json. `generate` does this by itself, with --in-order; the
    command is for sets that were written or changed by hand.
    """
    library = Library(folder)

    async def main() -> dict[str, tuple[Plan, ...]]:
        with counter(len(library.tasks), "Playing") as done:
            async with backend_of(Settings.of(sandbox=sandbox)) as backend:
                return await play_plans(library, backend, in_order=in_order, progress=done)

    write_atomically(folder / PLANS, Plans(plans=interrupts.run(main)).to_json())
    if json:
        print_json({"path": str(folder / PLANS), "tasks": len(library.tasks)})
    else:
        typer.echo(f"Plans of {len(library.tasks)} tasks written to {folder / PLANS}", err=True)


def _make_folder(path: Path) -> None:
    """Make a folder a person named, before the long work whose results go there."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        what = "is a file: name a folder" if path.is_file() else f"cannot be made ({error.strerror})"
        raise InputFileError(path, what) from error


def _families(names: list[str] | None) -> list[Family]:
    unknown = sorted(set(names or ()) - set(EVERY))
    if unknown:
        hint = did_you_mean(unknown[0], EVERY)
        raise UserError(f"There is no family {unknown[0]!r}: choose from {', '.join(EVERY)}.{hint}")
    return [EVERY[name] for name in names or FAMILIES]


def _art(folder: Path | None) -> Art:
    place = folder or default_folder()
    fetch(place)
    return Art(place)
