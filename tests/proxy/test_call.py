"""The life of a call: what becomes of it is on record, whatever breaks, and nothing else is seen."""

import json

import anyio
import pytest

from m3bench.proxy import seat
from m3bench.proxy.protocol.tool_calls import MAX_RESULT_BYTES
from m3bench.tasks.errors import SandboxError, StoreError, plain
from m3bench.tasks.outcome import Reply
from tests.proxy.house import RAW, House, refused

pytestmark = pytest.mark.anyio

SUM = {"numbers": [4, 8, 15]}
FULL = StoreError("The disk is full: free some space.")


async def test_a_result_passes_as_the_tool_gave_it_and_is_on_record() -> None:
    house = House()
    answer = await house.call("math__sum", {**SUM, "wait_for_previous": True})
    assert (answer.outcome, answer.owner, answer.result) == ("success", "agent", RAW)
    assert house.run.calls == [("math/sum", b'{"numbers":[4,8,15]}')]
    ((request, run, tool),) = house.record.requests
    assert (run, tool) == ("run", "math/sum")
    assert b"wait_for_previous" in request.raw
    assert house.record.answers == {0: answer}
    assert house.record.left == [0]
    assert house.run.under_way == 0


async def test_a_call_that_cannot_be_recorded_is_not_made() -> None:
    house = House()
    house.record.broken["received"] = FULL
    answer = await house.call("math__sum", SUM)
    assert (answer.outcome, answer.owner) == ("failed", "proxy")
    assert "not made" in refused(answer)
    assert "free some space" in refused(answer)
    assert house.run.calls == []
    assert [(tool, lost) for _, tool, lost in house.run.lost] == [("math/sum", answer)]


async def test_one_of_our_own_tools_that_cannot_be_recorded_is_no_loss_of_the_run() -> None:
    house = House()
    house.record.broken["received"] = FULL
    await house.call("start_task", {})
    assert house.run.lost == []


async def test_one_client_does_not_fill_the_disk_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seat, "MOST_LARGE_BYTES", 5 * seat.LARGE_BYTES)
    house = House()
    junk = {"numbers": [1] * seat.LARGE_BYTES}
    for tool in ("start_task", "math__sum", "start_task"):
        answer = await house.call(tool, junk)
    assert (answer.outcome, answer.owner) == ("failed", "limit")
    assert "less than 64 KiB" in refused(answer)
    assert len(house.record.requests) == 2
    assert sum(len(request.raw) for request, _, _ in house.record.requests) <= seat.MOST_LARGE_BYTES
    assert (await house.call("math__sum", SUM)).result == RAW


@pytest.mark.parametrize("error", [FULL, OSError(5, "Input/output error")])
async def test_an_answer_that_is_not_on_record_is_not_seen(error: Exception) -> None:
    house = House()
    house.record.broken["answered"] = error
    answer = await house.call("math__sum", SUM)
    assert "withheld" in refused(answer)
    assert plain(error) in refused(answer)
    assert b"27" not in answer.result
    assert house.record.left == []
    house.record.broken.clear()
    assert (await house.call("math__sum", SUM)).result == RAW


async def test_a_departure_that_is_not_on_record_changes_nothing() -> None:
    house = House()
    house.record.broken["sent"] = FULL
    assert (await house.call("math__sum", SUM)).result == RAW


@pytest.mark.parametrize("broken", [False, True])
async def test_a_call_that_is_taken_back_is_recorded_as_cut_off_if_it_can_be(broken: bool) -> None:
    house = House()
    house.run.hold = anyio.Event()
    if broken:
        house.record.broken["answered"] = FULL
    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(house.call, "math__sum", SUM)
            await house.run.begun.wait()
            tasks.cancel_scope.cancel()
    assert house.run.under_way == 0
    if not broken:
        assert (house.record.answers[0].outcome, house.record.answers[0].owner) == ("failed", "client")


@pytest.mark.parametrize("problem", [None, OSError(28, "No space left on device"), SandboxError("It is gone.")])
async def test_a_result_that_is_too_large_is_cut_and_says_where_the_whole_is(problem: Exception | None) -> None:
    house = House()
    house.run.keeps = problem
    large = json.dumps({"content": [{"type": "text", "text": "x" * MAX_RESULT_BYTES}]}).encode()
    house.run.reply = Reply("success", large)
    answer = await house.call("math__sum", SUM)
    assert len(answer.result) <= MAX_RESULT_BYTES
    assert answer.full == large
    note = json.loads(answer.result)["content"][-1]["text"]
    if problem is None:
        assert "./results/0.json" in note
        assert house.run.kept == {0: large}
    else:
        assert "could not be kept" in note
        assert plain(problem) in note
        assert "Errno" not in note


async def test_a_fault_of_our_own_is_said_to_be_ours() -> None:
    answer = await House().call("broken", {})
    assert (answer.outcome, answer.owner) == ("failed", "proxy")
    assert "ZeroDivisionError" in refused(answer)
