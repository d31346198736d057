"""The database is killed, cut off, read-only, full or crowded: what a client saw is on record, the server goes on."""

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from m3bench.server.store.factory import look_over, open_store
from m3bench.server.store.location import RecordLocation
from m3bench.server.store.postgres import leases
from m3bench.server.store.postgres.migrations import VERSION
from m3bench.server.store.postgres.store import PostgresStore
from m3bench.tasks.errors import StoreError
from tests.postgres import Server
from tests.server.store.clients import SEAT, Client, assert_recorded, run_record

pytestmark = pytest.mark.postgres

RUN = "a" * 40

SCHEDULES = int(os.environ.get("M3BENCH_FAULT_SCHEDULES", "3"))


@pytest.fixture
def place(postgres: Server, tmp_path: Path) -> RecordLocation:
    return RecordLocation(tmp_path / "data", postgres.new_database())


@contextmanager
def playing(place: RecordLocation, run: str = RUN, owner: str | None = None) -> Iterator[tuple[PostgresStore, Client]]:
    """A store with a run under way, and the client of it."""
    store = PostgresStore(place, owner=owner)
    try:
        store.add_seat(SEAT, "full", "2026-01-01")
        store.add_run(run_record(run))
        yield store, Client(store, run)
    finally:
        store.close()


def cut(postgres: Server) -> None:
    """End every connection of ours, as an operator or a failing network does."""
    postgres.execute("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'm3bench'")


def set_read_only(postgres: Server, place: RecordLocation, value: str) -> None:
    name = str(place.url).split("/")[3].split("?")[0]
    postgres.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = {value}")
    cut(postgres)


def test_connections_that_are_cut_cost_no_call(postgres: Server, place: RecordLocation) -> None:
    with playing(place) as (store, client):

        async def main() -> None:
            for number in range(5):
                await client.call(number)
                await anyio.to_thread.run_sync(cut, postgres)
            await client.call_together(range(10, 40))

        anyio.run(main)
        assert len(store.calls(RUN)) == 35
    assert client.refused == {}
    assert_recorded(place, client)


def test_a_database_that_is_killed_costs_calls_until_it_is_back(postgres: Server, place: RecordLocation) -> None:
    with playing(place) as (store, client):
        anyio.run(client.call_together, range(20))
        postgres.kill()
        try:
            anyio.run(client.call, 100)
            anyio.run(client.call_together, range(101, 110))
            with pytest.raises(
                StoreError, match=r"could not be read, because the database does not answer .*: check that"
            ):
                store.runs()
        finally:
            postgres.start()
        anyio.run(client.call_together, range(200, 220))
        assert set(client.seen) == {*range(20), *range(200, 220)}
        assert "withheld" in client.refused[100]
        assert all("because the database does not answer" in said for said in client.refused.values())
        # It was not forwarded: nothing can be put on record.
        assert "The call was not made" in client.refused[109]
    assert_recorded(place, client)
    assert look_over(place).damage == ()


def test_a_database_that_is_killed_in_the_middle_of_calls_loses_no_answer(
    postgres: Server, place: RecordLocation
) -> None:
    with playing(place) as (_, client):

        async def main() -> None:
            with anyio.fail_after(60):
                await play()

        async def play() -> None:
            async with anyio.create_task_group() as tasks:

                async def keep_calling(first: int) -> None:
                    for number in range(first, first + 60):
                        await client.call(number)

                for seat in range(4):
                    tasks.start_soon(keep_calling, seat * 100)
                while len(client.seen) < 40:
                    await anyio.lowlevel.checkpoint()
                await anyio.to_thread.run_sync(postgres.kill)
                await anyio.to_thread.run_sync(postgres.start)

        anyio.run(main)
        anyio.run(client.call, 999)
        assert 999 in client.seen
        assert len(client.seen) + len(client.refused) == 241
    assert_recorded(place, client)


def test_a_database_that_takes_no_writes_is_named_and_used_again(postgres: Server, place: RecordLocation) -> None:
    with playing(place) as (_, client):
        set_read_only(postgres, place, "on")
        anyio.run(client.call, 1)
        set_read_only(postgres, place, "off")
        anyio.run(client.call, 2)
        assert "because the database accepts no writes at present: name its primary" in client.refused[1]
        assert list(client.seen) == [2]
    assert_recorded(place, client)


