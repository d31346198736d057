"""Every write, sync, move and lock fails once in turn: what a client saw is on record, and the server goes on."""

import errno
import os
import resource
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from m3bench.proxy.protocol.tool_calls import ToolAnswer
from m3bench.server.store import database
from m3bench.server.store.blobs import BLOB_BYTES
from m3bench.server.store.layout import DATABASE
from m3bench.server.store.records import RunRecord
from m3bench.server.store.sqlite import SqliteStore
from m3bench.tasks.errors import StoreError
from tests.server.store.clients import Client, assert_seen_is_recorded, opened, request, run_record
from tests.server.store.faults import CODES, ERRNOS, Plan, failing_files, faulty

RUN = "a" * 40

LARGE = "x" * (BLOB_BYTES + 1)


async def converse(client: Client) -> None:
    """Some calls one by one, some together, one with a large value."""
    await client.call(1)
    await client.call(2, LARGE)
    await client.call_together(range(3, 8))
    await client.call(8)


def steps_of_a_conversation(folder: Path) -> int:
    plan = Plan()
    store = opened(folder, factory=faulty(plan))
    before = plan.steps
    anyio.run(converse, Client(store, RUN))
    store.close()
    return plan.steps - before + 3


@pytest.mark.sample(3)
@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("says", sorted(CODES))
def test_any_statement_may_fail_once(says: str, moment: str, tmp_path: Path) -> None:
    for step in range(steps_of_a_conversation(tmp_path / "count")):
        folder, plan = tmp_path / str(step), Plan()
        store = opened(folder, factory=faulty(plan))
        client = Client(store, RUN)
        plan.fail(step, says, moment)  # type: ignore[arg-type]
        anyio.run(converse, client)
        store.close()
        assert_seen_is_recorded(folder, client)
        # A single fault is known to no more than the calls of one commit, and the last one finds the record well.
        assert len(client.seen) >= 3
        # What was refused was not forwarded, or its answer was kept back.
        assert len(client.seen) + len(client.refused) == 8


def test_what_a_call_is_told_names_the_cause_and_the_remedy(tmp_path: Path) -> None:
    said = {}
    for says in CODES:
        plan = Plan()
        store = opened(tmp_path / says.replace("/", ""), factory=faulty(plan))
        client = Client(store, RUN)
        plan.fail(0, says)
        anyio.run(client.call, 1)
        store.close()
        assert client.seen == {}
        said[CODES[says]] = client.refused[1]
    assert "disk is full: free some disk space" in said[sqlite3.SQLITE_FULL]
    assert "another program has locked the database: end or wait" in said[sqlite3.SQLITE_BUSY]
    assert "input/output error: look into the system's log" in said[sqlite3.SQLITE_IOERR]
    assert "do not allow writing: make" in said[sqlite3.SQLITE_READONLY]
    assert "m3bench store repair" in said[sqlite3.SQLITE_CORRUPT]
    assert "is gone: put" in said[sqlite3.SQLITE_CANTOPEN]
    assert "disk space" not in said[sqlite3.SQLITE_BUSY]


def test_nothing_is_forwarded_while_the_record_cannot_be_written(tmp_path: Path) -> None:
    plan = Plan()
    store = opened(tmp_path, factory=faulty(plan))
    client = Client(store, RUN)
    plan.fail(0, "database or disk is full")
    anyio.run(client.call, 1)
    assert "withheld" in client.refused[1]
    asked = list(client.server.asked)
    plan.fail(0, "database or disk is full")
    anyio.run(client.call, 2)
    assert "The call was not made" in client.refused[2]
    assert client.server.asked == asked
    anyio.run(client.call, 3)
    store.close()
    assert list(client.seen) == [3]
    assert_seen_is_recorded(tmp_path, client)


@pytest.mark.sample(2)
@pytest.mark.parametrize("code", ERRNOS, ids=errno.errorcode.get)
def test_any_operation_on_files_may_fail_once(code: int, tmp_path: Path) -> None:
    with failing_files(tmp_path / "count", -1, code) as made:
        assert conversation(tmp_path / "count") is not None
    assert {"open", "write", "fsync", "replace", "mkdir", "lock"} <= set(made)
    for number in range(len(made)):
        folder = tmp_path / str(number)
        with failing_files(folder, number, code):
            client = conversation(folder)
        if client is None:
            opened(folder).close()  # What failed half-way is no obstacle.
        else:
            assert_seen_is_recorded(folder, client)
            assert len(client.seen) >= 3


def conversation(folder: Path) -> Client | None:
    """A client that talked with a fresh store; None when it could not be opened."""
    try:
        store = opened(folder, sync="full")
    except StoreError:
        return None
    client = Client(store, RUN)
    anyio.run(converse, client)
    store.close()
    return client


def test_a_neighbours_failure_costs_only_its_own_row(tmp_path: Path) -> None:
    store = opened(tmp_path)

    async def main() -> list[int]:
        numbers = [await store.received(request(n), RUN, "echo/echo") for n in range(8)]
        lost: list[int] = []

        async def answer(number: int) -> None:
            # The fourth answer cannot be written: a time that no database takes.
            returned = 2**70 if number == numbers[3] else 1
            try:
                await store.answered(number, ToolAnswer(outcome="success", result=b"{}", returned_ns=returned))
            except StoreError:
                lost.append(numbers.index(number))

        with anyio.fail_after(20):
            async with anyio.create_task_group() as tasks:
                for number in numbers:
                    tasks.start_soon(answer, number)
        return lost

    assert anyio.run(main) == [3]
    outcomes = [call.outcome for call in store.calls(RUN)]
    store.close()
    assert outcomes == ["success"] * 3 + ["failed"] + ["success"] * 4


