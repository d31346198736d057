"""The store: runs and every call, in one SQLite file.

A call is inserted before it is forwarded and its answer before it is sent; nothing is ever updated but the
state of a run. In WAL mode a commit survives the death of this process without any sync; with `full` sync it
survives the death of the machine too. Answers that arrive in the same turn of the event loop share a commit.
Values larger than some kilobytes are kept once, by content hash, in files beside the database.
"""

import json
import os
import secrets
import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel

from m3bench.proxy.call import Answer, ToolRequest
from m3bench.server.store.layout import BLOBS, OWNERS, WORKSPACES, database
from m3bench.server.store.owners import Owner, alone, dead, owners
from m3bench.server.store.records import CallRecord, RunRecord
from m3bench.tasks.atomic_files import write_atomically
from m3bench.tasks.errors import StoreError

SCHEMA_VERSION = 1

CUT_OFF = (-32000, "cut off: the server ended before the call did")
"""The error of a call that was under way when its process died."""

DEPARTURES = 32
"""Departure times that are written together."""

BLOB_BYTES = 16 * 1024
"""Larger values go to a file."""

_SCHEMA = """
CREATE TABLE seats (id TEXT PRIMARY KEY, owner TEXT NOT NULL, profile TEXT NOT NULL, opened TEXT NOT NULL);
CREATE TABLE runs (
    id TEXT PRIMARY KEY, seat TEXT NOT NULL, task TEXT NOT NULL, state TEXT NOT NULL, mode TEXT NOT NULL,
    started TEXT NOT NULL, ended TEXT, answer TEXT, seal TEXT, manifest TEXT NOT NULL, scorecard TEXT
);
CREATE TABLE calls (
    id INTEGER PRIMARY KEY, run TEXT, seat TEXT NOT NULL, tool TEXT NOT NULL, request_id TEXT NOT NULL,
    request BLOB NOT NULL, revision TEXT NOT NULL, client TEXT NOT NULL, wall TEXT NOT NULL,
    received_ns INTEGER NOT NULL
);
CREATE INDEX calls_of_run ON calls (run, id);
CREATE TABLE answers (
    call INTEGER PRIMARY KEY, outcome TEXT NOT NULL, owner TEXT NOT NULL, result BLOB, error TEXT, full BLOB,
    forwarded_ns INTEGER NOT NULL, returned_ns INTEGER NOT NULL
);
CREATE TABLE sent (call INTEGER PRIMARY KEY, sent_ns INTEGER NOT NULL);
"""

_CALL_COLUMNS = """
    SELECT calls.id, run, seat, tool, request_id, request, revision, client, wall, received_ns,
           outcome, answers.owner, result, error, full, forwarded_ns, returned_ns, sent_ns
    FROM calls LEFT JOIN answers ON answers.call = calls.id LEFT JOIN sent ON sent.call = calls.id
"""


class _Commit:
    """A commit that several answers wait for."""

    def __init__(self) -> None:
        self.done = anyio.Event()
        self.error: StoreError | None = None

    async def wait(self) -> None:
        await self.done.wait()
        if self.error is not None:
            raise self.error


