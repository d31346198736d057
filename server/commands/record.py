"""The record of runs as commands open it, and the words people name a run with."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from m3bench.server.store.contract import Store
    from m3bench.server.store.place import Place
    from m3bench.server.store.records import RunRecord

Data = Annotated[Path | None, typer.Option(help="Folder with the record of runs, instead of M3BENCH_DATA.")]
StoreAt = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="URL",
        help="Database with the record, as postgresql://USER@HOST/NAME, instead of M3BENCH_STORE; or a folder.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
RunName = Annotated[str, typer.Argument(metavar="RUN", help="A run's handle, its beginning, or `latest`.")]

LATEST = "latest"


def hand_down(context: typer.Context, data: Path | None, json: bool, store: str | None = None) -> None:
    """Have options that stand before a command count as if they stood behind it."""
    given: dict[str, str | bool] = {"data": str(data)} if data is not None else {}
    given |= {"json": True} if json else {}
    given |= {"store": store} if store is not None else {}
    context.default_map = {str(context.invoked_subcommand): given}


def place_of(data: Path | None, store: str | None = None) -> "Place":
    """Where the record is that a person means: in a data folder, in a result set, or in a database.

    Raises:
        InputFileError: A person named a folder that is not there.
    """
    from m3bench.server.lab.results.resultset import store_folder
    from m3bench.server.settings import Settings
    from m3bench.server.store.place import Place
    from m3bench.tasks.errors import InputFileError

    chosen = Settings.of(data=data, store=store)
    if chosen.store is not None:
        return Place(chosen.data, chosen.store)
    if (data is not None or store is not None) and not chosen.data.exists():
        # A folder that a person names is not made by looking into it.
        raise InputFileError(chosen.data, "there is no such folder: no run was recorded there")
    return Place(store_folder(chosen.data))


@contextmanager
def record(data: Path | None, store: str | None = None) -> "Iterator[Store]":
    """The store of a record, closed in the end.

    Raises:
        InputFileError: A person named a folder that is not there.
    """
    from m3bench.server.store.opening import open_store

    found = open_store(place_of(data, store))
    try:
        yield found
    finally:
        found.close()


def find_run(store: "Store", name: str) -> "RunRecord":
    """The run a person means.

    Raises:
        UserError: There is none, or more than one.
    """
    from m3bench.tasks.errors import UserError

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


def write_text(path: Path, text: str) -> None:
    """Write a file a person named.

    Raises:
        InputFileError: It cannot be written.
    """
    from m3bench.tasks.atomic_files import write_atomically
    from m3bench.tasks.errors import InputFileError

    try:
        write_atomically(path, text.encode())
    except OSError as error:
        raise InputFileError(path, why_not_written(path, error)) from error


def why_not_written(path: Path, error: OSError) -> str:
    """What is in the way of a file, in words that say what to do."""
    if not path.parent.is_dir():
        return f"cannot be written: there is no folder {path.parent}, make it first"
    if path.is_dir():
        return "cannot be written: it is a folder, name a file in it"
    return f"cannot be written ({error.strerror})"
