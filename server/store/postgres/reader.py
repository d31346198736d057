"""Reads a record in PostgreSQL while others write to it, and is told when they do."""

from collections.abc import Sequence
from contextlib import suppress

from m3bench.server.store.location import RecordLocation
from m3bench.server.store.postgres.dialect import translated
from m3bench.server.store.postgres.errors import explain
from m3bench.server.store.postgres.leases import CHANNEL, living
from m3bench.server.store.postgres.migrations import VERSION, newer, version_of
from m3bench.server.store.postgres.pool import Connection, PostgresPool, connect, driver
from m3bench.server.store.postgres.rows import BlobRows
from m3bench.server.store.reader import CallRow, Reader
from m3bench.server.store.schema import Row
from m3bench.tasks.errors import StoreError

NOBODY = {"waiting": 0, "leased": 0, "done": 0}
"""Samples in an empty queue."""


class PostgresReader(Reader):
    """The record in a database; empty until there is one. Nothing is changed there.

    Args:
        place: Where the record is.
    """

    def __init__(self, place: RecordLocation) -> None:
        super().__init__(place.folder)
        assert place.url is not None
        self._place = place
        self._url = place.url
        self._pool = PostgresPool(place)
        self._blobs = BlobRows(self._pool)
        self._known = False
        """Whether the tables are there, in this version."""
        self._ear: Connection | None = None
        """Hears of what is written."""
        self._changed = True

    def close(self) -> None:
        """Let go of the database."""
        self._pool.close()
        ear, self._ear = self._ear, None
        if ear is not None:
            with suppress(driver().Error):
                ear.close()

    def changed(self) -> bool:
        """Whether anything was written since this was asked last."""
        self.wait(0)
        found, self._changed = self._changed, False
        return found

    def wait(self, seconds: float) -> None:
        """Wait until something is written, so long at most."""
        if self._heard(seconds):
            self._changed = True

    def others_wrote(self, own: str | None, seconds: float) -> bool:
        """Wait until a process of another name than `own` has written something, so long at most; whether one has."""
        heard = self._heard(seconds)
        return bool(heard) and heard != [own]

    def _heard(self, seconds: float) -> list[str]:
        """The names of those who wrote, from the first word on; empty when there was none in time."""
        psycopg = driver()
        try:
            if self._ear is None:
                self._ear = connect(self._url)
                self._ear.execute(f"LISTEN {CHANNEL}")
                self._changed = True  # Whatever was written before is not told any more.
            return sorted({word.payload for word in self._ear.notifies(timeout=seconds, stop_after=1)})
        except psycopg.Error as error:
            ear, self._ear = self._ear, None
            if ear is not None:
                ear.close()
            raise explain(error, self._place, reading=True) from error

    def queue(self) -> dict[str, int] | None:
        """How many samples are in each state; nobody has put any there while it is empty."""
        return {**NOBODY, **dict(self._read("SELECT state, count(*) FROM queued_samples GROUP BY state"))}

    def request(self, call: CallRow) -> bytes:
        """The request of a call.

        Raises:
            ValueError: It is not what was written.
        """
        return self._blobs.unpack(call.request) or b""

    def _alive(self) -> set[str]:
        return living(self._pool)

    def _read(self, query: str, values: Sequence[object] = ()) -> list[Row]:
        if not self._known:
            with self._pool.connection() as connection:
                version = version_of(connection)
            if version > VERSION:
                raise StoreError(newer(self._place, version))
            if version < VERSION:
                return []
            self._known = True
        return self._pool.fetch(translated(query), tuple(values))
