"""Follows what other servers write to the same database, so that whoever watches one server sees them all."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from m3bench.server.store.location import RecordLocation
from m3bench.server.store.postgres.reader import PostgresReader
from m3bench.tasks.errors import StoreError

LISTEN_SECONDS = 0.5
"""Between two checks whether anybody still watches."""

REFRESH_SECONDS = 1.0
"""Between two fresh snapshots because of other servers."""


class Neighbours:
    """The other servers of a database; a record in a file has none.

    Args:
        place: Where the record is.
        own: Gives the name of this server on record, whose own words do not count.
        tell: Is called in the event loop when others wrote.
    """

    def __init__(self, place: RecordLocation, own: Callable[[], str | None], tell: Callable[[], None]) -> None:
        self._place = place
        self._own = own
        self._tell = tell
        self._listeners = 0
        self._ended = threading.Event()

    @contextmanager
    def heard(self) -> Iterator[None]:
        """Listen for as long as this lasts; several at once share one connection."""
        if self._place.url is None:
            yield
            return
        self._listeners += 1
        if self._listeners == 1:
            self._ended = threading.Event()
            wanted = (asyncio.get_running_loop(), self._ended)
            threading.Thread(target=self._listen, args=wanted, name="m3bench-neighbours", daemon=True).start()
        try:
            yield
        finally:
            self._listeners -= 1
            if not self._listeners:
                self._ended.set()

    def _listen(self, loop: asyncio.AbstractEventLoop, ended: threading.Event) -> None:
        reader = PostgresReader(self._place)
        while not ended.is_set():
            try:
                if reader.others_wrote(self._own(), LISTEN_SECONDS) and not ended.is_set():
                    loop.call_soon_threadsafe(self._tell)
                    ended.wait(REFRESH_SECONDS)
            except StoreError:
                # It comes back; watchers are told elsewhere that the record cannot be read.
                ended.wait(REFRESH_SECONDS)
            except RuntimeError:
                break  # The event loop has ended, and with it those who watched.
        reader.close()
