"""Reads rows of the record as runs and calls, and says of each that is damaged which one it is.

One bad record costs itself only. A row is damaged when it does not fit its digest, when its JSON or its file cannot be
read, or when SQLite cannot read the page that it lies on; then the others are looked up one by one.
"""

import json
import sqlite3
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple, Protocol

from m3bench.server.store.errors import explain
from m3bench.server.store.records import CallRecord, Damage, Resumption, RunRecord
from m3bench.server.store.schema import ANSWER_COLUMNS, CALL_COLUMNS, RUN_COLUMNS, SENT_COLUMNS, Row, row_digest
from m3bench.tasks.errors import StoreError

CALLS, ANSWERS, SENT = (f"SELECT {columns}, digest FROM" for columns in (CALL_COLUMNS, ANSWER_COLUMNS, SENT_COLUMNS))

UNREADABLE = "the database is damaged at this place"
CHANGED = "it is not what was written"


class Unpacking(Protocol):
    """How large values are found again."""

    def unpack(self, value: bytes | str | None) -> bytes | None:
        """The value behind what stands in a row; a `ValueError` says that it is not what was written."""
        ...


class Unfinished(NamedTuple):
    """A run under way that is to outlive its server."""

    id: str
    seat: str
    owner: str
    """The process that has it; empty when it waits for its client."""
    started: str
    resumption: Resumption


