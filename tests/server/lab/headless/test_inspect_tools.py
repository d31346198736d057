"""Calls of one turn of a model are one step, however long they take to arrive."""

from pathlib import Path

import anyio
import pytest
from inspect_ai.model import ChatMessageAssistant
from inspect_ai.tool import ToolCall
from mcp_types import CallToolResult, Implementation

from m3bench.server.lab.headless.inspect_seat import SampleSeat, SeatOptions, open_seat
from m3bench.server.lab.headless.inspect_tools import SeatTools
from m3bench.server.scorecard.model import ScoreCard
from tests.server.lab.headless.scripts import NUMBERS
from tests.sets import write_set

pytestmark = pytest.mark.anyio


class Late(SampleSeat):
    """A seat whose calls go out one after the other, each long after an answer to the one before could be there."""

    sent = 0

    async def call(self, tool: str, arguments: object, text: str | None = None) -> CallToolResult:
        self.sent += 1
        await anyio.sleep(0.3 * self.sent)
        return await super().call(tool, arguments, text)


def said(*calls: tuple[str, dict[str, object] | str]) -> ChatMessageAssistant:
    made = [
        ToolCall(id=str(number), function=tool, arguments={}, parse_error=given)
        if isinstance(given, str)
        else ToolCall(id=str(number), function=tool, arguments=given)
        for number, (tool, given) in enumerate(calls)
    ]
    return ChatMessageAssistant(content="", tool_calls=made)


async def played(folder: Path, *turns: ChatMessageAssistant) -> ScoreCard:
    """The card of a model that takes these turns, on a line that is never quick enough."""
    seating = SeatOptions(data=folder / "data", tasks=write_set(folder / "set"), sandbox="inprocess")
    with anyio.fail_after(180):
        async with open_seat(seating, "survey-1", "task:survey-1", Implementation(name="m", version="1")) as seat:
            late = Late(client=seat.client, run=seat.run, pictures=seat.pictures, tools=seat.tools)
            tools = SeatTools(late)
            for turn in turns:
                late.sent = 0
                await tools.turn(turn)
                await tools.run(turn)
            await seat.submit("They differ by 2.5.")
            return await seat.score()


async def test_calls_of_a_turn_that_do_not_overlap_by_themselves_are_one_step(tmp_path: Path) -> None:
    card = await played(
        tmp_path,
        said(("math__median", {"numbers": NUMBERS}), ("math__mean", {"numbers": NUMBERS})),
        said(("math__subtract", {"minuend": 18, "subtrahend": 15.5})),
    )
    assert [len(step) for step in card.alignment.actual_steps] == [2, 1]
    assert (card.open, card.metrics["average"]) == (0, 1.0)


async def test_calls_that_cannot_be_read_are_in_the_step_of_their_turn(tmp_path: Path) -> None:
    card = await played(
        tmp_path,
        said(("math__median", {"numbers": NUMBERS}), ("math__mean", "{"), ("no__such_tool", {}), ("submit", {})),
        said(("math__mean", "{"), ("submit", "{")),
    )
    assert [len(step) for step in card.alignment.actual_steps] == [3, 2]
    assert card.outcomes == {"success": 1, "illegal_format": 3, "unknown_tool": 1}
    assert card.open == 0
