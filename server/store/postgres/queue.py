"""The queue of samples in PostgreSQL: a study puts them in, workers lease them, results wait to be gathered.

A sample is known by study, cell, task and repeat, and has one result whatever happens: whoever took it holds a lease
that runs out when it is not renewed, and only the holder of the lease can finish it. Time is the database's; a lease
lasts at least its span after the database has started. Nothing here knows what a sample is or how it is played.

Its connection can wait: while the database is away, what is asked for is tried again. Whatever is done with it must
come to the same when it is done twice, because a connection may break after a commit and before its answer. The first
connection is not waited for: a wrong address is reported at once.
"""

import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple, TypeVar

from m3bench.server.store.location import RecordLocation
from m3bench.server.store.postgres.errors import explain, kind_of
from m3bench.server.store.postgres.migrations import migrate
from m3bench.server.store.postgres.pool import Connection, connect, driver
from m3bench.server.store.schema import Row
from m3bench.tasks.errors import StoreError

PASSES = ("unreachable", "lost", "starting", "connections", "conflict", "locked", "slow", "read-only", "full", "memory")
"""Troubles that end without anybody changing the command."""

PAUSES = (0.1, 0.3, 1.0, 3.0)
"""Seconds between tries; the last one stays."""

AWAY = "Waiting for it."
"""How what is said of a database that is away ends."""

_Result = TypeVar("_Result")


class RetryingConnection:
    """One connection to a database, made again as often as needed; threads take turns.

    Args:
        place: Where the database is.
        say: Is told once when the database goes away, and once when it is back.
    """

    def __init__(self, place: RecordLocation, say: Callable[[str], None]) -> None:
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


ATTEMPTS = 5
"""Times that a sample is taken before it is held to end its workers."""

_EXPIRED = """(
    s.state = 'leased'
    AND clock_timestamp() > greatest(s.until, pg_postmaster_start_time() + make_interval(secs => s.span))
)"""

_FREE = f"(s.state = 'waiting' OR {_EXPIRED} AND s.attempt < {ATTEMPTS})"

_BUSY = f"""(
    SELECT count(*) FROM queued_samples s JOIN queued_cells d USING (study, cell)
    WHERE d.provider = c.provider AND s.state = 'leased' AND NOT {_EXPIRED}
)"""

_ALL = "(%(study)s::text IS NULL OR c.study = %(study)s)"

_MINE = "study = %(study)s AND cell = %(cell)s AND task = %(task)s AND repeat = %(repeat)s"


class Key(NamedTuple):
    """Which sample."""

    study: str
    cell: str
    task: str
    repeat: int
    """From 1."""


class QueuedCell(NamedTuple):
    """A cell as it was put into the queue."""

    study: str
    cell: str
    wanted: str
    """How it is played, as text."""
    provider: str
    """Whose limit its samples share."""
    most: int | None
    """Samples of the provider at a time, over all workers."""


class Finished(NamedTuple):
    """A sample that is done."""

    key: Key
    sample: str
    parcel: bytes | None
    """Its record; None when there is none."""


class Counts(NamedTuple):
    """How cells stand."""

    waiting: int
    leased: int
    done: int
    """With those that were gathered."""
    workers: int
    """Who hold a lease that has not run out."""


