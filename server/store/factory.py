"""Opens the store, the reader or the checkup for the location of a record.

PostgreSQL and its driver are imported only for a location that names a database.
"""

from typing import TYPE_CHECKING

from m3bench.server.store.checkup import Checkup, examine
from m3bench.server.store.contract import Store
from m3bench.server.store.location import RecordLocation
from m3bench.server.store.reader import Reader
from m3bench.server.store.sqlite import SqliteStore
from m3bench.tasks.lazy_modules import LazyModule

if TYPE_CHECKING:
    from m3bench.server.store.postgres import reader, store
else:
    reader = LazyModule("m3bench.server.store.postgres.reader")
    store = LazyModule("m3bench.server.store.postgres.store")


def open_store(
    place: RecordLocation, *, sync: str = "normal", owner: str | None = None, address: str | None = None
) -> Store:
    """The store of a place, made when there is none yet.

    Args:
        place: Where the record is.
        sync: With a file, `full` makes a commit survive the death of the machine; a database always does.
        owner: Names this process, which plays runs; somebody who only reads has no name.
        address: Where other servers on the same database reach this one, when they do.

    Raises:
        StoreError: It cannot be opened.
        UserError: What it needs is not installed.
    """
    if place.url is None:
        return SqliteStore(place.folder, sync=sync, owner=owner)
    return store.PostgresStore(place, owner=owner, address=address)


def open_reader(place: RecordLocation) -> Reader:
    """What reads the record of a place while others write to it."""
    if place.url is None:
        return Reader(place.folder)
    return reader.PostgresReader(place)


def look_over(place: RecordLocation, *, beside: bool = True) -> Checkup:
    """Look for damage in the record of a place.

    Args:
        place: Where it is.
        beside: Whether to look at large values and sealed workspaces too, which takes reading all of them.

    Raises:
        StoreError: It cannot be read at all, or is of a newer version.
    """
    if place.url is None:
        return examine(place.folder, beside=beside)
    return reader.examine(place, beside=beside)
