"""Third-party servers as a client of the benchmark meets them: in runs, within limits, with what they ask and tell."""

import json
import os
import secrets
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError

from tests.proxy import rows
from tests.proxy.rows import Able, say
from tests.server.conftest import SERVE, serving
from tests.server.pipes import Pipe, text
from tests.waiting import until
from tests.warm import FORKS

FAR = FORKS.launcher("tests.proxy.far_server")


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a server that holds state, and the same one declared to hold none."""
    path = tmp_path_factory.mktemp("servers") / "servers.json"
    entry = {"command": FAR[0], "args": FAR[1:]}
    path.write_text(json.dumps({"mcpServers": {"far": entry, "all": {**entry, "stateful": False}}}))
    return path


@pytest.fixture(scope="module")
def options(servers: Path, task_set: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """How servers of this module are started."""
    data = tmp_path_factory.mktemp("data")
    return ["--servers", str(servers), "--tasks", str(task_set), "--data", str(data), "--max-calls", "4"]


@pytest.fixture(scope="module")
def url(options: list[str]) -> Iterator[str]:
    """A server that listens."""
    with serving(options) as url:
        yield url


@pytest.fixture(scope="module")
def bare(task_set: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """Ways to a server that shows the tools of the other one under their own names."""
    folder = tmp_path_factory.mktemp("bare")
    (folder / "servers.json").write_text(json.dumps({"far": {"command": FAR[0], "args": FAR[1:]}}))
    options = ["--servers", str(folder / "servers.json"), "--no-prefix", "--tasks", str(task_set)]
    options += ["--data", str(folder / "data")]
    with serving(options) as url:
        yield {"stdio": lambda: stdio(options), "http": lambda: f"{url}/mcp"}


@pytest.fixture(scope="module")
def ranked(options: list[str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The same in ranked mode, which has a record of its own."""
    with serving([*options, "--data", str(tmp_path_factory.mktemp("ranked")), "--ranked"]) as url:
        yield url


def stdio(options: list[str]) -> Any:
    return stdio_client(StdioServerParameters(command=SERVE[0], args=[*SERVE[1:], *options], env=dict(os.environ)))


@pytest.mark.anyio
async def test_runs_do_not_see_what_others_left_behind_unless_the_server_is_declared_to_hold_no_state(url: str) -> None:
    found, shared = [], []
    for _ in range(2):
        async with Client(f"{url}/mcp", mode="legacy") as client:
            assert await say(client, "far__count") == "1"
            await client.call_tool("start_task", {"task_id": "sum-1"})
            found.append([await say(client, "far__count") for _ in range(2)])
            shared.append(int(await say(client, "all__count")))
            await client.call_tool("submit", {"answer": "108"})
            assert await say(client, "far__count") == "2"
    assert found == [["1", "2"], ["1", "2"]]
    assert shared[1] == shared[0] + 1


@pytest.mark.slow
@pytest.mark.anyio
async def test_calls_prompts_and_resources_count_against_the_limits_of_the_run(url: str) -> None:
    async with Client(f"{url}/mcp", mode="legacy") as client:
        await client.call_tool("start_task", {"task_id": "sum-1"})
        assert [await say(client, name) for name in ("far__count", "all__log")] == ["1", "logged"]
        await client.get_prompt("greet", {"who": "you"})
        await client.read_resource("far://one")
        assert "has made its 4 calls" in await say(client, "far__count")
        with pytest.raises(MCPError, match="has made its 4 calls"):
            await client.read_resource("far://one")
        await client.call_tool("submit", {"answer": "108"})
        assert await say(client, "far__count") == "1"


@pytest.mark.slow
@pytest.mark.anyio
async def test_in_ranked_mode_they_are_asked_during_a_run_alone(ranked: str) -> None:
    async with Client(f"{ranked}/mcp", mode="legacy") as client:
        assert [tool.name for tool in (await client.list_tools()).tools if tool.name.startswith("far__count")]

        async def try_all() -> list[str]:
            tried = [await say(client, name) for name in ("far__count", "all__count")]
            for ask in (client.get_prompt("greet", {"who": "you"}), client.read_resource("far://one")):
                try:
                    tried.append(type(await ask).__name__)
                except MCPError as error:
                    tried.append(error.message)
            return [text.partition(" If you")[0] for text in tried]

        refused = ["No task is running on this seat: call start_task first."] * 4
        assert await try_all() == refused
        await client.call_tool("start_task", {"task_id": "sum-1"})
        assert await try_all() == ["1", "1", "GetPromptResult", "ReadResourceResult"]
        await client.call_tool("submit", {"answer": "108"})
        assert await try_all() == refused


@pytest.mark.slow
@pytest.mark.anyio
async def test_errors_of_prompts_and_resources_are_those_of_the_server(url: str) -> None:
    async with Client(f"{url}/mcp", mode="legacy") as client:
        with pytest.raises(MCPError, match="greet whom") as raised:
            await client.get_prompt("greet", {})
        assert (raised.value.code, raised.value.data) == (-32602, {"missing": ["who"]})
        with pytest.raises(MCPError, match="it has no size") as raised:
            await client.read_resource("far://none/size")
        assert (raised.value.code, raised.value.data) == (-7, "far://none/size")
        with pytest.raises(MCPError, match="not today") as raised:
            await client.call_tool("far__refuse", {})
        assert (raised.value.code, raised.value.data) == (-5, {"when": "tomorrow"})


