"""The statements of the record as PostgreSQL takes them.

Both stores have the same columns and share their statements, which are written for SQLite; the few words that differ
are exchanged here. Rows that are added come as arrays, one for each column, so that a statement is the same for any
number of rows.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from hashlib import sha256

from m3bench.server.store.blobs import BLOB_BYTES
from m3bench.server.store.schema import COLUMNS, Insert, Row, Statement, insert

REFERENCE = b"\0blob:"
"""What stands in a row for a large value begins so; a small value that does is kept like a large one."""

KEYS = {"runs": "id", "calls": "id", "answers": "call", "sent": "call", "seats": "id", "resumptions": "run"}

_ALL = {
    **{table: f"{columns}, digest" for table, columns in COLUMNS.items()},
    "seats": "id, owner, profile, opened",
    "resumptions": "run, workspace, max_calls, seconds, lost",
}

_TYPES = dict.fromkeys(("call", "received_ns", "forwarded_ns", "returned_ns", "sent_ns"), "bigint")
_TYPES |= dict.fromkeys(("request", "result", "full", "digest"), "bytea")


@cache
def translated(sql: str) -> str:
    """A statement of ours in the words of PostgreSQL."""
    sql = re.sub(r" INDEXED BY \w+", "", sql)
    sql = re.sub(r"json_extract\((\w+), '\$\.([\w.]+)'\)", _json_path, sql)
    sql = re.sub(r"INSERT OR REPLACE INTO (\w+) VALUES (\([?,]+\))", _replacement, sql)
    sql = re.sub(r"\bfull\b", '"full"', sql)
    return sql.replace("IN ()", "IN (NULL)").replace("?", "%s")


def _json_path(found: re.Match[str]) -> str:
    return f"({found[1]}::json #>> '{{{found[2].replace('.', ',')}}}')"


def _replacement(found: re.Match[str]) -> str:
    return f"INSERT INTO {found[1]} ({_ALL[found[1]]}) VALUES {found[2]} {_on_conflict(found[1])}"


def storable(value: object) -> object:
    """A value that PostgreSQL takes: its texts hold no zero character."""
    return value.replace("\0", "\ufffd") if isinstance(value, str) and "\0" in value else value


def inserts(rows: Iterable[Insert]) -> list[Statement]:
    """Adds rows, or puts them in place of those that an earlier attempt left; large values once each, first of all."""
    tables: dict[str, dict[object, Row]] = {}
    blobs: dict[str, bytes] = {}
    uses: set[tuple[str, int]] = set()
    for row in rows:
        values, large = _packed(row)
        # Of rows with one key the last counts: a statement may touch each row once.
        tables.setdefault(row.table, {})[values[0]] = values
        blobs |= large
        uses |= {(name, values[0]) for name in large}
    found = [] if not blobs else _blob_inserts(blobs, uses)
    return found + [(_insert_sql(table), _arrays(list(ones.values()))) for table, ones in tables.items()]


def _packed(row: Insert) -> tuple[Row, dict[str, bytes]]:
    """The values of a row with references in place of large ones, and these by name."""
    *values, digest = row.values
    large: dict[str, bytes] = {}
    changed = False
    for place, value in enumerate(values):
        if isinstance(value, bytes) and (len(value) > BLOB_BYTES or value.startswith(REFERENCE)):
            name = sha256(value).hexdigest()
            large[name] = value
            values[place] = reference(name)
            changed = True
        elif storable(value) is not value:
            values[place] = storable(value)
            changed = True
    return insert(row.table, tuple(values)).values if changed else (*values, digest), large


def reference(name: str) -> bytes:
    """What stands in a row for the large value of a name."""
    return REFERENCE + name.encode()


def _blob_inserts(blobs: dict[str, bytes], uses: set[tuple[str, int]]) -> list[Statement]:
    # In one order, so that two processes that write the same values never wait for each other.
    names = sorted(blobs)
    used = sorted(uses)
    return [
        (
            "INSERT INTO blobs SELECT * FROM unnest(%s::text[], %s::bytea[]) ON CONFLICT DO NOTHING",
            (names, [blobs[name] for name in names]),
        ),
        (
            "INSERT INTO blob_uses SELECT * FROM unnest(%s::text[], %s::bigint[]) ON CONFLICT DO NOTHING",
            ([name for name, _ in used], [call for _, call in used]),
        ),
    ]


def _arrays(rows: Sequence[Row]) -> tuple[list[object], ...]:
    return tuple(list(column) for column in zip(*rows, strict=True))


@cache
def _insert_sql(table: str) -> str:
    names = _ALL[table].split(", ")
    arrays = ", ".join(f"%s::{_type(table, name)}[]" for name in names)
    columns = ", ".join(f'"{name}"' for name in names)
    return f"INSERT INTO {table} ({columns}) SELECT * FROM unnest({arrays}) {_on_conflict(table)}"


def _type(table: str, name: str) -> str:
    return "bigint" if (table, name) == ("calls", "id") else _TYPES.get(name, "text")


def _on_conflict(table: str) -> str:
    changes = (f'"{name}" = excluded."{name}"' for name in _ALL[table].split(", ") if name != KEYS[table])
    return f"ON CONFLICT ({KEYS[table]}) DO UPDATE SET {', '.join(changes)}"