class Queue:
    """The queue in a database.

    Args:
        place: Where the database is.
        say: Is told when the database goes away and when it is back; nothing fails meanwhile.
    """

    def __init__(self, place: RecordLocation, say: Callable[[str], None]) -> None:
        self._database = RetryingConnection(place, say)

    def close(self) -> None:
        """Let go of the database."""
        self._database.close()

    # For a study

    def put(self, cells: Sequence[QueuedCell], samples: Sequence[Key]) -> None:
        """Put samples in, unless they are there; void ones that were gathered are to be played again."""

        def work(connection: Connection) -> None:
            with connection.cursor() as cursor:
                cursor.executemany(
                    "INSERT INTO queued_cells VALUES (%s, %s, %s, %s, %s) ON CONFLICT (study, cell) DO UPDATE SET "
                    "wanted = excluded.wanted, provider = excluded.provider, most = excluded.most, trouble = NULL",
                    cells,
                )
                cursor.execute(
                    "INSERT INTO queued_samples AS s (study, cell, task, repeat) "
                    "SELECT * FROM unnest(%s::text[], %s::text[], %s::text[], %s::integer[]) ON CONFLICT "
                    "(study, cell, task, repeat) DO UPDATE SET gathered = false, "
                    "state = CASE WHEN s.gathered AND s.parcel IS NULL THEN 'waiting' ELSE s.state END, "
                    "attempt = CASE WHEN s.gathered AND s.parcel IS NULL THEN 0 ELSE s.attempt END "
                    "WHERE s.state = 'done'",
                    tuple(map(list, zip(*samples, strict=True))) if samples else ([], [], [], []),
                )

        self._database.do(work)

    def put_set(self, hash: str, archive: bytes) -> None:
        """Keep a set of tasks for workers that do not have it."""
        self._execute("INSERT INTO queued_sets VALUES (%s, %s) ON CONFLICT DO NOTHING", (hash, archive))

    def finished(self, study: str, cells: Sequence[str], most: int = 20) -> list[Finished]:
        """Samples of cells that are done and were not gathered."""
        rows = self._fetch(
            "SELECT study, cell, task, repeat, sample, parcel FROM queued_samples "
            "WHERE study = %s AND cell = ANY(%s) AND state = 'done' AND NOT gathered LIMIT %s",
            (study, list(cells), most),
        )
        return [Finished(Key(*row[:4]), row[4], row[5]) for row in rows]

    def gathered(self, keys: Iterable[Key]) -> None:
        """Samples were gathered."""
        self._each("UPDATE queued_samples SET gathered = true WHERE", keys)

    def counts(self, study: str, cells: Sequence[str]) -> Counts:
        """How cells stand."""
        (row,) = self._fetch(
            "SELECT count(*) FILTER (WHERE s.state = 'waiting'), count(*) FILTER (WHERE s.state = 'leased'), "
            "count(*) FILTER (WHERE s.state = 'done'), "
            f"count(DISTINCT s.holder) FILTER (WHERE s.state = 'leased' AND NOT {_EXPIRED}) "
            "FROM queued_samples s WHERE s.study = %s AND s.cell = ANY(%s)",
            (study, list(cells)),
        )
        return Counts(*row)

    def worn_out(self, study: str) -> list[Key]:
        """Samples that nobody takes any more, because every worker that took them was gone before they were done."""
        rows = self._fetch(
            f"SELECT study, cell, task, repeat FROM queued_samples s WHERE s.study = %s AND {_EXPIRED} "
            f"AND s.attempt >= {ATTEMPTS}",
            (study,),
        )
        return [Key(*row) for row in rows]

    def settle(self, key: Key, sample: str) -> None:
        """Say what became of a sample that nobody takes any more."""
        self._execute(
            f"UPDATE queued_samples s SET state = 'done', sample = %(sample)s WHERE {_MINE} AND {_EXPIRED}",
            {**key._asdict(), "sample": sample},
        )

    def withdraw(self, study: str, cells: Sequence[str]) -> None:
        """Take out what is not done; what is being played counts no more."""
        self._execute(
            "DELETE FROM queued_samples WHERE study = %s AND cell = ANY(%s) AND state <> 'done'", (study, list(cells))
        )

    def troubles(self, study: str) -> dict[str, str]:
        """Why workers could not play cells, by cell."""
        rows = self._fetch("SELECT cell, trouble FROM queued_cells WHERE study = %s AND trouble IS NOT NULL", (study,))
        return dict(rows)

    # For a worker

    def next_cell(self, study: str | None, barred: Sequence[tuple[str, str]]) -> tuple[QueuedCell, int] | None:
        """A cell with samples that can be taken now, and how many; of one study, or of any."""
        rows = self._fetch(
            "SELECT c.study, c.cell, c.wanted, c.provider, c.most, n.free FROM queued_cells c, LATERAL (SELECT "
            f"count(*) AS free FROM queued_samples s WHERE s.study = c.study AND s.cell = c.cell AND {_FREE}) n "
            f"WHERE n.free > 0 AND {_ALL} AND (c.most IS NULL OR {_BUSY} < c.most) "
            "AND NOT (c.study, c.cell) IN (SELECT * FROM unnest(%(studies)s::text[], %(cells)s::text[])) "
            "ORDER BY c.study, c.cell LIMIT 1",
            {"study": study, **_columns(barred)},
        )
        return (QueuedCell(*rows[0][:5]), rows[0][5]) if rows else None

    def is_empty(self, study: str | None, barred: Sequence[tuple[str, str]]) -> bool:
        """Whether nothing is left to play, by anybody; what others are playing may come back."""
        return not self._fetch(
            "SELECT 1 FROM queued_samples c WHERE c.state <> 'done' AND "
            f"{_ALL} AND NOT (c.study, c.cell) IN (SELECT * FROM unnest(%(studies)s::text[], %(cells)s::text[])) "
            f"AND NOT (c.state = 'leased' AND c.attempt >= {ATTEMPTS}) LIMIT 1",
            {"study": study, **_columns(barred)},
        )

    def set_archive(self, hash: str) -> bytes | None:
        """A set of tasks that a study brought along."""
        rows = self._fetch("SELECT archive FROM queued_sets WHERE hash = %s", (hash,))
        return bytes(rows[0][0]) if rows else None

    def take(self, cell: QueuedCell, holder: str, span: float, most: int = 1) -> list[Key] | None:
        """Lease samples of a cell; none when there are none, None when the provider has its fill for now.

        Args:
            cell: Of which cell.
            holder: Who takes them.
            span: Seconds that the lease lasts when it is not renewed.
            most: How many at most.
        """
        values = {"study": cell.study, "cell": cell.cell, "holder": holder, "span": span}

        def work(connection: Connection) -> list[Key] | None:
            room = most
            if cell.most is not None:
                # One at a time, so that two workers do not both take the last place.
                name = f"m3bench provider {cell.provider}"
                connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (name,))
                query = f"SELECT {_BUSY} FROM (VALUES (%s)) AS c (provider)"
                room = min(most, cell.most - connection.execute(query, (cell.provider,)).fetchone()[0])
                if room < 1:
                    return None
            rows = connection.execute(
                "UPDATE queued_samples t SET state = 'leased', holder = %(holder)s, span = %(span)s, "
                "until = clock_timestamp() + make_interval(secs => %(span)s), attempt = attempt + 1 "
                "FROM (SELECT study, cell, task, repeat FROM queued_samples s WHERE study = %(study)s "
                f"AND cell = %(cell)s AND {_FREE} ORDER BY repeat, task LIMIT %(most)s FOR UPDATE SKIP LOCKED) f "
                "WHERE (t.study, t.cell, t.task, t.repeat) = (f.study, f.cell, f.task, f.repeat) "
                "RETURNING t.study, t.cell, t.task, t.repeat",
                {**values, "most": room},
            ).fetchall()
            return [Key(*row) for row in rows]

        return self._database.do(work)

    def beat(self, holder: str, keys: Iterable[Key]) -> None:
        """Renew leases."""
        renewed = "until = clock_timestamp() + make_interval(secs => span)"
        self._each(
            f"UPDATE queued_samples SET {renewed} WHERE holder = %(holder)s AND state = 'leased' AND", keys, holder
        )

    def finish(self, key: Key, holder: str, sample: str, parcel: bytes | None) -> bool:
        """Hand in what came of a sample; False when the lease is another's by now, and nothing changes.

        Handed in twice by the same holder it counts once.
        """
        values = {**key._asdict(), "holder": holder, "sample": sample, "parcel": parcel}
        rows = self._fetch(
            "UPDATE queued_samples SET state = 'done', sample = %(sample)s, parcel = %(parcel)s, gathered = false "
            f"WHERE {_MINE} AND state = 'leased' AND holder = %(holder)s RETURNING 1",
            values,
        )
        return bool(rows) or bool(
            self._fetch(
                f"SELECT 1 FROM queued_samples WHERE {_MINE} AND state = 'done' AND holder = %(holder)s", values
            )
        )

    def give_back(self, holder: str) -> None:
        """Let others have what a worker has not finished."""
        self._execute(
            "UPDATE queued_samples SET state = 'waiting', attempt = attempt - 1 WHERE holder = %s AND state = 'leased'",
            (holder,),
        )

    def trouble(self, cell: QueuedCell, why: str) -> None:
        """Say why a cell could not be played."""
        self._execute(
            "UPDATE queued_cells SET trouble = %s WHERE study = %s AND cell = %s", (why, cell.study, cell.cell)
        )

    def _fetch(self, sql: str, values: object) -> list[Row]:
        return self._database.do(lambda connection: list(connection.execute(sql, values).fetchall()))

    def _execute(self, sql: str, values: object) -> None:
        self._database.do(lambda connection: connection.execute(sql, values))

    def _each(self, sql: str, keys: Iterable[Key], holder: str = "") -> None:
        # In one order, so that two who change the same rows never wait for each other.
        values = [{**key._asdict(), "holder": holder} for key in sorted(keys)]

        def work(connection: Connection) -> None:
            with connection.cursor() as cursor:
                cursor.executemany(f"{sql} {_MINE}", values)

        if values:
            self._database.do(work)


def _columns(cells: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    return {"studies": [study for study, _ in cells], "cells": [cell for _, cell in cells]}
