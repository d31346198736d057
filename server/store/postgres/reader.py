"""Reads a record in PostgreSQL while others write to it, is told when they do, and looks it over for damage.

Large values have rows of their own, each value once. The database looks after its pages itself (`pg_amcheck`, and
checksums where they are on); here every row is held against its digest, every large value against its hash, and every
sealed run against its seal. Nothing is written.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from typing import NoReturn

from m3bench.server.store.checkup import Checkup, broken_seal
from m3bench.server.store.location import RecordLocation
from m3bench.server.store.postgres.dialect import REFERENCE, translated
from m3bench.server.store.postgres.errors import explain
from m3bench.server.store.postgres.leases import CHANNEL, living
from m3bench.server.store.postgres.migrations import VERSION, newer, version_of
from m3bench.server.store.postgres.pool import Connection, PostgresPool, connect, driver
from m3bench.server.store.reader import CallRow, Reader
from m3bench.server.store.records import CallRecord, Damage
from m3bench.server.store.rows import ANSWERS, CALLS, SENT, Rows
from m3bench.server.store.schema import Row
from m3bench.tasks.errors import StoreError


class BlobRows:
    """The rows of large values.

    Args:
        pool: Gives connections.
    """

    def __init__(self, pool: PostgresPool) -> None:
        self._pool = pool

    def pack(self, value: bytes) -> bytes | str:
        """The value itself: it is taken apart where it is written, in one transaction with its row."""
        return value

    def unpack(self, value: bytes | str | None) -> bytes | None:
        """The value behind what stands in a row.

        Raises:
            StoreError: It cannot be read now.
            ValueError: It is not what was written.
        """
        if not isinstance(value, bytes) or not value.startswith(REFERENCE):
            return value.encode() if isinstance(value, str) else value
        name = value.removeprefix(REFERENCE).decode(errors="replace")
        found = self._pool.fetch("SELECT value FROM blobs WHERE name = %s", (name,))
        if not found:
            raise ValueError("its large value is missing")
        if sha256(found[0][0]).hexdigest() != name:
            raise ValueError("its large value was changed or damaged")
        return bytes(found[0][0])


class PostgresRows(Rows):
    """The rows of a record.

    Args:
        pool: Gives connections.
        blobs: The rows of large values.
        place: Where the record is.
    """

    def __init__(self, pool: PostgresPool, blobs: BlobRows, place: RecordLocation) -> None:
        super().__init__(_no_file, blobs, place.folder)
        self._pool = pool

    def calls(self, run: str) -> tuple[list[CallRecord], list[Damage]]:
        """The calls of a run in the order they arrived, and those that are damaged."""
        return self._calls("run = ?", (run,))

    def calls_of_no_run(self) -> list[Damage]:
        """The calls that belong to no run and are damaged."""
        return self._calls("run IS NULL", ())[1]

    def close(self) -> None:
        """Let go of the database."""
        self._pool.close()

    def _calls(self, which: str, values: Row) -> tuple[list[CallRecord], list[Damage]]:
        mine = f"(SELECT id FROM calls WHERE {which})"
        calls = self._fetch(f"{CALLS} calls WHERE {which} ORDER BY id", values)
        answers = {row[0]: row for row in self._fetch(f"{ANSWERS} answers WHERE call IN {mine}", values)}
        sent = {row[0]: row for row in self._fetch(f"{SENT} sent WHERE call IN {mine}", values)}
        sound: list[CallRecord] = []
        damaged: list[Damage] = []
        for call in calls:
            try:
                sound.append(self._record(call, answers.get(call[0]), sent.get(call[0])))
            except ValueError as error:
                damaged.append(Damage(run=call[1], call=call[0], says=str(error)))
        return sound, damaged

    def _fetch(self, query: str, values: Row) -> list[Row]:
        return self._pool.fetch(translated(query), tuple(values))


def _no_file() -> NoReturn:
    raise AssertionError("there is no file")


NOBODY = {"waiting": 0, "leased": 0, "done": 0}
"""Samples in an empty queue."""


class PostgresReader(Reader):
    """The record in a database; empty until there is one. Nothing is changed there.

    Args:
        place: Where the record is.
    """

    def __init__(self, place: RecordLocation) -> None:
        super().__init__(place.folder)
        assert place.url is not None
        self._place = place
        self._url = place.url
        self._pool = PostgresPool(place)
        self._blobs = BlobRows(self._pool)
        self._known = False
        """Whether the tables are there, in this version."""
        self._ear: Connection | None = None
        """Hears of what is written."""
        self._changed = True

    def close(self) -> None:
        """Let go of the database."""
        self._pool.close()
        ear, self._ear = self._ear, None
        if ear is not None:
            with suppress(driver().Error):
                ear.close()

    def changed(self) -> bool:
        """Whether anything was written since this was asked last."""
        self.wait(0)
        found, self._changed = self._changed, False
        return found

    def wait(self, seconds: float) -> None:
        """Wait until something is written, so long at most."""
        if self._heard(seconds):
            self._changed = True

    def others_wrote(self, own: str | None, seconds: float) -> bool:
        """Wait until a process of another name than `own` has written something, so long at most; whether one has."""
        heard = self._heard(seconds)
        return bool(heard) and heard != [own]

    def _heard(self, seconds: float) -> list[str]:
        """The names of those who wrote, from the first word on; empty when there was none in time."""
        psycopg = driver()
        try:
            if self._ear is None:
                self._ear = connect(self._url)
                self._ear.execute(f"LISTEN {CHANNEL}")
                self._changed = True  # Whatever was written before is not told any more.
            return sorted({word.payload for word in self._ear.notifies(timeout=seconds, stop_after=1)})
        except psycopg.Error as error:
            ear, self._ear = self._ear, None
            if ear is not None:
                ear.close()
            raise explain(error, self._place, reading=True) from error

    def queue(self) -> dict[str, int] | None:
        """How many samples are in each state; nobody has put any there while it is empty."""
        return {**NOBODY, **dict(self._read("SELECT state, count(*) FROM queued_samples GROUP BY state"))}

    def request(self, call: CallRow) -> bytes:
        """The request of a call.

        Raises:
            ValueError: It is not what was written.
        """
        return self._blobs.unpack(call.request) or b""

    def _alive(self) -> set[str]:
        return living(self._pool)

    def _read(self, query: str, values: Sequence[object] = ()) -> list[Row]:
        if not self._known:
            with self._pool.connection() as connection:
                version = version_of(connection)
            if version > VERSION:
                raise StoreError(newer(self._place, version))
            if version < VERSION:
                return []
            self._known = True
        return self._pool.fetch(translated(query), tuple(values))


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
