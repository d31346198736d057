"""A batch of the one revision that has them: its responses leave together."""

from collections.abc import Awaitable, Callable

Sink = Callable[[bytes], Awaitable[None]]
"""Takes a line without its end."""


class Batch:
    """Gathers the responses to a batch, and sends them as one when the last is there."""

    def __init__(self, send: Sink) -> None:
        self._send = send
        self._parts: list[bytes] = []
        self._waiting = 1

    def expect(self) -> None:
        """One more response will come."""
        self._waiting += 1

    async def add(self, part: bytes) -> None:
        """A response, empty when there will be none."""
        if part:
            self._parts.append(part)
        self._waiting -= 1
        if self._waiting == 0 and self._parts:
            await self._send(b"[" + b",".join(self._parts) + b"]")

    async def close(self) -> None:
        """No more responses will be expected."""
        await self.add(b"")
