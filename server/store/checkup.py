"""Looks over a record and names every part of it that is damaged: which run, which call, what is wrong.

Nothing is written, and the record may be in use meanwhile. SQLite's own check finds broken pages; the digest of every
row finds changed bytes; the index of calls finds rows that are gone; the hashes of large values and the seals of
submitted runs find what was changed beside the database.
"""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from m3bench.server.store.blobs import Blobs
from m3bench.server.store.database import newer
from m3bench.server.store.errors import explain
from m3bench.server.store.layout import BLOBS, database, run_workspace
from m3bench.server.store.location import RecordLocation
from m3bench.server.store.records import OWN_TOOLS, CallRecord, Damage, RunRecord
from m3bench.server.store.rows import CHANGED, UNREADABLE, Rows
from m3bench.server.store.schema import VERSION, Row, columns, row_digest, version_of
from m3bench.server.store.seal import file_hashes, seal
from m3bench.tasks.errors import StoreError

NOT_SEALED = "its calls, files or answer are not the ones that were sealed"
NO_WORKSPACE = "the folder with the files it left is missing"

MESSAGES = 20
"""The most findings of SQLite's own check that are told."""


@dataclass(frozen=True, kw_only=True)
class Checkup:
    """What a look over a record came to."""

    folder: Path | RecordLocation
    """Where the record is."""
    version: int
    """Of the database; 0 when there is none."""
    runs: int
    calls: int
    damage: tuple[Damage, ...]

    @property
    def runs_concerned(self) -> tuple[str, ...]:
        """The runs of which some part is damaged, in order."""
        return tuple(sorted({damage.run for damage in self.damage if damage.run is not None}))

    @property
    def in_database(self) -> tuple[Damage, ...]:
        """What a repair of the database is for; a workspace that was changed or removed is not."""
        return tuple(damage for damage in self.damage if damage.says not in (NOT_SEALED, NO_WORKSPACE))


def examine(folder: Path, *, beside: bool = True) -> Checkup:
    """Look over the record in a data folder.

    Args:
        folder: The data folder.
        beside: Whether to look at large values and sealed workspaces too, which takes reading all of them.

    Raises:
        StoreError: It cannot be read at all, or is of a newer version.
    """
    path = database(folder)
    if not path.exists():
        return Checkup(folder=folder, version=0, runs=0, calls=0, damage=())
    try:
        connection = read_only(path)
    except sqlite3.Error as error:
        raise explain(error, folder, reading=True) from error
    try:
        return _Look(connection, folder).all(beside)
    finally:
        connection.close()


def read_only(path: Path) -> sqlite3.Connection:
    """A connection that cannot write, and takes texts as they are."""
    connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=10)
    connection.text_factory = lambda raw: raw.decode(errors="surrogateescape")
    return connection


