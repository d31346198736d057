"""The stream of an attached container: frames of standard output and standard error, each with its length."""

from collections.abc import Iterator

OUTPUT = 1

_HEAD = 8


class Frames:
    """Takes the stream in pieces of any size and gives back what was written."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """The frames that are complete now: which stream, and what was written to it."""
        buffer = self._buffer
        buffer += data
        begin = 0
        while len(buffer) - begin >= _HEAD:
            end = begin + _HEAD + int.from_bytes(buffer[begin + 4 : begin + _HEAD], "big")
            if len(buffer) < end:
                break
            yield buffer[begin], bytes(buffer[begin + _HEAD : end])
            begin = end
        del buffer[:begin]
