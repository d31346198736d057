"""The record of runs as commands open it, and the names by which people mean a run."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from m3bench.server.commands.options import RecordOptions
from m3bench.server.commands.screen import say
from m3bench.server.lab.results.recorded_runs import Records, register, registered
from m3bench.server.lab.results.resultset import DATA, store_folder
from m3bench.server.settings import Settings
from m3bench.server.store.contract import Store
from m3bench.server.store.factory import open_store
from m3bench.server.store.location import RecordLocation
from m3bench.tasks.errors import InputFileError


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


@contextmanager
def records(where: RecordOptions) -> Iterator[Records]:
    """The records that a person means: the one that is named, or else their own with every result set in its index.

    Raises:
        InputFileError: A person named a folder that is not there.
    """
    first = place_of(where)
    places = [first]
    if where.data is None and where.store is None:
        sets = (RecordLocation(folder / DATA) for folder in registered(Settings.of().data))
        places += [place for place in sets if place.folder.resolve() != first.folder.resolve()]
    with Records(places) as found:
        yield found
        for place, error in found.unreadable.items():
            say(f"m3bench: left out: {place}: {error}")


def remember(folders: Iterable[Path]) -> None:
    """Put result sets into the index of the person's data folder, where other commands find them."""
    data = Settings.of().data
    try:
        for folder in folders:
            register(folder, data)
    except OSError as error:
        # The results are where they were to go: only finding them by the names of runs takes --data.
        say(f"m3bench: {data} cannot be written ({error.strerror}): name these results by their folder.")
