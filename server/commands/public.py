"""`m3bench tasks export` and `m3bench tasks import`: sets of tasks as public Open-M3-Bench files."""

import json
from pathlib import Path
from typing import Annotated

import typer

from m3bench.server.commands.record import Json, write_text

SHOWN = 20
"""Lines on what was left out that are printed; `--json` has them all."""


def export_tasks(
    output: Annotated[
        Path, typer.Option("--out", "-o", help="Folder to write tasks.json, references.json and images/ into.")
    ],
    tasks: Annotated[
        Path | None, typer.Option("--tasks", help="Folder with a set of tasks; the bundled set when left out.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a set as the public Open-M3-Bench files: tasks, references and images.

    The public form holds one reference per task and one picture; checks, tolerances
    and further references are left out, and counted.
    """
    from m3bench.server.commands.screen import print_json
    from m3bench.server.lab.interchange.public import IMAGES, references_json, tasks_json
    from m3bench.tasks.errors import InputFileError
    from m3bench.tasks.library import BUNDLED, Library

    library = Library(tasks or BUNDLED)
    found = library.tasks.values()
    try:
        (output / IMAGES).mkdir(parents=True, exist_ok=True)
        for name in sorted({name for task in found for name in task.pictures[:1]}):
            (output / IMAGES / name).write_bytes(library.picture(name))
    except OSError as error:
        raise InputFileError(output, f"cannot be written ({error.strerror})") from error
    for file, data in (("tasks.json", tasks_json(library)), ("references.json", references_json(library))):
        write_text(output / file, f"{json.dumps(data, ensure_ascii=False, indent=1)}\n")
    behind = {
        "further references": sum(len(task.references) - 1 for task in found),
        "further pictures": sum(max(0, len(task.pictures) - 1) for task in found),
        "checks": sum(len(task.checks) for task in found),
    }
    if as_json:
        print_json({"path": str(output), "tasks": len(found), "left_out": behind})
        return
    left = ", ".join(f"{count} {what}" for what, count in behind.items() if count)
    typer.echo(
        f"{len(found)} tasks written to {output}" + (f"; not in the public form: {left}" if left else ""), err=True
    )


def import_tasks(
    tasks: Annotated[Path, typer.Argument(metavar="TASKS", help="A public task file: id, image, type, question.")],
    references: Annotated[Path, typer.Argument(metavar="REFERENCES", help="A public reference file: id, steps.")],
    output: Annotated[Path, typer.Option("--out", "-o", help="Folder to write the set into.")],
    images: Annotated[
        Path | None, typer.Option(help="Folder that image paths start from; the task file's when left out.")
    ] = None,
    name: Annotated[str, typer.Option(help="The set's name.")] = "imported",
    version: Annotated[str, typer.Option(help="The set's version.")] = "1",
    as_json: Json = False,
) -> None:
    """Make a set of tasks from public Open-M3-Bench files.

    Such a set has questions, pictures and references, and no checks. Tasks that
    cannot be taken are left out and listed; calls that no tool here would accept
    are listed as defects.
    """
    from m3bench.server.commands.screen import print_json
    from m3bench.server.lab.interchange.public import import_set

    made = import_set(tasks, references, images, name=name, version=version)
    made.library.write(output)
    if as_json:
        print_json({"tasks": len(made.library.tasks), "skipped": list(made.skipped), "defects": list(made.defects)})
        return
    for title, lines in (("skipped", made.skipped), ("defect", made.defects)):
        for line in lines[:SHOWN]:
            typer.echo(f"m3bench: {title}: {line}", err=True)
        if len(lines) > SHOWN:
            typer.echo(f"m3bench: … and {len(lines) - SHOWN} more {title}; --json lists them all", err=True)
    counts = f"{len(made.skipped)} skipped, {len(made.defects)} defects"
    typer.echo(f"{len(made.library.tasks)} tasks written to {output} ({counts})", err=True)
