"""What every store promises, on each of them: what was answered is on record, whatever dies."""

import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from m3bench.proxy.protocol.tool_calls import CUT_OFF, ToolAnswer
from m3bench.server.store.blobs import BLOB_BYTES
from m3bench.server.store.contract import Store
from m3bench.server.store.factory import look_over, open_reader, open_store
from m3bench.server.store.layout import database
from m3bench.server.store.location import RecordLocation
from m3bench.server.store.modes import check_mode, claim_mode
from m3bench.server.store.records import Resumption
from m3bench.tasks.errors import RunError, StoreError, UserError
from tests.server.store.clients import SEAT, Client, assert_recorded, request, run_record

Open = Callable[[], Store]

RUN = "a" * 40


def received(store: Store, run: str = "run") -> int:
    return anyio.run(store.received, request(), run, "math/add")


async def answered(store: Store, number: int, answer: ToolAnswer) -> None:
    with anyio.fail_after(60):
        await store.answered(number, answer)


def begin(store: Store, run: str = RUN) -> Client:
    """A run under way, and its client."""
    store.add_seat(SEAT, "full", "2026-01-01")
    store.add_run(run_record(run))
    return Client(store, run)


def test_a_call_comes_back_byte_for_byte(opened: Open) -> None:
    store = opened()
    number = received(store)
    answer = ToolAnswer(outcome="success", result=b'{"content": []}', forwarded_ns=11, returned_ns=12)
    anyio.run(answered, store, number, answer)
    store.sent(number, 13)
    (call,) = store.calls("run")
    assert call.request == request().raw
    assert call.result == answer.result
    assert (call.received_ns, call.forwarded_ns, call.returned_ns, call.sent_ns) == (10, 11, 12, 13)
    assert (call.tool, call.client, call.revision, call.outcome, call.owner) == (
        "math/add", "tests 1", "2025-11-25", "success", "agent",
    )  # fmt: skip
    assert store.client("run") == "tests 1"


@pytest.mark.parametrize("raw", [b"", b"\0blob:looks like a reference", b"\xff\xfe no text", b"x" * (BLOB_BYTES + 1)])
def test_any_bytes_come_back(opened: Open, raw: bytes) -> None:
    store = opened()
    number = anyio.run(store.received, request(raw=raw), "run", "math/add")
    anyio.run(answered, store, number, ToolAnswer(outcome="failed", result=raw, full=raw, error=(-1, "e")))
    (call,) = store.calls("run")
    assert (call.request, call.result or b"", call.full or b"", call.error) == (raw, raw, raw, (-1, "e"))


def test_a_large_value_is_kept_as_long_as_a_call_refers_to_it(opened: Open) -> None:
    store = opened()
    large = b"x" * (BLOB_BYTES + 1)
    for run in ("one", "two"):
        store.add_run(run_record(run))
        anyio.run(answered, store, received(store, run), ToolAnswer(outcome="success", result=large))
    store.delete_run("one")
    assert [run.id for run in store.runs()] == ["two"]
    assert [call.result for call in store.calls("two")] == [large]
    store.delete_run("two")
    assert store.runs() == []
    assert store.calls("two") == []


def test_answers_of_one_turn_share_a_commit_and_all_survive(opened: Open) -> None:
    store = opened()
    numbers = [received(store) for _ in range(32)]

    async def main() -> None:
        with anyio.fail_after(60):
            async with anyio.create_task_group() as tasks:
                for number in numbers:
                    tasks.start_soon(store.answered, number, ToolAnswer(outcome="success", result=b"{}"))

    anyio.run(main)
    # A second connection sees only what is committed.
    assert all(call.outcome == "success" for call in opened().calls("run"))


def test_a_run_and_its_changes_come_back(opened: Open) -> None:
    store = opened()
    begun = run_record(RUN, manifest={"profile": "full", "say": "\0 “ü”"})
    store.add_run(begun)
    assert opened().run(RUN) == begun
    store.change_run(RUN, state="scored", answer="4 “ü”", fields={"sum": 4}, seal="2:x", scorecard={"average": 1.0})
    after = replace(
        begun, state="scored", answer="4 “ü”", fields={"sum": 4}, seal="2:x", scorecard={"average": 1.0}
    )  # fmt: skip
    assert opened().runs(SEAT) == [after]
    assert store.states() == {"scored": 1}
    assert store.damaged_runs() == []


def test_a_text_that_a_database_cannot_take_costs_no_run(opened: Open) -> None:
    store = opened()
    store.add_run(run_record(RUN))
    store.change_run(RUN, state="submitted", answer="zero \0 character")
    found = store.run(RUN)
    assert found is not None
    assert str(found.answer).startswith("zero ")
    assert str(found.answer).endswith(" character")


