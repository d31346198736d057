"""Calls that have arrived and are not yet on record.

A call that is answered at once is written together with its answer, in one commit; one that takes longer is written by
itself meanwhile. Clients see no difference: an answer is on record only if its call is.
"""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from m3bench.server.store.schema import Work
from m3bench.server.store.writer import Writer, WriteUnit
from m3bench.tasks.errors import StoreError

SECONDS = 0.005
"""How long a call may wait for its answer before it is written alone."""


@dataclass(frozen=True, kw_only=True)
class PendingCall:
    """A call as it arrived."""

    rows: Callable[[], Work]
    unit: WriteUnit | None
    """How it is being written, when it was written alone."""

    def with_answer(self) -> Work:
        """The rows that are to be written together with the answer."""
        return self.rows() if self.unit is None else ()

    def missing(self) -> Work:
        """The rows that are not on record after the answer could not be written."""
        return self.rows() if self.unit is None or self.unit.error is not None else ()


ON_RECORD = PendingCall(rows=tuple, unit=None)
"""A call that was written before it was forwarded."""


class PendingCalls:
    """Calls under way, until they are answered."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._waiting: dict[int, tuple[Callable[[], Work], float]] = {}
        """Their rows, and from when on they wait no longer; in the order they arrived."""
        self._written: dict[int, PendingCall] = {}
        self._lock = threading.Lock()
        self._timed: asyncio.AbstractEventLoop | None = None

    def add(self, call: int, rows: Callable[[], Work], *, ahead: bool = False) -> None:
        """A call has arrived.

        Args:
            call: Its number.
            rows: Gives its rows.
            ahead: Whether to ask for them at the next turn of the event loop, when the call is on its way to its tool.
        """
        loop = asyncio.get_running_loop()
        if ahead:
            rows = once = _Once(rows)
            loop.call_soon(once.prepare)
        with self._lock:
            due = loop.time() + SECONDS
            self._waiting[call] = rows, due
            if self._timed is not loop:
                self._timed = loop
                loop.call_at(due, self._due)

    def take(self, call: int) -> PendingCall:
        """A call that is answered."""
        with self._lock:
            waiting = self._waiting.pop(call, None)
            return self._written.pop(call, ON_RECORD) if waiting is None else PendingCall(rows=waiting[0], unit=None)

    def write(self) -> bool:
        """Have what waits written; tells whether some of it may not be on record yet: the writer takes all in order.

        Raises:
            StoreError: The record is closed.
        """
        with self._lock:
            for call, (rows, _) in list(self._waiting.items()):
                unit = self._writer.submit(WriteUnit(rows))
                self._written[call] = PendingCall(rows=rows, unit=unit)
                del self._waiting[call]
            return bool(self._written)

    def _due(self) -> None:
        """Write what waits when the first of it has waited long enough, all in one commit."""
        self._timed = None
        loop = asyncio.get_running_loop()
        with self._lock:
            first = next((due for _, due in self._waiting.values()), None)
            if first is not None and first > loop.time():
                self._timed = loop
                loop.call_at(first, self._due)
                return
        with suppress(StoreError):
            self.write()


class _Once:
    """Rows that are put together once; `functools.cache` costs more than these."""

    def __init__(self, rows: Callable[[], Work]) -> None:
        self._rows = rows
        self._made: Work | None = None

    def __call__(self) -> Work:
        if self._made is None:
            self._made = self._rows()
        return self._made

    def prepare(self) -> None:
        with suppress(Exception):  # The writer asks again, and tells whoever waits.
            self()
