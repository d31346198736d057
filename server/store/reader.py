"""Reads a data folder while others write to it: nothing is changed there and no owner is registered.

Works on the folder of any server, over stdio too. Gives rows as they are recorded; what may be shown to whom and how
is decided above. `sqlite` is the store that servers write with.
"""

import json
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from m3bench.server.store.database import newer
from m3bench.server.store.errors import explain
from m3bench.server.store.layout import BLOBS, OWNERS, database
from m3bench.server.store.owners import owners
from m3bench.server.store.records import OWN_TOOLS
from m3bench.server.store.schema import VERSION, Row
from m3bench.tasks.errors import StoreError

_OWN = ", ".join(f"'{name}'" for name in sorted(OWN_TOOLS))
_RUN = """
    SELECT id, seat, task, state, mode, started, ended, json_extract(manifest, '$.profile'),
           json_extract(manifest, '$.tasks.name'), json_extract(manifest, '$.tasks.hash'),
           (SELECT client FROM calls WHERE calls.run = runs.id ORDER BY calls.id LIMIT 1)
    FROM runs
"""
_CALL = """
    SELECT calls.id, run, seat, tool, request, client, wall, received_ns, outcome, answers.owner, returned_ns
    FROM calls LEFT JOIN answers ON answers.call = calls.id
"""
_SEAT = """
    SELECT id, owner, profile, run FROM (
        SELECT id, owner, profile, opened,
               (SELECT id FROM runs WHERE runs.seat = seats.id AND state = 'working' LIMIT 1) AS run
        FROM seats WHERE owner != ''
    ) AS taken ORDER BY run IS NULL, opened DESC
"""


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run without its answer, seal and score card."""

    id: str
    seat: str
    task: str
    state: str
    mode: str
    started: str
    ended: str | None
    profile: str | None
    set_name: str | None
    set_hash: str | None
    client: str | None
    """Of its first call."""


@dataclass(frozen=True, slots=True)
class CallRow:
    """A call without its result."""

    id: int
    run: str | None
    seat: str
    tool: str
    request: bytes | str
    """The request itself, or the name of the file that holds it."""
    client: str
    wall: str
    received_ns: int
    outcome: str | None
    owner: str | None
    returned_ns: int | None


@dataclass(frozen=True, slots=True)
class SeatRow:
    """A seat of a process that lives."""

    id: str
    owner: str
    profile: str
    run: str | None
    """Under way on it."""


class Reader:
    """The record of a data folder; empty until there is one.

    Args:
        folder: The data folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._connection: sqlite3.Connection | None = None
        self._version = -1

    def close(self) -> None:
        """Let go of the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def changed(self) -> bool:
        """Whether anything was written since this was asked last."""
        found = self._read("PRAGMA data_version")
        version = int(found[0][0]) if found else -1
        self._version, before = version, self._version
        return version != before

    def wait(self, seconds: float) -> None:
        """Wait so long; a reader that is told when something is written waits no longer than until then."""
        time.sleep(seconds)

    def runs(self, names: Sequence[str]) -> list[RunRow]:
        """The runs with these handles, newest first."""
        return self._runs(f"WHERE id IN ({_marks(names)}) ORDER BY number DESC", names)

    def newest_runs(self, most: int) -> list[RunRow]:
        """The newest runs, and among them all that are under way."""
        newest = "SELECT number FROM runs ORDER BY state = 'working' DESC, number DESC LIMIT ?"
        return self._runs(f"WHERE number IN ({newest}) ORDER BY number DESC", (most,))

    def handles(self, prefix: str) -> list[str]:
        """The handles of runs that begin so."""
        return [id for (id,) in self._read("SELECT id FROM runs WHERE substr(id, 1, ?) = ?", (len(prefix), prefix))]

    def submitted_runs(self) -> list[RunRow]:
        """Every run that was submitted, oldest first."""
        return self._runs("WHERE state IN ('submitted', 'scored') ORDER BY number")

    def states(self) -> dict[str, int]:
        """How many runs are in each state."""
        return dict(self._read("SELECT state, count(*) FROM runs GROUP BY state"))

    def queue(self) -> dict[str, int] | None:
        """How many samples for workers are `waiting`, `leased` and `done`; None where there is no queue."""
        return None

    def modes(self, runs: Sequence[str]) -> dict[str, str]:
        """The mode of each of these runs."""
        return dict(self._read(f"SELECT id, mode FROM runs WHERE id IN ({_marks(runs)})", runs))

    def scorecard(self, run: str) -> dict[str, Any] | None:
        """The score card of a run as it was written; None when there is none."""
        found = self._read("SELECT scorecard FROM runs WHERE id = ?", (run,))
        return json.loads(found[0][0]) if found and found[0][0] is not None else None

    def calls(self, runs: Sequence[str], most: int) -> list[CallRow]:
        """The newest calls of some runs and of none, oldest first."""
        tail = f"ORDER BY wall DESC, calls.id DESC LIMIT {int(most)}"
        found = self._read(f"{_CALL} WHERE run IN ({_marks(runs)}) {tail}", runs)
        found += self._read(f"{_CALL} WHERE run IS NULL {tail}")
        calls = sorted((CallRow(*row) for row in found), key=lambda call: (call.wall, call.id))
        return calls[-most:]

    def request(self, call: CallRow) -> bytes:
        """The request of a call.

        Raises:
            OSError: The file that holds it is gone.
        """
        if isinstance(call.request, str):
            return (self.folder / BLOBS / call.request).read_bytes()
        return call.request

    def counts(self, runs: Sequence[str]) -> dict[str, tuple[int, int]]:
        """The number of calls of each run, and how many of them failed; calls of our own tools do not count."""
        found = self._read(
            "SELECT run, count(*), count(CASE WHEN outcome != 'success' THEN 1 END) FROM calls LEFT JOIN answers "
            f"ON answers.call = calls.id WHERE run IN ({_marks(runs)}) AND tool NOT IN ({_OWN}) GROUP BY run",
            runs,
        )
        return {run: (calls, failed) for run, calls, failed in found}

    def under_way(self) -> dict[int, int]:
        """When the calls that have no answer yet were received, by number."""
        unanswered = "NOT EXISTS (SELECT 1 FROM answers WHERE call = calls.id)"
        working = "run IN (SELECT id FROM runs WHERE state = 'working')"
        return dict(self._read(f"SELECT id, received_ns FROM calls WHERE {unanswered} AND {working}"))

    def seats(self) -> list[SeatRow]:
        """The seats of processes that live: those with a run first, then the newest."""
        rows = self._read(_SEAT)
        alive = self._alive() if rows else set()
        return [seat for row in rows if (seat := SeatRow(*row)).owner in alive]

    def _alive(self) -> set[str]:
        """The processes that live."""
        return owners(self.folder / OWNERS)

    def _runs(self, rest: str, values: Sequence[object] = ()) -> list[RunRow]:
        return [RunRow(*row) for row in self._read(f"{_RUN} {rest}", values)]

    def _read(self, query: str, values: Sequence[object] = ()) -> list[Row]:
        if self._connection is None:
            path = database(self.folder)
            self._connection = _connect(path) if path.exists() else None
        if self._connection is None:
            return []
        try:
            return self._connection.execute(query, tuple(values)).fetchall()
        except sqlite3.Error as error:
            raise explain(error, self.folder, reading=True) from error


def _marks(values: Sequence[object]) -> str:
    return ",".join("?" * len(values))


def _connect(path: Path) -> sqlite3.Connection | None:
    """A connection that cannot write; None while another process is still making the tables."""
    try:
        # One reader at a time, from whatever thread.
        found = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=10, check_same_thread=False)
        (version,) = found.execute("PRAGMA user_version").fetchone()
    except sqlite3.Error as error:
        raise explain(error, path.parent, reading=True) from error
    if version == VERSION:
        return found
    found.close()
    if version:
        if version > VERSION:
            raise StoreError(newer(path, version))
        raise StoreError(f"{path} was written by an older version of m3bench: `m3bench runs list` migrates it.")
    return None