def test_the_newest_run_is_the_last_that_began_whatever_the_clock_says(opened: Open) -> None:
    store = opened()
    store.add_run(run_record("first"))
    store.add_run(run_record("second", started="1999-01-01"))
    assert [run.id for run in store.runs()] == ["second", "first"]


def test_a_run_is_found_by_the_beginning_of_its_handle_when_there_is_one(opened: Open) -> None:
    store = opened()
    for id in ("aaa1", "aaa2", "b%_1"):
        store.add_run(run_record(id))
    assert store.run("aaa") is None
    found = store.run("aaa2")
    assert found is not None
    assert found.id == "aaa2"
    assert store.run("b%_") is not None
    assert store.run("%") is None


def test_a_neighbours_failure_costs_only_its_own_row(opened: Open) -> None:
    store = opened()
    begin(store)

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
    assert [call.outcome for call in store.calls(RUN)] == ["success"] * 3 + ["failed"] + ["success"] * 4


def test_a_store_that_closed_says_so(place: RecordLocation) -> None:
    store = open_store(place)
    store.close()
    with pytest.raises(StoreError, match="closed"):
        anyio.run(store.received, request(), RUN, "echo/echo")
    store.close()


def test_practice_and_ranked_runs_never_share_a_record(place: RecordLocation) -> None:
    check_mode(place, "ranked")
    claim_mode(place, "practice")
    claim_mode(place, "practice")
    with pytest.raises(UserError, match="holds practice runs"):
        claim_mode(place, "ranked")
    with pytest.raises(UserError, match="name another"):
        check_mode(place, "ranked")


# Processes that die

DYING = """
import os, sys
from pathlib import Path
from m3bench.server.store.factory import open_store
from m3bench.server.store.location import RecordLocation
from m3bench.server.store.records import Resumption
from tests.server.store.clients import run_record
from tests.server.store.test_conformance import received
store = open_store(RecordLocation(Path(sys.argv[1]), sys.argv[2] or None), owner="dying")
for seat, lasting in (("seat", False), ("handle", True)):
    store.add_seat(seat, "full", "2026-01-01")
    how = Resumption(workspace="workspaces/dying/run-1", max_calls=9, seconds=1e9)
    store.add_run(run_record(seat * 8, seat=seat), how if lasting else None)
received(store, "seat" * 8)
store.catch_up()
os._exit(1)
"""


def let_one_die(place: RecordLocation) -> None:
    """Have a process begin two runs, one on a seat that lasts, and die."""
    command = [sys.executable, "-c", DYING, str(place.folder), place.url or ""]
    done = subprocess.run(command, check=False, timeout=60, capture_output=True, text=True)
    assert done.returncode == 1, done.stderr


def test_a_process_that_dies_leaves_its_calls_marked_and_its_run_abandoned(place: RecordLocation, opened: Open) -> None:
    let_one_die(place)
    store = opened()
    (call,) = store.calls("seat" * 8)
    assert (call.outcome, call.owner, call.error) == ("failed", "proxy", CUT_OFF)
    assert {run.seat: run.state for run in store.runs()} == {"seat": "abandoned", "handle": "working"}
    assert not look_over(place, beside=False).damage


def test_the_run_of_a_dead_process_is_taken_over_by_one_only(place: RecordLocation, opened: Open) -> None:
    let_one_die(place)
    first, second = opened(), opened()
    found = first.take_over("handle")
    assert found is not None
    record, resumption = found
    assert (record.id, record.state) == ("handle" * 8, "working")
    assert resumption == Resumption(workspace="workspaces/dying/run-1", max_calls=9, seconds=1e9)
    with pytest.raises(RunError, match="another m3bench server"):
        second.take_over("handle")
    assert second.take_over("nobody") is None
    first.lose(record.id, "2026-01-02", "its files are gone")
    assert second.lost(record.id) == "its files are gone"
    assert second.take_over("handle") is None


def test_a_living_process_keeps_its_calls_and_runs(opened: Open) -> None:
    first = opened()
    begin(first)
    received(first, RUN)
    first.catch_up()
    second = opened()
    assert second.calls(RUN)[0].outcome is None
    assert second.runs()[0].state == "working"
    first.close()
    second.mend()
    assert second.runs()[0].state == "abandoned"


OPENING = """
import sys
from pathlib import Path
from m3bench.server.store.factory import open_store
from m3bench.server.store.location import RecordLocation
print("ready", flush=True)
sys.stdin.readline()
open_store(RecordLocation(Path(sys.argv[1]), sys.argv[2] or None)).close()
"""


