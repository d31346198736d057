"""Cuts a byte stream into lines, for readers of newline-delimited JSON."""

from collections.abc import Iterator


class Lines:
    """Cuts a byte stream into lines, in time linear in its length.

    Args:
        limit: Lines longer than this are dropped as they arrive; `dropped` counts them.
    """

    def __init__(self, limit: int) -> None:
        self.dropped = 0
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0

    @property
    def empty(self) -> bool:
        """Whether no line has begun."""
        return self._size == 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The lines that `data` completes, without their line ends."""
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            self._keep(data[start:end])
            if self._size <= self._limit:
                yield b"".join(self._parts)
            else:
                self.dropped += 1
            self._parts, self._size = [], 0
            start = end + 1
        self._keep(data[start:])

    def _keep(self, part: bytes) -> None:
        self._size += len(part)
        if self._size <= self._limit:
            self._parts.append(part)
        else:
            self._parts.clear()
