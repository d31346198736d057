"""Every run on record: those of the data folder, and those of the result sets in its index.

The index is a file of the data folder with a folder on each line: result sets that `run`, `study` and imports have
written. Nothing is copied, and an entry whose folder is gone is skipped. `Records` finds runs by the names that people
use, in all of these places at once.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TypeVar

from m3bench.server.lab.results.resultset import DATA, HEADER
from m3bench.server.store.contract import Store
from m3bench.server.store.factory import open_reader, open_store
from m3bench.server.store.layout import PRIVATE_FOLDER, database, private_file
from m3bench.server.store.location import RecordLocation
from m3bench.server.store.reader import Reader
from m3bench.server.store.records import RunRecord
from m3bench.tasks.atomic_files import append_line
from m3bench.tasks.errors import StoreError, UserError

T = TypeVar("T")

INDEX = "result-sets.txt"
"""The file of a data folder with the folders of result sets."""

LATEST = "latest"
"""What people call the newest run."""

_NEWEST = 50
"""Runs of a record among which the newest is looked for: those under way come first."""


def register(folder: Path, data: Path) -> None:
    """Put a result set into the index of a data folder, unless it is there already.

    Raises:
        OSError: The index cannot be written.
    """
    place = str(folder.resolve())
    if place in _entries(data) or "\n" in place:
        return
    data.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
    private_file(data / INDEX)
    append_line(data / INDEX, place)


def registered(data: Path) -> list[Path]:
    """The result sets in the index of a data folder that are still there, in the order they were begun."""
    folders = map(Path, dict.fromkeys(_entries(data)))
    return [folder for folder in folders if (folder / HEADER).is_file() and database(folder / DATA).is_file()]


def _entries(data: Path) -> list[str]:
    try:
        return (data / INDEX).read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return []


class Records:
    """Some records of runs, each opened when it is needed.

    Args:
        places: Where they are. The first is the person's own, or the one that was named; it has to be readable.
    """

    def __init__(self, places: Sequence[RecordLocation]) -> None:
        self._places = places
        self._open: dict[RecordLocation, Store] = {}
        self._held = ExitStack()
        self.unreadable: dict[RecordLocation, StoreError] = {}
        """Result sets that are left out, each with the reason."""

    def __enter__(self) -> "Records":
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def __str__(self) -> str:
        return str(self._places[0])

    @property
    def begun(self) -> bool:
        """Whether there may be a run in any of them."""
        return any(place.begun for place in self._places)

    def stores(self) -> Iterator[Store]:
        """The stores of all records that can be read."""
        for place in self._places:
            try:
                store = self._store(place)
            except StoreError as error:
                self._leave_out(place, error)
            else:
                yield store

    def runs(self) -> list[tuple[Store, RunRecord]]:
        """Every run with its store, newest first; one that is in several records comes once."""
        found: dict[str, tuple[Store, RunRecord]] = {}
        for store in self.stores():
            for run in store.runs():
                found.setdefault(run.id, (store, run))
        if len(self._places) == 1:
            return list(found.values())
        return sorted(found.values(), key=lambda pair: pair[1].started, reverse=True)

    def find(self, name: str, *, submitted: bool = False) -> tuple[Store, RunRecord]:
        """The run a person means, with its store.

        Args:
            name: A handle, its beginning, or `latest`.
            submitted: Whether `latest` means the newest run that was submitted.

        Raises:
            UserError: There is none, or more than one.
        """
        store = self._store(self._place_of(name, submitted=submitted))
        if name == LATEST:
            run = next((run for run in store.runs() if not submitted or run.answer is not None), None)
        else:
            run = store.run(name)
        if run is not None:
            return store, run
        if name == LATEST:
            which = " that was submitted" if submitted else ""
            raise UserError(
                f"There is no run{which} in {store.place} yet: start a task in a client (`m3bench install` puts "
                "m3bench into one), or name the place of other runs with --data or --store."
            )
        if name and any(run.id.startswith(name) for run in store.runs()):
            raise UserError(f"There is more than one run that begins with {name!r}: give more of its handle.")
        raise UserError(f"There is no run {name!r}: `m3bench runs list` shows them.")

    def _place_of(self, name: str, *, submitted: bool) -> RecordLocation:
        """The record to look for a run in: the first one when there is none with it."""
        if len(self._places) == 1:
            return self._places[0]
        if name == LATEST:
            newest = {place: self._read(place, lambda reader: _newest(reader, submitted)) for place in self._places}
            return max(self._places, key=lambda place: newest[place] or "")
        holders: dict[str, RecordLocation] = {}
        for place in self._places:
            for handle in self._read(place, lambda reader: reader.handles(name)) or ():
                holders.setdefault(handle, place)
        if len(set(holders.values())) > 1:
            raise UserError(f"There is more than one run that begins with {name!r}: give more of its handle.")
        return next(iter(holders.values()), self._places[0])

    def _read(self, place: RecordLocation, ask: Callable[[Reader], T]) -> T | None:
        """What a record says; None when it cannot be read."""
        try:
            with closing(open_reader(place)) as reader:
                return ask(reader)
        except StoreError:
            # A record of an older version can be read once its store has been opened.
            try:
                self._store(place)
                with closing(open_reader(place)) as reader:
                    return ask(reader)
            except StoreError as error:
                self._leave_out(place, error)
                return None

    def _leave_out(self, place: RecordLocation, error: StoreError) -> None:
        if place == self._places[0]:
            raise error
        self.unreadable.setdefault(place, error)

    def _store(self, place: RecordLocation) -> Store:
        if place not in self._open:
            self._open[place] = open_store(place)
            self._held.callback(self._open[place].close)
        return self._open[place]


def _newest(reader: Reader, submitted: bool) -> str:
    """When the newest run of a record was started."""
    rows = reader.submitted_runs() if submitted else reader.newest_runs(_NEWEST)
    return max((row.started for row in rows), default="")
