"""Counts what a server does; `prometheus` writes the numbers out at `/metrics`.

Calls are counted by what they came to, and by how long they took. These are plain numbers, so that a call pays next to
nothing for them. No key or label holds anything that a client chose, a handle or a task; there are as many as we have
words.
"""

import shutil
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from m3bench.proxy.protocol.tool_calls import ToolAnswer, ToolRequest
from m3bench.server.lab.live.state import ServerState, WatchedServer
from m3bench.server.store.contract import Store
from m3bench.server.store.records import OWN_TOOLS
from m3bench.tasks.errors import StoreError

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 25.0, 50.0)
"""Seconds: the upper ends of the ranges that calls are counted in; the last is all that a tool may take."""


@dataclass
class Durations:
    """How long calls of one kind took."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    """By range; the last one has no upper end."""
    total: float = 0.0

    def add(self, seconds: float) -> None:
        """Count a call."""
        self.counts[bisect_left(BOUNDS, seconds)] += 1
        self.total += seconds


class CallCounter:
    """An `Observer` that counts."""

    def __init__(self) -> None:
        self.calls: Counter[tuple[str, str]] = Counter()
        """By outcome and owner."""
        self.durations = {"benchmark": Durations(), "tool": Durations()}
        """From the arrival of a call until its answer is on record, for our own tools and for all others."""
        self.unrecorded = 0
        """Calls that were answered with an error, because they or their answers could not be recorded."""
        self.store: Store | None = None
        """The record, from the first call on."""
        self._begun: dict[int, tuple[int, str]] = {}

    @property
    def under_way(self) -> int:
        """Calls that have no answer yet."""
        return len(self._begun)

    def opened(self, store: Store) -> None:
        """The record is open."""
        self.store = store

    def seats_changed(self) -> None:
        """Seats are counted when somebody asks."""

    def run_changed(self, run: str) -> None:
        """Runs are counted when somebody asks."""

    def received(self, call: int, request: ToolRequest, run: str | None, tool: str) -> None:
        """A call arrived."""
        self._begun[call] = request.received_ns, "benchmark" if tool in OWN_TOOLS else "tool"

    def answered(self, call: int, answer: ToolAnswer) -> None:
        """A call was answered."""
        self.calls[answer.outcome, answer.owner] += 1
        begun = self._begun.pop(call, None)
        if begun is not None:
            received_ns, kind = begun
            self.durations[kind].add((time.monotonic_ns() - received_ns) / 1e9)

    def withheld(self, call: int | None) -> None:
        """A call, or the answer of one, could not be recorded."""
        self.unrecorded += 1
        if call is not None:
            self._begun.pop(call, None)


@dataclass(frozen=True, kw_only=True)
class ServerNumbers:
    """All numbers of a server at one moment."""

    build: Mapping[str, str]
    calls: Mapping[tuple[str, str], int]
    durations: Mapping[str, Durations]
    under_way: int
    unrecorded: int
    seats: int
    runs: int
    states: Mapping[str, int] | None
    """Runs on record by state; None when the record cannot be read."""
    queue: Mapping[str, int] | None
    """Samples for workers by state; None where there is no queue, or when it cannot be read."""
    sandboxes: int
    spares: int
    writable: bool
    queued: int
    free: int | None
    """Bytes left on the disk of the data folder; None when that is not known."""


async def numbers(app: WatchedServer, state: ServerState, counter: CallCounter) -> ServerNumbers:
    """The numbers of a server now."""
    settings, store = app.settings, counter.store
    states = queue = None
    # That the record cannot be read now is a number too.
    with suppress(StoreError):
        states, queue = await state.states(), await state.queue()
    return ServerNumbers(
        build={
            "version": app.front.version,
            "mode": settings.mode,
            "sandbox": settings.sandbox,
            "store": "sqlite" if app.place.url is None else "postgresql",
        },
        calls=dict(counter.calls),
        durations={kind: Durations([*took.counts], took.total) for kind, took in counter.durations.items()},
        under_way=counter.under_way,
        unrecorded=counter.unrecorded,
        seats=len(app.seats),
        runs=sum(seat.run is not None for seat in app.seats.values()),
        states=states,
        queue=queue,
        sandboxes=app.pool.in_use,
        spares=app.pool.waiting,
        writable=store is None or not store.failing,
        queued=store.queued if store is not None else 0,
        free=_free(app),
    )


def _free(app: WatchedServer) -> int | None:
    """Free bytes on the disk of the data folder, or of the nearest parent that exists."""
    folder = app.settings.data.absolute()
    try:
        return shutil.disk_usage(next(there for there in (folder, *folder.parents) if there.exists())).free
    except OSError:
        return None
