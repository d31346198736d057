"""Which server has a seat that its client names by a handle, when several servers share a record.

The first server that is asked for a seat has it, until it lets go of it or is dead. The others learn from here where
to send those who ask them.
"""

from m3bench.server.store.postgres.leases import OWNER
from m3bench.server.store.postgres.pool import Pool
from m3bench.server.store.succession import ELSEWHERE
from m3bench.tasks.errors import RunError

_LIVES = "EXISTS (SELECT 1 FROM leases WHERE kind = %(kind)s AND name = homes.owner)"


def claim(pool: Pool, seat: str, owner: str) -> str | None:
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
        return claim(pool, seat, owner)
    if found[0] is None:
        raise RunError(ELSEWHERE)
    return str(found[0])


def leave(pool: Pool, seat: str, owner: str) -> None:
    """Let go of a seat."""
    with pool.connection(reading=False) as connection:
        connection.execute("DELETE FROM homes WHERE seat = %s AND owner = %s", (seat, owner))


def forget_dead(pool: Pool) -> None:
    """Forget the seats of servers that have no lease any more."""
    with pool.connection(reading=False) as connection:
        connection.execute(f"DELETE FROM homes WHERE NOT {_LIVES}", {"kind": OWNER})
