"""Reading from and writing to a pair of pipes, without blocking the event loop.

Reads are chunks as they arrive; whoever can deal with one without waiting is given it at once. A write that the pipe
takes at once is one system call; a larger one goes to a thread, so that a peer that does not read holds up nobody else.
On systems where pipes cannot be waited for, threads do both.
"""

import asyncio
import os
import select
import sys
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

import anyio
import anyio.to_thread

from m3bench.tasks.eager import in_task

if sys.platform == "linux":
    import fcntl

AtOnce = Callable[[bytes], bytes]
"""Deals with what it can of a chunk, whole lines from its front, and returns the rest; never raises."""

_CHUNK = 1 << 20

PIPE_BYTES = 256 * 1024
"""What a pipe holds that large lines go through; a quarter of it is usual."""

AT_ONCE_BYTES = 4096
"""What a pipe that is ready takes without blocking, on every system."""


class Pipes:
    """Two file descriptors: one to read from, one to write to. Whoever opened them closes them."""

    def __init__(self, source: int, sink: int) -> None:
        self._source = source
        self._sink = sink
        self._lock = anyio.Lock(fast_acquire=True)
        self._turn = threading.Lock()
        """Held while something is written, by whichever thread."""
        self._sends = True

    async def chunks(self, at_once: AtOnce | None = None) -> AsyncIterator[bytes]:
        """What arrives, until the other side closes.

        Args:
            at_once: Is given a chunk before, when all earlier ones were dealt with; what it takes is not among these.
        """
        reader = _Reader(self._source, at_once)
        try:
            # A file or the null device cannot be waited for, and never makes one wait; elsewhere pipes cannot.
            waited = os.name == "posix" and reader.start()
            while chunk := await (reader.next() if waited else reader.next_by_thread()):
                yield chunk
        finally:
            reader.stop()

    async def send(self, *data: bytes) -> None:
        """Write a line whole, given in parts; raises `OSError` when nobody reads any more."""
        if not self._lock.locked() and sum(map(len, data)) <= AT_ONCE_BYTES and self.send_at_once(b"".join(data)):
            return
        await in_task()
        async with self._lock:
            # A line that was begun must be ended, or the stream is lost.
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(self._write, *data, abandon_on_cancel=True)

    def send_at_once(self, data: bytes) -> bool:
        """Write a line whole, from any thread, if that can be done without waiting; else nothing, and this is False.

        Raises:
            OSError: Nobody reads any more.
        """
        if len(data) > AT_ONCE_BYTES or os.name != "posix" or not self._turn.acquire(blocking=False):
            return False
        try:
            if not self._sends or not select.select((), (self._sink,), (), 0)[1]:
                return False
            os.write(self._sink, data)
        finally:
            self._turn.release()
        return True

    def stop_sending(self) -> None:
        """From now on no thread writes at once: what it would write to may soon be something else."""
        with self._turn:
            self._sends = False

    def _write(self, *data: bytes) -> None:
        with self._turn:
            if sum(map(len, data)) > PIPE_BYTES:
                widen(self._sink)
            for part in data:
                view = memoryview(part)
                while view:
                    view = view[os.write(self._sink, view) :]


def widen(pipe: int) -> None:
    """Have a pipe hold more, where the system lets us: what is large then takes a quarter of the turns."""
    if sys.platform == "linux":
        with suppress(OSError):
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE_BYTES)


class _Reader:
    """Reads what arrives as soon as it does, one chunk ahead at most.

    Asking the system to be told, and taking that back, for every chunk would cost more than the reading.
    """

    def __init__(self, source: int, at_once: AtOnce | None) -> None:
        self._source = source
        self._at_once = at_once
        self._loop = asyncio.get_running_loop()
        self._arrived: deque[bytes | OSError] = deque()
        self._waiter: asyncio.Future[None] | None = None
        self._listening = False

    def start(self) -> bool:
        """Begin to read; whether this source can be waited for."""
        try:
            self._listen()
        except PermissionError:
            return False
        return True

    def stop(self) -> None:
        """Read no more."""
        if self._listening:
            self._listening = False
            self._loop.remove_reader(self._source)

    async def next(self) -> bytes:
        """The next chunk; empty when the other side has closed."""
        if not self._arrived:
            self._listen()
            self._waiter = self._loop.create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        found = self._arrived.popleft()
        if isinstance(found, OSError):
            raise found
        return found

    async def next_by_thread(self) -> bytes:
        """The same where nothing tells when to read."""
        return await anyio.to_thread.run_sync(os.read, self._source, _CHUNK, abandon_on_cancel=True)

    def _listen(self) -> None:
        if not self._listening:
            self._loop.add_reader(self._source, self._read)
            self._listening = True

    def _read(self) -> None:
        if self._arrived:
            self.stop()
            return
        found: bytes | OSError
        try:
            found = os.read(self._source, _CHUNK)
        except OSError as error:
            found = error
        idle = self._waiter is not None and not self._waiter.done()
        if idle and self._at_once is not None and isinstance(found, bytes) and found:
            found = self._at_once(found)
            if not found:
                return
        self._arrived.append(found)
        if idle:
            assert self._waiter is not None
            self._waiter.set_result(None)
