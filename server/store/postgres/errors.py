"""Why a record in PostgreSQL cannot be read or written, in words that name the cause and the remedy.

A statement that fails has a code; a connection that does not come about has a message alone.
"""

from typing import TYPE_CHECKING

from m3bench.server.store.location import RecordLocation
from m3bench.tasks.errors import StoreError
from m3bench.tasks.lazy_modules import LazyModule

if TYPE_CHECKING:
    import psycopg
else:
    psycopg = LazyModule("psycopg")

LEASE_LOST = "M3B01"
"""The code that the function `hold` raises."""

_AGAIN = "this is tried again with every call"

_CAUSES = {
    "unreachable": (
        "the database does not answer ({says})",
        f"check that PostgreSQL runs and can be reached from here; {_AGAIN}",
    ),
    "lost": ("the connection to the database broke", f"check that PostgreSQL runs; {_AGAIN}"),
    "starting": ("the database is starting or stopping", f"wait until it is up; {_AGAIN}"),
    "connections": (
        "the database has no connection left",
        f"raise its max_connections, or run fewer servers; {_AGAIN}",
    ),
    "account": (
        "the database refuses this account ({says})",
        "check the user and the password in --store, and the rights of that user",
    ),
    "no database": ("there is no such database ({says})", "make it with `createdb`, or name another in --store"),
    "read-only": (
        "the database accepts no writes at present",
        f"name its primary in --store, or end its read-only setting; {_AGAIN}",
    ),
    "full": ("the disk of the database is full", f"free some space there; {_AGAIN}"),
    "memory": ("the database does not have enough memory", f"give it more; {_AGAIN}"),
    "locked": ("another program holds a lock in the database", f"end or wait for that program; {_AGAIN}"),
    "slow": ("the database took too long", f"look for what keeps it busy; {_AGAIN}"),
    "conflict": ("others wrote the same rows at the same moment", _AGAIN),
    "damaged": ("the database is damaged ({says})", "restore it from a backup (pg_dump, or one of its whole folder)"),
    "broken": ("the database reports an input/output error ({says})", "look into its log and check its disk"),
    "gone": ("the tables of the record are gone", "restore them, or start m3bench again to begin a new record"),
    "lease": (
        "this server could not reach the database for so long that others took it for dead and gave up its runs",
        "start it again",
    ),
}

_BY_CODE = {
    "57P01": "lost", "57P02": "lost", "57P03": "starting", "57P05": "lost", "53300": "connections", "28000": "account",
    "28P01": "account", "42501": "account", "3D000": "no database", "25006": "read-only", "53100": "full",
    "53200": "memory", "55P03": "locked", "57014": "slow", "40001": "conflict", "40P01": "conflict",
    "XX001": "damaged", "XX002": "damaged", "58030": "broken", "42P01": "gone", "3F000": "gone", "42883": "gone",
    LEASE_LOST: "lease",
}  # fmt: skip

_BY_MESSAGE = {
    "too many clients": "connections",
    "remaining connection slots": "connections",
    "too many connections": "connections",
    "starting up": "starting",
    "shutting down": "starting",
    "in recovery mode": "starting",
    "not yet accepting connections": "starting",
    "authentication failed": "account",
    "no pg_hba.conf entry": "account",
    "permission denied for database": "account",
    "no password supplied": "account",
    "role ": "account",
    "database ": "no database",
    "no space left": "full",
}
"""What a message says of a connection that did not come about; the first that fits."""


def explain(error: BaseException, place: RecordLocation, *, reading: bool = False) -> StoreError:
    """The error that a person or a model reads in place of one of PostgreSQL."""
    if isinstance(error, StoreError):
        return error
    what = "read" if reading else "written"
    kind = kind_of(error)
    if kind is None:
        remedy = "`m3bench doctor` looks for the reason"
        return StoreError(f"The record in {place} could not be {what} ({_first_line(error)}): {remedy}.")
    cause, remedy = _CAUSES[kind]
    cause = cause.format(says=_first_line(error))
    return StoreError(f"The record in {place} could not be {what}, because {cause}: {remedy}.")


def kind_of(error: BaseException) -> str | None:
    """What is the matter; None when it cannot be told, or a row is at fault."""
    code = getattr(error, "sqlstate", None)
    if code is not None:
        return _BY_CODE.get(code) or ("lost" if code.startswith("08") else None)
    if not isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return None
    said = str(error).lower()
    if "fatal:" in said:
        after = said.split("fatal:", 1)[1]
        return next((kind for words, kind in _BY_MESSAGE.items() if words in after), "unreachable")
    broke = ("consuming input failed", "connection is closed", "connection is lost", "closed the connection")
    return "lost" if any(words in said for words in broke) and "connection failed" not in said else "unreachable"


def is_lost(error: BaseException) -> bool:
    """Whether another connection may succeed where one failed, at once."""
    return kind_of(error) in ("lost", "unreachable")


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = lines[0] if lines else type(error).__name__
    return said.rpartition("FATAL:")[2].strip().rstrip(".:")
