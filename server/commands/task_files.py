"""`m3bench tasks export` and `m3bench tasks import`: sets of tasks as public Open-M3-Bench files."""

import json as json_text
from pathlib import Path
from typing import Annotated

import typer

from m3bench.server.commands.options import Json, OutFolder, Tasks
from m3bench.server.commands.screen import print_json, write_file
from m3bench.server.lab.interchange.public import IMAGES, import_set, references_json, tasks_json
from m3bench.tasks.errors import InputFileError
from m3bench.tasks.library import BUNDLED, Library

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
