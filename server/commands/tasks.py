"""`m3bench tasks`: `list`, `show` and `stats` of sets, and `export` and `import` as public Open-M3-Bench files."""

import json as json_text
from pathlib import Path
from typing import Annotated

import typer

from m3bench.server.commands.options import Json, Level, OutFolder, Setting, Tasks
from m3bench.server.commands.screen import console, plain_table, print_json, write_file
from m3bench.server.lab.authoring.statistics import statistics
from m3bench.server.lab.interchange.public import IMAGES, import_set, references_json, tasks_json
from m3bench.tasks.errors import InputFileError
from m3bench.tasks.levels import level_of, of_kind, setting_of
from m3bench.tasks.library import BUNDLED, Library
from m3bench.tasks.task import Task


def list_tasks(tasks: Tasks = None, level: Level = None, setting: Setting = None, json: Json = False) -> None:
    """List the tasks of a set.

    \b
    m3bench tasks list
    m3bench tasks list --level L3 --setting multi

    Prints a line for each: family, difficulty, level, and the steps, calls and servers of its reference.
    """
    library = Library(tasks or BUNDLED)
    chosen = of_kind(library.tasks.values(), setting, level or ())
    if json:
        rows = [_row(task) for task in chosen]
        print_json({"set": library.set.name, "version": library.set.version, "hash": library.hash, "tasks": rows})
        return
    headings = ("task", "family", "difficulty", "level", "steps", "calls", "servers")
    table = plain_table(*headings, right=("steps", "calls"))
    for task in chosen:
        steps = task.references[0].steps
        counts = (str(len(steps)), str(sum(len(step) for step in steps)))
        table.add_row(task.id, task.family, task.difficulty, level_of(task), *counts, ", ".join(task.servers))
    console().print(table)


def show(
    task: Annotated[str, typer.Argument(metavar="ID", help="A task's id.")], tasks: Tasks = None, json: Json = False
) -> None:
    """Show a task: its question, its fields and its pictures.

    \b
    m3bench tasks show movies-1

    It shows what a client would get, with the paths of pictures and recordings.
    """
    library = Library(tasks or BUNDLED)
    found = library.task(task)
    paths = [str(library.folder / "pictures" / name) for name in found.pictures]
    paths += [str(library.folder / "recordings" / name) for name in found.recordings]
    if json:
        print_json({**_row(found), "question": found.question, "pictures": paths,
                    "asks": [field.shown() for field in found.fields]})  # fmt: skip
        return
    typer.echo(f"{found.id} ({found.family}, {found.difficulty})\n\n{found.question}\n")
    for field in found.fields:
        typer.echo(f"- {field.line}")
    for path in paths:
        typer.echo(path)


def stats(tasks: Tasks = None, json: Json = False) -> None:
    """Count what a set holds, and how different its tasks are.

    \b
    m3bench tasks stats

    Prints the number of tasks, steps, calls and tools. For each family: in how many ways its tasks are solved (plan
    shapes: the tools, and which needs which), and the largest share of calls that two of its tasks have word for word
    in common.
    """
    found = statistics(Library(tasks or BUNDLED))
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


def _row(task: Task) -> dict[str, object]:
    steps = task.references[0].steps
    return {
        "id": task.id, "family": task.family, "difficulty": task.difficulty, "level": level_of(task),
        "setting": setting_of(task), "steps": len(steps), "calls": sum(len(step) for step in steps),
        "servers": list(task.servers), "fields": len(task.fields), "checks": len(task.checks),
        "references": len(task.references),
    }  # fmt: skip


SHOWN = 20
"""Lines on what was left out that are printed; `--json` has them all."""


def export_tasks(out: OutFolder, tasks: Tasks = None, json: Json = False) -> None:
    """Write a set as public Open-M3-Bench files.

    \b
    m3bench tasks export -o public

    It writes tasks.json, references.json and images/. The public form holds one reference per task and one picture;
    checks, tolerances and further references are left out, and counted.
    """
    library = Library(tasks or BUNDLED)
    found = library.tasks.values()
    try:
        (out / IMAGES).mkdir(parents=True, exist_ok=True)
        for name in sorted({name for task in found for name in task.pictures[:1]}):
            (out / IMAGES / name).write_bytes(library.picture(name))
    except OSError as error:
        raise InputFileError(out, f"cannot be written ({error.strerror})") from error
    for file, data in (("tasks.json", tasks_json(library)), ("references.json", references_json(library))):
        write_file(out / file, f"{json_text.dumps(data, ensure_ascii=False, indent=1)}\n")
    behind = {
        "further references": sum(len(task.references) - 1 for task in found),
        "further pictures": sum(max(0, len(task.pictures) - 1) for task in found),
        "checks": sum(len(task.checks) for task in found),
    }
    if json:
        print_json({"path": str(out), "tasks": len(found), "left_out": behind})
        return
    left = ", ".join(f"{count} {what}" for what, count in behind.items() if count)
    typer.echo(f"{len(found)} tasks written to {out}" + (f"; not in the public form: {left}" if left else ""), err=True)


def import_tasks(
    tasks: Annotated[Path, typer.Argument(metavar="TASKS", help="A public task file: id, image, type, question.")],
    references: Annotated[Path, typer.Argument(metavar="REFERENCES", help="A public reference file: id, steps.")],
    out: OutFolder,
    images: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where image paths start; by default the task file's folder."),
    ] = None,
    name: Annotated[str, typer.Option(help="The set's name.")] = "imported",
    version: Annotated[str, typer.Option(help="The set's version.")] = "1",
    json: Json = False,
) -> None:
    """Make a set of tasks from public Open-M3-Bench files.

    \b
    m3bench tasks import public/tasks.json public/references.json -o imported

    Such a set has questions, pictures and references, and no checks. Tasks that cannot be taken are left out and
    listed; calls that no tool here would accept are listed as defects.
    """
    made = import_set(tasks, references, images, name=name, version=version)
    made.library.write(out)
    if json:
        print_json({"tasks": len(made.library.tasks), "skipped": list(made.skipped), "defects": list(made.defects)})
        return
    for title, lines in (("skipped", made.skipped), ("defect", made.defects)):
        for line in lines[:SHOWN]:
            typer.echo(f"m3bench: {title}: {line}", err=True)
        if len(lines) > SHOWN:
            typer.echo(f"m3bench: … and {len(lines) - SHOWN} more {title}; --json lists them all", err=True)
    counts = f"{len(made.skipped)} skipped, {len(made.defects)} defects"
    typer.echo(f"{len(made.library.tasks)} tasks written to {out} ({counts})", err=True)
