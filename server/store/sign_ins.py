"""The tables of people who sign in, next to the record: who was invited, what they allowed, which tokens there are.

They are in the PostgreSQL database of the record, or in a file of their own in its data folder, and are made when
somebody is first invited: a record without sign-in has none of them. Secrets are stored as hashes alone. What the rows
mean is a matter of `serving.auth`; here they are kept, and changed in transactions.
"""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, TypeVar

from m3bench.server.store.database import connect
from m3bench.server.store.errors import explain
from m3bench.server.store.layout import SIGN_INS, make_private, private_file
from m3bench.server.store.location import RecordLocation
from m3bench.server.store.owners import alone
from m3bench.server.store.schema import Row
from m3bench.tasks.lazy_modules import LazyModule

if TYPE_CHECKING:
    from m3bench.server.store.postgres import sign_ins as postgres
else:
    postgres = LazyModule("m3bench.server.store.postgres.sign_ins")

TABLES = (
    "auth_people (name TEXT PRIMARY KEY, scopes TEXT NOT NULL, made DOUBLE PRECISION NOT NULL)",
    """auth_invitations (
        hash TEXT PRIMARY KEY, person TEXT NOT NULL, expires DOUBLE PRECISION NOT NULL, used DOUBLE PRECISION
    )""",
    """auth_devices (
        hash TEXT PRIMARY KEY, person TEXT NOT NULL, agent TEXT NOT NULL, made DOUBLE PRECISION NOT NULL,
        expires DOUBLE PRECISION NOT NULL
    )""",
    """auth_clients (
        id TEXT PRIMARY KEY, name TEXT NOT NULL, redirects TEXT NOT NULL, method TEXT NOT NULL, secret TEXT,
        kind TEXT NOT NULL, made DOUBLE PRECISION NOT NULL, used DOUBLE PRECISION
    )""",
    """auth_requests (
        hash TEXT PRIMARY KEY, device TEXT NOT NULL, request TEXT NOT NULL, expires DOUBLE PRECISION NOT NULL
    )""",
    """auth_grants (
        id TEXT PRIMARY KEY, person TEXT NOT NULL, client TEXT NOT NULL, client_name TEXT NOT NULL,
        scopes TEXT NOT NULL, resource TEXT NOT NULL, made DOUBLE PRECISION NOT NULL,
        expires DOUBLE PRECISION NOT NULL, ended DOUBLE PRECISION, why TEXT
    )""",
    """auth_codes (
        hash TEXT PRIMARY KEY, grant_id TEXT NOT NULL, challenge TEXT NOT NULL, redirect TEXT NOT NULL,
        expires DOUBLE PRECISION NOT NULL, used DOUBLE PRECISION
    )""",
    """auth_tokens (
        hash TEXT PRIMARY KEY, kind TEXT NOT NULL, grant_id TEXT NOT NULL, scopes TEXT NOT NULL,
        expires DOUBLE PRECISION NOT NULL, used DOUBLE PRECISION
    )""",
    """auth_renewals (
        hash TEXT PRIMARY KEY, salt TEXT NOT NULL, scopes TEXT NOT NULL, at DOUBLE PRECISION NOT NULL
    )""",
    "auth_attempts (place TEXT NOT NULL, at DOUBLE PRECISION NOT NULL)",
)
"""Times are seconds since 1970. `DOUBLE PRECISION` is what both databases call a number of eight bytes."""

INDEXES = (
    "auth_tokens_of_grant ON auth_tokens (grant_id)",
    "auth_grants_of_person ON auth_grants (person)",
    "auth_attempts_of_place ON auth_attempts (place, at)",
)

_Result = TypeVar("_Result")


class SignInWork(Protocol):
    """What can be done within a transaction; statements have `?` for values."""

    def rows(self, sql: str, *values: object) -> list[Row]:
        """The rows that a query gives."""
        ...

    def change(self, sql: str, *values: object) -> int:
        """Change rows; how many were changed."""
        ...


class SignInTables(Protocol):
    """The tables of a record, opened."""

    def rows(self, sql: str, *values: object) -> list[Row]:
        """The rows that a query gives, outside of any transaction."""
        ...

    def together(self, work: Callable[[SignInWork], _Result]) -> _Result:
        """Do something in one transaction, beside which no other changes these tables."""
        ...

    def close(self) -> None:
        """Let go of the database."""
        ...


def open_sign_ins(place: RecordLocation) -> SignInTables:
    """The tables of a record, made when there are none yet.

    Raises:
        StoreError: The database cannot be opened.
    """
    return SqliteSignIns(place) if place.url is None else postgres.PostgresSignIns(place)


def has_sign_ins(place: RecordLocation) -> bool:
    """Whether anybody was ever invited there; makes nothing.

    Raises:
        StoreError: The database cannot be opened.
    """
    return (place.folder / SIGN_INS).exists() if place.url is None else postgres.has_tables(place)


class SqliteSignIns:
    """The tables in a file.

    Args:
        place: Where the record is.
    """

    def __init__(self, place: RecordLocation) -> None:
        self._place = place
        self._turn = threading.Lock()
        folder = place.folder
        try:
            make_private(folder)
            path = folder / SIGN_INS
            with alone(folder):
                private_file(path)
                self._connection = connect(path)
            with self._transaction():
                for table in TABLES:
                    self._connection.execute(f"CREATE TABLE IF NOT EXISTS {table}")
                for index in INDEXES:
                    self._connection.execute(f"CREATE INDEX IF NOT EXISTS {index}")
        except (OSError, sqlite3.Error) as error:
            raise explain(error, folder) from error

    def rows(self, sql: str, *values: object) -> list[Row]:
        """The rows that a query gives."""
        try:
            with self._turn:
                return self._connection.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise explain(error, self._place.folder) from error

    def together(self, work: Callable[[SignInWork], _Result]) -> _Result:
        """Do something in one transaction."""
        try:
            with self._turn, self._transaction():
                return work(_SqliteWork(self._connection))
        except sqlite3.Error as error:
            raise explain(error, self._place.folder) from error

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")


class _SqliteWork:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def rows(self, sql: str, *values: object) -> list[Row]:
        return self._connection.execute(sql, values).fetchall()

    def change(self, sql: str, *values: object) -> int:
        return self._connection.execute(sql, values).rowcount
