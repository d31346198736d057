"""What the writer commits through when the record is a SQLite file."""

import sqlite3
from contextlib import suppress

from m3bench.server.store.schema import Work, statements


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
        """Whoever waited for a lock in vain does not wait again for each row."""
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        return several and code not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)

    def undo(self, error: Exception) -> bool:
        """Roll back; False when the connection has to be closed for that."""
        harmless = isinstance(error, sqlite3.IntegrityError | UnicodeError)
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
