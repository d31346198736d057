"""Which processes are alive, told by leases, and which of them has a seat when several servers share a record.

A lease is a row that a living process renews, with a lock that goes with its connection. A holder is dead when it has
not renewed its lease for long, or when its lock is free and stays so for a few renewals: a connection may break, or the
database be restarted, while its holder lives. Time is the database's, and begins anew when it starts. The thread of the
lease also notifies watchers that something was written.

The first server that is asked for a seat has it, until it lets go of it or is dead. The others learn from here where
to send those who ask them.
"""

import os
import socket
import threading
import time
from contextlib import suppress

from m3bench.server.store.postgres.pool import Connection, PostgresPool, connect, driver
from m3bench.server.store.takeover import ELSEWHERE
from m3bench.tasks.errors import RunError

BEAT_SECONDS = 2.0
"""Between two renewals."""

QUIET_SECONDS = 7.0
"""How long a lock may be free while its holder lives: time for a new connection, and more."""

LEASE_SECONDS = 60.0
"""How long a lease lasts that is not renewed, whatever its lock says."""

TICK_SECONDS = 0.1
"""Between two words to those who watch."""

CHANNEL = "m3bench"
"""Where those who watch listen; each word is the name of the process that wrote."""

OWNER = "owner"
"""The kind of lease that a process has."""

_KEY = "hashtextextended(kind || ' ' || name, 0)"

_DEAD = f"""
    extract(epoch FROM clock_timestamp() - greatest(beat, pg_postmaster_start_time())) > %(lease)s
    OR extract(epoch FROM clock_timestamp() - greatest(beat, pg_postmaster_start_time())) > %(quiet)s
    AND pg_try_advisory_xact_lock({_KEY})
"""


class LeasedOwner:
    """This process, as a record in PostgreSQL knows it; a lease is taken when it is about to write.

    Args:
        url: The address of the database.
        id: Names this process.
        address: Where other servers reach this one, when they do.
    """

    def __init__(self, url: str, id: str, address: str | None = None) -> None:
        self.id = id
        self._address = address
        self._url = url
        self._connection: Connection | None = None
        self._thread: threading.Thread | None = None
        self._wake = threading.Event()
        self._ending = threading.Event()
        self._news = False
        self._turn = threading.Lock()

    def begin(self) -> None:
        """Take the lease, unless it was taken before; may raise any error of the database."""
        with self._turn:
            if self._thread is not None or self._ending.is_set():
                return
            connection = connect(self._url)
            try:
                holder = f"{socket.gethostname()}:{os.getpid()}"
                connection.execute(
                    "INSERT INTO leases VALUES (%s, %s, %s, clock_timestamp(), clock_timestamp(), %s)",
                    (OWNER, self.id, holder, self._address),
                )
                _lock(connection, self.id)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
            self._thread = threading.Thread(target=self._keep, name="m3bench-lease", daemon=True)
            self._thread.start()

    def tell(self) -> None:
        """Have those who watch told that something was written."""
        self._news = True
        self._wake.set()

    def close(self) -> None:
        """Give the lease back; doing it twice is fine. One that cannot be given back runs out."""
        self._ending.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join(5)
        with self._turn:
            connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(driver().Error):
                if self._news:
                    _notify(connection, self.id)
                connection.execute("DELETE FROM leases WHERE kind = %s AND name = %s", (OWNER, self.id))
            connection.close()

    def _keep(self) -> None:
        beat = time.monotonic()
        while not self._ending.is_set():
            self._wake.wait(max(0.0, beat + BEAT_SECONDS - time.monotonic()))
            self._wake.clear()
            if self._ending.is_set():
                return
            try:
                connection = self._ready()
                if self._news:
                    self._news = False
                    _notify(connection, self.id)
                if time.monotonic() >= beat + BEAT_SECONDS:
                    _renew(connection, self.id)
                    beat = time.monotonic()
            except Exception:  # Whatever is wrong with the database, calls are told; the lease is tried again.
                self._drop()
                beat = time.monotonic() - BEAT_SECONDS / 2
            self._ending.wait(TICK_SECONDS)

    def _ready(self) -> Connection:
        with self._turn:
            if self._connection is None:
                connection = connect(self._url)
                try:
                    _lock(connection, self.id)
                    _renew(connection, self.id)
                except BaseException:
                    connection.close()
                    raise
                self._connection = connection
            return self._connection

    def _drop(self) -> None:
        with self._turn:
            connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(driver().Error):
                connection.close()