class Rows:
    """The rows of a record, on a connection of its own.

    Args:
        connect: Opens the database; called when it is needed, and again after a failure.
        blobs: The files of large values.
        folder: The data folder, for messages.
    """

    def __init__(self, connect: Callable[[], sqlite3.Connection], blobs: Unpacking, folder: Path) -> None:
        self._connect = connect
        self._blobs = blobs
        self._folder = folder
        self._connection: sqlite3.Connection | None = None
        self._turn = threading.RLock()

    def run(self, prefix: str) -> RunRecord | None:
        """The run whose handle begins so, when there is exactly one.

        Raises:
            StoreError: It is damaged.
        """
        found = self._read("SELECT id FROM runs WHERE substr(id, 1, ?) = ? LIMIT 2", (len(prefix), prefix))
        if len(found) != 1:
            return None
        (row,) = self._read(f"SELECT {RUN_COLUMNS}, digest FROM runs WHERE id = ?", found[0])
        record = _run(row)
        if isinstance(record, Damage):
            raise StoreError(f"The record is damaged: {record}. `m3bench store check` says more.")
        return record

    def runs(self, seat: str | None) -> tuple[list[RunRecord], list[Damage]]:
        """The runs of a seat, or every run, newest first, and those that are damaged."""
        sound: list[RunRecord] = []
        damaged: list[Damage] = []
        for found in map(_run, self._run_rows(seat, damaged)):
            if isinstance(found, Damage):
                damaged.append(found)
            else:
                sound.append(found)
        return sound, damaged

    def states(self) -> dict[str, int]:
        """How many runs there are in each state."""
        return dict(self._read("SELECT state, count(*) FROM runs GROUP BY state", ()))

    def calls(self, run: str) -> tuple[list[CallRecord], list[Damage]]:
        """The calls of a run in the order they arrived, and those that are damaged."""
        sound: list[CallRecord] = []
        damaged: list[Damage] = []
        for (id,) in self._read("SELECT id FROM calls INDEXED BY calls_of_run WHERE run = ? ORDER BY id", (run,)):
            try:
                sound.append(self._call(id))
            except (sqlite3.Error, OSError, ValueError) as error:
                damaged.append(Damage(run=run, call=id, says=self._why(error)))
        return sound, damaged

    def client(self, run: str) -> str:
        """What the client of a run's first call calls itself; empty when there is none."""
        found = self._read("SELECT client FROM calls WHERE run = ? ORDER BY id LIMIT 1", (run,))
        return str(found[0][0]) if found else ""

    def owners(self) -> set[str]:
        """The processes whose seats are not settled."""
        return {owner for (owner,) in self._read("SELECT DISTINCT owner FROM seats WHERE owner != ''", ())}

    def unanswered(self, owner: str) -> list[int]:
        """The calls on the seats of a process that have no answer."""
        return [
            call
            for (call,) in self._read(
                "SELECT id FROM calls WHERE seat IN (SELECT id FROM seats WHERE owner = ?) "
                "AND NOT EXISTS (SELECT 1 FROM answers WHERE call = calls.id) ORDER BY id",
                (owner,),
            )
        ]

    def waiting(self) -> list[Unfinished]:
        """The runs under way that are to outlive their server, newest first, with whoever has them now."""
        found = self._read(
            "SELECT runs.id, seat, coalesce(seats.owner, ''), started, workspace, max_calls, seconds FROM resumptions "
            "JOIN runs ON runs.id = resumptions.run LEFT JOIN seats ON seats.id = seat "
            "WHERE state = 'working' ORDER BY number DESC",
            (),
        )
        return [
            Unfinished(id, seat, owner, started, Resumption(workspace=place, max_calls=calls, seconds=seconds))
            for id, seat, owner, started, place, calls, seconds in found
        ]

    def unfinished(self, seat: str) -> Unfinished | None:
        """The newest of them on a seat."""
        return next((run for run in self.waiting() if run.seat == seat), None)

    def last_call(self, run: str) -> int:
        """The highest number of a call of a run; 0 when there is none."""
        ((number,),) = self._read("SELECT coalesce(max(id), 0) FROM calls WHERE run = ?", (run,))
        return int(number)

    def lost(self, run: str) -> str | None:
        """Why a run could not be resumed."""
        found = self._read("SELECT lost FROM resumptions WHERE run = ?", (run,))
        return found[0][0] if found else None

    def blobs(self) -> set[str]:
        """The files that a call refers to."""
        places = (("request", "calls"), ("result", "answers"), ("full", "answers"))
        return {
            value
            for column, table in places
            for (value,) in self._read(f"SELECT {column} FROM {table} WHERE typeof({column}) = 'text'", ())
        }

    def close(self) -> None:
        """Let go of the database."""
        with self._turn:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _run_rows(self, seat: str | None, damaged: list[Damage]) -> Iterable[Row]:
        query = f"SELECT {RUN_COLUMNS}, digest FROM runs"
        try:
            return self._fetch(f"{query} WHERE CAST(? AS TEXT) IS NULL OR seat = ? ORDER BY number DESC", (seat, seat))
        except sqlite3.DatabaseError as error:
            if not _is_damage(error):
                raise explain(error, self._folder, reading=True) from error
        rows: list[Row] = []
        for (id,) in self._read("SELECT id FROM runs INDEXED BY sqlite_autoindex_runs_1", ()):
            try:
                rows += self._fetch(f"{query} WHERE id = ?", (id,))
            except sqlite3.DatabaseError:
                damaged.append(Damage(run=id, call=None, says=UNREADABLE))
        mine = [row for row in rows if seat is None or row[1] == seat]
        return sorted(mine, key=lambda row: (str(row[5]), str(row[0])), reverse=True)

    def _call(self, id: int) -> CallRecord:
        found = self._fetch(f"{CALLS} calls WHERE id = ?", (id,))
        if not found:
            raise ValueError("it is missing")
        answers = self._fetch(f"{ANSWERS} answers WHERE call = ?", (id,))
        sent = self._fetch(f"{SENT} sent WHERE call = ?", (id,))
        return self._record(found[0], answers[0] if answers else None, sent[0] if sent else None)

    def _record(self, call: Row, answer: Row | None, sent: Row | None) -> CallRecord:
        """A call of its rows, each with its digest.

        Raises:
            ValueError: One of them, or a large value, is not what was written.
            OSError: A large value cannot be read.
        """
        call = _checked(call)
        _, outcome, owner, result, error, full, forwarded, returned = _checked(answer) if answer else (None,) * 8
        return CallRecord(
            id=call[0], run=call[1], seat=call[2], tool=call[3], request_id=call[4],
            request=self._blobs.unpack(call[5]) or b"", revision=call[6], client=call[7], wall=call[8],
            received_ns=call[9], outcome=outcome, owner=owner, result=self._blobs.unpack(result),
            error=tuple(json.loads(error)) if error else None, full=self._blobs.unpack(full),
            forwarded_ns=forwarded, returned_ns=returned, sent_ns=_checked(sent)[1] if sent else None,
        )  # fmt: skip

    def _why(self, error: sqlite3.Error | OSError | ValueError) -> str:
        """What is wrong with a call that cannot be read.

        Raises:
            StoreError: Nothing is: it could not be read just now.
        """
        if isinstance(error, sqlite3.Error) and _is_damage(error):
            return UNREADABLE
        if isinstance(error, FileNotFoundError):
            return "the file of a large value is missing"
        if isinstance(error, ValueError):
            return str(error)
        raise explain(error, self._folder, reading=True) from error

    def _read(self, query: str, values: Row) -> list[Row]:
        try:
            return self._fetch(query, values)
        except sqlite3.Error as error:
            raise explain(error, self._folder, reading=True) from error

    def _fetch(self, query: str, values: Row) -> list[Row]:
        with self._turn:
            if self._connection is None:
                self._connection = self._connect()
                # A text that is no text any more is read as well: its digest tells.
                self._connection.text_factory = lambda raw: raw.decode(errors="surrogateescape")
            try:
                return self._connection.execute(query, values).fetchall()
            except sqlite3.Error as error:
                if not _is_damage(error):
                    self.close()
                raise


def _run(row: Row) -> RunRecord | Damage:
    *values, digest = row
    id = str(values[0])
    if row_digest(*values) != digest:
        return Damage(run=id, call=None, says=CHANGED)
    try:
        manifest, scorecard = json.loads(values[9]), json.loads(values[10]) if values[10] else None
        fields = json.loads(values[11]) if values[11] else None
    except ValueError:
        return Damage(run=id, call=None, says="its manifest, its score card or its fields are no JSON")
    return RunRecord(
        id=id, seat=values[1], task=values[2], state=values[3], mode=values[4], started=values[5], ended=values[6],
        answer=values[7], seal=values[8], manifest=manifest, scorecard=scorecard, fields=fields,
    )  # fmt: skip


def _checked(row: Row) -> Row:
    """A row without its digest.

    Raises:
        ValueError: It does not fit it.
    """
    *values, digest = row
    if row_digest(*values) != digest:
        raise ValueError(CHANGED)
    return tuple(values)


def _is_damage(error: sqlite3.Error) -> bool:
    primary = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return primary in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