@pytest.mark.slow
@pytest.mark.anyio
@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
@pytest.mark.parametrize("way", ["stdio", "http"])
async def test_what_a_server_asks_and_tells_reaches_a_client_that_has_it(
    way: str, options: list[str], request: pytest.FixtureRequest
) -> None:
    able = Able()
    to = stdio(options) if way == "stdio" else f"{request.getfixturevalue('url')}/mcp"
    async with able.connected(to) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert "far__sampled" in names
        assert "all__sampled" not in names
        assert "at most 9" in await say(client, "far__ask_model")
        assert '"Ada"' in await say(client, "far__ask_person")
        assert "file:///home/ada" in await say(client, "far__ask_roots")
        assert "sampling/createMessage" in await say(client, "all__ask_model")
        await client.set_logging_level("warning")
        await say(client, "far__log")
        assert able.logged == ["warning", "warning"]
        await client.subscribe_resource("far://one")
        await say(client, "all__touch")
        await until(lambda: "ResourceUpdatedNotification" in able.heard)
        refs = types.PromptReference(name="greet")
        completed = await client.complete(refs, {"name": "who", "value": "y"})
        assert completed.completion.values == ["greet:y"]


@pytest.mark.slow
@pytest.mark.anyio
@pytest.mark.parametrize("way", ["stdio", "http"])
async def test_tools_that_come_in_a_run_are_announced_and_go_with_it(
    way: str, options: list[str], request: pytest.FixtureRequest
) -> None:
    able = Able()
    to = stdio(options) if way == "stdio" else f"{request.getfixturevalue('url')}/mcp"
    async with able.connected(to) as client:

        async def listed() -> bool:
            return "far__new" in {tool.name for tool in (await client.list_tools()).tools}

        def changes() -> int:
            return able.heard.count("ToolListChangedNotification")

        assert not await listed()
        await client.call_tool("start_task", {"task_id": "sum-1"})
        before = changes()
        await say(client, "far__grow")
        await until(lambda: changes() > before)
        assert await listed()
        assert await say(client, "far__new") == "this is new"
        before = changes()
        await client.call_tool("submit", {"answer": "108"})
        await until(lambda: changes() > before)
        assert not await listed()


@pytest.mark.slow
@pytest.mark.anyio
@pytest.mark.parametrize("way", ["stdio", "http"])
async def test_nothing_is_lost_that_the_table_says_is_passed_on(way: str, bare: dict[str, Any]) -> None:
    able, lost = Able(), []
    async with able.connected(bare[way]()) as client:
        for name, check in rows.ROWS.items():
            with anyio.move_on_after(rows.ROW_SECONDS):
                if await check(client, able):
                    continue
            lost.append(name)
    assert lost == []


@pytest.mark.slow
@pytest.mark.anyio
async def test_a_client_of_the_newest_revision_listens_for_changes(url: str) -> None:
    seat = f"{url}/seat/{secrets.token_urlsafe(24)}/mcp"
    with anyio.fail_after(120):
        async with Client(seat, mode="2026-07-28") as client:
            async with client.listen(tools_list_changed=True, resource_subscriptions=["far://one"]) as events:
                await say(client, "far__grow")
                assert type(await anext(aiter(events))).__name__ == "ToolsListChanged"
                assert "far__new" in {tool.name for tool in (await client.list_tools()).tools}
                assert await say(client, "far__new") == "this is new"
                assert "far://one" in await say(client, "all__touch")
                assert type(await anext(aiter(events))).__name__ == "ResourceUpdated"
            with pytest.raises(MCPError, match="greet whom"):
                await client.get_prompt("greet", {})


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no such signal")
def test_a_recording_outlives_a_kill_and_gives_each_run_the_same(options: list[str], tmp_path: Path) -> None:
    tape = tmp_path / "tape"
    pipe = Pipe([*options, "--record", str(tape)])
    pipe.open()
    pipe.ask(1, "start_task", {"task_id": "sum-1"})
    assert [text(pipe.ask(number, "far__count", {})) for number in (2, 3, 4)] == ["1", "2", "3"]
    pipe.process.send_signal(signal.SIGKILL)
    pipe.process.wait()
    pipe.close()
    rest = options[2:]
    pipe = Pipe([*rest, "--replay", str(tape)])
    pipe.open()
    for start in (10, 20):
        pipe.ask(start, "start_task", {"task_id": "sum-1"})
        assert [text(pipe.ask(start + number, "far__count", {})) for number in (1, 2, 3)] == ["1", "2", "3"]
        assert "not in the recording: it has 3 answers" in text(pipe.ask(start + 4, "far__count", {}))
        pipe.ask(start + 5, "submit", {"answer": "108"})
    pipe.close()
