"""Practice and ranked runs never share a record: the first that is put there decides.

Practice shows scores and references to whoever plays; a ranked record beside it would be a place to look them up.
"""

import sqlite3
from typing import TYPE_CHECKING

from m3bench.server.store.database import connect
from m3bench.server.store.errors import explain
from m3bench.server.store.layout import database, make_private
from m3bench.server.store.location import RecordLocation
from m3bench.server.store.records import Mode
from m3bench.tasks.atomic_files import write_private
from m3bench.tasks.errors import StoreError, UserError
from m3bench.tasks.lazy_modules import LazyModule

if TYPE_CHECKING:
    from m3bench.server.store.postgres import migrations
else:
    migrations = LazyModule("m3bench.server.store.postgres.migrations")

FILE = "mode"
"""Says what kind of runs a data folder is for."""


def check_mode(place: RecordLocation, mode: Mode) -> None:
    """Refuse a record that has runs of the other mode.

    Raises:
        UserError: It has.
    """
    other = _mode_of(place)
    if other is not None and other != mode:
        raise UserError(
            f"{place} holds {other} runs, and practice and ranked runs never share a record: name another "
            f"{'folder' if place.url is None else 'database'} for {mode} runs with "
            f"{'--data' if place.url is None else '--store'}."
        )


def claim_mode(place: RecordLocation, mode: Mode) -> None:
    """Have a record be for runs of one mode from now on.

    Raises:
        UserError: It is for the other one.
        StoreError: It cannot be written.
    """
    check_mode(place, mode)
    folder = place.folder
    if place.url is not None:
        migrations.state_mode(place, mode)
        check_mode(place, mode)
        return
    try:
        make_private(folder)
        write_private(folder / FILE, f"{mode}\n".encode())
    except FileExistsError:
        check_mode(place, mode)
    except OSError as error:
        raise explain(error, folder) from error


def _mode_of(place: RecordLocation) -> str | None:
    """What the runs of a record are; None when there are none, or when both were there before they were told apart."""
    if place.url is not None:
        return migrations.mode_of(place)
    folder = place.folder
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
