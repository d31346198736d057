"""`m3bench store`: looks over the record of runs, repairs it, and makes copies of it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from m3bench.server.commands.record import Data, Json, StoreAt, place_of

if TYPE_CHECKING:
    from m3bench.server.store.checkup import Checkup

commands = typer.Typer(name="store", help="Check, repair and back up the record of runs.", no_args_is_help=True)

REPAIR = "restore it from a backup, and look with `m3bench store check`"
BACKUP = "copy it with `pg_dump --schema m3bench`, and the folder `runs` of every data folder with it"
"""What to do with a database instead."""

SHOWN = 40
"""The most damaged parts that are listed for people; --json lists all of them."""


@commands.command()
def check(data: Data = None, store: StoreAt = None, json: Json = False) -> None:
    """Look over the record: every row, every large value, every sealed run. Nothing is changed.

    Ends with exit code 1 when something is damaged; each line names the run and the call.
    """
    from m3bench.server.commands.screen import print_json
    from m3bench.server.store.opening import look_over

    found = look_over(place_of(data, store))
    if json:
        print_json(_facts(found))
    else:
        typer.echo(_summary(found))
        for one in found.damage[:SHOWN]:
            typer.echo(f"  {one}")
        if len(found.damage) > SHOWN:
            typer.echo(f"  … and {len(found.damage) - SHOWN} more; --json lists all")
        if found.in_database:
            typer.echo("`m3bench store repair` makes a new database of the runs that are whole and keeps the old one.")
    if found.damage:
        raise typer.Exit(1)


@commands.command()
def repair(data: Data = None, store: StoreAt = None, json: Json = False) -> None:
    """Make a new database of every run that is whole; the damaged one is kept below backups/.

    Does nothing when nothing is damaged. No server may be using the record meanwhile.
    """
    from m3bench.server.commands.screen import print_json
    from m3bench.server.store.upkeep import repair as repaired

    done = repaired(_folder(data, store, "repair", REPAIR))
    if json:
        print_json({"kept": done.kept, "left_out": list(done.left_out), "old": str(done.old) if done.old else None,
                    "before": _facts(done.before)})  # fmt: skip
        return
    if done.old is None:
        typer.echo(f"Nothing in the database is damaged: {_count(done.kept, 'run')} in {done.before.folder}.")
        if done.before.damage:
            typer.echo("Files beside it were changed or removed, which no repair brings back: `m3bench store check`.")
        return
    typer.echo(f"Kept {_count(done.kept, 'run')}. The damaged database is {done.old}.")
    for run in done.left_out:
        typer.echo(f"  left out: run {run}")


@commands.command()
def backup(
    data: Data = None,
    store: StoreAt = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FOLDER", help="Where to; below backups/ when left out.")
    ] = None,
    json: Json = False,
) -> None:
    """Copy the record, while servers use it: a folder that every command reads with --data."""
    from m3bench.server.commands.screen import print_json
    from m3bench.server.store.upkeep import backup as copied

    folder = copied(_folder(data, store, "backup", BACKUP), output)
    if json:
        print_json({"folder": str(folder)})
    else:
        typer.echo(f"Copied to {folder}. `m3bench runs list --data` with that folder shows what is in it.")


def _folder(data: Path | None, store: str | None, what: str, instead: str) -> Path:
    """The folder of a record that is a file.

    Raises:
        UserError: It is in a database, which has programs of its own for this.
    """
    from m3bench.tasks.errors import UserError

    place = place_of(data, store)
    if place.url is not None:
        raise UserError(f"`m3bench store {what}` is for a record in a folder; {place} is a database: {instead}.")
    return place.folder


def _facts(found: "Checkup") -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "folder": str(found.folder), "version": found.version, "runs": found.runs, "calls": found.calls,
        "runs_concerned": list(found.runs_concerned), "damage": [asdict(one) for one in found.damage],
    }  # fmt: skip


def _summary(found: "Checkup") -> str:
    if found.version == 0:
        return f"There is no record in {found.folder} yet."
    if found.version < 0:
        return f"{found.folder}: the database is damaged beyond reading."
    size = f"{_count(found.runs, 'run')} and {_count(found.calls, 'call')}, version {found.version}"
    if not found.damage:
        return f"{found.folder}: {size}. Nothing is damaged."
    concerned = len(found.runs_concerned)
    which = f"in {_count(concerned, 'run')}" if concerned else "in no run that can be told"
    return f"{found.folder}: {size}. {_count(len(found.damage), 'part')} damaged, {which}:"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
