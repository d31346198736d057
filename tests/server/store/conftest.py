"""Both stores: a test that asks for `place` runs on a SQLite file and on PostgreSQL."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from m3bench.server.store.contract import Store
from m3bench.server.store.factory import open_store
from m3bench.server.store.location import RecordLocation
from tests.postgres import Server, serving


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A PostgreSQL server of this session."""
    with serving() as server:
        yield server


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> RecordLocation:
    """Where a new record may be."""
    folder = tmp_path / "data"
    if request.param == "sqlite":
        return RecordLocation(folder)
    return RecordLocation(folder, request.getfixturevalue("postgres").new_database())


Open = Callable[[], Store]


@pytest.fixture
def opened(place: RecordLocation) -> Iterator[Open]:
    """Opens the store of the place, as often as asked; all are closed in the end."""
    with ExitStack() as stack:

        def open_once() -> Store:
            store = open_store(place)
            stack.callback(store.close)
            return store

        yield open_once
