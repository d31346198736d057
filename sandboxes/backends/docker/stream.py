"""The attach stream of a container as a plain socket, which an event loop can wait for.

Over the local socket or plain TCP it is one already. Over TLS or ssh the SDK has something else, which an event
loop cannot wait for; threads then carry the bytes to and from one end of a pair of sockets.
"""

import os
import socket
import ssl
import threading
from contextlib import suppress
from select import select
from typing import Any

from m3bench.sandboxes.backends.docker.engine import Client

_CHUNK = 64 * 1024


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


def _bridge(raw: Any, holder: Any) -> socket.socket:
    near, far = socket.socketpair()
    pumps = [_carry_both] if isinstance(raw, ssl.SSLSocket) else [_carry_out, _carry_in]
    for pump in pumps:
        threading.Thread(target=pump, args=(raw, far, holder), daemon=True).start()
    return near


def _carry_both(raw: ssl.SSLSocket, far: socket.socket, holder: Any) -> None:
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


def _carry_out(raw: Any, far: socket.socket, holder: Any) -> None:
    with suppress(OSError, ValueError):
        while data := far.recv(_CHUNK):
            raw.sendall(data)
    # Whoever holds the stream holds the container's input open.
    with suppress(OSError, ValueError):
        raw.close()
    del holder


def _carry_in(raw: Any, far: socket.socket, holder: Any) -> None:
    with suppress(OSError, ValueError):
        while data := raw.recv(_CHUNK):
            far.sendall(data)
    with suppress(OSError):
        far.shutdown(socket.SHUT_RDWR)
    far.close()
    del holder
