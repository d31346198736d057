"""A connection for somebody who has time: while the database is away, what is asked for waits and is tried again.

What is done with it must come to the same when it is done twice, because a connection may break after a commit and
before its answer. The first connection is not waited for: an address that is wrong is said at once.
"""

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from m3bench.server.store.place import Place
from m3bench.server.store.postgres.migrations import migrate
from m3bench.server.store.postgres.pool import Connection, connect, driver
from m3bench.server.store.postgres.trouble import explain, kind_of
from m3bench.tasks.errors import StoreError

PASSES = ("unreachable", "lost", "starting", "connections", "conflict", "locked", "slow", "read-only", "full", "memory")
"""Troubles that end without anybody changing the command."""

PAUSES = (0.1, 0.3, 1.0, 3.0)
"""Seconds between tries; the last one stays."""

AWAY = "Waiting for it."
"""How what is said of a database that is away ends."""

_Result = TypeVar("_Result")


class PatientConnection:
    """One connection to a database, made again as often as needed; threads take turns.

    Args:
        place: Where the database is.
        say: Is told once when the database goes away, and once when it is back.
    """

    def __init__(self, place: Place, say: Callable[[str], None]) -> None:
        assert place.url is not None
        self._place = place
        self._url = place.url
        self._say = say
        self._turn = threading.Lock()
        self._closing = threading.Event()
        self._connection: Connection | None = None
        try:
            self._connection = connect(self._url)
            migrate(self._connection, place)
        except driver().Error as error:
            self.close()
            raise explain(error, place) from error

    def do(self, work: Callable[[Connection], _Result]) -> _Result:
        """Do something in one transaction, as soon as the database lets it.

        Raises:
            StoreError: It cannot be done, however long one waits; or the connection was closed meanwhile.
        """
        tries = 0
        while True:
            try:
                with self._turn:
                    found = self._once(work)
            except driver().Error as error:
                kind = kind_of(error)
                if kind not in PASSES or self._closing.is_set():
                    raise explain(error, self._place) from error
                if tries == 1:
                    self._say(f"{explain(error, self._place)} {AWAY}")
                self._closing.wait(PAUSES[min(tries, len(PAUSES) - 1)])
                tries += 1
            else:
                if tries > 1:
                    self._say("The database is back.")
                return found

    def close(self) -> None:
        """Let go; whoever waits for the database is told that it is over."""
        self._closing.set()
        self._drop()

    def _once(self, work: Callable[[Connection], _Result]) -> _Result:
        if self._closing.is_set():
            raise StoreError(f"The connection to {self._place} was closed.")
        if self._connection is None:
            self._connection = connect(self._url)
        try:
            with self._connection.transaction():
                return work(self._connection)
        except driver().Error:
            self._drop()
            raise

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(driver().Error):
                connection.close()