class SqliteStore:
    """Runs and calls of all m3bench processes of one user.

    Args:
        folder: Where the database, the blobs and the locks of its owners lie; made when missing.
        sync: `full` adds a sync to every commit.
        owner: Names this process; its workspaces lie in a folder of that name and go when it is found dead.
    """

    def __init__(self, folder: Path, *, sync: str = "normal", owner: str | None = None) -> None:
        self.folder = folder
        self._blobs = folder / BLOBS
        self._locks = folder / OWNERS
        try:
            self._blobs.mkdir(parents=True, exist_ok=True)
            # SQLite does not wait for a lock while another process turns the same new file to WAL.
            with alone(folder):
                self._connection = _connect(database(folder), sync)
                self.owner = Owner(self._locks, owner or secrets.token_hex(8))
        except (OSError, sqlite3.Error) as error:
            why = (isinstance(error, OSError) and error.strerror) or error
            raise StoreError(f"The data folder {folder} cannot be used ({why}): choose another with --data") from error
        # Several processes write to one file: each takes a range of numbers of its own.
        self._next = secrets.randbits(40) << 22
        self._waiting: list[tuple[str, tuple[Any, ...]]] = []
        """Answers that wait for a commit."""
        self._departures: list[tuple[int, int]] = []
        """When answers left: nice to have, so they wait until there are some or somebody reads."""
        self._under_way = 0
        self._commit: _Commit | None = None
        self.mend()

    # The journal of calls

    def received(self, request: ToolRequest, run: str | None, tool: str) -> int:
        """Note a call before it is forwarded; returns its number."""
        self._next += 1
        row = (
            self._next, run, request.caller.seat, tool, json.dumps(request.id), self._pack(request.raw),
            request.caller.revision, request.caller.client, request.wall, request.received_ns,
        )  # fmt: skip
        self._write([("INSERT INTO calls VALUES (?,?,?,?,?,?,?,?,?,?)", row)])
        self._under_way += 1
        return self._next

    async def answered(self, call: int, answer: Answer) -> None:
        """Note the answer; durable when this returns."""
        row = (
            call, answer.outcome, answer.owner, self._pack(answer.result) if answer.result else None,
            json.dumps(answer.error) if answer.error else None, self._pack(answer.full) if answer.full else None,
            answer.forwarded_ns, answer.returned_ns,
        )  # fmt: skip
        self._waiting.append(("INSERT INTO answers VALUES (?,?,?,?,?,?,?,?)", row))
        self._under_way -= 1
        if self._commit is not None:
            await self._commit.wait()
            return
        if self._under_way == 0:
            self._write([])
            return
        self._commit = commit = _Commit()
        # One turn of the loop: every answer that is ready now joins this commit.
        await anyio.lowlevel.cancel_shielded_checkpoint()
        self._commit = None
        try:
            self._write([])
        except StoreError as error:
            commit.error = error
            raise
        finally:
            commit.done.set()

    def sent(self, call: int, sent_ns: int) -> None:
        """Note when the answer left; written with a later commit."""
        self._departures.append((call, sent_ns))
        if len(self._departures) >= DEPARTURES:
            self._write_departures()

    # Seats and runs

    def add_seat(self, seat: str, profile: str, opened: str) -> None:
        """Note a seat of this process."""
        self._write([("INSERT OR REPLACE INTO seats VALUES (?,?,?,?)", (seat, self.owner.id, profile, opened))])

    def add_run(self, run: RunRecord) -> None:
        """Note a run that begins."""
        row = (
            run.id, run.seat, run.task, run.state, run.mode, run.started, run.ended, run.answer, run.seal,
            json.dumps(run.manifest), json.dumps(run.scorecard) if run.scorecard is not None else None,
        )  # fmt: skip
        self._write([("INSERT INTO runs VALUES (?,?,?,?,?,?,?,?,?,?,?)", row)])

    def change_run(self, run: str, **changes: Any) -> None:
        """Set fields of a run: its state, answer, seal, end or score card."""
        values = [json.dumps(value) if isinstance(value, dict) else value for value in changes.values()]
        columns = ", ".join(f"{name} = ?" for name in changes)
        self._write([(f"UPDATE runs SET {columns} WHERE id = ?", (*values, run))])

    def run(self, prefix: str) -> RunRecord | None:
        """The run whose handle begins so, when there is exactly one."""
        query = "SELECT * FROM runs WHERE substr(id, 1, ?) = ? LIMIT 2"
        found = list(self._read(query, (len(prefix), prefix)))
        return _run(found[0]) if len(found) == 1 else None

    def runs(self, seat: str | None = None) -> list[RunRecord]:
        """The runs of a seat, or every run; newest first."""
        query = "SELECT * FROM runs WHERE ? IS NULL OR seat = ? ORDER BY started DESC, id"
        return [_run(row) for row in self._read(query, (seat, seat))]

    def calls(self, run: str) -> list[CallRecord]:
        """A run's calls in the order they arrived."""
        return [self._call(row) for row in self._read(f"{_CALL_COLUMNS} WHERE run = ? ORDER BY calls.id", (run,))]

    def delete_run(self, run: str) -> None:
        """Forget a run and its calls. Blobs that no call refers to any more go with it."""
        mine = "(SELECT id FROM calls WHERE run = ?)"
        self._write(
            [
                (f"DELETE FROM sent WHERE call IN {mine}", (run,)),
                (f"DELETE FROM answers WHERE call IN {mine}", (run,)),
                ("DELETE FROM calls WHERE run = ?", (run,)),
                ("DELETE FROM runs WHERE id = ?", (run,)),
            ]
        )
        kept = {
            value
            for column, table in (("request", "calls"), ("result", "answers"), ("full", "answers"))
            for (value,) in self._read(f"SELECT {column} FROM {table} WHERE typeof({column}) = 'text'", ())
        }
        for path in self._blobs.iterdir():
            if path.name not in kept:
                path.unlink(missing_ok=True)

    def close(self) -> None:
        """Write what waits and let go."""
        try:
            self._write_departures()
        finally:
            with alone(self.folder):
                self._connection.close()
                self.owner.close()

    def mend(self) -> None:
        """Tidy up after dead owners: their calls were cut off, their runs are abandoned, their workspaces go."""
        seated = {owner for (owner,) in self._read("SELECT DISTINCT owner FROM seats WHERE owner != ''", ())}
        with alone(self.folder):
            known = seated | owners(self._locks) | set(_names(self.folder / WORKSPACES))
            gone = [owner for owner in sorted(known - {self.owner.id}) if dead(self._locks, owner)]
        for owner in gone:
            seats = "(SELECT id FROM seats WHERE owner = ?)"
            self._write(
                [
                    (
                        "INSERT INTO answers SELECT id, 'failed', 'proxy', NULL, ?, NULL, 0, 0 FROM calls "
                        f"WHERE seat IN {seats} AND id NOT IN (SELECT call FROM answers)",
                        (json.dumps(CUT_OFF), owner),
                    ),
                    (f"UPDATE runs SET state = 'abandoned' WHERE state = 'working' AND seat IN {seats}", (owner,)),
                    ("UPDATE seats SET owner = '' WHERE owner = ?", (owner,)),
                ]
            )
            shutil.rmtree(self.folder / WORKSPACES / owner, ignore_errors=True)

    # Inside

    def _write(self, statements: Iterable[tuple[str, tuple[Any, ...]]]) -> None:
        waiting, self._waiting = self._waiting, []
        batch = [*waiting, *statements]
        if not batch:
            return
        try:
            if len(batch) == 1:
                self._connection.execute(*batch[0])
            else:
                self._transact(batch)
        except sqlite3.Error as error:
            raise StoreError(
                f"The record could not be written ({error}): free some disk space and start again"
            ) from error

    def _transact(self, batch: Iterable[tuple[str, tuple[Any, ...]]]) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            for sql, values in batch:
                self._connection.execute(sql, values)
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def _write_departures(self) -> None:
        rows, self._departures = self._departures, []
        self._write([("INSERT INTO sent VALUES (?,?)", row) for row in rows])

    def _read(self, query: str, values: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        self._write_departures()
        return iter(self._connection.execute(query, values))

    def _pack(self, value: bytes) -> bytes | str:
        """The value itself when small, else the name of the file that holds it."""
        if len(value) <= BLOB_BYTES:
            return value
        name = sha256(value).hexdigest()
        path = self._blobs / name
        if not path.exists():
            try:
                write_atomically(path, value)
            except OSError as error:
                raise StoreError(f"The record could not be written ({error}): free some disk space") from error
        return name

    def _unpack(self, value: bytes | str | None) -> bytes | None:
        return (self._blobs / value).read_bytes() if isinstance(value, str) else value

    def _call(self, row: tuple[Any, ...]) -> CallRecord:
        return CallRecord(
            id=row[0], run=row[1], seat=row[2], tool=row[3], request_id=row[4], request=self._unpack(row[5]) or b"",
            revision=row[6], client=row[7], wall=row[8], received_ns=row[9], outcome=row[10], owner=row[11],
            result=self._unpack(row[12]), error=tuple(json.loads(row[13])) if row[13] else None,
            full=self._unpack(row[14]), forwarded_ns=row[15], returned_ns=row[16], sent_ns=row[17],
        )  # fmt: skip


def has_leftovers(folder: Path) -> bool:
    """Whether there are workspaces of dead owners in a data folder; tells without opening the store."""
    return any(dead(folder / OWNERS, owner) for owner in _names(folder / WORKSPACES))


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except FileNotFoundError:
        return []


def _run(row: tuple[Any, ...]) -> RunRecord:
    return RunRecord(
        id=row[0], seat=row[1], task=row[2], state=row[3], mode=row[4], started=row[5], ended=row[6], answer=row[7],
        seal=row[8], manifest=json.loads(row[9]), scorecard=json.loads(row[10]) if row[10] else None,
    )  # fmt: skip


def _connect(path: Path, sync: str) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, timeout=10)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(f"PRAGMA synchronous = {'FULL' if sync == 'full' else 'NORMAL'}")
    if _version(connection) == 0:
        _make_tables(connection)
    if _version(connection) != SCHEMA_VERSION:
        connection.close()
        raise StoreError(f"{path} was written by another version of m3bench: move it away, or use --data")
    return connection


def _version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def _make_tables(connection: sqlite3.Connection) -> None:
    """Make the tables, unless another process does so at this very moment: clients like to start servers twice."""
    connection.execute("BEGIN IMMEDIATE")
    if _version(connection) == 0:
        for statement in _SCHEMA.split(";"):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    connection.execute("COMMIT")
