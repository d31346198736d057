"""The record of runs as commands open it, and the names by which people mean a run."""

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from m3bench.server.commands.options import RecordOptions
from m3bench.server.lab.results.resultset import store_folder
from m3bench.server.settings import Settings
from m3bench.server.store.contract import Store
from m3bench.server.store.factory import open_store
from m3bench.server.store.location import RecordLocation
from m3bench.server.store.records import RunRecord
from m3bench.tasks.errors import InputFileError, UserError

LATEST = "latest"


def hand_down(context: typer.Context, where: RecordOptions, json: bool) -> None:
    """Have options that stand before a command count as if they stood behind it."""
    given: dict[str, str | bool] = {"data": str(where.data)} if where.data is not None else {}
    given |= {"json": True} if json else {}
    given |= {"store": where.store} if where.store is not None else {}
    context.default_map = {str(context.invoked_subcommand): given}


def place_of(where: RecordOptions) -> RecordLocation:
    """Where the record is that a person means: in a data folder, in a result set, or in a database.

    Raises:
        InputFileError: A person named a folder that is not there.
    """
    chosen = Settings.of(data=where.data, store=where.store)
    if chosen.store is not None:
        return RecordLocation(chosen.data, chosen.store)
    if (where.data is not None or where.store is not None) and not chosen.data.exists():
        # A folder that a person names is not made by looking into it.
        raise InputFileError(chosen.data, "there is no such folder: no run was recorded there")
    return RecordLocation(store_folder(chosen.data))


@contextmanager
def record(where: RecordOptions) -> Iterator[Store]:
    """The store of a record, closed in the end.

    Raises:
        InputFileError: A person named a folder that is not there.
    """
    found = open_store(place_of(where))
    try:
        yield found
    finally:
        found.close()


def find_run(store: Store, name: str) -> RunRecord:
    """The run a person means.

    Raises:
        UserError: There is none, or more than one.
    """
    found = next(iter(store.runs()), None) if name == LATEST else store.run(name)
    if found is not None:
        return found
    if name == LATEST:
        raise UserError(
            f"There is no run in {store.place} yet: start a task in a client (`m3bench install` puts m3bench into "
            "one), or name the place of other runs with --data or --store."
        )
    if name and any(run.id.startswith(name) for run in store.runs()):
        raise UserError(f"There is more than one run that begins with {name!r}: give more of its handle.")
    raise UserError(f"There is no run {name!r}: `m3bench runs list` shows them.")
