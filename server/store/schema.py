"""The tables of the record, version by version, and the way from each released version to this one.

`PRAGMA user_version` says which version a file has. A migration is SQL that runs in one transaction. Every row of a
run's record carries a digest of its values, computed by the SQL function `row_digest`: SQLite does not notice when a
byte inside a value changes on disk, `m3bench store check` does.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from functools import cache
from hashlib import blake2b
from itertools import chain
from typing import Any, NamedTuple

VERSION = 4

_RUN_COLUMNS_2 = "id, seat, task, state, mode, started, ended, answer, seal, manifest, scorecard"
RUN_COLUMNS = f"{_RUN_COLUMNS_2}, fields"
CALL_COLUMNS = "id, run, seat, tool, request_id, request, revision, client, wall, received_ns"
ANSWER_COLUMNS = "call, outcome, owner, result, error, full, forwarded_ns, returned_ns"
SENT_COLUMNS = "call, sent_ns"

COLUMNS = {"runs": RUN_COLUMNS, "calls": CALL_COLUMNS, "answers": ANSWER_COLUMNS, "sent": SENT_COLUMNS}
"""What the digest of a row covers, by table, in this order."""


def columns(table: str, version: int) -> str:
    """What the digest of a row covers in a file of some version."""
    return _RUN_COLUMNS_2 if table == "runs" and version < 4 else COLUMNS[table]


_RUNS = """
CREATE TABLE {name} (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, seat TEXT NOT NULL, task TEXT NOT NULL, state TEXT NOT NULL,
    mode TEXT NOT NULL, started TEXT NOT NULL, ended TEXT, answer TEXT, seal TEXT, manifest TEXT NOT NULL,
    scorecard TEXT, {fields}digest BLOB
)"""

_RESUMPTIONS = """
CREATE TABLE resumptions (
    run TEXT PRIMARY KEY, workspace TEXT NOT NULL, max_calls INTEGER NOT NULL, seconds REAL NOT NULL, lost TEXT
)"""

TABLES = (
    "CREATE TABLE seats (id TEXT PRIMARY KEY, owner TEXT NOT NULL, profile TEXT NOT NULL, opened TEXT NOT NULL)",
    _RUNS.format(name="runs", fields="fields TEXT, "),
    """CREATE TABLE calls (
        id INTEGER PRIMARY KEY, run TEXT, seat TEXT NOT NULL, tool TEXT NOT NULL, request_id TEXT NOT NULL,
        request BLOB NOT NULL, revision TEXT NOT NULL, client TEXT NOT NULL, wall TEXT NOT NULL,
        received_ns INTEGER NOT NULL, digest BLOB
    )""",
    "CREATE INDEX calls_of_run ON calls (run, id)",
    """CREATE TABLE answers (
        call INTEGER PRIMARY KEY, outcome TEXT NOT NULL, owner TEXT NOT NULL, result BLOB, error TEXT, full BLOB,
        forwarded_ns INTEGER NOT NULL, returned_ns INTEGER NOT NULL, digest BLOB
    )""",
    "CREATE TABLE sent (call INTEGER PRIMARY KEY, sent_ns INTEGER NOT NULL, digest BLOB)",
    _RESUMPTIONS,
)

MIGRATIONS: dict[int, tuple[str, ...]] = {
    # Version 1 had no digests, and the order of runs hung on the clock.
    1: (
        _RUNS.format(name="runs_2", fields=""),
        f"INSERT INTO runs_2 ({_RUN_COLUMNS_2}, digest) "
        f"SELECT {_RUN_COLUMNS_2}, row_digest({_RUN_COLUMNS_2}) FROM runs "
        "ORDER BY started, id",
        "DROP TABLE runs",
        "ALTER TABLE runs_2 RENAME TO runs",
        "ALTER TABLE calls ADD COLUMN digest BLOB",
        f"UPDATE calls SET digest = row_digest({CALL_COLUMNS})",
        "ALTER TABLE answers ADD COLUMN digest BLOB",
        f"UPDATE answers SET digest = row_digest({ANSWER_COLUMNS})",
        "ALTER TABLE sent ADD COLUMN digest BLOB",
        f"UPDATE sent SET digest = row_digest({SENT_COLUMNS})",
    ),
    # Version 2 knew no run that outlives its server.
    2: (_RESUMPTIONS,),
    # Version 3 took an answer in prose alone.
    3: (
        "ALTER TABLE runs ADD COLUMN fields TEXT",
        # What was damaged stays so.
        f"UPDATE runs SET digest = row_digest({RUN_COLUMNS}) WHERE digest = row_digest({_RUN_COLUMNS_2})",
    ),
}
"""What turns a file of a version into one of the next."""


Row = tuple[Any, ...]
"""A row as a database gives it."""

Statement = tuple[str, tuple[object, ...]]


class Insert(NamedTuple):
    """A row that is to be added, with its digest."""

    table: str
    values: tuple[object, ...]


class Sound(NamedTuple):
    """Rows that are about to be changed: those that fit their digests lose them, so that damage outlasts the change.

    What has lost its digest has an empty one until the end of the transaction.
    """

    table: str
    where: str
    values: tuple[object, ...]


class Digested(NamedTuple):
    """Rows that were changed: those that lost their digests get new ones."""

    table: str
    where: str
    values: tuple[object, ...]


Work = Sequence[Insert | Sound | Digested | Statement]
"""What is written together: first all rows that are added, then the rest in its order."""


def row_digest(*values: object) -> bytes:
    """Eight bytes that change when a value of a row does."""
    return _digest(values)


def _digest(values: tuple[object, ...]) -> bytes:
    # `ascii` is exact for the types that SQLite has, the same for every version of Python, and fast.
    return blake2b(ascii(values).encode(), digest_size=8).digest()


def insert(table: str, values: tuple[object, ...]) -> Insert:
    """A row to be added, or put in place of the same row that an earlier attempt left."""
    return Insert(table, (*values, _digest(values)))


def statements(work: Iterable[Insert | Sound | Digested | Statement]) -> list[Statement]:
    """What is to be executed: rows of one table in few statements, because each costs a turn between threads."""
    rows: dict[str, list[tuple[object, ...]]] = {}
    others: list[Statement] = []
    for change in work:
        if isinstance(change, Insert):
            rows.setdefault(change.table, []).append(change.values)
        elif isinstance(change, Sound):
            sql = f"UPDATE {change.table} SET digest = x'' WHERE {change.where}"
            others.append((f"{sql} AND digest = row_digest({COLUMNS[change.table]})", change.values))
        elif isinstance(change, Digested):
            sql = f"UPDATE {change.table} SET digest = row_digest({COLUMNS[change.table]}) WHERE {change.where}"
            others.append((f"{sql} AND digest = x''", change.values))
        else:
            others.append(change)
    return [*(_inserts(table, values) for table, values in rows.items()), *others]


def _inserts(table: str, rows: Sequence[tuple[object, ...]]) -> Statement:
    values = rows[0] if len(rows) == 1 else tuple(chain.from_iterable(rows))
    return _insert_sql(table, len(rows)), values


@cache
def _insert_sql(table: str, rows: int) -> str:
    columns = f"{COLUMNS[table]}, digest"
    marks = f"({','.join('?' * len(columns.split(',')))})"
    return f"INSERT OR REPLACE INTO {table} ({columns}) VALUES {','.join([marks] * rows)}"


def version_of(connection: sqlite3.Connection) -> int:
    """The version of a database; 0 when it has no tables yet."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def make_tables(connection: sqlite3.Connection) -> None:
    """Make the tables, unless another process does so at this very moment: clients like to start servers twice."""
    connection.execute("BEGIN IMMEDIATE")
    if version_of(connection) == 0:
        for statement in TABLES:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute("COMMIT")


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the tables to this version in one transaction; a failure leaves them as they were."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        for version in range(version_of(connection), VERSION):
            for statement in MIGRATIONS[version]:
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
