"""Real servers from npm and PyPI, asked directly and through m3bench: a client that can do everything sees the same."""

import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from tests.clients.node import Node
from tests.proxy.rows import Able, say, stdio
from tests.server.conftest import SERVE
from tests.waiting import until

pytestmark = pytest.mark.anyio

Play = Callable[[Client, Able], Awaitable[dict[str, object]]]

FAST = [sys.executable, str(Path(__file__).with_name("fast_server.py"))]


async def through(command: list[str], play: Play, folder: Path, task_set: Path) -> tuple[object, object]:
    """What a client sees of a server: directly, and as the only third-party server of m3bench."""
    entry = {"command": command[0], "args": command[1:]}
    (folder / "servers.json").write_text(json.dumps({"mcpServers": {"it": entry}}))
    options = ["--servers", str(folder / "servers.json"), "--no-prefix", "--data", str(folder / "data")]
    found = []
    for way in (command, [*SERVE, *options, "--tasks", str(task_set)]):
        able = Able(f"file://{folder}/home")
        async with able.connected(stdio(way)()) as client:
            found.append(await play(client, able))
    return found[0], found[1]


async def outcome(ask: Awaitable[Any]) -> object:
    """A result, or the error in its place."""
    try:
        return (await ask).model_dump(mode="json", by_alias=True, exclude_none=True)
    except MCPError as error:
        return error.code, error.message, error.data


async def play_everything(client: Client, able: Able) -> dict[str, object]:
    """Uses what the official server from npm has."""
    reports: list[tuple[float, float | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        reports.append((progress, total))

    own = {"list_tasks", "start_task", "submit", "score"}
    tools = {tool.name for tool in (await client.list_tools()).tools if "__" not in tool.name} - own
    city = types.PromptReference(name="completable-prompt")
    await client.call_tool("trigger-long-running-operation", {"duration": 0.2, "steps": 2}, progress_callback=hear)
    templates = (await client.list_resource_templates()).resource_templates
    found: dict[str, object] = {
        "tools": tools,
        "sampling": await say(client, "trigger-sampling-request", prompt="hi", maxTokens=7),
        "elicitation": await outcome(client.call_tool("trigger-elicitation-request", {})),
        "roots": await say(client, "get-roots-list"),
        "progress": reports,
        "prompt": await outcome(client.get_prompt("args-prompt", {"city": "Rome"})),
        "prompt error": await outcome(client.get_prompt("args-prompt", {})),
        "completion": await outcome(client.complete(city, {"name": "department", "value": ""})),
        "templates": [template.uri_template for template in templates],
        "resource": await outcome(client.read_resource("demo://resource/static/document/features.md")),
        "resource error": await outcome(client.read_resource("demo://resource/dynamic/text/none")),
        "tool error": await outcome(client.call_tool("get-sum", {"a": "one", "b": 2})),
    }
    # Its subscriptions and its log are on timers, the first tick at once or after some seconds.
    subscribe = types.SubscribeRequestParams(uri="demo://resource/static/document/features.md")
    await client.session.send_request(types.SubscribeRequest(params=subscribe), types.EmptyResult)
    await say(client, "toggle-subscriber-updates")
    await say(client, "toggle-simulated-logging")
    with anyio.fail_after(40):
        await until(lambda: {"ResourceUpdatedNotification", "LoggingMessageNotification"} <= set(able.heard))
    return found


async def test_the_official_server_from_npm_loses_nothing(node: Node, task_set: Path, tmp_path: Path) -> None:
    command = [*node.command("@modelcontextprotocol/server-everything/dist/index.js"), "stdio"]
    direct, proxied = await through(command, play_everything, tmp_path, task_set)
    assert proxied == direct


async def play_files(client: Client, able: Able) -> dict[str, object]:
    """The folders that the client has take the place of those in the command line."""
    home = able.root.removeprefix("file://")
    with anyio.fail_after(40):
        # The server asks when it has begun, and nobody says when it has the answer.
        while home not in (folders := await say(client, "list_allowed_directories")):
            continue
    return {
        "folders": folders,
        "denied": await outcome(client.call_tool("read_text_file", {"path": "/etc/hostname"})),
    }


async def test_the_filesystem_server_from_npm_gets_the_folders_of_the_client(
    node: Node, task_set: Path, tmp_path: Path
) -> None:
    (tmp_path / "home").mkdir()
    command = [*node.command("@modelcontextprotocol/server-filesystem/dist/index.js"), str(task_set.resolve())]
    direct, proxied = await through(command, play_files, tmp_path, task_set)
    assert proxied == direct


async def play_time(client: Client, able: Able) -> dict[str, object]:
    """A small server with two tools."""
    when = {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}
    return {
        "converted": (await client.call_tool("convert_time", when)).is_error,
        "unknown zone": await outcome(client.call_tool("get_current_time", {"timezone": "Mars/Olympus"})),
        "unknown prompt": (await outcome(client.get_prompt("none", {})))[0],
    }


@pytest.mark.slow
async def test_the_time_server_from_pypi_loses_nothing(task_set: Path, tmp_path: Path) -> None:
    pytest.importorskip("mcp_server_time")
    command = [sys.executable, "-m", "mcp_server_time", "--local-timezone", "UTC"]
    direct, proxied = await through(command, play_time, tmp_path, task_set)
    assert proxied == direct


async def play_fast(client: Client, able: Able) -> dict[str, object]:
    """What FastMCP's servers do in a session."""
    before = [await say(client, "note", text=text) for text in ("one", "two")]
    await say(client, "learn", name="fresh")
    await until(lambda: "ToolListChangedNotification" in able.heard)
    tools = {tool.name for tool in (await client.list_tools()).tools}
    return {
        "state": before,
        "new tool": ("fresh" in tools, await say(client, "fresh")),
        "elicitation": await say(client, "ask"),
        "prompt": await outcome(client.get_prompt("greet", {"who": "Ada"})),
        "prompt error": await outcome(client.get_prompt("greet", {"who": "nobody"})),
        "missing argument": await outcome(client.get_prompt("greet", {})),
        "resource": await outcome(client.read_resource("notes://7")),
        "unknown resource": await outcome(client.read_resource("nothing://7")),
    }


@pytest.mark.slow
async def test_a_server_made_with_fastmcp_loses_nothing(task_set: Path, tmp_path: Path) -> None:
    direct, proxied = await through(FAST, play_fast, tmp_path, task_set)
    assert proxied == direct
