"""Clients that others wrote run a task from start to score, over stdio and HTTP, in old and new revisions."""

import json
import os
import secrets
import subprocess
from base64 import b64decode
from io import BytesIO
from pathlib import Path
from typing import Any

import anyio
import pytest
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from fastmcp.exceptions import ToolError
from mcp.shared.exceptions import MCPError
from PIL import Image

from m3bench.tasks.catalog import load_catalog
from tests.clients.node import Node
from tests.pictures import assert_same_bytes
from tests.server.conftest import SERVE
from tests.sets import PICTURE

NUMBERS = [4, 8, 15, 16, 23, 42]
INSPECTOR = "@modelcontextprotocol/inspector/clients/launcher/build/index.js"

OWN = ["list_tasks", "start_task", "submit", "score"]


@pytest.fixture
def stdio(task_set: Path, tmp_path: Path) -> list[str]:
    """The command of a server of one's own."""
    return [*SERVE, "--tasks", str(task_set), "--data", str(tmp_path / "data")]


@pytest.fixture
def seat(listening: str) -> str:
    """The address of a seat of one's own."""
    return f"{listening}/seat/{secrets.token_urlsafe(24)}/mcp"


def check(report: dict[str, Any]) -> None:
    """What every client must have seen."""
    assert report["tools"] == [*OWN, *(tool.exposed for tool in load_catalog().ready.tools)]
    assert "the middle and the average" in report["opening"]
    assert "./media/note.png" in report["opening"]
    (image,) = report["images"]
    assert image["mimeType"] == "image/png"
    with Image.open(BytesIO(PICTURE)) as sent, Image.open(BytesIO(b64decode(image["data"]))) as shown:
        above = shown.convert("RGB").crop((0, 0, *sent.size))
        assert_same_bytes(above.tobytes(), sent.convert("RGB").tobytes(), "the picture above its mark")
    assert report["results"] == ["15.5", "18", "2.5"]
    assert "Submitted and sealed" in report["submitted"]
    assert "**solved** (1 of 1 checks)" in report["card"]
    assert report["metrics"]["average"] == 1
    if "refused" in report:  # the Inspector looks a tool up before it calls it
        assert "Did you mean math__sum" in report["refused"]


