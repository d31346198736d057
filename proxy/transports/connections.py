"""How many connections a server holds, and for how long one may keep it waiting.

uvicorn reads a request for as long as it takes to arrive and holds every connection that is opened. Here both are
bounded: a head and a body must be complete within a time, and when there are too many connections the one that has
been silent for longest is closed, so that a client with a request is heard.
"""

import asyncio
from typing import Any, ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol

MAX_CONNECTIONS = 400
"""Far below the usual limit of 1024 open files, which sandboxes and the record need as well."""

HEAD_SECONDS = 10.0
BODY_SECONDS = 60.0

_FULL = b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n"


class BoundedProtocol(H11Protocol):
    """One connection of uvicorn, with limits on time. Every server has a subclass of its own."""

    max_connections = MAX_CONNECTIONS
    head_seconds = HEAD_SECONDS
    body_seconds = BODY_SECONDS

    _silent: ClassVar[dict["BoundedProtocol", None]] = {}
    """Connections that asked nothing yet, the oldest first."""
    _idle: ClassVar[dict["BoundedProtocol", None]] = {}
    """Connections whose requests were answered, the one that is idle for longest first."""

    def __init_subclass__(cls) -> None:
        cls._silent, cls._idle = {}, {}

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client connected."""
        super().connection_made(transport)
        self._be_patient(self.head_seconds)
        if len(self.connections) > self.max_connections:
            self._make_room()
        self._silent[self] = None

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone."""
        self._be_patient(None)
        self._speaks()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """The client sent something."""
        asked = self.cycle
        super().data_received(data)
        if self.cycle is None or self.cycle.response_complete:
            # A head that is not complete yet.
            if self._patience is None and not self.transport.is_closing():
                self._be_patient(self.head_seconds)
        elif not self.cycle.more_body:
            self._speaks()
            self._be_patient(None)
        elif self.cycle is not asked:
            self._speaks()
            self._be_patient(self.body_seconds)

    def on_response_complete(self) -> None:
        """An answer was sent; the next request may come, within uvicorn's own time for that."""
        self._be_patient(None)
        super().on_response_complete()
        # A request that was sent ahead of its turn is under way already.
        if self.cycle.response_complete and not self.transport.is_closing():
            self._idle[self] = None

    def _speaks(self) -> None:
        self._silent.pop(self, None)
        self._idle.pop(self, None)

    def _be_patient(self, seconds: float | None) -> None:
        """Close the connection after some seconds; with None, not at all."""
        if self._patience is not None:
            self._patience.cancel()
        self._patience = self.loop.call_later(seconds, self.transport.abort) if seconds is not None else None

    def _make_room(self) -> None:
        """Let the client go that has been silent for longest: first one that never asked anything."""
        oldest = next(iter(self._silent), None) or next(iter(self._idle), None)
        if oldest is not None:
            oldest._speaks()
            oldest.transport.abort()
        else:
            self.transport.write(_FULL)
            self.transport.close()