def end_dead(pool: PostgresPool, surely: set[str], but: str) -> None:
    """Take the leases of dead processes away: from then on they write nothing any more.

    Args:
        pool: Gives connections.
        surely: Processes that are known to be dead.
        but: This process.
    """
    values: dict[str, object] = {
        "kind": OWNER, "but": but, "surely": sorted(surely), "lease": LEASE_SECONDS, "quiet": QUIET_SECONDS,
    }  # fmt: skip
    with pool.connection(reading=False) as connection:
        connection.execute(
            "DELETE FROM leases WHERE kind = %(kind)s AND name != %(but)s "
            f"AND (name = ANY(%(surely)s::text[]) OR {_DEAD})",
            values,
        )


def living(pool: PostgresPool) -> set[str]:
    """The processes that have a lease."""
    return {name for (name,) in pool.fetch("SELECT name FROM leases WHERE kind = %s", (OWNER,))}


def _lock(connection: Connection, name: str) -> None:
    connection.execute(f"SELECT pg_advisory_lock({_KEY}) FROM (VALUES (%s, %s)) AS l (kind, name)", (OWNER, name))


def _renew(connection: Connection, name: str) -> None:
    connection.execute("UPDATE leases SET beat = clock_timestamp() WHERE kind = %s AND name = %s", (OWNER, name))


def _notify(connection: Connection, name: str) -> None:
    connection.execute("SELECT pg_notify(%s, %s)", (CHANNEL, name))


_LIVES = "EXISTS (SELECT 1 FROM leases WHERE kind = %(kind)s AND name = homes.owner)"


def claim_seat(pool: PostgresPool, seat: str, owner: str) -> str | None:
    """Take a seat for a server, unless another one that has a lease has it: then the address of that one.

    Args:
        pool: Gives connections.
        seat: The seat.
        owner: The server, which has a lease.

    Raises:
        RunError: The other one has no address.
    """
    values = {"seat": seat, "owner": owner, "kind": OWNER}
    with pool.connection(reading=False) as connection, connection.transaction():
        taken = connection.execute(
            "INSERT INTO homes VALUES (%(seat)s, %(owner)s) ON CONFLICT (seat) DO UPDATE SET owner = excluded.owner "
            f"WHERE homes.owner = excluded.owner OR NOT {_LIVES} RETURNING owner",
            values,
        ).fetchone()
        if taken is not None:
            return None
        found = connection.execute(
            "SELECT address FROM homes JOIN leases ON name = owner WHERE kind = %(kind)s AND seat = %(seat)s",
            values,
        ).fetchone()
    if found is None:
        # Whoever let go of it between the two statements made it nobody's: asked again, it is ours.
        return claim_seat(pool, seat, owner)
    if found[0] is None:
        raise RunError(ELSEWHERE)
    return str(found[0])


def leave_seat(pool: PostgresPool, seat: str, owner: str) -> None:
    """Let go of a seat."""
    with pool.connection(reading=False) as connection:
        connection.execute("DELETE FROM homes WHERE seat = %s AND owner = %s", (seat, owner))


def forget_seats_of_dead(pool: PostgresPool) -> None:
    """Forget the seats of servers that have no lease any more."""
    with pool.connection(reading=False) as connection:
        connection.execute(f"DELETE FROM homes WHERE NOT {_LIVES}", {"kind": OWNER})