def test_a_crowded_database_is_named_and_used_again(postgres: Server, tmp_path: Path) -> None:
    url = postgres.new_database()
    name = url.split("/")[3].split("?")[0]
    postgres.execute(f"CREATE ROLE guest_{name} LOGIN")
    postgres.execute(f"GRANT CREATE ON DATABASE {name} TO guest_{name}")
    place = RecordLocation(tmp_path / "data", url.replace("user=postgres", f"user=guest_{name}"))
    with playing(place) as (_, client):
        postgres.execute(f"ALTER ROLE guest_{name} CONNECTION LIMIT 0")
        cut(postgres)
        anyio.run(client.call, 1)
        postgres.execute(f"ALTER ROLE guest_{name} CONNECTION LIMIT -1")
        anyio.run(client.call, 2)
        assert "because the database has no connection left: raise its max_connections" in client.refused[1]
        assert list(client.seen) == [2]
    assert_recorded(place, client)


@pytest.fixture
def small_disk(postgres: Server, tmp_path: Path) -> Iterator[Path]:
    """A file system of 14 MB that the database may use; an empty database takes half of it."""
    disk = postgres.folder / f"disk-{tmp_path.name}"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=14m", "tmpfs", str(disk)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("only root can mount a small file system, and not everywhere")
    try:
        subprocess.run(["chown", "nobody", str(disk)], check=True)
        yield disk
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def test_a_disk_that_fills_up_loses_no_answer_and_is_used_again_when_there_is_room(
    postgres: Server, small_disk: Path, tmp_path: Path
) -> None:
    name = "small"
    postgres.execute(f"CREATE TABLESPACE {name} LOCATION '{small_disk}'")
    postgres.execute(f"CREATE DATABASE {name} TABLESPACE {name}")
    place = RecordLocation(tmp_path / "data", postgres.url(name))
    noise = random.Random(0)
    with playing(place) as (_, client):
        for first in range(0, 2000, 20):
            text = "".join(chr(noise.randrange(0x4E00, 0x9FFF)) for _ in range(4000))
            anyio.run(client.call_together, range(first, first + 20), text)
            if client.refused:
                break
        assert any("the disk of the database is full: free some space" in said for said in client.refused.values())
        subprocess.run(["mount", "-o", "remount,size=64m", str(small_disk)], check=True)
        anyio.run(client.call, 9999)
        assert 9999 in client.seen
    assert_recorded(place, client)
    postgres.execute(f"DROP DATABASE {name}")
    postgres.execute(f"DROP TABLESPACE {name}")


def test_a_server_that_was_taken_for_dead_writes_nothing_any_more(postgres: Server, place: RecordLocation) -> None:
    with playing(place) as (_, client):
        anyio.run(client.call, 1)
        postgres.execute("DELETE FROM m3bench.leases", place.url)
        other = open_store(place)
        try:
            assert [run.state for run in other.runs()] == ["abandoned"]
            anyio.run(client.call, 2)
            assert "others took it for dead and gave up its runs: start it again" in client.refused[2]
            assert [int(call.request_id) for call in other.calls(RUN)] == [1]
        finally:
            other.close()


HOLDING = """
import os, sys
from pathlib import Path
from m3bench.server.store.location import RecordLocation
from tests.server.store.postgres.test_database_faults import playing
with playing(RecordLocation(Path(sys.argv[1]), sys.argv[2]), owner="elsewhere") as (store, client):
    store.catch_up()
    print("ready", flush=True)
    sys.stdin.read()
"""