def test_several_processes_may_be_the_first(place: RecordLocation) -> None:
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", OPENING, str(place.folder), place.url or ""]
    processes = [subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) for _ in range(6)]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    with ThreadPoolExecutor(len(processes)) as pool:
        list(pool.map(lambda process: process.communicate("\n"), processes))
    assert [process.returncode for process in processes] == [0] * len(processes)


CALLING = """
import sys, anyio
from pathlib import Path
from m3bench.server.store.factory import open_store
from m3bench.server.store.location import RecordLocation
from tests.server.store.test_conformance import begin
client = begin(open_store(RecordLocation(Path(sys.argv[1]), sys.argv[2] or None), owner="calling"), sys.argv[3])
async def call(number):
    await client.call(number, "x" * (20000 if number % 7 == 0 else 5))
    print(number, flush=True)
async def main():
    number = 0
    while True:
        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                number += 1
                tasks.start_soon(call, number)
anyio.run(main)
"""


@pytest.mark.parametrize("answers", [1, 8, 40])
def test_what_a_client_saw_is_on_record_once_when_its_server_is_killed(place: RecordLocation, answers: int) -> None:
    command = [sys.executable, "-c", CALLING, str(place.folder), place.url or "", RUN]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        seen = [int(process.stdout.readline()) for _ in range(answers)]
        process.send_signal(signal.SIGKILL)
        seen += [int(line) for line in process.stdout if line.endswith("\n")]
    store = open_store(place)
    try:
        calls = store.calls(RUN)
        assert [run.state for run in store.runs()] == ["abandoned"]
    finally:
        store.close()
    recorded = [int(call.request_id) for call in calls]
    assert len(set(recorded)) == len(recorded)
    assert set(seen) <= {int(call.request_id) for call in calls if call.outcome == "success"}
    assert {call.outcome for call in calls} <= {"success", "failed"}
    # What one task group sent together is on record before what the next one sent.
    assert [(number - 1) // 3 for number in recorded] == sorted((number - 1) // 3 for number in recorded)


# Who only reads


def test_a_reader_follows_what_a_store_writes(place: RecordLocation) -> None:
    reader = open_reader(place)
    assert reader.newest_runs(9) == []
    store = open_store(place)
    try:
        client = begin(store)
        store.add_run(run_record("old", "scored", scorecard={"task": "sum-1"}))
        reader.changed()
        anyio.run(client.call, 1, "y" * (BLOB_BYTES + 1))
        looks = 20
        while not reader.changed():
            looks -= 1
            assert looks, "nothing was told"
            reader.wait(0.5)
        assert [(run.id, run.profile) for run in reader.newest_runs(9)] == [("old", "full"), (RUN, "full")]
        assert [run.id for run in reader.submitted_runs()] == ["old"]
        assert reader.runs([]) == []
        assert reader.modes([RUN]) == {RUN: "practice"}
        assert reader.scorecard("old") == {"task": "sum-1"}
        assert reader.counts([RUN, "old"]) == {RUN: (1, 0)}
        assert reader.under_way() == {}
        (call,) = reader.calls([RUN], 9)
        assert reader.request(call) == request(1, "y" * (BLOB_BYTES + 1)).raw
        assert [(seat.id, seat.run) for seat in reader.seats()] == [(SEAT, RUN)]
    finally:
        store.close()
    assert reader.seats() == [], "nobody lives there any more"
    reader.close()


def test_a_look_over_a_record_finds_nothing_where_nothing_is_damaged(place: RecordLocation, opened: Open) -> None:
    assert look_over(place).version == 0
    client = begin(opened())
    anyio.run(client.call_together, range(5), "z" * (BLOB_BYTES + 1))
    found = look_over(place)
    assert (found.runs, found.calls, found.damage) == (1, 5, ())
    assert_recorded(place, client)


def test_damage_outlasts_a_change_of_the_run(
    place: RecordLocation, opened: Open, request: pytest.FixtureRequest
) -> None:
    store = opened()
    begin(store)
    damage = "UPDATE runs SET task = 'sum-2'"
    if place.url is None:
        with closing(sqlite3.connect(database(place.folder))) as other, other:
            other.execute(damage)
    else:
        request.getfixturevalue("postgres").execute(f"SET search_path TO m3bench; {damage}", place.url)
    store.change_run(RUN, state="abandoned")
    assert [one.run for one in look_over(place).damage] == [RUN]
    assert store.runs() == []


def test_a_store_makes_its_folder_only_for_files(place: RecordLocation) -> None:
    open_store(place).close()
    assert place.begun
    assert Path(place.folder).exists() == (place.url is None)
