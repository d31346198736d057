"""The attach stream of a container as a plain socket, which an event loop can wait for, and the frames on it.

Over the local socket or plain TCP it is a socket already. Over TLS or ssh the SDK has something else, which an event
loop cannot wait for; threads then carry the bytes to and from one end of a pair of sockets. What arrives are frames of
standard output and standard error, each with its length.
"""

import os
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import suppress
from select import select
from typing import Protocol

from m3bench.sandboxes.backends.docker.engine import Client

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


_CHUNK = 64 * 1024


class _Stream(Protocol):
    """What the SDK gives for an attached container where that is not a plain socket."""

    def recv(self, size: int, /) -> bytes: ...
    def sendall(self, data: bytes, /) -> object: ...
    def close(self) -> None: ...


class _Response(Protocol):
    """What the SDK has the stream from; it must live as long."""

    def close(self) -> None: ...


def attach(client: Client, name: str) -> socket.socket:
    """Attach to a container that was made and not started yet."""
    given = client.attach_socket(name, params={"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1})
    raw = getattr(given, "_sock", given)
    if type(raw) is not socket.socket:
        return _bridge(raw, given)
    own = socket.socket(fileno=os.dup(raw.fileno()))
    # The SDK's side is closed with the response it came with; ours is a duplicate and stays.
    getattr(given, "_response", given).close()
    return own


def _bridge(raw: object, holder: object) -> socket.socket:
    near, far = socket.socketpair()
    pumps = [_carry_both] if isinstance(raw, ssl.SSLSocket) else [_carry_out, _carry_in]
    for pump in pumps:
        threading.Thread(target=pump, args=(raw, far, holder), daemon=True).start()
    return near


def _carry_both(raw: ssl.SSLSocket, far: socket.socket, holder: _Response | None) -> None:
    """Carry both ways in one thread, because two must not use one TLS connection at the same time."""
    raw.setblocking(False)
    waiting = b""
    with suppress(OSError, ValueError), raw, far:
        while True:
            ready = (
                [raw] if raw.pending() else select([raw] if waiting else [raw, far], [raw] if waiting else [], [])[0]
            )
            if far in ready:
                waiting = far.recv(_CHUNK)
                if not waiting:
                    break
            with suppress(ssl.SSLWantReadError, ssl.SSLWantWriteError):
                if waiting:
                    waiting = waiting[raw.send(waiting) :]
            with suppress(ssl.SSLWantReadError, ssl.SSLWantWriteError):
                arrived = raw.recv(_CHUNK)
                if not arrived:
                    break
                far.sendall(arrived)
    # The connection counts its readers: the SDK's response is one and has to go as well.
    if holder is not None:
        with suppress(OSError, ValueError):
            holder.close()
            getattr(holder, "_response", holder).close()


def _carry_out(raw: _Stream, far: socket.socket, holder: _Response | None) -> None:
    with suppress(OSError, ValueError):
        while data := far.recv(_CHUNK):
            raw.sendall(data)
    # Whoever holds the stream holds the container's input open.
    with suppress(OSError, ValueError):
        raw.close()
    del holder


def _carry_in(raw: _Stream, far: socket.socket, holder: _Response | None) -> None:
    with suppress(OSError, ValueError):
        while data := raw.recv(_CHUNK):
            far.sendall(data)
    with suppress(OSError):
        far.shutdown(socket.SHUT_RDWR)
    far.close()
    del holder
