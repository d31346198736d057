"""`m3bench store`: looks over the record of runs, repairs it, and makes copies of it."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from m3bench.server.commands.options import Json, RecordOptions
from m3bench.server.commands.recorded import place_of
from m3bench.server.commands.screen import counted, print_json
from m3bench.server.store.backup import backup as copied
from m3bench.server.store.backup import repair as repaired
from m3bench.server.store.checkup import Checkup
from m3bench.server.store.factory import look_over
from m3bench.tasks.errors import UserError

REPAIR = "restore it from a backup, and look with `m3bench store check`"
BACKUP = "copy it with `pg_dump --schema m3bench`, and the folder `runs` of every data folder with it"
"""What to do with a database instead."""

SHOWN = 40
"""The most damaged parts that are listed for people; --json lists all of them."""


def check(where: RecordOptions, json: Json = False) -> None:
    """Check the record of runs; nothing is changed.

    \b
    m3bench store check

    Every row, every large value and every sealed run is looked at. Prints what is damaged, with the run and the call.
    The exit code is 1 when something is.
    """
    found = look_over(place_of(where))
    if json:
        print_json(_facts(found))
    else:
        typer.echo(_summary(found))
        for damage in found.damage[:SHOWN]:
            typer.echo(f"  {damage}")
        if len(found.damage) > SHOWN:
            typer.echo(f"  … and {len(found.damage) - SHOWN} more; --json lists all")
        if found.in_database:
            typer.echo("`m3bench store repair` builds a new database from the intact runs and keeps the old one.")
    if found.damage:
        raise typer.Exit(1)


def repair(where: RecordOptions, json: Json = False) -> None:
    """Build a new database from the intact runs.

    \b
    m3bench store repair

    The damaged database is kept below backups/. Prints how many runs were kept, and which were not. Does nothing when
    nothing is damaged. No server may be using the record meanwhile.
    """
    done = repaired(_folder(where, "repair", REPAIR))
    if json:
        print_json({"kept": done.kept, "left_out": list(done.left_out), "old": str(done.old) if done.old else None,
                    "before": _facts(done.before)})  # fmt: skip
        return
    if done.old is None:
        typer.echo(f"Nothing in the database is damaged: {counted(done.kept, 'run')} in {done.before.folder}.")
        if done.before.damage:
            typer.echo("Files beside it were changed or removed, which no repair can restore: `m3bench store check`.")
        return
    typer.echo(f"Kept {counted(done.kept, 'run')}. The damaged database is {done.old}.")
    for run in done.left_out:
        typer.echo(f"  left out: run {run}")


def backup(
    where: RecordOptions,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FOLDER", help="Where to; by default below backups/.")
    ] = None,
    json: Json = False,
) -> None:
    """Copy the record, while servers use it.

    \b
    m3bench store backup -o copy
    m3bench runs list --data copy

    The copy is a folder that every command reads with --data.
    """
    folder = copied(_folder(where, "backup", BACKUP), out)
    if json:
        print_json({"folder": str(folder)})
    else:
        typer.echo(f"Copied to {folder}. `m3bench runs list --data` with that folder shows what is in it.")


def _folder(where: RecordOptions, what: str, instead: str) -> Path:
    """The folder of a record that is a file.

    Raises:
        UserError: It is in a database, which has programs of its own for this.
    """
    place = place_of(where)
    if place.url is not None:
        raise UserError(f"`m3bench store {what}` is for a record in a folder; {place} is a database: {instead}.")
    return place.folder


def _facts(found: Checkup) -> dict[str, object]:
    return {
        "folder": str(found.folder), "version": found.version, "runs": found.runs, "calls": found.calls,
        "runs_concerned": list(found.runs_concerned), "damage": [asdict(damage) for damage in found.damage],
    }  # fmt: skip


def _summary(found: Checkup) -> str:
    if found.version == 0:
        return f"There is no record in {found.folder} yet."
    if found.version < 0:
        return f"{found.folder}: the database is damaged beyond reading."
    size = f"{counted(found.runs, 'run')} and {counted(found.calls, 'call')}, version {found.version}"
    if not found.damage:
        return f"{found.folder}: {size}. Nothing is damaged."
    concerned = len(found.runs_concerned)
    which = f"in {counted(concerned, 'run')}" if concerned else "in no known run"
    return f"{found.folder}: {size}. {counted(len(found.damage), 'part')} damaged, {which}:"
