"""Servers that others wrote, behind m3bench: results as they gave them, recorded, and given again without them."""

import json
import subprocess
import sys
from base64 import b64decode
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from m3bench.proxy.upstreams.jsonrpc_client import split
from m3bench.server.store.sqlite import SqliteStore
from tests.clients.node import Node
from tests.server.conftest import SERVE
from tests.sets import PICTURE

NOTE = "Grüße, 世界\n"

Request = tuple[str, dict[str, Any]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the filesystem server may read."""
    path = tmp_path_factory.mktemp("files").resolve()
    (path / "note.txt").write_text(NOTE, "utf-8")
    (path / "dot.png").write_bytes(PICTURE)
    return path


@pytest.fixture(scope="module")
def commands(node: Node, folder: Path) -> dict[str, list[str]]:
    """How each server is started."""
    packages = "@modelcontextprotocol/server-{}/dist/index.js"
    return {
        "everything": [*node.command(packages.format("everything")), "stdio"],
        "filesystem": [*node.command(packages.format("filesystem")), str(folder)],
        "time": [sys.executable, "-m", "mcp_server_time", "--local-timezone", "UTC"],
    }


@pytest.fixture
def servers(commands: dict[str, list[str]], tmp_path: Path) -> Path:
    """The servers in the form that clients know."""
    path = tmp_path / "servers.json"
    entries = {name: {"command": command, "args": rest} for name, (command, *rest) in commands.items()}
    path.write_text(json.dumps({"mcpServers": entries}))
    return path


def steady(folder: Path) -> dict[str, list[Request]]:
    """Calls to servers that have one answer each."""
    return {
        "everything": [
            ("echo", {"message": "one"}),
            ("get-sum", {"a": 1.5, "b": 2}),
            ("get-tiny-image", {}),
            ("get-structured-content", {"location": "Chicago"}),
        ],
        "filesystem": [
            ("read_text_file", {"path": str(folder / "note.txt")}),
            ("read_media_file", {"path": str(folder / "dot.png")}),
            ("list_directory", {"path": str(folder)}),
            ("read_text_file", {"path": str(folder.parent / "secret.txt")}),
        ],
    }


CLOCKS: list[Request] = [
    ("everything__get-resource-reference", {"resourceType": "Text", "resourceId": 1}),
    ("time__get_current_time", {"timezone": "Asia/Tokyo"}),
    ("time__get_current_time", {"timezone": "Mars/Olympus"}),
]
"""Calls whose answers tell the time."""


def exposed(calls: dict[str, list[Request]]) -> list[Request]:
    """The calls by the names that clients of m3bench see."""
    return [(f"{server}__{tool}", given) for server, made in calls.items() for tool, given in made]


def speak(command: list[str], requests: list[Request]) -> list[bytes]:
    """The raw answers to a tool list and to calls, one after the other, in lines on standard output."""
    about = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdin is not None
    assert process.stdout is not None
    lines = []
    try:
        for id, (method, params) in enumerate(
            [
                ("initialize", about),
                ("notifications/initialized", {}),
                ("tools/list", {}),
                *(("tools/call", {"name": name, "arguments": arguments}) for name, arguments in requests),
            ]
        ):
            message: dict[str, object] = {"jsonrpc": "2.0", "method": method, "params": params}
            if method != "notifications/initialized":
                message["id"] = id
            process.stdin.write(json.dumps(message).encode() + b"\n")
            process.stdin.flush()
            while "id" in message:
                line = process.stdout.readline()
                assert line, f"the server went away at {method}"
                if json.loads(line).get("id") == id:
                    lines.append(line)
                    break
    finally:
        process.stdin.close()
        process.wait(timeout=30)
        process.stdout.close()
    return lines[1:]


def results(lines: list[bytes]) -> list[bytes | None]:
    """The results as the server wrote them; None for an error."""
    return [found[1] if (found := split(line)) is not None else None for line in lines]


def test_results_of_real_servers_come_as_they_gave_them(
    commands: dict[str, list[str]], servers: Path, folder: Path, tmp_path: Path
) -> None:
    calls = steady(folder)
    command = [*SERVE, "--servers", str(servers), "--data", str(tmp_path / "data")]
    through = speak(command, exposed(calls))
    direct = [line for server, made in calls.items() for line in speak(commands[server], made)[1:]]
    assert [split(line)[1] for line in through[1:]] == [split(line)[1] for line in direct]


def test_real_servers_are_recorded_and_replayed_when_they_are_gone(servers: Path, folder: Path, tmp_path: Path) -> None:
    tape = tmp_path / "tape.json"
    calls = [*exposed(steady(folder)), *CLOCKS]
    live = speak([*SERVE, "--servers", str(servers), "--record", str(tape), "--data", str(tmp_path / "live")], calls)
    never = ("everything__echo", {"message": "two"})
    again = speak([*SERVE, "--replay", str(tape), "--data", str(tmp_path / "again")], [*calls, never])
    assert again[:-1] == live
    assert "no answer to everything/echo" in json.loads(again[-1])["result"]["content"][0]["text"]
    said = [json.loads(line)["result"]["content"] for line in live[1:]]
    assert said[0] == [{"type": "text", "text": "Echo: one"}]
    assert [block["type"] for block in said[2]] == ["text", "image", "text"]
    assert said[4][0]["text"] == NOTE
    assert b64decode(said[5][0]["data"]) == PICTURE
    assert "Access denied" in said[7][0]["text"]
    assert "Mars/Olympus" in said[-1][0]["text"]


@pytest.mark.anyio
async def test_calls_to_real_servers_are_on_record_in_their_run(servers: Path, task_set: Path, tmp_path: Path) -> None:
    arguments = [*SERVE[1:], "--servers", str(servers), "--tasks", str(task_set), "--data", str(tmp_path / "data")]
    heard: list[tuple[float, float | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total))

    with anyio.fail_after(60):
        async with Client(
            stdio_client(StdioServerParameters(command=SERVE[0], args=arguments)), mode="legacy"
        ) as client:
            await client.call_tool("start_task", {"task_id": "sum-1"})
            await client.call_tool("everything__echo", {"message": "hello"})
            slow = {"duration": 0.2, "steps": 2}
            await client.call_tool("everything__trigger-long-running-operation", slow, progress_callback=hear)
            prompt = await client.get_prompt("args-prompt", {"city": "Rome"})
            assert "Rome" in prompt.messages[0].content.text
            await client.call_tool("submit", {"answer": "108"})
    assert heard == [(1, 2), (2, 2)]
    store = SqliteStore(tmp_path / "data")
    try:
        (run,) = store.runs()
        assert [(call.tool, call.outcome) for call in store.calls(run.id)] == [
            ("everything/echo", "success"),
            ("everything/trigger-long-running-operation", "success"),
            ("submit", "success"),
        ]
        assert set(run.manifest["upstream"]) == {"everything", "filesystem", "time"}
    finally:
        store.close()


@pytest.mark.parametrize("shown", [True, False], ids=["with structured content", "content only"])
def test_a_client_that_checks_output_schemas_is_content(
    node: Node, servers: Path, folder: Path, tmp_path: Path, shown: bool
) -> None:
    command = [*SERVE, "--servers", str(servers), "--data", str(tmp_path / "data")]
    path = json.dumps({"path": str(folder / "note.txt")})
    done = node.run("call.mjs", "filesystem__read_text_file", path, *command, *([] if shown else ["--content-only"]))
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["content"][0]["text"] == NOTE
    assert ("structuredContent" in found) is shown