def told(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def test_the_typescript_sdk_1_over_stdio(node: Node, stdio: list[str]) -> None:
    check(told(node.run("sdk1.mjs", *stdio)))


def test_the_typescript_sdk_1_over_http(node: Node, listening: str) -> None:
    check(told(node.run("sdk1.mjs", f"{listening}/mcp")))


@pytest.mark.parametrize("revision", ["legacy", "2026-07-28"])
def test_the_typescript_client_2_over_stdio(node: Node, stdio: list[str], revision: str) -> None:
    check(told(node.run("sdk2.mjs", revision, *stdio)))


@pytest.mark.parametrize("revision", ["legacy", "auto"])
def test_the_typescript_client_2_over_http(node: Node, listening: str, revision: str) -> None:
    check(told(node.run("sdk2.mjs", revision, f"{listening}/mcp")))


@pytest.mark.parametrize("revision", ["legacy", "2026-07-28"])
def test_the_typescript_client_2_on_a_seat(node: Node, seat: str, revision: str) -> None:
    check(told(node.run("sdk2.mjs", revision, seat)))


@pytest.mark.slow
@pytest.mark.anyio
@pytest.mark.parametrize("way", ["stdio", "http", "seat"])
async def test_the_fastmcp_client(request: pytest.FixtureRequest, way: str) -> None:
    if way == "stdio":
        command, *arguments = request.getfixturevalue("stdio")
        target: Any = StdioTransport(command, arguments, keep_alive=False)
    else:
        url = request.getfixturevalue("listening" if way == "http" else "seat")
        target = f"{url}/mcp" if way == "http" else url
    with anyio.fail_after(60):
        async with Client(target) as client:
            check(await converse(client))


async def converse(client: Client[Any]) -> dict[str, Any]:
    """The task of `conversation.mjs`."""
    tools = await client.list_tools()
    opening = await client.call_tool("start_task", {"task_id": "survey-1"})
    texts = ["", ""]

    async def call(index: int, name: str) -> None:
        texts[index] = words(await client.call_tool(name, {"numbers": NUMBERS}))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(call, 0, "math__median")
        tasks.start_soon(call, 1, "math__mean")
    difference = words(await client.call_tool("math__subtract", {"minuend": 18, "subtrahend": 15.5}))
    submitted = words(await client.call_tool("submit", {"answer": "They differ by 2.5."}))
    card = await client.call_tool("score", {})
    with pytest.raises((MCPError, ToolError)) as refused:
        await client.call_tool("math__summ", {})
    return {
        "tools": [tool.name for tool in tools],
        "opening": words(opening),
        "images": [
            {"data": block.data, "mimeType": block.mime_type} for block in opening.content if block.type == "image"
        ],
        "results": [*texts, difference],
        "submitted": submitted,
        "card": words(card),
        "metrics": card.meta["m3bench/card"]["metrics"],
        "refused": str(refused.value),
    }


def words(result: Any) -> str:
    return "\n".join(block.text for block in result.content if block.type == "text")


class Inspector:
    """MCP Inspector's command line, a process per request."""

    def __init__(self, node: Node, target: list[str], home: Path, *, modern: bool = False) -> None:
        self._begin = [*node.command(INSPECTOR), "--cli", "--format", "json"]
        self._begin += ["--protocol-era", "modern" if modern else "legacy"]
        self._target = ["--", *target]
        self._env = {**os.environ, "MCP_STORAGE_DIR": str(home)}

    def start(self, method: str, *options: str) -> subprocess.Popen[str]:
        """Make a request, and go on."""
        command = [*self._begin, "--method", method, *options, *self._target]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self._env)

    def start_call(self, tool: str, **arguments: Any) -> subprocess.Popen[str]:
        """Call a tool, and go on."""
        return self.start("tools/call", "--tool-name", tool, "--tool-args-json", json.dumps(arguments))

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool and wait for its result."""
        return result(self.start_call(tool, **arguments))


def result(process: subprocess.Popen[str]) -> dict[str, Any]:
    output, problems = process.communicate(timeout=120)
    assert process.returncode == 0, problems
    found: dict[str, Any] = json.loads(output)["result"]
    return found


def lines(found: dict[str, Any]) -> str:
    return "\n".join(block["text"] for block in found["content"] if block["type"] == "text")


@pytest.mark.all_sample(1)
@pytest.mark.parametrize("modern", [False, True], ids=["legacy", "modern"])
def test_the_inspector_runs_a_task_on_a_seat(node: Node, seat: str, tmp_path: Path, modern: bool) -> None:
    inspector = Inspector(node, [seat], tmp_path, modern=modern)
    tools = result(inspector.start("tools/list", "--strict"))["tools"]
    opening = inspector.call("start_task", task_id="survey-1")
    parallel = [inspector.start_call(name, numbers=NUMBERS) for name in ("math__median", "math__mean")]
    texts = [lines(result(process)) for process in parallel]
    difference = lines(inspector.call("math__subtract", minuend=18, subtrahend=15.5))
    submitted = lines(inspector.call("submit", answer="They differ by 2.5."))
    card = inspector.call("score")
    check(
        {
            "tools": [tool["name"] for tool in tools],
            "opening": lines(opening),
            "images": [block for block in opening["content"] if block["type"] == "image"],
            "results": [*texts, difference],
            "submitted": submitted,
            "card": lines(card),
            "metrics": {"average": best(card["_meta"]["m3bench/card"])},
        }
    )


def best(card: dict[str, Any]) -> float:
    """What calls get that two processes were to send together: on a busy machine one of them may come late."""
    average = card["metrics"]["average"]
    return float(card["ranges"].get("average", (average, average))[1])


def test_the_inspector_over_stdio(node: Node, stdio: list[str], tmp_path: Path) -> None:
    inspector = Inspector(node, stdio, tmp_path)
    tools = result(inspector.start("tools/list", "--strict"))["tools"]
    assert [tool["name"] for tool in tools] == [*OWN, *(tool.exposed for tool in load_catalog().ready.tools)]
    opening = inspector.call("start_task", task_id="sum-1")
    assert "# Task sum-1" in lines(opening)
    assert [block["type"] for block in opening["content"]] == ["text", "image"]
