"""A client runs a task from start to score, in the same words over every transport and protocol era."""

import json
import re
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import PromptReference

from m3bench.server.store.sqlite import SqliteStore
from m3bench.tasks.catalog import load_catalog
from tests.server.conftest import Connect

NUMBERS = [4, 8, 15, 16, 23, 42]

pytestmark = pytest.mark.anyio


def text(result: Any) -> str:
    return "\n".join(block.text for block in result.content if block.type == "text")


async def together(client: Client, *calls: tuple[str, dict[str, Any]]) -> list[str]:
    """The texts of calls sent before any of them is answered."""
    texts = [""] * len(calls)

    async def one(index: int, name: str, arguments: dict[str, Any]) -> None:
        texts[index] = text(await client.call_tool(name, arguments))

    async with anyio.create_task_group() as tasks:
        for index, (name, arguments) in enumerate(calls):
            tasks.start_soon(one, index, name, arguments)
    return texts


@pytest.mark.all_sample(8)
@pytest.mark.sample(1)
@pytest.mark.parametrize("tool", ["list_tasks", "start_task"])
async def test_a_family_that_does_not_exist_is_told_the_nearest(connect: Connect, tool: str) -> None:
    async with connect() as client:
        answer = await client.call_tool(tool, {"family": "surveys"})
        assert answer.is_error
        assert "There is no family 'surveys'. Did you mean survey?" in text(answer)


@pytest.mark.sample(1)
async def test_a_task_runs_from_start_to_score(connect: Connect, data: Path) -> None:
    async with connect() as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert names == [
            "list_tasks", "start_task", "submit", "score", *(tool.exposed for tool in load_catalog().ready.tools),
        ]  # fmt: skip
        assert "survey-1" in text(await client.call_tool("list_tasks", {}))
        opening = await client.call_tool("start_task", {"task_id": "survey-1"})
        assert "the middle and the average" in text(opening)
        assert "./media/note.png" in text(opening)
        assert opening.content[1].type == "image"
        assert await together(client, ("math__median", {"numbers": NUMBERS}), ("math__mean", {"numbers": NUMBERS})) == [
            "15.5",
            "18",
        ]
        await anyio.sleep(0.3)  # a model thinks between two steps
        assert text(await client.call_tool("math__subtract", {"minuend": 18, "subtrahend": 15.5})) == "2.5"
        assert "Submitted and sealed" in text(await client.call_tool("submit", {"answer": "They differ by 2.5."}))
        card = await client.call_tool("score", {})
        # What the log leaves open about steps is shown as a range.
        assert re.search(r"\*\*solved\*\* \(1 of 1 checks\) · \*\*average 1\.000( \([\d.]+–1\.00\))?\*\*", text(card))
        assert card.structured_content is None
        assert card.meta is not None
        assert card.meta["m3bench/card"]["metrics"]["average"] == 1
        assert text(await client.call_tool("score", {})) == text(card)
    store = SqliteStore(data)
    try:
        (run,) = store.runs()
        assert run.state == "scored"
        assert [call.tool for call in store.calls(run.id)] == [
            "math/median", "math/mean", "math/subtract", "submit",
        ]  # fmt: skip
    finally:
        store.close()


@pytest.mark.sample(1)
async def test_mistakes_are_told_what_to_do_next(connect: Connect) -> None:
    async with connect() as client:
        early = await client.call_tool("math__add", {"firstNumber": 1, "secondNumber": 2})
        assert early.is_error
        assert text(early).startswith("No task is running on this seat: call start_task first.")
        assert "call start_task first" in text(await client.call_tool("submit", {"answer": "x"}))
        assert "call start_task" in text(await client.call_tool("score", {}))
        assert "Did you mean survey-1" in text(await client.call_tool("start_task", {"task_id": "survey"}))
        await client.call_tool("start_task", {"task_id": "sum-1"})
        again = await client.call_tool("start_task", {"task_id": "survey-1"})
        assert again.is_error
        assert "'sum-1' is still running" in text(again)
        assert "call submit" in text(await client.call_tool("score", {}))
        wrong = await client.call_tool("math__sum", {"numbers": "many"})
        assert wrong.is_error
        assert "'numbers' is the string 'many' (expected array of number)" in text(wrong)
        with pytest.raises(MCPError, match="Did you mean math__sum"):
            await client.call_tool("math__summ", {"numbers": NUMBERS})
        assert "not an argument" in text(await client.call_tool("submit", {"answer": "x", "mood": "good"}))
        assert not (await client.call_tool("submit", {"answer": "108"})).is_error
        assert "takes one answer" in text(await client.call_tool("submit", {"answer": "109"}))
        assert not (await client.call_tool("start_task", {"task_id": "survey-1"})).is_error
        swapped = await client.call_tool("start_task", {"task_id": "sum-1", "abandon": True})
        assert "# Task sum-1" in text(swapped)


@pytest.mark.sample(1)
async def test_the_picture_and_the_trajectory_can_be_read_as_resources(connect: Connect) -> None:
    async with connect() as client:
        assert (await client.list_resources()).resources == []
        opening = await client.call_tool("start_task", {"task_id": "sum-1"})
        await client.call_tool("math__sum", {"numbers": NUMBERS})
        picture = (await client.read_resource("m3bench://run/picture")).contents[0]
        assert picture.mime_type == "image/png"
        assert picture.blob == opening.content[1].data
        trajectory = json.loads((await client.read_resource("m3bench://run/trajectory")).contents[0].text)
        assert trajectory["steps"] == [{"calls": [{"tool": "math/sum", "arguments": {"numbers": NUMBERS}}]}]
        with pytest.raises(MCPError, match="not found"):
            await client.read_resource("m3bench://run/scorecard")
        prompts = (await client.list_prompts()).prompts
        assert [prompt.name for prompt in prompts] == ["run-task", "finish"]
        prompt = await client.get_prompt("run-task", {"task_id": "sum-1"})
        assert "start_task with task_id 'sum-1'" in prompt.messages[0].content.text
        begun = {"name": "task_id", "value": "s"}
        completion = (await client.complete(PromptReference(name="run-task"), begun)).completion
        assert completion.values == ["survey-1", "sum-1"]


@pytest.mark.sample(1)
async def test_connecting_and_looking_around_leaves_nothing_behind(connect: Connect, data: Path) -> None:
    async with connect() as client:
        await client.list_tools()
        await client.list_prompts()
        await client.list_resources()
        await client.list_resource_templates()
    assert not data.exists()
