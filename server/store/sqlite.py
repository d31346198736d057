"""The store in one SQLite file, for all m3bench processes of one account on one machine.

Large values are kept in files beside the database. What a store does in general is in `recording`; here is what a file
needs: opening and migrating it, locks that tell who is alive, and a check that it is still where it was.
"""

import os
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from m3bench.server.store import schema, takeover
from m3bench.server.store.blobs import YOUNG_SECONDS, Blobs
from m3bench.server.store.database import Factory, connect, newer, prepare
from m3bench.server.store.errors import explain
from m3bench.server.store.layout import BLOBS, OWNERS, database, make_private
from m3bench.server.store.location import RecordLocation
from m3bench.server.store.owners import OwnerLock, alone, dead, living, owners
from m3bench.server.store.recording import RecordingStore
from m3bench.server.store.rows import Rows
from m3bench.server.store.schema import Work, statements
from m3bench.server.store.writer import Writer
from m3bench.tasks.errors import StoreError


class SqliteSession:
    """An open file.

    Args:
        connection: To it, with the transactions left to us.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def commit(self, work: Work) -> None:
        """Write rows in one transaction."""
        todo = statements(work)
        if len(todo) > 1:
            self._connection.execute("BEGIN IMMEDIATE")
        for sql, values in todo:
            self._connection.execute(sql, values)
        if len(todo) > 1:
            self._connection.execute("COMMIT")

    def tries_again(self, error: Exception, several: bool) -> bool:
        """After waiting for a lock without success, nobody waits again for each row."""
        return several and not self.waits(error)

    def waits(self, error: Exception) -> bool:
        """Whether another connection has the lock."""
        return getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)

    def undo(self, error: Exception) -> bool:
        """Roll back; False when the connection has to be closed for that."""
        harmless = isinstance(error, sqlite3.IntegrityError | UnicodeError) or self.waits(error)
        try:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        except sqlite3.Error:
            return False
        return harmless

    def close(self) -> None:
        """Let go of the file."""
        with suppress(sqlite3.Error):
            self._connection.close()


class SqliteStore(RecordingStore):
    """Runs and calls of all m3bench processes of one user.

    Args:
        folder: Where the database, the blobs and the locks of its owners lie; made when missing.
        sync: `full` makes a commit survive the death of the machine too.
        owner: Names this process; its workspaces lie in a folder of that name and go when it is found dead.
        factory: Makes connections.
    """

    def __init__(
        self, folder: Path, *, sync: str = "normal", owner: str | None = None, factory: Factory = sqlite3.Connection
    ) -> None:
        self.place = RecordLocation(folder)
        self._path = database(folder)
        self._locks = folder / OWNERS
        self._sync = sync
        self._factory = factory
        self._files = Blobs(folder / BLOBS, sync=sync == "full")
        self._place: tuple[int, int] | None = None
        """Which file the writer has open."""
        try:
            make_private(folder)
            # SQLite does not wait for a lock while another process turns the same new file to WAL.
            with alone(folder):
                prepare(folder, in_use=lambda: bool(living(self._locks)), factory=factory)
                here = OwnerLock(self._locks, owner or secrets.token_hex(8))
        except (OSError, sqlite3.Error) as error:
            raise explain(error, folder) from error
        super().__init__(
            folder,
            owner=here,
            rows=Rows(self._connect, self._files, folder),
            writer=Writer(
                self._connect_to_write,
                self._verify,
                lambda error: explain(error, folder),
                # With `full` every commit waits for the disk.
                self._connect_at_once if sync == "normal" else None,
            ),
            blobs=self._files,
        )

    def home(self, seat: str, *, doubted: bool = False) -> str | None:
        """None: servers that share a file have their own clients, and take over the runs of those that are dead."""
        return None

    def leave(self, seat: str) -> None:
        """Nobody else waits for a seat."""

    @contextmanager
    def _alone(self) -> Iterator[None]:
        try:
            with alone(self.folder):
                yield
        except OSError as error:
            raise explain(error, self.folder) from error

    def _gone(self, unsettled: set[str]) -> set[str]:
        known = unsettled | owners(self._locks) | takeover.names(self.folder)
        return {owner for owner in known - {self.owner.id} if dead(self._locks, owner)}

    def _forget_blobs(self) -> None:
        # Another process may have written a file a moment ago, and its row is yet to come.
        young = YOUNG_SECONDS if living(self._locks) - {self.owner.id} else 0.0
        names = self._files.names(older_than=young)
        kept = self._rows.blobs()
        for name in names:
            if name not in kept:
                self._files.remove(name)

    def _connect(self) -> sqlite3.Connection:
        return connect(self._path, sync=self._sync, factory=self._factory)

    def _connect_to_write(self) -> SqliteSession:
        """Opens the database again, too, when it could not be written for a while: it may be another one by then."""
        connection = self._connect()
        try:
            version = schema.version_of(connection)
            if version > schema.VERSION:
                raise StoreError(newer(self._path, version))
            query = "SELECT 1 FROM seats WHERE owner = ? LIMIT 1"
            if self._seated and connection.execute(query, (self.owner.id,)).fetchone() is None:
                raise StoreError(
                    f"{self._path} is not the record that this server began to write: start m3bench again."
                )
            self._place = _identity(self._path)
        except BaseException:
            connection.close()
            raise
        return SqliteSession(connection)

    def _connect_at_once(self) -> SqliteSession:
        """Opens the database that the writer writes a second time, for commits that wait for no lock and no disk."""
        if self._place is None:
            raise FileNotFoundError(2, "the writer has not opened the database yet", str(self._path))
        connection = connect(self._path, sync=self._sync, factory=self._factory, seconds=0)
        # The writer moves what was written to where it stays, which takes as long as the disk takes.
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        return SqliteSession(connection)

    def _verify(self) -> None:
        """A database that was moved or deleted can still be written, and nobody would ever find it."""
        if _identity(self._path) != self._place:
            raise FileNotFoundError(2, "the database was moved or deleted", str(self._path))


def _identity(path: Path) -> tuple[int, int]:
    found = os.stat(path)
    return found.st_dev, found.st_ino