def test_an_answer_is_delivered_when_it_is_on_record_and_not_when_it_is_not(tmp_path: Path) -> None:
    plan = Plan()
    store = opened(tmp_path, factory=faulty(plan))
    client = Client(store, RUN)

    async def main() -> None:
        await client.call(1)
        await client.call(2)
        assert (set(client.seen), client.delivered) == ({1, 2}, 2)
        for step in range(3):
            plan.fail(step, "database or disk is full")
        await client.call(3)
        assert (set(client.seen), set(client.refused), client.delivered) == ({1, 2}, {3}, 2)
        plan.faults.clear()
        await client.call_together(range(4, 36))

    anyio.run(main)
    store.close()
    assert set(client.seen) == {1, 2, *range(4, 36)}
    assert_seen_is_recorded(tmp_path, client)


def test_what_the_client_was_told_is_put_right_when_it_can_be_written(tmp_path: Path) -> None:
    plan = Plan()
    store = opened(tmp_path, factory=faulty(plan))
    client = Client(store, RUN)

    async def main() -> None:
        await client.call(1)
        for step in range(1, 4):  # The call is written, its answer is not, neither at once nor alone.
            plan.fail(step, "database or disk is full")
        await client.call(2)
        await client.call(3)
        await client.call(4)

    anyio.run(main)
    assert 2 in client.refused
    found = {int(call.request_id): call for call in store.calls(RUN)}
    store.close()
    assert found[2].outcome == "failed"
    assert found[2].owner == "proxy"
    assert "could not be recorded" in str(found[2].error)


def test_departures_that_cannot_be_written_wait_and_never_raise(tmp_path: Path) -> None:
    plan = Plan()
    store = opened(tmp_path, factory=faulty(plan))
    number = anyio.run(store.received, request(), RUN, "echo/echo")
    store.catch_up()
    plan.fail(0, "database is locked")
    store.sent(number, 13)
    with pytest.raises(StoreError, match="locked"):
        store.catch_up()
    (call,) = store.calls(RUN)
    store.close()
    assert call.sent_ns == 13


def test_a_locked_database_is_waited_for_and_then_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "LOCK_SECONDS", 0.05)
    store = opened(tmp_path)
    client = Client(store, RUN)
    holder = sqlite3.connect(tmp_path / DATABASE, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    anyio.run(client.call_together, range(1, 5))
    assert all("locked the database" in said for said in client.refused.values())
    assert len(client.refused) == 4
    holder.execute("COMMIT")
    holder.close()
    anyio.run(client.call, 5)
    store.close()
    assert list(client.seen) == [5]
    assert_seen_is_recorded(tmp_path, client)


def test_a_folder_that_vanishes_is_noticed_and_used_again_when_it_is_back(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    store = opened(folder)
    client = Client(store, RUN)
    anyio.run(client.call, 1)
    folder.rename(tmp_path / "elsewhere")
    anyio.run(client.call, 2)
    assert "is gone" in client.refused[2]
    (tmp_path / "elsewhere").rename(folder)
    anyio.run(client.call, 3)
    store.close()
    assert list(client.seen) == [1, 3]
    assert_seen_is_recorded(folder, client)


def test_another_record_in_the_place_of_the_first_is_not_written(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    store = opened(folder)
    client = Client(store, RUN)
    folder.rename(tmp_path / "elsewhere")
    SqliteStore(folder).close()
    anyio.run(client.call, 1)
    anyio.run(client.call, 2)
    store.close()
    assert "is not the record that this server began to write" in client.refused[2]
    assert client.seen == {}


@pytest.mark.skipif(os.name == "nt", reason="no such limit there")
def test_a_file_that_may_not_grow_costs_calls_and_nothing_else(tmp_path: Path) -> None:
    store = opened(tmp_path)
    client = Client(store, RUN)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, hard))
    try:
        for first in range(1, 200, 20):
            anyio.run(client.call_together, range(first, first + 20), "y" * 8000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert client.refused
    anyio.run(client.call, 999)
    store.close()
    assert 999 in client.seen
    assert_seen_is_recorded(tmp_path, client)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of a megabyte and a half."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1536k", "tmpfs", str(place)]
    if os.name == "nt" or os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("only root can mount a small file system, and not everywhere")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_disk_that_fills_up_loses_no_answer_and_is_used_again_when_there_is_room(small_disk: Path) -> None:
    store = opened(small_disk / "data")
    client = Client(store, RUN)
    for first in range(0, 400, 20):
        anyio.run(client.call_together, range(first, first + 20), "z" * 6000)
    assert any("the disk is full" in said for said in client.refused.values()), set(client.refused.values())
    subprocess.run(["mount", "-o", "remount,size=16m", str(small_disk)], check=True)
    anyio.run(client.call, 999)
    store.close()
    assert 999 in client.seen
    assert_seen_is_recorded(small_disk / "data", client)


def test_a_read_only_disk_is_named(small_disk: Path) -> None:
    opened(small_disk / "data").close()
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with pytest.raises(StoreError, match=r"do not allow writing: make .* writable"):
        SqliteStore(small_disk / "data")


def test_the_newest_run_is_the_last_that_began_whatever_the_clock_says(tmp_path: Path) -> None:
    store = opened(tmp_path, "first")
    store.add_run(run_record("second", started="1999-01-01"))
    found: list[RunRecord] = store.runs()
    store.close()
    assert [run.id for run in found] == ["second", "first"]


def test_a_store_that_closed_says_so(tmp_path: Path) -> None:
    store = opened(tmp_path)
    store.close()
    with pytest.raises(StoreError, match="closed"):
        anyio.run(store.received, request(), RUN, "echo/echo")
    store.close()
    shutil.rmtree(tmp_path)
