"""How many connections a server holds, and for how long one may keep it waiting.

uvicorn reads a request for as long as it takes to arrive and holds every connection that is opened. Here both are
bounded: a head and a body must be complete within a time, and when there are too many connections, whoever holds the
most loses one: first one whose body is not complete, then one that asked nothing yet, then one whose requests were
answered. So a client with a request is heard, whatever another one does.
"""

import asyncio
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from m3bench.proxy.transports.admission import RETRY_SECONDS, Identities, of_address

if sys.platform != "win32":
    import resource

MAX_CONNECTIONS = 400
MAX_FILES = 4096
"""That may be open, where the system lets a process choose: sandboxes and the record need some as well."""

HEAD_SECONDS = 10.0
BODY_SECONDS = 60.0

_FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\nretry-after: %d\r\ncontent-length: 0\r\n\r\n"
    % RETRY_SECONDS
)

_SLOW, _SILENT, _IDLE = 0, 1, 2
"""What a connection does that can be let go, in the order in which they go."""


def room() -> int:
    """How many connections there may be: a third of the files that may be open, where those are few."""
    if sys.platform == "win32":
        return MAX_CONNECTIONS
    files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files < MAX_FILES:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, MAX_FILES), most))
    return min(MAX_CONNECTIONS, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 3)


def most_requests() -> int:
    """How many may be under way: fewer than connections, so that one can be let go for somebody who asks something."""
    return room() * 24 // 25


class BoundedProtocol(H11Protocol):
    """One connection of uvicorn, with limits on time. Every server has a subclass of its own."""

    max_connections = MAX_CONNECTIONS
    head_seconds = HEAD_SECONDS
    body_seconds = BODY_SECONDS
    identities = Identities({})
    """Tells whose a connection is, once it has asked something."""

    _held: ClassVar[dict[str, tuple[dict["BoundedProtocol", None], ...]]] = {}
    """What everybody holds: by what it does, the oldest first, and all of it."""

    def __init_subclass__(cls) -> None:
        cls._held = {}

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._patience: asyncio.TimerHandle | None = None
        self._upgraded = False
        self._who = ""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client connected."""
        super().connection_made(transport)
        self._be_patient(self.head_seconds)
        if len(self.connections) > self.max_connections:
            self._make_room()
        self._belong(of_address(self.client))
        self._does(_SILENT)

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone."""
        self._be_patient(None)
        self._belong("")
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """The client sent something."""
        asked = self.cycle
        super().data_received(data)
        if self._upgraded or self.transport.is_closing():
            return
        if self.cycle is None or self.cycle.response_complete:
            # A head that is not complete yet.
            if self._patience is None:
                self._be_patient(self.head_seconds)
        elif not self.cycle.more_body:
            self._asks(asked)
            self._does(None)
            self._be_patient(None)
        elif self.cycle is not asked:
            self._asks(asked)
            self._does(_SLOW)
            self._be_patient(self.body_seconds)

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """The connection is a WebSocket from now on: it ends when its application says so, and not for its silence."""
        self._upgraded = True
        self._be_patient(None)
        self._belong("")
        super().handle_websocket_upgrade(event)

    def on_response_complete(self) -> None:
        """An answer was sent; the next request may come, within uvicorn's own time for that."""
        self._be_patient(None)
        super().on_response_complete()
        # A request that was sent ahead of its turn is under way already.
        if self.cycle.response_complete and not self.transport.is_closing():
            self._does(_IDLE)

    def _asks(self, before: object) -> None:
        if self.cycle is not before:
            self._belong(self.identities.of(self.headers, self.client))

    def _belong(self, who: str) -> None:
        """Be somebody's; with "", nobody's."""
        if who == self._who:
            return
        if self._who:
            self._does(None)
            held = self._held[self._who]
            held[-1].pop(self, None)
            if not held[-1]:
                del self._held[self._who]
        self._who = who
        if who:
            self._held.setdefault(who, ({}, {}, {}, {}))[-1][self] = None

    def _does(self, what: int | None) -> None:
        """Do something for which it can be let go; with None, nothing of that kind."""
        if self._who:
            for kind, connections in enumerate(self._held[self._who][:-1]):
                connections.pop(self, None)
                if kind == what:
                    connections[self] = None

    def _be_patient(self, seconds: float | None) -> None:
        """Close the connection after some seconds; with None, not at all."""
        if self._patience is not None:
            self._patience.cancel()
        self._patience = self.loop.call_later(seconds, self.transport.abort) if seconds is not None else None

    def _make_room(self) -> None:
        """Whoever holds the most loses a connection, when they have one that can be let go."""
        victim = next(self._spare(), None)
        if victim is not None:
            victim._belong("")
            victim.transport.abort()
        else:
            self.transport.write(_FULL)
            self.transport.close()

    def _spare(self) -> Iterator["BoundedProtocol"]:
        for held in sorted(self._held.values(), key=lambda held: -len(held[-1])):
            for connections in held[:-1]:
                yield from connections
