"""Practice and ranked runs never share a record: the first that is put there decides.

Practice shows scores and references to whoever plays; a ranked record beside it would be a place to look them up.
"""

import sqlite3
from pathlib import Path

from m3bench.server.store.database import connect
from m3bench.server.store.layout import database
from m3bench.server.store.permissions import make_private
from m3bench.server.store.records import Mode
from m3bench.server.store.trouble import explain
from m3bench.tasks.atomic_files import write_private
from m3bench.tasks.errors import StoreError, UserError

FILE = "mode"
"""Says what kind of runs a data folder is for."""


def check_mode(folder: Path, mode: Mode) -> None:
    """Refuse a data folder that has runs of the other mode.

    Raises:
        UserError: It has.
    """
    other = _mode_of(folder)
    if other is not None and other != mode:
        raise UserError(
            f"{folder} holds {other} runs, and practice and ranked runs never share a record: name another folder for "
            f"{mode} runs with --data."
        )


def claim_mode(folder: Path, mode: Mode) -> None:
    """Have a data folder be for runs of one mode from now on.

    Raises:
        UserError: It is for the other one.
        StoreError: It cannot be written.
    """
    check_mode(folder, mode)
    try:
        make_private(folder)
        write_private(folder / FILE, f"{mode}\n".encode())
    except FileExistsError:
        check_mode(folder, mode)
    except OSError as error:
        raise explain(error, folder) from error


def _mode_of(folder: Path) -> str | None:
    """What the runs of a folder are; None when there are none, or when both were there before they were told apart."""
    try:
        return (folder / FILE).read_text("utf-8").strip() or None
    except OSError:
        pass
    if not database(folder).exists():
        return None
    try:
        connection = connect(database(folder))
        try:
            found = [mode for (mode,) in connection.execute("SELECT DISTINCT mode FROM runs")]
        finally:
            connection.close()
    except (sqlite3.Error, StoreError):
        return None  # Whoever opens the record is told what is wrong with it.
    return found[0] if len(found) == 1 else None
