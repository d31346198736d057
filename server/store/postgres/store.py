"""The store in a PostgreSQL database, for m3bench processes on any number of machines.

What a store does in general is in `recording`; here is what a database needs: leases that tell who is alive, a lock
that all processes share, and rows for large values. A transaction goes to the database in one message and is answered
by one. It begins by holding the lease of this process: a process that was taken for dead writes nothing any more, and
one that writes is not taken for dead. The files of runs stay in the data folder of the process that plays them.
"""

import secrets
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from m3bench.server.store import takeover
from m3bench.server.store.errors import explain as explain_folder
from m3bench.server.store.layout import OWNERS, make_private
from m3bench.server.store.location import RecordLocation
from m3bench.server.store.owners import OwnerLock, dead, owners
from m3bench.server.store.postgres.dialect import inserts, storable, translated
from m3bench.server.store.postgres.errors import explain, kind_of
from m3bench.server.store.postgres.leases import (
    LeasedOwner,
    claim_seat,
    end_dead,
    forget_seats_of_dead,
    leave_seat,
    living,
)
from m3bench.server.store.postgres.migrations import VERSION, fact, migrate, newer, version_of
from m3bench.server.store.postgres.pool import Connection, PostgresPool, connect, driver
from m3bench.server.store.postgres.reader import BlobRows, PostgresRows
from m3bench.server.store.recording import RecordingStore
from m3bench.server.store.schema import COLUMNS, Digested, Insert, Row, Sound, Statement, Work, row_digest
from m3bench.server.store.writer import Writer
from m3bench.tasks.errors import StoreError

BLOB_LOCK = 0x6D33_0002
"""Shared by those who write large values, held alone by who removes those that nobody refers to."""


class PostgresSession:
    """An open connection.

    Args:
        connection: Its statements are transactions unless one is begun.
        owner: This process.
    """

    def __init__(self, connection: Connection, owner: str) -> None:
        self._connection = connection
        self._owner = owner

    def commit(self, work: Work) -> None:
        """Write rows in one transaction."""
        rows = [change for change in work if isinstance(change, Insert)]
        others = [change for change in work if not isinstance(change, Insert)]
        first = inserts(rows)
        if not first and not others:
            return
        held: list[Statement] = [("SELECT hold(%s)", (self._owner,))]
        if any(sql.startswith("INSERT INTO blobs") for sql, _ in first):
            held.append((f"SELECT pg_advisory_xact_lock_shared({BLOB_LOCK})", ()))
        if others:
            with self._connection.transaction():
                self._execute([*held, *first])
                for change in others:
                    self._change(change)
        else:
            with self._connection.pipeline(), self._connection.transaction():
                self._execute([*held, *first])

    def waits(self, error: Exception) -> bool:
        """Nobody waits for a lock of the whole record here."""
        return False

    def tries_again(self, error: Exception, several: bool) -> bool:
        """A broken connection costs no row; one bad row costs itself only; what is everybody's trouble stays so."""
        kind = kind_of(error)
        return kind in ("lost", "unreachable", "conflict") or (kind is None and several)

    def undo(self, error: Exception) -> bool:
        """Whether the connection is as if nothing had happened."""
        idle = driver().pq.TransactionStatus.IDLE
        return kind_of(error) is None and not self._connection.closed and self._status() == idle

    def close(self) -> None:
        """Let go of the connection."""
        with suppress(driver().Error):
            self._connection.close()

    def _status(self) -> object:
        return self._connection.info.transaction_status

    def _execute(self, statements: Sequence[Statement]) -> None:
        for sql, values in statements:
            self._connection.execute(sql, values)

    def _change(self, change: Sound | Digested | Statement) -> None:
        if isinstance(change, Sound):
            self._strip(change)
        elif isinstance(change, Digested):
            self._digest(change)
        else:
            sql, values = change
            self._connection.execute(translated(sql), tuple(map(storable, values)))

    # Digests are computed here, because the database cannot.

    def _strip(self, rows: Sound) -> None:
        """Take their digests from rows that fit them."""
        for *values, digest in self._rows(rows, "digest != ''"):
            if bytes(digest) == row_digest(*values):
                self._set_digest(rows.table, values[0], b"")

    def _digest(self, rows: Digested) -> None:
        """Give rows without one their digest."""
        for *values, _ in self._rows(rows, "digest = ''"):
            self._set_digest(rows.table, values[0], row_digest(*values))

    def _rows(self, rows: Sound | Digested, those: str) -> list[Row]:
        query = f"SELECT {COLUMNS[rows.table]}, digest FROM {rows.table} WHERE {rows.where} AND {those} FOR UPDATE"
        return list(self._connection.execute(translated(query), rows.values).fetchall())

    def _set_digest(self, table: str, key: object, digest: bytes) -> None:
        column = COLUMNS[table].split(", ")[0]
        self._connection.execute(f"UPDATE {table} SET digest = %s WHERE {column} = %s", (digest, key))


ALONE_LOCK = 0x6D33_0003
"""Held by the process that tidies up or takes over a run."""


class PostgresStore(RecordingStore):
    """Runs and calls of all m3bench processes that name the same database.

    Args:
        place: The address of the database, and the folder for the files of runs.
        owner: Names this process; its workspaces lie in a folder of that name and go when it is found dead.
        address: Where other servers reach this one, when they do.
    """

    def __init__(self, place: RecordLocation, *, owner: str | None = None, address: str | None = None) -> None:
        assert place.url is not None
        self.place = place
        self._url = place.url
        self._locks = place.folder / OWNERS
        self._local: OwnerLock | None = None
        """Says to the processes of this machine that the workspaces of this one are in use."""
        self._identity: str | None = None
        """Which record the writer began to write."""
        self._looking = threading.Lock()
        self._pool = PostgresPool(place)
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
        return claim_seat(self._pool, seat, self.owner.id)

    def leave(self, seat: str) -> None:
        """Let go of a seat, which another server may have from now on."""
        leave_seat(self._pool, seat, self.owner.id)

    def _lock_folder(self, owner: str) -> OwnerLock:
        try:
            make_private(self.place.folder)
            return OwnerLock(self._locks, owner)
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
        known = owners(self._locks) | takeover.names(self.folder)
        here = {owner for owner in known - {self.owner.id} if dead(self._locks, owner)}
        end_dead(self._pool, here, self.owner.id)
        forget_seats_of_dead(self._pool)
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
