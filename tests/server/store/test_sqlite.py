"""What a store in a file does with its files: large values, locks, workspaces. `test_conformance` has the rest."""

import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from m3bench.proxy.protocol.tool_calls import CUT_OFF, ToolAnswer
from m3bench.server.store.blobs import BLOB_BYTES
from m3bench.server.store.sqlite import SqliteStore
from m3bench.server.store.takeover import has_leftovers
from m3bench.server.store.writer import SLOW_SECONDS
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


def watched(commits: list[int], seconds: float = 0.0) -> type[sqlite3.Connection]:
    """Connections that note which thread commits, and take a while for it."""

    class Watched(sqlite3.Connection):
        def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
            if sql == "COMMIT":
                commits.append(threading.get_ident())
                threading.Event().wait(seconds)
            return super().execute(sql, *values)

    return Watched


async def answer(store: SqliteStore, *numbers: int) -> None:
    """Have calls answered at the same time."""
    calls = [await store.received(request(number), None, "echo/echo") for number in numbers]
    async with anyio.create_task_group() as tasks:
        for call in calls:
            tasks.start_soon(store.answered, call, ToolAnswer(outcome="success", result=b"{}"))


def test_a_commit_that_waits_for_nobody_is_made_where_the_answer_arrives(tmp_path: Path) -> None:
    commits: list[int] = []
    with closing(SqliteStore(tmp_path, factory=watched(commits))) as store:
        store.add_run(run_record())
        commits.clear()
        for number in range(3):
            anyio.run(answer, store, number)
        assert commits == [threading.get_ident()] * 3
        with closing(sqlite3.connect(tmp_path / "m3bench.sqlite")) as other:
            assert other.execute("SELECT count(*) FROM answers").fetchone() == (3,)


def test_answers_that_come_together_share_a_commit(tmp_path: Path) -> None:
    commits: list[int] = []
    with closing(SqliteStore(tmp_path, factory=watched(commits))) as store:
        store.add_run(run_record())
        commits.clear()
        anyio.run(answer, store, *range(32))
        assert len(commits) <= 3
        with closing(sqlite3.connect(tmp_path / "m3bench.sqlite")) as other:
            assert other.execute("SELECT count(*) FROM answers").fetchone() == (32,)


@pytest.mark.parametrize("sync", ["normal", "full"])
def test_a_slow_disk_holds_nobody_up_twice(sync: str, tmp_path: Path) -> None:
    commits: list[int] = []
    with closing(SqliteStore(tmp_path, sync=sync, factory=watched(commits, SLOW_SECONDS * 1.1))) as store:
        store.add_run(run_record())
        commits.clear()
        for number in range(3):
            anyio.run(answer, store, number)
        assert commits.count(threading.get_ident()) == (sync == "normal")
        assert len(commits) == 3


def test_an_answer_waits_for_a_lock_without_holding_others_up(tmp_path: Path) -> None:
    async def both(store: SqliteStore, holder: sqlite3.Connection) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(answer, store, 1)
            # Others are at work meanwhile, or nobody would ever let go of the lock.
            await anyio.to_thread.run_sync(holder.execute, "COMMIT")

    with (
        closing(SqliteStore(tmp_path)) as store,
        closing(sqlite3.connect(tmp_path / "m3bench.sqlite", isolation_level=None, check_same_thread=False)) as holder,
    ):
        store.add_run(run_record())
        holder.execute("BEGIN IMMEDIATE")
        anyio.run(both, store, holder)
        assert holder.execute("SELECT count(*) FROM answers").fetchone() == (1,)