def test_a_process_on_another_machine_is_dead_when_its_lock_is_free(
    place: RecordLocation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "QUIET_SECONDS", 0.0)
    command = [sys.executable, "-c", HOLDING, str(tmp_path / "other machine"), str(place.url)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        store = open_store(place)
        try:
            assert [run.state for run in store.runs()] == ["working"], "it lives"
            process.kill()
            process.wait()
            looks = 200
            while store.runs()[0].state == "working":
                looks -= 1
                assert looks, "the death of a process was not noticed"
                store.mend()
            assert store.runs()[0].state == "abandoned"
        finally:
            store.close()


def test_a_restart_of_the_database_makes_nobody_dead(
    postgres: Server, place: RecordLocation, monkeypatch: pytest.MonkeyPatch
) -> None:
    with playing(place) as (store, client):
        store.catch_up()
        postgres.execute("UPDATE m3bench.leases SET beat = beat - interval '1 hour'", place.url)
        postgres.kill()
        postgres.start()
        other = open_store(place)
        other.close()
        assert store.runs()[0].state == "working"
        anyio.run(client.call, 1)
        assert list(client.seen) == [1]


def test_a_lease_that_is_not_renewed_runs_out_whatever_its_lock_says(
    place: RecordLocation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "LEASE_SECONDS", -1.0)
    with playing(place) as (_, client):
        other = open_store(place)
        try:
            assert other.runs()[0].state == "abandoned"
        finally:
            other.close()
        anyio.run(client.call, 1)
        assert "others took it for dead" in client.refused[1]


def test_another_record_in_the_place_of_the_first_is_not_written(postgres: Server, place: RecordLocation) -> None:
    with playing(place) as (_, client):
        postgres.execute("DROP SCHEMA m3bench CASCADE", place.url)
        anyio.run(client.call, 1)
        assert "the tables of the record are gone: restore them" in client.refused[1]
        open_store(place).close()
        anyio.run(client.call, 2)
        assert "is not the record that this server began to write" in client.refused[2]
        assert client.seen == {}


def test_a_record_of_a_newer_version_is_refused_and_not_changed(postgres: Server, place: RecordLocation) -> None:
    open_store(place).close()
    postgres.execute("UPDATE m3bench.facts SET value = '99' WHERE name = 'version'", place.url)
    for refuse in (open_store, look_over):
        with pytest.raises(StoreError, match=f"newer version of m3bench .* up to {VERSION}"):
            refuse(place)
    assert postgres.execute("SELECT value FROM m3bench.facts WHERE name = 'version'", place.url) == "99"


def test_what_was_changed_behind_our_back_is_found(postgres: Server, place: RecordLocation) -> None:
    with playing(place) as (store, client):
        anyio.run(client.call, 1)
        anyio.run(client.call, 2, "large " * 5000)
        anyio.run(client.call, 3, "larger " * 5000)
        first, second, third = (call.id for call in store.calls(RUN))
        store.change_run(RUN, state="void")
    postgres.execute(f"UPDATE m3bench.calls SET tool = 'x' WHERE id = {first}", place.url)
    postgres.execute(
        f"UPDATE m3bench.blobs SET value = 'x' FROM m3bench.blob_uses WHERE blob = name AND call = {second}", place.url
    )
    postgres.execute(
        f"DELETE FROM m3bench.blobs USING m3bench.blob_uses WHERE blob = name AND call = {third}", place.url
    )
    postgres.execute(
        "INSERT INTO m3bench.answers VALUES (1, 'success', 'agent', NULL, NULL, NULL, 0, 0, '')", place.url
    )
    found = {one.call: one.says for one in look_over(place).damage}
    assert found == {
        first: "it is not what was written",
        second: "its large value was changed or damaged",
        third: "its large value is missing",
        1: "its answer is on record, and the call itself is missing",
    }
    postgres.execute("UPDATE m3bench.runs SET task = 'x'", place.url)
    store2 = open_store(place)
    try:
        assert [one.run for one in store2.damaged_runs()] == [RUN]
        assert store2.runs() == []
    finally:
        store2.close()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("user=nobody-here", "refuses this account"),
        ("user=postgres&port=1", "does not answer"),
    ],
)
def test_a_database_that_cannot_be_had_is_told_without_the_password(
    place: RecordLocation, change: str, says: str
) -> None:
    url = str(place.url).replace("user=postgres", f"{change}&password=secret")
    with pytest.raises(StoreError, match=says) as told:
        open_store(RecordLocation(place.folder, url))
    assert "secret" not in str(told.value)


def test_a_database_that_is_not_there_is_told_with_the_remedy(postgres: Server, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"there is no such database .*createdb"):
        open_store(RecordLocation(tmp_path, postgres.url("nowhere")))


@pytest.mark.parametrize("seed", range(SCHEDULES))
def test_random_schedules_lose_nothing(postgres: Server, place: RecordLocation, seed: int) -> None:
    rng = random.Random(seed)
    clients: list[Client] = []
    number = 0
    for round in range(2):
        with playing(place, f"{round:040x}") as (_, client):
            clients.append(client)
            for _ in range(8):
                count = rng.randint(1, 9)
                text = rng.choice(["short", "long " * 5000])
                fault = rng.choice(["none", "none", "cut", "kill", "read-only"])
                anyio.run(_round, postgres, place, client, range(number, number + count), text, fault)
                number += count
        assert_recorded(place, *clients)
    assert look_over(place).damage == ()


async def _round(
    postgres: Server, place: RecordLocation, client: Client, numbers: range, text: str, fault: str
) -> None:
    """Some calls at once while something happens to the database."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(client.call_together, numbers, text)
        if fault == "cut":
            await anyio.to_thread.run_sync(cut, postgres)
        elif fault == "kill":
            await anyio.to_thread.run_sync(postgres.kill)
            await anyio.to_thread.run_sync(postgres.start)
        elif fault == "read-only":
            await anyio.to_thread.run_sync(set_read_only, postgres, place, "on")
            await anyio.to_thread.run_sync(set_read_only, postgres, place, "off")
