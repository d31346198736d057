"""What happens to the seats, runs and workspaces of a server that is gone.

Its calls were cut off. A run on a seat with a handle waits for its client, with its workspace, until another server on
the same record takes it over or its time is long past; every other run is abandoned. Only rules and statements: a
store decides who is dead, and writes.
"""

import json
import os
import secrets
import shutil
from collections.abc import Collection
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from m3bench.proxy.protocol.tool_calls import CUT_OFF
from m3bench.server.store import schema
from m3bench.server.store.layout import OWNERS, WORKSPACES
from m3bench.server.store.owners import dead
from m3bench.server.store.records import Resumption
from m3bench.server.store.rows import Unfinished
from m3bench.server.store.schema import Digested, Sound, Statement, Work

WAIT_SECONDS = 24 * 3600.0
"""How long after the end of its time a run waits for a client that may still want to submit."""

ELSEWHERE = (
    "The task of this seat is running on another m3bench server with the same record: continue there, or try again "
    "when that one has ended."
)
"""What a client is told when another process has its run."""

_RANGE_BITS = 22
"""Calls that a process can make without meeting the numbers of another: four million."""


def numbers() -> int:
    """Where a process begins to number its calls."""
    return secrets.randbits(40) << _RANGE_BITS


def numbers_after(last: int) -> int:
    """The same for a process that continues a run: calls are in order by number, whoever made them."""
    return ((last >> _RANGE_BITS) + 1 + secrets.randbits(30)) << _RANGE_BITS


def settled(owner: str, cut_off: Collection[int]) -> Work:
    """What the record says once a process is known to be dead.

    Args:
        owner: The process.
        cut_off: Its calls that have no answer.
    """
    seats = "(SELECT id FROM seats WHERE owner = ?)"
    told = json.dumps(CUT_OFF)
    open_ended = f"state = 'working' AND seat IN {seats} AND id NOT IN (SELECT run FROM resumptions)"
    return [
        *(schema.insert("answers", (call, "failed", "proxy", None, told, None, 0, 0)) for call in cut_off),
        Sound("runs", open_ended, (owner,)),
        (f"UPDATE runs SET state = 'abandoned' WHERE {open_ended}", (owner,)),
        Digested("runs", f"state = 'abandoned' AND seat IN {seats}", (owner,)),
        ("UPDATE seats SET owner = '' WHERE owner = ?", (owner,)),
    ]


def overdue(waiting: Collection[Unfinished]) -> set[str]:
    """The runs for which nobody comes any more."""
    now = datetime.now(UTC).timestamp()
    return {
        run.id
        for run in waiting
        if not run.owner
        and datetime.fromisoformat(run.started).timestamp() + run.resumption.seconds + WAIT_SECONDS < now
    }


def abandoned(runs: Collection[str]) -> Work:
    """What the record says of runs for which nobody came."""
    marks = f"id IN ({','.join('?' * len(runs))})"
    return [
        Sound("runs", marks, tuple(runs)),
        (f"UPDATE runs SET state = 'abandoned' WHERE {marks}", tuple(runs)),
        Digested("runs", marks, tuple(runs)),
    ]


def over(run: str) -> Statement:
    """Forgets how to resume a run that is no longer under way."""
    ended = "run IN (SELECT id FROM runs WHERE id = ? AND state != 'working')"
    return f"DELETE FROM resumptions WHERE {ended} AND lost IS NULL", (run,)


def lost(run: str, ended: str, why: str) -> Work:
    """What the record says of a run that could not be resumed."""
    return [
        Sound("runs", "id = ?", (run,)),
        ("UPDATE runs SET state = 'void', ended = ? WHERE id = ?", (ended, run)),
        Digested("runs", "id = ?", (run,)),
        ("UPDATE resumptions SET lost = ? WHERE run = ?", (why, run)),
    ]


def resumable(run: str, resumption: Resumption) -> Work:
    """What the record says of a run that is to outlive its server."""
    values = (run, resumption.workspace, resumption.max_calls, resumption.seconds, None)
    return [("INSERT OR REPLACE INTO resumptions VALUES (?,?,?,?,?)", values)]


def has_leftovers(folder: Path) -> bool:
    """Whether there are workspaces of dead owners in a data folder; tells without opening the store."""
    return any(dead(folder / OWNERS, owner) for owner in names(folder))


def names(folder: Path) -> set[str]:
    """The owners of the workspaces in a data folder."""
    try:
        return set(os.listdir(folder / WORKSPACES))
    except OSError:
        return set()


def clear(folder: Path, owner: str, kept: Collection[Path]) -> None:
    """Remove the workspaces of a dead process, but for those of runs that may be resumed."""
    place = folder / WORKSPACES / owner
    with suppress(OSError):
        for entry in os.scandir(place):
            if Path(entry.path) not in kept:
                shutil.rmtree(entry.path, ignore_errors=True)
        place.rmdir()
