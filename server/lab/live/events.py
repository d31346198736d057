"""Tells watchers what happens, several times a second, without ever making the proxy wait.

News are gathered while somebody watches and written out once for all watchers, as one message of server-sent events.
The last messages are kept in a ring; a watcher that falls behind it gets a fresh picture of everything instead.
What other servers write to the same database is noticed by `Neighbours`.
"""

import asyncio
import json
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Protocol

import anyio

from m3bench.proxy.protocol.tool_calls import ToolAnswer, ToolRequest
from m3bench.server.lab.live.rows import (
    CallNews,
    LiveCall,
    LiveNews,
    LiveState,
    SeatsNews,
    answer_row,
    received_row,
)
from m3bench.server.store.contract import Store
from m3bench.server.store.location import RecordLocation
from m3bench.server.store.postgres.reader import PostgresReader
from m3bench.tasks.errors import StoreError
from m3bench.tasks.json_types import JsonValue

TICK_SECONDS = 0.2
"""Between two messages to a watcher."""
HEARTBEAT_SECONDS = 15.0
"""Of silence, after which a watcher is told that we are still here."""
KEPT = 24
"""Messages that a slow watcher may be behind."""
PENDING = 2000
"""News between two messages; with more of them everybody gets a fresh picture."""
WATCHERS = 32


class EventSource(Protocol):
    """Where the broker reads what it sends to watchers."""

    details: bool
    """Whether watchers may see arguments."""

    async def state(self) -> tuple[LiveState, dict[int, int]]:
        """Everything, and when the calls under way were received."""
        ...

    async def runs(self, names: list[str]) -> list[LiveNews]:
        """News of runs that began or came further, and of the standings when they may have changed."""
        ...

    def seats(self) -> SeatsNews:
        """News with all seats."""
        ...


class Broker:
    """Gathers news for watchers; an `Observer`."""

    def __init__(self, source: EventSource) -> None:
        self._source = source
        self._watchers = 0
        self._calls: dict[int, CallNews] = {}
        self._begun: dict[int, int] = {}
        """When calls under way were received."""
        self._runs: dict[str, None] = {}
        self._seats = False
        self._overrun = False
        self._news = anyio.Event()
        self._flushing = anyio.Lock()
        self._ring: deque[bytes] = deque(maxlen=KEPT)
        self.number = 0
        """Messages written so far."""
        self.closed = False

    # What the server tells us

    def opened(self, store: Store) -> None:
        """Nothing to do: the source reads the record itself."""

    def received(self, call: int, request: ToolRequest, run: str | None, tool: str) -> None:
        """A call arrived."""
        if not self._watchers:
            return
        self._begun[call] = request.received_ns
        row = received_row(call, request, run, tool, details=self._source.details)
        self._add(call, CallNews(row=row))

    def answered(self, call: int, answer: ToolAnswer) -> None:
        """A call was answered."""
        if not self._watchers:
            return
        row = answer_row(call, answer, self._begun.pop(call, None))
        pending = self._calls.get(call)
        if pending is not None and isinstance(pending.row, LiveCall):
            answered = replace(pending.row, outcome=row.outcome, owner=row.owner, took_ns=row.took_ns)
            self._calls[call] = CallNews(row=answered)
        else:
            self._add(call, CallNews(row=row))

    def withheld(self, call: int | None) -> None:
        """A call or its answer is not on record: nothing that could be shown."""
        if call is not None:
            self._begun.pop(call, None)

    def run_changed(self, run: str) -> None:
        """A run began or came further."""
        if self._watchers:
            self._runs[run] = None
            self._news.set()

    def seats_changed(self) -> None:
        """A seat was opened or closed."""
        if self._watchers:
            self._seats = True
            self._news.set()

    def overtaken(self) -> None:
        """Other servers wrote to the record: watchers get a fresh picture of everything."""
        if self._watchers:
            self._overrun = True
            self._news.set()

    def _add(self, call: int, news: CallNews) -> None:
        if len(self._calls) >= PENDING:
            self._overrun = True
            self._calls.clear()
        self._calls[call] = news
        self._news.set()

    # What watchers ask for

    @contextmanager
    def watch(self) -> "Iterator[Watcher]":
        """A new watcher, for the duration of the context."""
        self._watchers += 1
        try:
            yield Watcher(self)
        finally:
            self._watchers -= 1
            if not self._watchers:
                self._forget()

    @property
    def full(self) -> bool:
        """Whether no more watchers are admitted."""
        return self._watchers >= WATCHERS

    def close(self) -> None:
        """End the stream of every watcher."""
        self.closed = True
        self._news.set()

    async def wait(self) -> bool:
        """Wait for news, then a tick longer for more; False when there was none for a heartbeat's time."""
        with anyio.move_on_after(HEARTBEAT_SECONDS) as waiting:
            await self._news.wait()
        if waiting.cancelled_caught:
            return False
        if not self.closed:
            await anyio.sleep(TICK_SECONDS)
            await self.flush()
        return True

    async def flush(self) -> None:
        """Write the news into one message for all watchers; the first watcher to wake does it."""
        async with self._flushing:
            await self._flush()

    async def _flush(self) -> None:
        if self.closed or not self._news.is_set():
            return
        self._news = anyio.Event()
        calls, self._calls = list(self._calls.values()), {}
        runs, self._runs = list(self._runs), {}
        seats, self._seats = self._seats, False
        overrun, self._overrun = self._overrun, False
        # A call is counted for its run and named after its client, so both must be known by then.
        news: list[LiveNews] = [self._source.seats()] if seats or runs else []
        if runs:
            news += await self._source.runs(runs)
        news += calls
        self.number += 1
        if overrun:
            self._ring.clear()
        else:
            self._ring.append(encoded("news", [message.to_json() for message in news]))

    def since(self, seen: int) -> bytes | None:
        """The messages after a given number; None when some of them are gone from the ring."""
        behind = self.number - seen
        if behind > len(self._ring):
            return None
        return b"".join(list(self._ring)[len(self._ring) - behind :])

    async def picture(self) -> tuple[int, bytes]:
        """Everything, and the number of the last message that it includes."""
        async with self._flushing:
            await self._flush()
            state, begun = await self._source.state()
            # A call of these may have been answered while we looked: its answer is among the news then.
            self._begun = {**begun, **self._begun}
            return self.number, encoded("state", state.to_json())

    def _forget(self) -> None:
        self._calls, self._begun, self._runs = {}, {}, {}
        self._seats = self._overrun = False


