"""What the writer commits through when the record is in PostgreSQL.

A transaction goes to the database in one message and is answered by one. It begins by holding the lease of this
process: a process that was taken for dead writes nothing any more, and one that writes is not taken for dead.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from m3bench.server.store.postgres.dialect import inserts, storable, translated
from m3bench.server.store.postgres.pool import Connection, driver
from m3bench.server.store.postgres.trouble import kind_of
from m3bench.server.store.schema import COLUMNS, Digested, Insert, Sound, Statement, Work, row_digest

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
        rows = [one for one in work if isinstance(one, Insert)]
        others = [one for one in work if not isinstance(one, Insert)]
        first = inserts(rows)
        if not first and not others:
            return
        held: list[Statement] = [("SELECT hold(%s)", (self._owner,))]
        if any(sql.startswith("INSERT INTO blobs") for sql, _ in first):
            held.append((f"SELECT pg_advisory_xact_lock_shared({BLOB_LOCK})", ()))
        if others:
            with self._connection.transaction():
                self._execute([*held, *first])
                for one in others:
                    self._change(one)
        else:
            with self._connection.pipeline(), self._connection.transaction():
                self._execute([*held, *first])

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

    def _change(self, one: Sound | Digested | Statement) -> None:
        if isinstance(one, Sound):
            self._strip(one)
        elif isinstance(one, Digested):
            self._digest(one)
        else:
            sql, values = one
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

    def _rows(self, rows: Sound | Digested, those: str) -> list[tuple[Any, ...]]:
        query = f"SELECT {COLUMNS[rows.table]}, digest FROM {rows.table} WHERE {rows.where} AND {those} FOR UPDATE"
        return list(self._connection.execute(translated(query), rows.values).fetchall())

    def _set_digest(self, table: str, key: object, digest: bytes) -> None:
        column = COLUMNS[table].split(", ")[0]
        self._connection.execute(f"UPDATE {table} SET digest = %s WHERE {column} = %s", (digest, key))
