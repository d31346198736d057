"""The tables of people who sign in, in the PostgreSQL database of a record."""

from collections.abc import Callable
from typing import TypeVar

from m3bench.server.store.location import RecordLocation
from m3bench.server.store.postgres.migrations import migrate
from m3bench.server.store.postgres.pool import SCHEMA, Connection, PostgresPool
from m3bench.server.store.schema import Row
from m3bench.server.store.sign_ins import INDEXES, TABLES, SignInWork

LOCK = 0x6D33_0002
"""The advisory lock of changes: few, short, and one after the other, as in the file."""

_Result = TypeVar("_Result")


def has_tables(place: RecordLocation) -> bool:
    """Whether the tables are in a database."""
    pool = PostgresPool(place)
    try:
        return bool(pool.fetch("SELECT to_regclass(%s) IS NOT NULL", (f"{SCHEMA}.auth_people",))[0][0])
    finally:
        pool.close()


class PostgresSignIns:
    """The tables in a database.

    Args:
        place: Where the record is.
    """

    def __init__(self, place: RecordLocation) -> None:
        self._pool = PostgresPool(place)
        try:
            with self._pool.connection(reading=False) as connection:
                migrate(connection, place)
                with connection.transaction():
                    connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
                    for table in TABLES:
                        connection.execute(f"CREATE TABLE IF NOT EXISTS {table}")
                    for index in INDEXES:
                        connection.execute(f"CREATE INDEX IF NOT EXISTS {index}")
        except BaseException:
            self._pool.close()
            raise

    def rows(self, sql: str, *values: object) -> list[Row]:
        """The rows that a query gives."""
        return self._pool.fetch(sql.replace("?", "%s"), values)

    def together(self, work: Callable[[SignInWork], _Result]) -> _Result:
        """Do something in one transaction."""
        with self._pool.connection(reading=False) as connection, connection.transaction():
            # Whatever the database's default: what was changed before the lock was had must be seen.
            connection.execute("SET TRANSACTION ISOLATION LEVEL READ COMMITTED")
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
            return work(_PostgresWork(connection))

    def close(self) -> None:
        """Let go of the database."""
        self._pool.close()


class _PostgresWork:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def rows(self, sql: str, *values: object) -> list[Row]:
        return list(self._connection.execute(sql.replace("?", "%s"), values).fetchall())

    def change(self, sql: str, *values: object) -> int:
        return int(self._connection.execute(sql.replace("?", "%s"), values).rowcount)
