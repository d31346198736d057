"""The record of runs as commands open it, and the words people name a run with."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from m3bench.server.store.records import RunRecord
    from m3bench.server.store.sqlite import SqliteStore

Data = Annotated[Path | None, typer.Option(envvar="M3BENCH_DATA", help="Folder with the record of runs.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
RunName = Annotated[str, typer.Argument(metavar="RUN", help="A run's handle, its beginning, or `latest`.")]

LATEST = "latest"


@contextmanager
def record(data: Path | None) -> "Iterator[SqliteStore]":
    """The store of a data folder or of a result set, closed in the end."""
    from m3bench.server.resultset import store_folder
    from m3bench.server.settings import Settings
    from m3bench.server.store.sqlite import SqliteStore

    store = SqliteStore(store_folder(Settings.of(data=data).data))
    try:
        yield store
    finally:
        store.close()


def find_run(store: "SqliteStore", name: str) -> "RunRecord":
    """The run a person means.

    Raises:
        UserError: There is none, or more than one.
    """
    from m3bench.tasks.errors import UserError

    found = next(iter(store.runs()), None) if name == LATEST else store.run(name)
    if found is None:
        raise UserError(f"There is no run {name!r}, or more than one begins so: `m3bench runs list` shows them.")
    return found


def write_text(path: Path, text: str) -> None:
    """Write a file a person named.

    Raises:
        InputFileError: It cannot be written.
    """
    from m3bench.tasks.errors import InputFileError

    try:
        path.write_text(text, "utf-8")
    except OSError as error:
        raise InputFileError(path, f"cannot be written ({error.strerror})") from error
