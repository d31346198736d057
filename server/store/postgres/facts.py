"""What holds for a whole record in PostgreSQL, asked and stated without opening it as a store."""

from m3bench.server.store.place import Place
from m3bench.server.store.postgres.migrations import fact, migrate, state_fact, version_of
from m3bench.server.store.postgres.pool import connect, driver
from m3bench.server.store.postgres.trouble import explain


def mode_of(place: Place) -> str | None:
    """What kind of runs a record is for; None when that is not decided.

    Raises:
        StoreError: The database cannot be asked.
    """
    assert place.url is not None
    try:
        with connect(place.url) as connection:
            return fact(connection, "mode") if version_of(connection) else None
    except driver().Error as error:
        raise explain(error, place, reading=True) from error


def state_mode(place: Place, mode: str) -> None:
    """Have a record be for runs of one mode, unless it is for one already.

    Raises:
        StoreError: The database cannot be written.
    """
    assert place.url is not None
    try:
        with connect(place.url) as connection:
            migrate(connection, place)
            state_fact(connection, "mode", mode)
    except driver().Error as error:
        raise explain(error, place) from error
