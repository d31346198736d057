"""Looks over a record in PostgreSQL and names every part of it that is damaged.

The database looks after its pages itself (`pg_amcheck`, and checksums where they are on); here every row is held
against its digest, every large value against its hash, and every sealed run against its seal. Nothing is written.
"""

from collections.abc import Iterator

from m3bench.server.store.checkup import Checkup, broken_seal
from m3bench.server.store.location import RecordLocation
from m3bench.server.store.postgres.migrations import VERSION, newer, version_of
from m3bench.server.store.postgres.pool import PostgresPool
from m3bench.server.store.postgres.rows import BlobRows, PostgresRows
from m3bench.server.store.records import Damage
from m3bench.tasks.errors import StoreError

_STRAYS = (
    (
        "SELECT DISTINCT run, NULL::bigint FROM calls WHERE run IS NOT NULL "
        "AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = run) ORDER BY run",
        "its calls are on record, and the run itself is missing",
    ),
    (
        "SELECT NULL, call FROM answers WHERE NOT EXISTS (SELECT 1 FROM calls WHERE id = call) ORDER BY call",
        "its answer is on record, and the call itself is missing",
    ),
)


def examine(place: RecordLocation, *, beside: bool = True) -> Checkup:
    """Look over the record in a database.

    Args:
        place: Where it is.
        beside: Whether to look at the seals of runs too, which takes the files that they left in the data folder.

    Raises:
        StoreError: It cannot be read at all, or is of a newer version.
    """
    pool = PostgresPool(place)
    try:
        with pool.connection() as connection:
            version = version_of(connection)
        if version > VERSION:
            raise StoreError(newer(place, version))
        if version == 0:
            return Checkup(folder=place, version=0, runs=0, calls=0, damage=())
        rows = PostgresRows(pool, BlobRows(pool), place)
        ((runs,),), ((calls,),) = (pool.fetch(f"SELECT count(*) FROM {table}") for table in ("runs", "calls"))
        damage = tuple(_damage(pool, rows, place, beside))
        return Checkup(folder=place, version=version, runs=runs, calls=calls, damage=damage)
    finally:
        pool.close()


def _damage(pool: PostgresPool, rows: PostgresRows, place: RecordLocation, beside: bool) -> Iterator[Damage]:
    sound, damaged = rows.runs(None)
    yield from damaged
    for run in sorted(sound, key=lambda run: run.id):
        calls, harmed = rows.calls(run.id)
        yield from harmed
        if beside and not harmed:
            yield from broken_seal(place.folder, run, calls)
    yield from rows.calls_of_no_run()
    for query, says in _STRAYS:
        for run_id, call in pool.fetch(query):
            yield Damage(run=run_id, call=call, says=says)