class _Look:
    def __init__(self, connection: sqlite3.Connection, folder: Path) -> None:
        self._connection = connection
        self._folder = folder
        self._blobs = Blobs(folder / BLOBS)
        self._runs_of: dict[int, str | None] = {}
        """Which run a call belongs to, as far as is known."""

    def all(self, beside: bool) -> Checkup:
        try:
            version = version_of(self._connection)
        except sqlite3.DatabaseError as error:
            # Nothing can be read: which runs there were is not known any more.
            lost = Damage(run=None, call=None, says=f"it cannot be read ({error})")
            return Checkup(folder=self._folder, version=-1, runs=0, calls=0, damage=(lost,))
        if version > VERSION:
            raise StoreError(newer(database(self._folder), version))
        damage = [Damage(run=None, call=None, says=says) for says in self._pages()]
        runs = self._ids("runs", "SELECT id FROM runs INDEXED BY sqlite_autoindex_runs_1", "SELECT id FROM runs")
        known = "SELECT id, run FROM calls INDEXED BY calls_of_run"
        self._runs_of = dict(self._tolerant(known)) or dict(self._tolerant("SELECT id, run FROM calls"))
        rows = [*self._rows("runs", "id", sorted(runs)), *self._rows("calls", "id", sorted(self._runs_of))]
        for table in ("answers", "sent"):
            rows += self._rows(table, "call", sorted(self._runs_of), optional=True)
        damage += rows
        damage += self._strays(set(runs))
        if beside:
            harmed = {found.run for found in damage}
            damage += self._large_values()
            damage += self._seals(sorted(set(runs) - harmed))
        unique = dict.fromkeys(damage)
        return Checkup(
            folder=self._folder, version=version, runs=len(runs), calls=len(self._runs_of), damage=tuple(unique)
        )

    def _pages(self) -> list[str]:
        try:
            found = self._connection.execute(f"PRAGMA integrity_check({MESSAGES})").fetchall()
        except sqlite3.DatabaseError as error:
            return [str(error)]
        return [str(says) for (says,) in found if says != "ok"]

    def _ids(self, table: str, *queries: str) -> list[str]:
        """The keys of a table by way of its index, which is not damaged when the table is."""
        for query in queries:
            found = [str(id) for (id,) in self._tolerant(query)]
            if found:
                return found
        return []

    def _tolerant(self, query: str, values: Row = ()) -> list[Row]:
        """As many rows as can be read."""
        rows: list[Row] = []
        try:
            for row in self._connection.execute(query, values):
                rows.append(row)
        except sqlite3.DatabaseError:
            pass
        return rows

    def _rows(
        self, table: str, key: str, ids: "Sequence[str] | Sequence[int]", *, optional: bool = False
    ) -> Iterator[Damage]:
        names = columns(table, version_of(self._connection)) + (", digest" if self._has_digests() else "")
        for id in ids:
            run, call = (id, None) if isinstance(id, str) else (self._runs_of.get(id), id)
            try:
                found = self._connection.execute(f"SELECT {names} FROM {table} WHERE {key} = ?", (id,)).fetchone()
            except sqlite3.DatabaseError:
                yield Damage(run=run, call=call, says=UNREADABLE)
                continue
            if found is None:
                if not optional:
                    yield Damage(run=run, call=call, says="its row is missing")
                continue
            says = self._wrong(table, found)
            if says is not None:
                yield Damage(run=run, call=call, says=says)

    def _wrong(self, table: str, row: Row) -> str | None:
        if self._has_digests():
            *values, digest = row
            if row_digest(*values) != digest:
                return CHANGED
        if table == "runs":
            try:
                json.loads(row[9]), json.loads(row[10] or "null")
            except (ValueError, TypeError):
                return "its manifest or its score card is not JSON"
        return None

    def _has_digests(self) -> bool:
        return version_of(self._connection) >= 2

    def _strays(self, runs: set[str]) -> Iterator[Damage]:
        """Calls of runs that are not there, and answers to calls that are not there."""
        for run in sorted({run for run in self._runs_of.values() if run is not None} - runs):
            yield Damage(run=run, call=None, says="its calls are on record, and the run itself is missing")
        for table in ("answers", "sent"):
            for (call,) in self._tolerant(f"SELECT call FROM {table}"):
                if call not in self._runs_of:
                    yield Damage(run=None, call=call, says="its answer is on record, and the call itself is missing")

    def _large_values(self) -> Iterator[Damage]:
        for query in (
            "SELECT id, request FROM calls WHERE typeof(request) = 'text'",
            "SELECT call, result FROM answers WHERE typeof(result) = 'text'",
            "SELECT call, full FROM answers WHERE typeof(full) = 'text'",
        ):
            for call, name in self._tolerant(query):
                try:
                    self._blobs.unpack(name)
                except (OSError, ValueError) as error:
                    says = "is missing" if isinstance(error, FileNotFoundError) else "was changed or cannot be read"
                    yield Damage(run=self._runs_of.get(call), call=call, says=f"the file of a large value {says}")

    def _seals(self, runs: Sequence[str]) -> Iterator[Damage]:
        """Submitted runs whose calls, files and answer are no longer the ones that were sealed."""
        if not self._has_digests():
            return
        rows = Rows(lambda: read_only(database(self._folder)), self._blobs, self._folder)
        try:
            for id in runs:
                run = rows.run(id)
                calls, damage = rows.calls(id)
                if run is not None and not damage:
                    yield from broken_seal(self._folder, run, calls)
        finally:
            rows.close()


def broken_seal(folder: Path, run: RunRecord, calls: Sequence[CallRecord]) -> Iterator[Damage]:
    """What is wrong with a submitted run whose calls, files and answer are no longer the ones that were sealed.

    Args:
        folder: The data folder, with the files that the run left.
        run: The run.
        calls: Its calls.
    """
    if run.seal is None or run.answer is None:
        return
    workspace = run_workspace(folder, run.id)
    mine = [call for call in calls if call.tool not in OWN_TOOLS]
    if not workspace.is_dir():
        yield Damage(run=run.id, call=None, says=NO_WORKSPACE)
    elif seal(run, mine, file_hashes(workspace), run.answer, run.fields) != run.seal:
        yield Damage(run=run.id, call=None, says=NOT_SEALED)
