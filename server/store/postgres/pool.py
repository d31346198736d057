"""Connections to PostgreSQL: single ones, and a pool of them that outlives restarts of the database.

The driver is imported here, when the first connection is asked for: who keeps the record in a file does not need it.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import ModuleType
from typing import TYPE_CHECKING, Any

from m3bench.server.store.location import RecordLocation
from m3bench.server.store.postgres.errors import explain, is_lost
from m3bench.server.store.schema import Row
from m3bench.tasks.errors import StoreError, UserError
from m3bench.tasks.lazy_modules import LazyModule

if TYPE_CHECKING:
    import psycopg_pool
else:
    psycopg_pool = LazyModule("psycopg_pool")

SCHEMA = "m3bench"
"""Everything of ours in the database is below this name."""

CONNECT_SECONDS = 10
"""How long a connection may take to come about."""

WAIT_SECONDS = 3.0
"""How long a reader waits for a connection of the pool before it is looked whether the database answers at all."""

WAITS = 10
"""How often a reader waits so, while it does."""

MOST = 4
"""Connections of a pool; the writer and the lease of a process have one each besides."""

_DEFAULTS = {
    "application_name": "m3bench",
    "connect_timeout": str(CONNECT_SECONDS),
    # A machine that vanished is noticed within half a minute.
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "20000",
}

_SESSION = f"-c search_path={SCHEMA} -c lock_timeout=10s -c synchronous_commit=on"

Connection = Any
"""Of psycopg, which need not be installed: its types are not known here."""


def driver() -> ModuleType:
    """The driver.

    Raises:
        UserError: It is not installed.
    """
    try:
        import psycopg
    except ImportError as error:
        raise UserError(
            "A record in PostgreSQL needs the driver psycopg: install it with `pip install 'm3bench[postgres]'`."
        ) from error
    # Calls and readers are told what is wrong, with the remedy; the driver's own lines would only repeat it.
    logging.getLogger("psycopg").setLevel(logging.CRITICAL)
    module: ModuleType = psycopg
    return module


def conninfo(url: str) -> str:
    """An address with our settings, where it does not have its own.

    Raises:
        UserError: It is no address.
    """
    psycopg = driver()
    try:
        given = psycopg.conninfo.conninfo_to_dict(url)
    except psycopg.ProgrammingError as error:
        raise UserError(
            f"--store cannot be read as the address of a database ({str(error).strip()}): write it as "
            "postgresql://USER@HOST:PORT/DATABASE."
        ) from error
    options = f"{_SESSION} {given.pop('options', '')}".strip()
    return str(psycopg.conninfo.make_conninfo(**{**_DEFAULTS, **given, "options": options}))


def connect(url: str) -> Connection:
    """A connection of its own, each statement of which is a transaction unless one is begun; may raise any error."""
    psycopg = driver()
    connection = psycopg.connect(conninfo(url), autocommit=True)
    # Each of the few statements that there are is planned once.
    connection.prepare_threshold = 1
    return connection


class PostgresPool:
    """Connections for whoever reads.

    Args:
        place: Where the record is.
    """

    def __init__(self, place: RecordLocation) -> None:
        driver()
        assert place.url is not None
        self._place = place
        self._url = place.url
        self._pool = psycopg_pool.ConnectionPool(
            conninfo(self._url), kwargs={"autocommit": True}, min_size=0, max_size=MOST, timeout=WAIT_SECONDS,
            max_idle=60, reconnect_timeout=1, open=False, name="m3bench",
        )  # fmt: skip
        self._opened = False

    @contextmanager
    def connection(self, *, reading: bool = True) -> Iterator[Connection]:
        """A connection for a while.

        Raises:
            StoreError: There is none, or what was done with it failed.
        """
        psycopg = driver()
        try:
            with self._taken() as connection:
                yield connection
        except psycopg.Error as error:
            raise explain(error, self._place, reading=reading) from error

    def fetch(self, sql: str, values: Row = ()) -> list[Row]:
        """The rows that a statement gives.

        Raises:
            StoreError: It cannot be executed.
        """
        psycopg = driver()
        try:
            try:
                return self._fetch(sql, values)
            except psycopg.OperationalError as error:
                if not is_lost(error):
                    raise
                # The database was restarted, or somebody ended our connections: there are new ones to be had.
                self._pool.check()
                return self._fetch(sql, values)
        except psycopg.Error as error:
            raise explain(error, self._place, reading=True) from error

    def close(self) -> None:
        """Let go of all connections."""
        if self._opened:
            self._opened = False
            self._pool.close()

    def _fetch(self, sql: str, values: Row) -> list[Row]:
        with self._taken() as connection:
            return list(connection.execute(sql, values).fetchall())

    @contextmanager
    def _taken(self) -> Iterator[Connection]:
        if not self._opened:
            self._opened = True
            self._pool.open(wait=False)
        connection = self._waited_for()
        try:
            yield connection
        finally:
            with suppress(ValueError):
                self._pool.putconn(connection)

    def _waited_for(self) -> Connection:
        for _ in range(WAITS):
            try:
                return self._pool.getconn()
            except psycopg_pool.PoolTimeout:
                # The pool does not say why: whoever connects hears it.
                connect(self._url).close()
        raise StoreError(
            f"The record in {self._place} could not be read, because too many ask for it at once: try again."
        )
