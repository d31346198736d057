"""Copies of a record: a backup of all of it, and a repair that keeps every run that is whole.

A backup is a data folder like any other, which every command can read with `--data`. A repair writes a new database of
the runs without damage and moves the old one to `backups/`; nothing is thrown away.
"""

import os
import shutil
import sqlite3
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from m3bench.server.store.checkup import NO_WORKSPACE, Checkup, examine, read_only
from m3bench.server.store.database import backup_place, connect, copy
from m3bench.server.store.errors import explain
from m3bench.server.store.layout import BLOBS, DATABASE, OWNERS, PRIVATE_FOLDER, RUNS, SIGN_INS, database, private_file
from m3bench.server.store.owners import alone, living
from m3bench.server.store.schema import COLUMNS, Insert, Row, insert, make_tables, row_digest, statements, version_of
from m3bench.tasks.errors import StoreError


@dataclass(frozen=True, kw_only=True)
class Repair:
    """What a repair came to."""

    before: Checkup
    kept: int
    """Runs that are in the new database."""
    left_out: tuple[str, ...]
    """Runs that are only in the old one."""
    old: Path | None
    """Where the old database is now; None when there was nothing to repair."""


def backup(folder: Path, target: Path | None = None) -> Path:
    """Copy a record and who may sign in, as they are at this moment; returns the folder of the copy.

    Args:
        folder: The data folder, which may be in use.
        target: A folder that is not there yet; one below `backups/` when left out.

    Raises:
        StoreError: There is no record, it cannot be copied, or the target is there already.
    """
    files = [name for name in (DATABASE, SIGN_INS) if (folder / name).exists()]
    if not files:
        raise StoreError(f"There is no record in {folder}: name its folder with --data.")
    try:
        target = target or backup_place(folder, "backup").with_suffix("")
        if target.exists():
            raise StoreError(f"{target} already exists: name a folder that does not.")
        target.mkdir(mode=PRIVATE_FOLDER, parents=True)
        # First the databases: files that they refer to are never changed and go only with their run.
        for name in files:
            with closing(read_only(folder / name)) as connection:
                copy(connection, target / name)
        for name in (BLOBS, RUNS):
            if (folder / name).is_dir():
                shutil.copytree(folder / name, target / name, symlinks=True, dirs_exist_ok=True)
                (target / name).chmod(PRIVATE_FOLDER)
    except (OSError, sqlite3.Error, shutil.Error) as error:
        raise explain(error, folder) from error
    return target


def repair(folder: Path) -> Repair:
    """Make a new database of every run that is whole.

    Raises:
        StoreError: A server is using the record, or there is no room for the new one.
    """
    found = examine(folder)
    if not found.in_database:
        return Repair(before=found, kept=found.runs, left_out=(), old=None)
    try:
        with alone(folder):
            if living(folder / OWNERS):
                raise StoreError(f"A server uses the record in {folder}: stop it first (`m3bench doctor` counts them).")
            return _rebuild(folder, found)
    except (OSError, sqlite3.Error) as error:
        raise explain(error, folder) from error


def _rebuild(folder: Path, found: Checkup) -> Repair:
    new = database(folder).with_suffix(".repaired")
    _remove(new)
    private_file(new)
    target = connect(new)
    try:
        make_tables(target)
        kept, left_out = _copy_whole(folder, target, found)
        target.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except BaseException:
        target.close()
        _remove(new)
        raise
    target.close()
    old = backup_place(folder, "damaged")
    for ending in ("-wal", "-shm", ""):
        with suppress(FileNotFoundError):
            os.replace(f"{database(folder)}{ending}", f"{old}{ending}")
    os.replace(new, database(folder))
    _remove(new)
    return Repair(before=found, kept=kept, left_out=tuple(sorted(left_out)), old=old)


def _copy_whole(folder: Path, target: sqlite3.Connection, found: Checkup) -> tuple[int, set[str]]:
    """Copy every run without damage, with its calls; returns their number, and the runs that were left out."""
    harmed = {damage.run for damage in found.damage if damage.run is not None and damage.says != NO_WORKSPACE}
    harmed_calls = {damage.call for damage in found.damage}
    source = read_only(database(folder))
    try:
        try:
            checked = version_of(source) >= 2
        except sqlite3.DatabaseError:
            return 0, harmed
        reading = _Source(source, checked)
        kept = 0
        target.execute("BEGIN IMMEDIATE")
        for seat in reading.all("SELECT id, owner, profile, opened FROM seats"):
            target.execute("INSERT OR REPLACE INTO seats VALUES (?,?,?,?)", seat)
        for resumption in reading.all("SELECT run, workspace, max_calls, seconds, lost FROM resumptions"):
            target.execute("INSERT OR REPLACE INTO resumptions VALUES (?,?,?,?,?)", resumption)
        order = "number" if checked else "started, id"
        ids = reading.all(f"SELECT id FROM runs ORDER BY {order}") or reading.all("SELECT id FROM runs ORDER BY id")
        indexed = reading.all("SELECT id FROM runs INDEXED BY sqlite_autoindex_runs_1")
        every = list(dict.fromkeys(str(id) for (id,) in (*ids, *indexed)))
        for run in every:
            rows = None if run in harmed else reading.run(run)
            if rows is None:
                harmed.add(run)
                continue
            for sql, values in statements(rows):
                target.execute(sql, values)
            kept += 1
        for (call,) in reading.all("SELECT id FROM calls INDEXED BY calls_of_run WHERE run IS NULL"):
            for sql, values in statements((call not in harmed_calls and reading.call(call)) or ()):
                target.execute(sql, values)
        target.execute("COMMIT")
        return kept, harmed
    finally:
        source.close()


class _Source:
    """The rows of a damaged database, as far as they can be read and fit their digests."""

    def __init__(self, connection: sqlite3.Connection, checked: bool) -> None:
        self._connection = connection
        self._checked = checked

    def all(self, query: str, values: Row = ()) -> list[Row]:
        rows: list[Row] = []
        with suppress(sqlite3.DatabaseError):
            rows.extend(self._connection.execute(query, values))
        return rows

    def run(self, id: str) -> list[Insert] | None:
        """The rows of a run; None when not all of them are whole."""
        rows = self._whole("runs", "id", id)
        if not rows:
            return None
        try:
            calls = self._connection.execute("SELECT id FROM calls INDEXED BY calls_of_run WHERE run = ?", (id,))
            for (call,) in calls.fetchall():
                of_call = self.call(call)
                if of_call is None:
                    return None
                rows += of_call
        except sqlite3.DatabaseError:
            return None
        return rows

    def call(self, id: int) -> list[Insert] | None:
        """The rows of a call; None when not all of them are whole."""
        found = [self._whole(table, key, id) for table, key in (("calls", "id"), ("answers", "call"), ("sent", "call"))]
        if None in found or not found[0]:
            return None
        return [row for rows in found for row in rows or ()]

    def _whole(self, table: str, key: str, id: object) -> list[Insert] | None:
        """The row of a table, when there is one; None when it is damaged."""
        columns = COLUMNS[table] + (", digest" if self._checked else "")
        try:
            rows = self._connection.execute(f"SELECT {columns} FROM {table} WHERE {key} = ?", (id,)).fetchall()
        except sqlite3.DatabaseError:
            return None
        if self._checked and any(row_digest(*row[:-1]) != row[-1] for row in rows):
            return None
        return [insert(table, row[:-1] if self._checked else row) for row in rows]


def _remove(path: Path) -> None:
    for ending in ("", "-wal", "-shm"):
        Path(f"{path}{ending}").unlink(missing_ok=True)
