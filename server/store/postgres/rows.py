"""Reads a record in PostgreSQL as runs and calls; large values have rows of their own, each value once."""

from hashlib import sha256
from typing import NoReturn

from m3bench.server.store.location import RecordLocation
from m3bench.server.store.postgres.dialect import REFERENCE, translated
from m3bench.server.store.postgres.pool import PostgresPool
from m3bench.server.store.records import CallRecord, Damage
from m3bench.server.store.rows import ANSWERS, CALLS, SENT, Rows
from m3bench.server.store.schema import Row


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
