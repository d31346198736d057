"""The store in a PostgreSQL database, for m3bench processes on any number of machines.

What a store does in general is in `recording`; here is what a database asks for: leases that tell who lives, a lock
that all processes share, and rows for large values. The files of runs stay in the data folder of the process that
plays them.
"""

import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from m3bench.server.store import succession
from m3bench.server.store.layout import OWNERS
from m3bench.server.store.owners import Owner, dead, owners
from m3bench.server.store.permissions import make_private
from m3bench.server.store.place import Place
from m3bench.server.store.postgres import homes
from m3bench.server.store.postgres.blobs import BlobRows
from m3bench.server.store.postgres.leases import LeasedOwner, end_dead, living
from m3bench.server.store.postgres.migrations import VERSION, fact, migrate, newer, version_of
from m3bench.server.store.postgres.pool import Pool, connect, driver
from m3bench.server.store.postgres.rows import PostgresRows
from m3bench.server.store.postgres.session import BLOB_LOCK, PostgresSession
from m3bench.server.store.postgres.trouble import explain
from m3bench.server.store.recording import RecordingStore
from m3bench.server.store.schema import Work
from m3bench.server.store.trouble import explain as explain_folder
from m3bench.server.store.writer import Writer
from m3bench.tasks.errors import StoreError

ALONE_LOCK = 0x6D33_0003
"""Held by the process that tidies up or takes over a run."""


class PostgresStore(RecordingStore):
    """Runs and calls of all m3bench processes that name the same database.

    Args:
        place: The address of the database, and the folder for the files of runs.
        owner: Names this process; its workspaces lie in a folder of that name and go when it is found dead.
        address: Where other servers reach this one, when they do.
    """

    def __init__(self, place: Place, *, owner: str | None = None, address: str | None = None) -> None:
        assert place.url is not None
        self.place = place
        self._url = place.url
        self._locks = place.folder / OWNERS
        self._local: Owner | None = None
        """Says to the processes of this machine that the workspaces of this one are in use."""
        self._identity: str | None = None
        """Which record the writer began to write."""
        self._looking = threading.Lock()
        self._pool = Pool(place)
        try:
            with self._pool.connection(reading=False) as connection:
                migrate(connection, place)
            if owner is not None:
                self._local = self._lock_folder(owner)
            self._lease = LeasedOwner(self._url, owner or secrets.token_hex(8), address)
            blobs = BlobRows(self._pool)
            super().__init__(
                place.folder,
                owner=self._lease,
                rows=PostgresRows(self._pool, blobs, place),
                writer=Writer(self._connect_to_write, _nothing, self._explained),
                blobs=blobs,
            )
        except BaseException:
            self._pool.close()
            raise

    def close(self) -> None:
        """Write what was put off, as far as possible, and let go."""
        with suppress(StoreError):
            self.catch_up()
        self._writer.close()
        # Whoever finds the lease gone may have the seats; a lock on the database is of no use here.
        self.owner.close()
        self._pool.close()
        if self._local is not None:
            self._local.close()

    def home(self, seat: str, *, doubted: bool = False) -> str | None:
        """Where the server is that has a seat; None when it is this one, from now on if it was nobody's."""
        if doubted and self._looking.acquire(blocking=False):
            # One look for the dead is enough for all who ask meanwhile.
            try:
                self.mend()
            finally:
                self._looking.release()
        try:
            self._lease.begin()
        except driver().Error as error:
            raise self._explained(error) from error
        return homes.claim(self._pool, seat, self.owner.id)

    def leave(self, seat: str) -> None:
        """Let go of a seat, which another server may have from now on."""
        homes.leave(self._pool, seat, self.owner.id)

    def _lock_folder(self, owner: str) -> Owner:
        try:
            make_private(self.place.folder)
            return Owner(self._locks, owner)
        except OSError as error:
            raise explain_folder(error, self.place.folder) from error

    @contextmanager
    def _alone(self) -> Iterator[None]:
        with self._pool.connection(reading=False) as connection:
            connection.execute("SELECT pg_advisory_lock(%s)", (ALONE_LOCK,))
            try:
                yield
            finally:
                with suppress(driver().Error):
                    connection.execute("SELECT pg_advisory_unlock(%s)", (ALONE_LOCK,))

    def _gone(self, unsettled: set[str]) -> set[str]:
        known = owners(self._locks) | succession.names(self.folder)
        here = {owner for owner in known - {self.owner.id} if dead(self._locks, owner)}
        end_dead(self._pool, here, self.owner.id)
        homes.forget_dead(self._pool)
        return here | (unsettled - living(self._pool))

    def _forget_blobs(self) -> None:
        with self._pool.connection(reading=False) as connection, connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (BLOB_LOCK,))
            connection.execute("DELETE FROM blob_uses WHERE NOT EXISTS (SELECT 1 FROM calls WHERE id = call)")
            connection.execute("DELETE FROM blobs WHERE NOT EXISTS (SELECT 1 FROM blob_uses WHERE blob = name)")

    def _connect_to_write(self) -> "_Told":
        """Connects again, too, when the database could not be written for a while: it may be another one by then."""
        connection = connect(self._url)
        try:
            if self._identity is None:
                migrate(connection, self.place)
            version, identity = version_of(connection), fact(connection, "record")
            if version > VERSION:
                raise StoreError(newer(self.place, version))
            if self._identity not in (None, identity):
                raise StoreError(
                    f"{self.place} is not the record that this server began to write: start m3bench again."
                )
            self._identity = identity
            self._lease.begin()
        except BaseException:
            connection.close()
            raise
        return _Told(connection, self._lease)

    def _explained(self, error: BaseException) -> StoreError:
        return explain(error, self.place)


class _Told(PostgresSession):
    """A session that has those who watch told of what it wrote."""

    def __init__(self, connection: object, lease: LeasedOwner) -> None:
        super().__init__(connection, lease.id)
        self._lease = lease

    def commit(self, work: Work) -> None:
        """Write rows in one transaction."""
        super().commit(work)
        self._lease.tell()


def _nothing() -> None:
    """A database cannot be moved away from under a connection."""
