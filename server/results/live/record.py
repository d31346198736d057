"""A data folder's record as those read it who only watch: nothing is written there, no owner is named.

Works on the folder of any server, over stdio too, while it writes. Score cards are parsed once and their numbers kept.
"""

import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from m3bench.proxy.indirect import meant
from m3bench.server.results.live.rows import SEALED, argument_text, call_name, name_text, seat_name, took
from m3bench.server.scoring.aggregate import Row, micro
from m3bench.server.store.owners import owners
from m3bench.server.store.records import OWN_TOOLS
from m3bench.server.store.sqlite import OWNERS, SCHEMA_VERSION
from m3bench.tasks.errors import StoreError

FILE = "m3bench.sqlite"
RUNS, CALLS = 60, 100
"""How many are told, the newest."""

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

Visible = Callable[[str], bool]
"""Whether scores of runs in a mode may be seen."""


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """What is kept of a score card."""

    row: Row
    success: bool | None


class Record:
    """The record of a data folder; empty until there is one.

    Args:
        folder: The data folder.
        visible: Whether scores and arguments of runs in a mode may be seen.
    """

    def __init__(self, folder: Path, visible: Visible) -> None:
        self.folder = folder
        self.visible = visible
        self._connection: sqlite3.Connection | None = None
        self._cards: dict[str, Numbers | None] = {}
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

    def runs(self, only: Iterable[str] | None = None) -> list[dict[str, Any]]:
        """Runs as rows, newest first: those named, or the newest and all under way."""
        if only is not None:
            names = list(only)
            marks = ",".join("?" * len(names))
            found = self._read(f"{_RUN} WHERE id IN ({marks}) ORDER BY started DESC, id", names)
        else:
            found = self._read(f"{_RUN} ORDER BY state = 'working' DESC, started DESC, id LIMIT ?", (RUNS,))
            found.sort(key=lambda row: (row[5], row[0]), reverse=True)
        counts = self._counts([row[0] for row in found])
        return [self._run(row, *counts.get(row[0], (0, 0))) for row in found]

    def calls(self, runs: Sequence[str]) -> list[dict[str, Any]]:
        """The newest calls of some runs and of none, oldest first."""
        marks = ",".join("?" * len(runs))
        tail = f"ORDER BY wall DESC LIMIT {CALLS}"
        found = self._read(f"{_CALL} WHERE run IN ({marks}) {tail}", runs) + self._read(
            f"{_CALL} WHERE run IS NULL {tail}"
        )
        found.sort(key=lambda row: (row[6], row[0]))
        modes = dict(self._read(f"SELECT id, mode FROM runs WHERE id IN ({marks})", runs))
        return [self._call(row, modes.get(row[1])) for row in found[-CALLS:]]

    def under_way(self) -> dict[int, int]:
        """When the calls that have no answer yet were received, by number."""
        query = "SELECT id, received_ns FROM calls WHERE id NOT IN (SELECT call FROM answers) AND run IN "
        return dict(self._read(f"{query} (SELECT id FROM runs WHERE state = 'working')"))

    def seats(self) -> list[dict[str, Any]]:
        """The seats of processes that live, which have a run under way or were the last to have one."""
        alive = owners(self.folder / OWNERS)
        query = (
            "SELECT seats.id, seats.owner, profile, opened, (SELECT id FROM runs WHERE runs.seat = seats.id "
            "AND state = 'working' LIMIT 1) AS run FROM seats WHERE seats.owner != '' ORDER BY run IS NULL, opened DESC"
        )
        found = [row for row in self._read(query) if row[1] in alive]
        newest = {row[1]: row for row in reversed(found)}
        return [
            {"seat": seat_name(row[0]), "profile": row[2], "run": row[4], "client": ""}
            for row in found
            if row[4] is not None or newest[row[1]] is row
        ]

    def standings(self) -> list[dict[str, Any]]:
        """Clients by their scored runs, like with like: one line for each client, profile and set of tasks."""
        groups: dict[tuple[str, str, str, str], list[Numbers | None]] = {}
        for row in self._read(f"{_RUN} WHERE state IN ('submitted', 'scored') ORDER BY started, id"):
            key = (name_text(row[10] or ""), row[7] or "", row[8] or "", row[9] or "")
            groups.setdefault(key, []).append(self._numbers(row[0]) if self.visible(row[4]) else None)
        lines = [_line(key, numbers) for key, numbers in groups.items()]
        return sorted(
            lines, key=lambda line: (-(line["average"] or 0.0), -line["runs"], line["client"], line["profile"])
        )

    def _run(self, row: tuple[Any, ...], calls: int, failed: int) -> dict[str, Any]:
        run, seat, task, state, mode, started, ended = row[:7]
        open_to_see = state in SEALED and self.visible(mode)
        numbers = self._numbers(run) if open_to_see else None
        return {
            "run": run,
            "seat": seat_name(seat),
            "client": name_text(row[10] or ""),
            "task": name_text(task),
            "state": state,
            "mode": mode,
            "profile": row[7],
            "started": started,
            "ended": ended,
            "calls": calls,
            "failed": failed,
            "average": numbers.row.metrics.get("average") if numbers else None,
            "success": numbers.success if numbers else None,
            "hidden": state in SEALED and not open_to_see,
        }

    def _call(self, row: tuple[Any, ...], mode: str | None) -> dict[str, Any]:
        return {
            "call": call_name(row[0]),
            "run": row[1],
            "seat": seat_name(row[2]),
            "client": name_text(row[5]),
            "tool": name_text(row[3]),
            "arguments": argument_text(self._arguments(row[3], row[4])) if self.visible(mode or "practice") else None,
            "wall": row[6],
            "outcome": row[8],
            "owner": row[9],
            "took_ns": took(row[7], row[10]),
        }

    def _arguments(self, tool: str, request: bytes | str) -> object:
        try:
            raw = (self.folder / "blobs" / request).read_bytes() if isinstance(request, str) else request
            return meant(tool, json.loads(raw)["params"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None

    def _counts(self, runs: Sequence[str]) -> dict[str, tuple[int, int]]:
        """Calls of runs, and those of them that failed."""
        marks = ",".join("?" * len(runs))
        found = self._read(
            "SELECT run, count(*), coalesce(sum(outcome != 'success'), 0) FROM calls LEFT JOIN answers "
            f"ON answers.call = calls.id WHERE run IN ({marks}) AND tool NOT IN ({_OWN}) GROUP BY run",
            runs,
        )
        return {run: (calls, failed) for run, calls, failed in found}

    def _numbers(self, run: str) -> Numbers | None:
        if run not in self._cards:
            found = self._read("SELECT scorecard FROM runs WHERE id = ?", (run,))
            if not found or found[0][0] is None:
                return None
            self._cards[run] = _numbers(run, json.loads(found[0][0]))
        return self._cards[run]

    def _read(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        path = self.folder / FILE
        if self._connection is None:
            self._connection = _connect(path) if path.exists() else None
        if self._connection is None:
            return []
        try:
            return self._connection.execute(query, tuple(values)).fetchall()
        except sqlite3.Error as error:
            raise StoreError(f"The record in {self.folder} cannot be read: {error}") from error


def _connect(path: Path) -> sqlite3.Connection | None:
    """A connection that cannot write; None while another process is still making the tables."""
    try:
        # One reader at a time, from whatever thread.
        found = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=10, check_same_thread=False)
        (version,) = found.execute("PRAGMA user_version").fetchone()
    except sqlite3.Error as error:
        raise StoreError(f"The record {path} cannot be read: {error}") from error
    if version == SCHEMA_VERSION:
        return found
    found.close()
    if version:
        raise StoreError(f"{path} was written by another version of m3bench: watch with that one.")
    return None


def _numbers(run: str, card: dict[str, Any]) -> Numbers:
    alignment = card["alignment"]
    row = Row(
        id=run,
        family=card["family"],
        metrics=card["metrics"],
        reference_calls=sum(map(len, alignment["reference_steps"])),
        actual_calls=sum(map(len, alignment["actual_steps"])),
        matched=len(alignment["matches"]),
    )
    return Numbers(row=row, success=card["success"])


def _line(key: tuple[str, str, str, str], numbers: Sequence[Numbers | None]) -> dict[str, Any]:
    scored = [one for one in numbers if one is not None]
    checked = [one.success for one in scored if one.success is not None]
    return {
        "client": key[0],
        "profile": key[1],
        "set": key[2],
        "runs": len(numbers),
        "scored": len(scored),
        "average": micro([one.row for one in scored])["average"] if scored else None,
        "solved": sum(checked),
        "checked": len(checked),
    }
