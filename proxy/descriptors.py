"""Reading from and writing to a pair of pipes, without blocking the loop and without layers.

Reads are chunks as they arrive. A write that the pipe takes at once is one system call; a larger one goes to a
thread, so that a peer that does not read holds up nobody else. On systems where pipes cannot be waited for,
threads do both.
"""

import os
import select
from collections.abc import AsyncIterator
from contextlib import suppress

import anyio
import anyio.to_thread

_CHUNK = 1 << 20

_PIPE_BYTES = 4096
"""What a pipe that is ready takes without blocking, on every system."""


class Descriptors:
    """Two file descriptors: one to read from, one to write to. Whoever opened them closes them."""

    def __init__(self, source: int, sink: int) -> None:
        self._source = source
        self._sink = sink
        self._lock = anyio.Lock(fast_acquire=True)

    async def chunks(self) -> AsyncIterator[bytes]:
        """What arrives, until the other side closes."""
        while True:
            if os.name == "posix":
                # A file or the null device cannot be waited for, and never makes one wait.
                with suppress(PermissionError):
                    await anyio.wait_readable(self._source)
                chunk = os.read(self._source, _CHUNK)
            else:
                chunk = await anyio.to_thread.run_sync(os.read, self._source, _CHUNK, abandon_on_cancel=True)
            if not chunk:
                return
            yield chunk

    async def send(self, data: bytes) -> None:
        """Write a line whole; raises `OSError` when nobody reads any more."""
        async with self._lock:
            if len(data) <= _PIPE_BYTES and os.name == "posix" and select.select((), (self._sink,), (), 0)[1]:
                os.write(self._sink, data)
            else:
                # A line that was begun must be ended, or the stream is lost.
                with anyio.CancelScope(shield=True):
                    await anyio.to_thread.run_sync(self._write, data, abandon_on_cancel=True)

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._sink, view) :]
