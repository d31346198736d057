"""With the profile `retrieve` a client finds tools and calls them by way of one, and is measured like any other."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from m3bench.proxy.transports.sdk_server import sdk_server
from m3bench.server.app import App
from m3bench.server.clients.table import clients
from m3bench.server.commands.checks.clients import check_tools
from m3bench.server.scorecard import model
from m3bench.server.scorecard.trajectory import played_run
from m3bench.server.settings import Settings
from m3bench.server.store.records import CallRecord
from m3bench.server.store.sqlite import SqliteStore
from m3bench.tasks.library import Library
from tests.server.conftest import Connect
from tests.server.pipes import Pipe
from tests.server.test_conversation import NUMBERS, text, together
from tests.warm import FORKS

pytestmark = pytest.mark.anyio

SHOWN = ["list_tasks", "start_task", "submit", "score", "find_tools", "call_tool"]
SUM = {"name": "math__sum", "arguments": {"numbers": NUMBERS}}


@pytest.fixture
def sandbox() -> str:
    """Where tools run makes no difference to how they are found."""
    return "process"


@pytest.fixture
def arguments(task_set: Path, data: Path) -> list[str]:
    """The options of the servers of a test."""
    return ["--tasks", str(task_set), "--data", str(data), "--profile", "retrieve"]


def recorded(data: Path) -> list[CallRecord]:
    store = SqliteStore(data)
    try:
        return store.calls(store.runs()[0].id)
    finally:
        store.close()


@pytest.mark.sample(1)
async def test_a_tool_is_found_and_a_task_solved_with_it(connect: Connect, data: Path) -> None:
    async with connect() as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == SHOWN
        assert "survey-1" in text(await client.call_tool("list_tasks", {}))
        assert "call_tool calls one" in text(await client.call_tool("start_task", {"task_id": "survey-1"}))
        found = await client.call_tool("find_tools", {"query": "median of numbers", "limit": 2})
        median, *others = json.loads(text(found))
        assert (median["name"], len(others)) == ("math__median", 1)
        assert median["inputSchema"]["required"] == ["numbers"]
        numbers = {"numbers": NUMBERS}
        both = [
            ("call_tool", {"name": "math__median", "arguments": numbers}),
            ("call_tool", {"name": "math/mean", "arguments": numbers}),
        ]
        assert await together(client, *both) == ["15.5", "18"]
        await client.call_tool("find_tools", {"query": "difference"})
        await anyio.sleep(0.3)  # a model thinks between two steps
        last = {"name": "math__subtract", "arguments": {"minuend": 18, "subtrahend": 15.5}}
        assert text(await client.call_tool("call_tool", last)) == "2.5"
        await client.call_tool("submit", {"answer": "They differ by 2.5."})
        scored = (await client.call_tool("score", {})).meta
        assert scored is not None
        card = scored["m3bench/card"]
        assert (card["metrics"]["average"], card["success"]) == (1, True)
        assert [len(step) for step in card["alignment"]["actual_steps"]] == [2, 1]
        assert [tool.name for tool in (await client.list_tools()).tools] == SHOWN
    calls = recorded(data)
    assert [call.tool for call in calls] == [
        "find_tools", "math/median", "math/mean", "find_tools", "math/subtract", "submit",
    ]  # fmt: skip
    assert calls[1].arguments == {"numbers": NUMBERS}
    assert json.loads(calls[1].request)["params"]["name"] == "call_tool"


async def test_mistakes_are_told_what_to_do_next_and_recorded_as_those_of_the_tool(
    arguments: list[str], data: Path
) -> None:
    from tests.server.conftest import over_stdio

    async with over_stdio(arguments, "legacy") as client:

        async def called(given: dict[str, Any]) -> str:
            result = await client.call_tool("call_tool", given)
            assert result.is_error
            return text(result)

        assert "call start_task first" in await called(SUM)
        await client.call_tool("start_task", {"task_id": "sum-1"})
        assert "Did you mean math__sum" in await called({**SUM, "name": "math__summ"})
        assert "'numbers' is the string 'many'" in await called({"name": "math__sum", "arguments": {"numbers": "many"}})
        assert "required" in await called({"name": "math__sum"})
        assert "cannot be called by way of call_tool" in await called({"name": "call_tool", "arguments": SUM})
        assert "cannot be called by way of call_tool" in await called({"name": "submit", "arguments": {"answer": "1"}})
        for wrong in (
            {},
            {"name": 5},
            {"name": "math__sum", "arguments": "[1]"},
            {"name": "math__sum", "numbers": [1]},
        ):
            assert "it takes name" in await called(wrong)
        with pytest.raises(MCPError, match="by way of call_tool"):
            await client.call_tool("math__sum", {"numbers": NUMBERS})
        assert "limit" in text(await client.call_tool("find_tools", {"query": "sum", "limit": 0}))
        assert "No tool fits" in text(await client.call_tool("find_tools", {"query": "Wettervorhersage"}))
    outcomes = [(call.tool, call.outcome) for call in recorded(data)]
    assert outcomes == [
        ("math__summ", "unknown_tool"),
        ("math/sum", "invalid_arguments"),
        ("math/sum", "invalid_arguments"),
        ("call_tool", "unknown_tool"),
        ("call_tool", "unknown_tool"),
        *[("call_tool", "invalid_arguments")] * 4,
        ("math__sum", "unknown_tool"),
        ("find_tools", "invalid_arguments"),
        ("find_tools", "success"),
    ]
    (first, *_), found = recorded(data), played_run([call for call in recorded(data) if call.tool != "find_tools"])
    assert first.arguments == {"numbers": NUMBERS}
    assert len(found.trajectory.steps) > 0
    assert all(call.failed for step in found.trajectory.steps for call in step.calls)


async def test_looking_for_tools_uses_up_no_calls(arguments: list[str]) -> None:
    from tests.server.conftest import over_stdio

    async with over_stdio([*arguments, "--max-calls", "1"], "legacy") as client:
        await client.call_tool("start_task", {"task_id": "sum-1"})
        for _ in range(3):
            assert not (await client.call_tool("find_tools", {"query": "sum"})).is_error
        assert text(await client.call_tool("call_tool", SUM)) == "108"
        assert "has made its 1 calls" in text(await client.call_tool("call_tool", SUM))


async def test_what_a_client_adds_to_every_call_is_read_and_not_passed_on(arguments: list[str], data: Path) -> None:
    pipe = Pipe(arguments)
    pipe.open()
    pipe.send(1, "tools/call", {"name": "start_task", "arguments": {"task_id": "sum-1"}})
    pipe.read()
    for id, waits in ((2, False), (3, True)):
        pipe.send(id, "tools/call", {"name": "call_tool", "arguments": {**SUM, "wait_for_previous": waits}})
        assert pipe.read()["result"]["content"][0]["text"] == "108"
    pipe.close()
    in_a_row = {"probed": "1.1", "overlap": "in a row", "overlap_others": "in a row"}
    found = played_run(recorded(data), client=model.Client(name="c 1.1", capabilities=in_a_row))
    assert found.segmentation.decisions[1].evidence == "hint"
    assert [call.arguments for step in found.trajectory.steps for call in step.calls] == [{"numbers": NUMBERS}] * 2


async def test_other_profiles_know_neither_tool(task_set: Path, data: Path) -> None:
    app = App(Settings.of(tasks=task_set, data=data, sandbox="inprocess"))
    seat = app.open_seat()

    async def seat_of(context: object) -> Any:
        return seat

    async with app.lifespan(), Client(sdk_server(app.front, seat_of), mode="legacy") as client:
        for name, given in (("find_tools", {"query": "sum"}), ("call_tool", SUM)):
            with pytest.raises(MCPError, match="Unknown tool"):
                await client.call_tool(name, given)


def test_every_task_can_be_solved_and_few_tools_are_shown() -> None:
    app = App(Settings.of(profile="retrieve"))
    seat = app.open_seat()
    from m3bench.tasks.profiles import solvable

    tasks = tuple(Library().tasks.values())
    assert solvable(tasks, tuple(seat.tools.values())) == tasks
    assert [tool["name"] for tool in seat.listing] == SHOWN
    said = [finding.says for finding in check_tools(clients()["cursor"], "retrieve", {})]
    assert any("retrieve shows 6 tools" in line for line in said)


async def test_a_third_party_tool_is_found_and_called_too(arguments: list[str], data: Path, tmp_path: Path) -> None:
    from tests.server.conftest import over_stdio

    program, *options = FORKS.launcher("tests.proxy.echo_server")
    servers = tmp_path / "servers.json"
    servers.write_text(json.dumps({"mcpServers": {"echo": {"command": program, "args": options}}}))
    async with over_stdio([*arguments, "--servers", str(servers)], "legacy") as client:
        await client.call_tool("start_task", {"task_id": "sum-1"})
        found = await client.call_tool("find_tools", {"query": "echo"})
        names = [tool["name"] for tool in json.loads(text(found)) if tool["name"].startswith("echo__")]
        assert "echo__echo" in names
        answer = await client.call_tool("call_tool", {"name": "echo/echo", "arguments": {"text": "hello"}})
        assert "hello" in text(answer)
    assert [call.tool for call in recorded(data)] == ["find_tools", "echo/echo"]
