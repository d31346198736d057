"""Steps that a client announces: proved by when answers leave, never believed."""

from typing import Any

import anyio
import anyio.lowlevel
import pytest

from m3bench.proxy.steps.announced import CALLS, MOST_CALLS, MOST_STEPS, AnnouncedSteps
from m3bench.proxy.steps.hints import HINT
from tests.proxy.house import House

pytestmark = pytest.mark.anyio

SUM = {"numbers": [4, 8, 15]}


async def settled() -> None:
    """Everything that can be done without waiting is done."""
    for _ in range(50):
        await anyio.lowlevel.checkpoint()


async def test_no_answer_leaves_before_the_last_call_of_its_step_has_arrived() -> None:
    house = House()
    meta = {HINT: 1, CALLS: 3}
    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(house.call, "math__sum", SUM, None, meta)
            tasks.start_soon(house.call, "no__such_tool", {}, None, meta)
            await settled()
            assert len(house.record.requests) == 2
            assert house.run.calls, "the tool is asked at once"
            assert house.record.left == []
            await house.call("math__sum", SUM, meta=meta)
    assert sorted(house.record.left) == [0, 1, 2]


async def test_a_client_that_announces_more_than_it_sends_waits_once_and_is_not_waited_for_again() -> None:
    house = House()
    house.seat.steps = AnnouncedSteps(patience=0.05)
    with anyio.fail_after(30):
        await house.call("math__sum", SUM, meta={HINT: 1, CALLS: 2})
        house.seat.steps._patience = 1e6
        await house.call("math__sum", SUM, meta={HINT: 2, CALLS: 2})
    assert house.record.left == [0, 1]


async def test_steps_of_two_chats_are_announced_apart() -> None:
    house = House()
    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            for chat in ("one", "other"):
                tasks.start_soon(house.call, "math__sum", SUM, None, {HINT: 1, CALLS: 2, "threadId": chat})
            await settled()
            assert house.record.left == []
            tasks.cancel_scope.cancel()
    assert {answer.owner for answer in house.record.answers.values()} == {"client"}, "taken back"


@pytest.mark.parametrize("calls", [None, 0, 1, -3, True, 2.0, "2", [2], MOST_CALLS + 1])
async def test_what_announces_nothing_holds_nothing_back(calls: Any) -> None:
    assert AnnouncedSteps().arrive({HINT: 1, CALLS: calls}) is None
    assert AnnouncedSteps().arrive({HINT: [1], CALLS: 2}) is None
    assert AnnouncedSteps().arrive({CALLS: 2}) is None


async def test_steps_whose_calls_were_all_taken_back_are_forgotten() -> None:
    announced = AnnouncedSteps()
    steps = [announced.arrive({HINT: number, CALLS: 2}) for number in range(3 * MOST_STEPS)]
    assert len(announced._steps) == MOST_STEPS
    with anyio.fail_after(5):
        assert steps[0] is not None
        await announced.wait(steps[0])
