"""A coroutine that is run eagerly ends in the same way as in a task, whatever it waits for and whatever goes wrong."""

import asyncio
from collections.abc import Awaitable, Callable

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest

from m3bench.tasks.eager import Eager, Later, Patience, in_task, needs_task

pytestmark = pytest.mark.anyio


class Call:
    """A coroutine that waits for one answer, and what became of it."""

    def __init__(self, does: Callable[[], Awaitable[object]]) -> None:
        self.does = does
        self.found: list[object] = []
        self.under_way: set[Eager] = set()
        self.eager = Eager(self._run(), self.under_way.discard)
        self.under_way.add(self.eager)
        self.eager.go_on()

    async def _run(self) -> None:
        try:
            self.found.append(await self.does())
        except asyncio.CancelledError:
            self.found.append("cut off")
            raise
        except Exception as error:
            self.found.append(error)

    async def end(self) -> list[object]:
        if self.under_way:
            with anyio.fail_after(5):
                await self.eager.ends()
        return self.found


async def test_an_answer_is_there_in_the_moment_in_which_it_comes() -> None:
    answer = Later[str]()

    async def ask() -> str:
        return await answer

    call = Call(ask)
    assert call.found == []
    answer.give("here")
    answer.give("a second one")
    answer.fail(ValueError())
    assert answer.given
    assert call.found == ["here"]
    assert call.under_way == set()
    assert call.eager.task is None


async def test_what_was_given_before_is_not_waited_for() -> None:
    answer = Later[int]()
    answer.give(3)

    async def ask() -> int:
        return await answer

    assert Call(ask).found == [3]
    assert await answer == 3


async def test_what_goes_wrong_is_met_in_a_task() -> None:
    answer, error = Later[str](), ValueError("gone")
    met = []

    async def ask() -> str:
        try:
            return await answer
        finally:
            met.append(needs_task())
            with anyio.move_on_after(1, shield=True):
                await anyio.lowlevel.checkpoint()

    call = Call(ask)
    answer.fail(error)
    assert await call.end() == [error]
    assert met == [False]


async def test_whoever_needs_a_task_gets_one_once() -> None:
    first, second = Later[str](), Later[str]()

    async def ask() -> str:
        assert needs_task()
        found = await first
        await in_task()
        await in_task()
        assert not needs_task()
        await anyio.to_thread.run_sync(lambda: None)
        return found + await second

    call = Call(ask)
    first.give("a")
    await anyio.lowlevel.checkpoint()
    second.give("b")
    assert await call.end() == ["ab"]


async def test_in_a_task_of_its_own_it_is_awaited_as_anything_else() -> None:
    answer = Later[str]()
    found = []

    async def ask() -> None:
        await in_task()
        found.append(await answer)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        await anyio.lowlevel.checkpoint()
        answer.give("here")
    assert found == ["here"]


@pytest.mark.parametrize("with_task", [False, True])
async def test_a_cancellation_goes_on_until_the_end(with_task: bool) -> None:
    tidied = []

    async def ask() -> None:
        if with_task:
            await in_task()
        try:
            await Later[str]()
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.lowlevel.checkpoint()
                tidied.append(True)

    call = Call(ask)
    await anyio.lowlevel.checkpoint()
    call.eager.cancel()
    assert await call.end() == ["cut off"]
    assert tidied == [True]
    assert call.eager.cancelled


async def test_what_is_shielded_is_waited_for_through_a_cancellation() -> None:
    commit = Later[str](shielded=True)

    async def ask() -> str:
        return await commit

    call = Call(ask)
    call.eager.cancel()
    commit.give("on record")
    assert call.found == ["on record"]


@pytest.mark.parametrize("with_task", [False, True])
async def test_time_runs_out_with_and_without_a_task(with_task: bool) -> None:
    async def ask() -> object:
        if with_task:
            await in_task()
        async with Patience(0.001):
            return await Later[str]()

    call = Call(ask)
    assert [type(found) for found in await call.end()] == [TimeoutError]
    with pytest.raises(TimeoutError):
        await ask()


async def test_time_can_be_put_off() -> None:
    answer = Later[str]()

    async def ask() -> str:
        async with Patience(0.001) as clock:
            clock.put_off(60)
            return await answer

    async def give_up() -> str:
        async with Patience(0.002):
            return await Later[str]()

    call = Call(ask)
    await Call(give_up).end()
    answer.give("late")
    assert call.found == ["late"]


async def test_time_that_runs_out_after_a_task_was_needed_ends_what_is_under_way_there() -> None:
    async def ask() -> None:
        async with Patience(0.001):
            await in_task()
            await anyio.sleep_forever()

    assert [type(found) for found in await Call(ask).end()] == [TimeoutError]


async def test_an_answer_that_others_wait_for_beside_goes_to_its_own_call() -> None:
    answers = [Later[int]() for _ in range(3)]

    async def ask(answer: Later[int]) -> int:
        return await answer

    calls = [Call(lambda answer=answer: ask(answer)) for answer in answers]  # type: ignore[misc]
    for number in (2, 0, 1):
        answers[number].give(number)
    assert [call.found for call in calls] == [[0], [1], [2]]


async def test_what_others_give_to_a_task_is_waited_for_in_one() -> None:
    given = asyncio.get_running_loop().create_future()

    async def ask() -> object:
        return await given

    call = Call(ask)
    given.set_result("a future")
    assert await call.end() == ["a future"]
