"""`m3bench tasks list`, `show` and `stats`: look at sets of tasks."""

from typing import Annotated

import typer

from m3bench.server.commands.options import Json, Level, Setting, Tasks
from m3bench.server.commands.screen import console, plain_table, print_json
from m3bench.server.lab.authoring.statistics import statistics
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
