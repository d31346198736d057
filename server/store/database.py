"""Opens the database of a record, and brings one of an older version to this one.

A migration is tried on a copy first, and a copy of the old file stays below `backups/`. A database of a newer version
is refused: nothing is written to it.
"""

import os
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from m3bench.server.store.layout import BACKUPS, DATABASE, PRIVATE_FOLDER, private_file
from m3bench.server.store.schema import COLUMNS, VERSION, make_tables, migrate, row_digest, version_of
from m3bench.tasks.errors import StoreError

LOCK_SECONDS = 10.0
"""How long a write waits for another program's lock."""

Factory = type[sqlite3.Connection]


def connect(
    path: Path, *, sync: str = "normal", factory: Factory = sqlite3.Connection, seconds: float = LOCK_SECONDS
) -> sqlite3.Connection:
    """A connection to a database that is there. In WAL mode a commit survives the death of this process."""
    connection = sqlite3.connect(
        f"{path.resolve().as_uri()}?mode=rw",
        uri=True,
        isolation_level=None,
        timeout=seconds,
        check_same_thread=False,
        cached_statements=256,
        factory=factory,
    )
    try:
        connection.create_function("row_digest", -1, row_digest, deterministic=True)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {'FULL' if sync == 'full' else 'NORMAL'}")
    except BaseException:
        connection.close()
        raise
    return connection


def prepare(folder: Path, in_use: Callable[[], bool], *, factory: Factory = sqlite3.Connection) -> None:
    """See to it that a folder has a database of this version.

    Args:
        folder: The data folder, which nobody else opens meanwhile.
        in_use: Whether another process uses the database; asked before one is migrated.
        factory: Makes the connection.

    Raises:
        StoreError: It is of a newer version, in use by an older one, or cannot be migrated.
    """
    path = folder / DATABASE
    private_file(path)
    connection = connect(path, factory=factory)
    try:
        version = version_of(connection)
        if version == 0:
            make_tables(connection)
        elif version > VERSION:
            raise StoreError(newer(path, version))
        elif version < VERSION:
            if in_use():
                raise StoreError(
                    f"{path} is of version {version} and an older m3bench is using it: stop that one "
                    "(`m3bench doctor` counts them), then start again."
                )
            _upgrade(connection, folder, version)
    finally:
        connection.close()


def newer(path: Path, version: int) -> str:
    """What is said of a database that a newer m3bench wrote."""
    return (
        f"{path} was written by a newer version of m3bench (its record has version {version}, this one reads up to "
        f"{VERSION}): upgrade m3bench, or choose another folder with --data. Nothing in it was changed."
    )


def _upgrade(connection: sqlite3.Connection, folder: Path, version: int) -> None:
    backup = backup_place(folder, f"version-{version}")
    copy(connection, backup)
    trial = backup.with_suffix(".trial")
    try:
        copy(connection, trial)
        _try(trial)
    except (sqlite3.Error, OSError, StoreError) as error:
        raise StoreError(
            f"{folder / DATABASE} is of version {version} and could not be migrated to version {VERSION} ({error}). It "
            f"was not changed. `m3bench store check` looks for damage, `m3bench store repair` keeps what is intact."
        ) from error
    finally:
        for leftover in trial.parent.glob(f"{trial.name}*"):
            leftover.unlink(missing_ok=True)
    migrate(connection)


def _try(path: Path) -> None:
    """Migrate a copy and look whether everything is still there."""
    connection = connect(path)
    try:
        before = _counts(connection)
        migrate(connection)
        (sound,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
        if sound != "ok":
            raise StoreError(f"it is damaged: {sound}")
        if _counts(connection) != before:
            raise StoreError("rows were lost in a trial")
    finally:
        connection.close()


def _counts(connection: sqlite3.Connection) -> list[int]:
    return [connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in (*COLUMNS, "seats")]


def copy(connection: sqlite3.Connection, path: Path) -> None:
    """Copy a database to a new file, as it is at this moment, whoever writes to it meanwhile."""
    private_file(path)
    target = sqlite3.connect(path)
    try:
        connection.backup(target)
    finally:
        target.close()


def backup_place(folder: Path, why: str) -> Path:
    """A file below `backups/` that is not there yet."""
    place = folder / BACKUPS
    place.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    names = (f"{stamp}-{why}{f'-{number}' if number else ''}.sqlite" for number in range(1000))
    return next(place / name for name in names if not os.path.lexists(place / name))
