"""What a store in a file does with its files: large values, locks, workspaces. `test_conformance` has the rest."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import anyio
import pytest

from m3bench.proxy.protocol.tool_calls import CUT_OFF, ToolAnswer
from m3bench.server.store.blobs import BLOB_BYTES
from m3bench.server.store.sqlite import SqliteStore
from m3bench.server.store.takeover import has_leftovers
from m3bench.tasks.errors import StoreError
from tests.server.store.clients import request, run_record

Open = Callable[[], SqliteStore]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    """Opens the folder's store, as often as asked; all are closed in the end."""
    with ExitStack() as stack:

        def open_store() -> SqliteStore:
            store = SqliteStore(tmp_path)
            stack.callback(store.close)
            return store

        yield open_store


def received(store: SqliteStore, run: str = "run") -> int:
    return anyio.run(store.received, request(), run, "math/add")


async def answered(store: SqliteStore, number: int, answer: ToolAnswer) -> None:
    with anyio.fail_after(60):
        await store.answered(number, answer)


def test_large_values_are_kept_once_beside_the_database(opened: Open, tmp_path: Path) -> None:
    store = opened()
    large = b"x" * (BLOB_BYTES + 1)
    for number in (received(store), received(store)):
        anyio.run(answered, store, number, ToolAnswer(outcome="success", result=large))
    assert [call.result for call in store.calls("run")] == [large, large]
    assert len(list((tmp_path / "blobs").iterdir())) == 1
    store.add_run(run_record("run"))
    store.delete_run("run")
    assert store.runs() == []
    assert list((tmp_path / "blobs").iterdir()) == []


def test_a_process_that_dies_leaves_its_calls_marked_and_its_run_abandoned(opened: Open, tmp_path: Path) -> None:
    code = """
import os, sys
from pathlib import Path
from tests.server.store.test_sqlite import received, run_record
from m3bench.server.store.sqlite import SqliteStore
store = SqliteStore(Path(sys.argv[1]))
store.add_seat("seat", "full", "2026-01-01")
store.add_run(run_record())
received(store, "a" * 40)
store.catch_up()
os._exit(1)
"""
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False, timeout=30)
    store = opened()
    (call,) = store.calls("a" * 40)
    assert (call.outcome, call.owner, call.error) == ("failed", "proxy", CUT_OFF)
    assert [run.state for run in store.runs()] == ["abandoned"]
    assert [path.stem for path in (tmp_path / "owners").iterdir()] == [store.owner.id]


def test_a_folder_that_cannot_be_used_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=str(tmp_path)):
        SqliteStore(tmp_path / "file")


def test_tidying_up_twice_leaves_the_workspaces_of_the_living(opened: Open, tmp_path: Path) -> None:
    test_a_process_that_dies_leaves_its_calls_marked_and_its_run_abandoned(opened, tmp_path)
    living = opened()
    workspace = tmp_path / "workspaces" / living.owner.id / "run-1"
    workspace.mkdir(parents=True)
    opened()
    assert workspace.exists()


def test_workspaces_of_a_dead_process_that_opened_no_seat_go_too(opened: Open, tmp_path: Path) -> None:
    living = opened()
    for owner in (living.owner.id, "0123456789abcdef"):
        (tmp_path / "workspaces" / owner / "run-1").mkdir(parents=True)
    assert has_leftovers(tmp_path)
    living.mend()
    assert [path.name for path in (tmp_path / "workspaces").iterdir()] == [living.owner.id]
    assert not has_leftovers(tmp_path)


def test_the_lock_of_a_process_that_died_before_it_had_a_seat_goes(opened: Open, tmp_path: Path) -> None:
    living = opened()
    (tmp_path / "owners" / "0123456789abcdef.lock").touch()
    living.mend()
    assert [path.stem for path in (tmp_path / "owners").iterdir()] == [living.owner.id]
