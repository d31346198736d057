"""Everything the live view shows, as one document: seats, runs, the last calls and the standings.

Read from the record in a thread, so that whoever looks does not make the proxy wait.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

import anyio
import anyio.to_thread

from m3bench.proxy.front import Front
from m3bench.proxy.logs import seat_name
from m3bench.proxy.seat import Seat
from m3bench.sandboxes.pool import SandboxPool
from m3bench.server.lab.live.record import LiveRecord
from m3bench.server.lab.live.rows import (
    SEALED,
    LiveCall,
    LiveNews,
    LiveRun,
    LiveSeat,
    LiveState,
    RunNews,
    SeatsNews,
    Standing,
    StandingsNews,
)
from m3bench.server.runs.observer import Observer
from m3bench.server.settings import Settings
from m3bench.server.store.location import RecordLocation
from m3bench.server.store.records import now
from m3bench.tasks.library import Library

SEATS = 200
"""Seats that are told."""


class WatchedServer(Protocol):
    """The server that is watched, as far as the live view needs to know it."""

    observer: Observer | None

    @property
    def settings(self) -> Settings:
        """Its settings."""
        ...

    @property
    def place(self) -> RecordLocation:
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
        """The MCP front end that transports serve."""
        ...

    @property
    def pool(self) -> SandboxPool:
        """Its sandboxes."""
        ...


class ServerState:
    """The state of a running server; the `EventSource` of its broker.

    Args:
        app: The server.
        operator: Whether all who ask have the operator's token, and may see ranked runs too.
    """

    def __init__(self, app: WatchedServer, *, operator: bool) -> None:
        self._app = app
        ranked = app.settings.ranked
        self.details = operator or not ranked
        self._record = LiveRecord(app.place, lambda mode: operator or not (ranked or mode == "ranked"))
        self._reading = anyio.Lock()

    def may_see(self, mode: str) -> bool:
        """Whether the scores of runs in a mode may be seen."""
        return self._record.visible(mode)

    async def state(self) -> tuple[LiveState, dict[int, int]]:
        """Everything, and when the calls under way were received."""
        own = {seat_name(seat) for seat in self._app.seats}
        # Of a database's other servers the record knows the seats.
        shared = self._app.place.url is not None
        async with self._reading:
            seen = await anyio.to_thread.run_sync(partial(_look, self._record, None if shared else own))
            others = await anyio.to_thread.run_sync(self._record.seats) if shared else []
        seats = self._seats() + [seat for seat in others if seat.seat not in own]
        state = LiveState(
            version=self._app.front.version,
            at=now(),
            mode=self._app.settings.mode,
            details=self.details,
            seats=with_clients(seats[-SEATS:], seen.calls),
            runs=seen.runs,
            calls=seen.calls,
            standings=seen.standings,
        )
        return state, seen.under_way

    async def states(self) -> dict[str, int]:
        """How many runs on record are in each state."""
        async with self._reading:
            return await anyio.to_thread.run_sync(self._record.states)

    async def queue(self) -> dict[str, int] | None:
        """How many samples for workers are in each state; None where there is no queue."""
        async with self._reading:
            return await anyio.to_thread.run_sync(self._record.queue)

    async def runs(self, names: list[str]) -> list[LiveNews]:
        """News of runs that began or came further, and of the standings when they may have changed."""
        async with self._reading:
            return await anyio.to_thread.run_sync(partial(_news, self._record, names))

    def seats(self) -> SeatsNews:
        """News with all seats."""
        return SeatsNews(seats=tuple(self._seats()))

    def _seats(self) -> list[LiveSeat]:
        return [
            LiveSeat(
                seat=seat_name(seat.id),
                profile=seat.profile,
                run=seat.run.id if seat.run is not None else None,
                client="",
            )
            for seat in list(self._app.seats.values())[-SEATS:]
        ]


def folder_state(record: LiveRecord, version: str) -> LiveState:
    """The state of a data folder, whoever writes there."""
    seen = _look(record, None)
    return LiveState(
        version=version,
        at=now(),
        mode="practice",
        details=True,
        seats=with_clients(record.seats(), seen.calls),
        runs=seen.runs,
        calls=seen.calls,
        standings=seen.standings,
    )


def with_clients(seats: Sequence[LiveSeat], calls: Iterable[LiveCall]) -> tuple[LiveSeat, ...]:
    """Seats with the names that their clients gave in their last calls."""
    known = {call.seat: call.client for call in calls if call.client}
    return tuple(replace(seat, client=known.get(seat.seat, "")) for seat in seats)


@dataclass(frozen=True, kw_only=True)
class _Seen:
    """What a record holds at one moment."""

    runs: tuple[LiveRun, ...]
    calls: tuple[LiveCall, ...]
    standings: tuple[Standing, ...]
    under_way: dict[int, int]
    """When the calls under way were received."""


def _look(record: LiveRecord, seats: set[str] | None) -> _Seen:
    """Runs, calls and standings; of runs under way only those on the given seats."""
    found = record.runs()
    runs = tuple(run for run in found if seats is None or run.state != "working" or run.seat in seats)
    return _Seen(
        runs=runs,
        calls=tuple(record.calls([run.run for run in runs])),
        standings=tuple(record.standings()),
        under_way=record.under_way(),
    )


def _news(record: LiveRecord, names: list[str]) -> list[LiveNews]:
    found = record.runs(names)
    # The calls of a run that has just begun are news of their own: counted here too, they would count twice.
    news: list[LiveNews] = [
        RunNews(row=replace(run, calls=0, failed=0) if run.state == "working" else run) for run in found
    ]
    if any(run.state in SEALED for run in found):
        news.append(StandingsNews(standings=tuple(record.standings())))
    return news
