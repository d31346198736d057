"""Tells watchers what happens, some times a second, without ever making the proxy wait.

News are gathered while somebody watches and written out once for all watchers, as one message of server-sent events.
The last messages are kept in a ring; a watcher that falls behind it gets a fresh picture of everything instead.
"""

import json
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import anyio

from m3bench.proxy.call import Answer, ToolRequest
from m3bench.server.lab.live.rows import answer_row, received_row
from m3bench.server.store.contract import Store

TICK_SECONDS = 0.2
"""Between two messages to a watcher."""
HEARTBEAT_SECONDS = 15.0
"""Of silence, after which a watcher is told that we are still here."""
KEPT = 24
"""Messages that a slow watcher may be behind."""
PENDING = 2000
"""News between two messages; with more of them everybody gets a fresh picture."""
WATCHERS = 32


class Source(Protocol):
    """What can be told."""

    details: bool
    """Whether arguments may be told."""

    async def state(self) -> tuple[dict[str, Any], dict[int, int]]:
        """Everything, and when the calls under way were received."""
        ...

    async def runs(self, names: list[str]) -> list[dict[str, Any]]:
        """Messages on runs that began or came further, and on the standings when they may have changed."""
        ...

    def seats(self) -> dict[str, Any]:
        """A message with all seats."""
        ...


class Broker:
    """Gathers news for watchers; an `Observer`."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._watchers = 0
        self._calls: dict[int, dict[str, Any]] = {}
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
        """Watchers read the record by themselves."""

    def received(self, call: int, request: ToolRequest, run: str | None, tool: str) -> None:
        """A call arrived."""
        if not self._watchers:
            return
        self._begun[call] = request.received_ns
        row = received_row(call, request, run, tool, details=self._source.details)
        self._add(call, {"type": "call", "new": True, **row})

    def answered(self, call: int, answer: Answer) -> None:
        """A call was answered."""
        if not self._watchers:
            return
        row = answer_row(call, answer, self._begun.pop(call, None))
        pending = self._calls.get(call)
        if pending is not None:
            pending.update(row)
        else:
            self._add(call, {"type": "call", "new": False, **row})

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
        """Others wrote to the record: what they did is told by a fresh picture."""
        if self._watchers:
            self._overrun = True
            self._news.set()

    def _add(self, call: int, message: dict[str, Any]) -> None:
        if len(self._calls) >= PENDING:
            self._overrun = True
            self._calls.clear()
        self._calls[call] = message
        self._news.set()

    # What watchers ask for

    @contextmanager
    def watch(self) -> "Iterator[Watcher]":
        """A new watcher, for as long as this lasts."""
        self._watchers += 1
        try:
            yield Watcher(self)
        finally:
            self._watchers -= 1
            if not self._watchers:
                self._forget()

    @property
    def full(self) -> bool:
        """Whether there are as many watchers as there may be."""
        return self._watchers >= WATCHERS

    def close(self) -> None:
        """Let every watcher go."""
        self.closed = True
        self._news.set()

    async def wait(self) -> bool:
        """Wait for news, and some time longer for more; False when there were none for long."""
        with anyio.move_on_after(HEARTBEAT_SECONDS) as waiting:
            await self._news.wait()
        if waiting.cancelled_caught:
            return False
        if not self.closed:
            await anyio.sleep(TICK_SECONDS)
            await self.flush()
        return True

    async def flush(self) -> None:
        """Write the news into a message; whoever comes first does it for all."""
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
        messages = [self._source.seats()] if seats or runs else []
        if runs:
            messages += await self._source.runs(runs)
        messages += calls
        self.number += 1
        if overrun:
            self._ring.clear()
        else:
            self._ring.append(encoded("news", messages))

    def since(self, seen: int) -> bytes | None:
        """The messages after one; None when they are no longer all here."""
        behind = self.number - seen
        if behind > len(self._ring):
            return None
        return b"".join(list(self._ring)[len(self._ring) - behind :])

    async def picture(self) -> tuple[int, bytes]:
        """Everything, and the number of the last message that it makes up for."""
        async with self._flushing:
            await self._flush()
            state, begun = await self._source.state()
            # A call of these may have been answered while we looked: its answer is among the news then.
            self._begun = {**begun, **self._begun}
            return self.number, encoded("state", state)

    def _forget(self) -> None:
        self._calls, self._begun, self._runs = {}, {}, {}
        self._seats = self._overrun = False


class Watcher:
    """One who watches."""

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


def encoded(event: str, data: object) -> bytes:
    """A message of server-sent events; JSON has no line breaks, so it is one line."""
    return f"event: {event}\ndata: {json.dumps(data, ensure_ascii=True, separators=(',', ':'))}\n\n".encode()
