"""Everything the live view shows, as one document: seats, runs, the last calls and the standings.

Read from the record in a thread, so that whoever looks does not make the proxy wait.
"""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, Protocol

import anyio
import anyio.to_thread

from m3bench.proxy.front import Front
from m3bench.proxy.seat import Seat, seat_name
from m3bench.sandboxes.pool import Pool
from m3bench.server.lab.live.record import Record
from m3bench.server.lab.live.rows import SEALED
from m3bench.server.runs.observer import Observer
from m3bench.server.settings import Settings
from m3bench.server.store.place import Place
from m3bench.server.store.records import now
from m3bench.tasks.library import Library

SCHEMA = 1
_UNCOUNTED = {"calls": 0, "failed": 0}
SEATS = 200
"""Seats that are told."""


class Served(Protocol):
    """The server that is watched, as far as the live view needs to know it."""

    observer: Observer | None

    @property
    def settings(self) -> Settings:
        """What the person chose."""
        ...

    @property
    def place(self) -> Place:
        """Where its record is."""
        ...

    @property
    def library(self) -> Library:
        """The tasks."""
        ...

    @property
    def seats(self) -> Mapping[str, Seat]:
        """The seats that are open."""
        ...

    @property
    def front(self) -> Front:
        """What transports serve."""
        ...

    @property
    def pool(self) -> Pool:
        """Its sandboxes."""
        ...


class ServerState:
    """What a server that serves now can tell; the `Source` of its broker.

    Args:
        app: The server.
        operator: Whether all who ask have the operator's token, and may see ranked runs too.
    """

    def __init__(self, app: Served, *, operator: bool) -> None:
        self._app = app
        ranked = app.settings.ranked
        self.details = operator or not ranked
        self._record = Record(app.place, lambda mode: operator or not (ranked or mode == "ranked"))
        self._reading = anyio.Lock()

    def may_see(self, mode: str) -> bool:
        """Whether the scores of runs in a mode may be seen."""
        return self._record.visible(mode)

    async def state(self) -> tuple[dict[str, Any], dict[int, int]]:
        """The document, and when the calls under way were received."""
        own = {seat_name(seat) for seat in self._app.seats}
        # Of a database's other servers the record knows the seats.
        shared = self._app.place.url is not None
        async with self._reading:
            look = partial(_document, self._record, None if shared else own)
            document, begun = await anyio.to_thread.run_sync(look)
            others = await anyio.to_thread.run_sync(self._record.seats) if shared else []
        head = {"schema": SCHEMA, "kind": "live", "version": self._app.front.version, "at": now()}
        mode = self._app.settings.mode
        seats = self._seats() + [seat for seat in others if seat["seat"] not in own]
        seats = with_clients(seats[-SEATS:], document["calls"])
        return {**head, "mode": mode, "details": self.details, "seats": seats, **document}, begun

    async def states(self) -> dict[str, int]:
        """How many runs on record are in each state."""
        async with self._reading:
            return await anyio.to_thread.run_sync(self._record.states)

    async def queue(self) -> dict[str, int] | None:
        """How many samples for workers are in each state; None where there is no queue."""
        async with self._reading:
            return await anyio.to_thread.run_sync(self._record.queue)

    async def runs(self, names: list[str]) -> list[dict[str, Any]]:
        """Messages on runs that began or came further, and on the standings when they may have changed."""
        async with self._reading:
            return await anyio.to_thread.run_sync(partial(_messages, self._record, names))

    def seats(self) -> dict[str, Any]:
        """A message with all seats."""
        return {"type": "seats", "seats": self._seats()}

    def _seats(self) -> list[dict[str, Any]]:
        return [
            {
                "seat": seat_name(seat.id),
                "profile": seat.profile,
                "run": seat.run.id if seat.run is not None else None,
                "client": "",
            }
            for seat in list(self._app.seats.values())[-SEATS:]
        ]


def folder_state(record: Record, version: str) -> dict[str, Any]:
    """The document of a data folder, whoever writes there."""
    document, _ = _document(record, None)
    return {
        "schema": SCHEMA, "kind": "live", "version": version, "at": now(), "mode": "practice", "details": True,
        "seats": with_clients(record.seats(), document["calls"]), **document,
    }  # fmt: skip


def with_clients(seats: list[dict[str, Any]], calls: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Seats with the names that their clients gave in their last calls."""
    known = {call["seat"]: call["client"] for call in calls if call["client"]}
    return [{**seat, "client": known.get(seat["seat"], "")} for seat in seats]


def _document(record: Record, seats: set[str] | None) -> tuple[dict[str, Any], dict[int, int]]:
    """Runs, calls and standings; of runs under way only those on the given seats."""
    found = record.runs()
    runs = [run for run in found if seats is None or run["state"] != "working" or run["seat"] in seats]
    calls = record.calls([run["run"] for run in runs])
    return {"runs": runs, "calls": calls, "standings": record.standings()}, record.under_way()


def _messages(record: Record, names: list[str]) -> list[dict[str, Any]]:
    found = record.runs(names)
    # The calls of a run that has just begun are news of their own: counted here too, they would count twice.
    messages = [{"type": "run", **run, **(_UNCOUNTED if run["state"] == "working" else {})} for run in found]
    if any(run["state"] in SEALED for run in found):
        messages.append({"type": "standings", "standings": record.standings()})
    return messages