class Watcher:
    """A client of the event stream."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._seen: int | None = None

    async def next(self) -> bytes | None:
        """What to send next; None at the end."""
        while not self._broker.closed:
            missed = None if self._seen is None else self._broker.since(self._seen)
            if missed is None:
                self._seen, picture = await self._broker.picture()
                return picture
            if missed:
                self._seen = self._broker.number
                return missed
            if not await self._broker.wait():
                return b": still here\n\n"
        return None


def encoded(event: str, data: JsonValue) -> bytes:
    """A message of server-sent events; JSON has no line breaks, so it is one line."""
    return f"event: {event}\ndata: {json.dumps(data, ensure_ascii=True, separators=(',', ':'))}\n\n".encode()


LISTEN_SECONDS = 0.5
"""Between two checks whether anybody still watches."""

REFRESH_SECONDS = 1.0
"""Between two fresh snapshots because of other servers."""


class Neighbours:
    """The other servers of a database; a record in a file has none.

    Args:
        place: Where the record is.
        own: Gives the name of this server on record, whose own words do not count.
        tell: Is called in the event loop when others wrote.
    """

    def __init__(self, place: RecordLocation, own: Callable[[], str | None], tell: Callable[[], None]) -> None:
        self._place = place
        self._own = own
        self._tell = tell
        self._listeners = 0
        self._ended = threading.Event()

    @contextmanager
    def heard(self) -> Iterator[None]:
        """Listen for as long as this lasts; several at once share one connection."""
        if self._place.url is None:
            yield
            return
        self._listeners += 1
        if self._listeners == 1:
            self._ended = threading.Event()
            wanted = (asyncio.get_running_loop(), self._ended)
            threading.Thread(target=self._listen, args=wanted, name="m3bench-neighbours", daemon=True).start()
        try:
            yield
        finally:
            self._listeners -= 1
            if not self._listeners:
                self._ended.set()

    def _listen(self, loop: asyncio.AbstractEventLoop, ended: threading.Event) -> None:
        reader = PostgresReader(self._place)
        while not ended.is_set():
            try:
                if reader.others_wrote(self._own(), LISTEN_SECONDS) and not ended.is_set():
                    loop.call_soon_threadsafe(self._tell)
                    ended.wait(REFRESH_SECONDS)
            except StoreError:
                # It comes back; watchers are told elsewhere that the record cannot be read.
                ended.wait(REFRESH_SECONDS)
            except RuntimeError:
                break  # The event loop has ended, and with it those who watched.
        reader.close()
