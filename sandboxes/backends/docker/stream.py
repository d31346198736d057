"""The attach stream of a container as a plain socket, which an event loop can wait for.

Over the local socket or plain TCP it is one already. Over TLS or ssh the SDK has something else, which only
threads can read and write; two of them then carry the bytes to and from one end of a pair of sockets.
"""

import os
import socket
import threading
from contextlib import suppress
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
    receive = raw.recv if hasattr(raw, "recv") else raw.read
    send = raw.sendall if hasattr(raw, "sendall") else raw.write
    with suppress(AttributeError):
        raw.settimeout(None)

    def outward() -> None:
        with suppress(OSError, ValueError):
            while data := far.recv(_CHUNK):
                send(data)
        # Whoever holds the stream holds the container's input open.
        with suppress(OSError, ValueError):
            raw.close()

    def inward() -> None:
        with suppress(OSError, ValueError):
            while data := receive(_CHUNK):
                far.sendall(data)
        with suppress(OSError):
            far.shutdown(socket.SHUT_RDWR)
        far.close()
        assert holder is not None

    for work in (outward, inward):
        threading.Thread(target=work, daemon=True).start()
    return near
