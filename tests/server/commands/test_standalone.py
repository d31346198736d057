"""Bundled servers run on their own: the catalog's tools, the sandbox's answers, and nothing of the benchmark."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from typer.testing import CliRunner

from m3bench.sandboxes.backends.base import SandboxSpec
from m3bench.sandboxes.backends.inprocess import InProcessBackend
from m3bench.server.commands.program import app
from m3bench.server.commands.standalone import serve_stream, tool_server
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.errors import UserError
from tests.proxy.house import Pipe
from tests.server.conftest import serving

COMMAND = [sys.executable, "-m", "m3bench.server.cli", "tools", "serve"]
CATALOG = load_catalog().ready
SUM: dict[str, Any] = {"numbers": [4, 8, 15.5]}


def entries(listed: list[Any]) -> list[dict[str, Any]]:
    """A tool list in the catalog's words."""
    shown = ("name", "description", "inputSchema", "annotations")
    raw = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listed]
    return [{key: tool[key] for key in shown} for tool in raw]


async def called(tool: str, arguments: dict[str, Any]) -> list[dict[str, Any]]:
    """The content that `m3bench tools call` shows."""
    command = ["tools", "call", tool, json.dumps(arguments), "--json", "--sandbox", "inprocess"]
    done = await anyio.to_thread.run_sync(CliRunner().invoke, app, command)
    found: list[dict[str, Any]] = json.loads(done.stdout)["result"]["content"]
    return found


def content(result: Any) -> list[dict[str, Any]]:
    return [block.model_dump(mode="json", by_alias=True, exclude_none=True) for block in result.content]


async def check(client: Client[Any]) -> None:
    """What one server answers, whatever lies between."""
    listed = entries(await client.list_tools())
    assert listed == [{**tool.wire(), "name": tool.name} for tool in CATALOG.by_name["math"].tools]
    good = await client.call_tool_mcp("sum", SUM)
    assert (content(good), good.is_error) == (await called("math/sum", SUM), False)
    wrong = await client.call_tool_mcp("sum", {"numbers": "many"})
    assert wrong.is_error
    assert "'numbers' is the string 'many'" in content(wrong)[0]["text"]
    failed = await client.call_tool_mcp("division", {"numerator": 1, "denominator": 0})
    assert content(failed) == await called("math/division", {"numerator": 1, "denominator": 0})
    assert (await client.call_tool_mcp("smu", SUM)).is_error


@pytest.mark.anyio
async def test_several_servers_list_the_catalog_and_answer_as_in_a_sandbox(tmp_path: Path) -> None:
    async with InProcessBackend() as backend:
        place = await backend.open(SandboxSpec(workspace=tmp_path))
        async with Client(tool_server(CATALOG.servers, place)) as client:
            assert entries(await client.list_tools()) == [tool.wire() for tool in CATALOG.tools]
            found = await client.call_tool_mcp("wiki__search", {"query": "lighthouse"})
            assert content(found) == await called("wiki/search", {"query": "lighthouse"})
            made = {"filepath": "book.xlsx"}
            assert not (await client.call_tool_mcp("excel__create_workbook", made)).is_error
    assert (tmp_path / "book.xlsx").is_file()


@pytest.mark.anyio
async def test_a_server_alone_answers_whatever_is_written(tmp_path: Path) -> None:
    deep: dict[str, Any] = {}
    for _ in range(250):
        deep = {"a": deep}
    pipe = Pipe()
    with anyio.fail_after(60):
        async with InProcessBackend() as backend, anyio.create_task_group() as tasks:
            place = await backend.open(SandboxSpec(workspace=tmp_path))
            tasks.start_soon(serve_stream, tool_server([CATALOG.by_name["math"]], place), pipe)
            await pipe.open()
            for line, code in ((b"hello", -32700), (b"[" * 9999, -32700), (b"[]", -32600), (b'{"id":{}}', -32600)):
                await pipe.write(line)
                assert (await pipe.read())["error"]["code"] == code
            ids: list[object] = [[1], {}]
            for id in ids:
                await pipe.say(method="notifications/cancelled", params={"requestId": id})
            for arguments in (deep, {"numbers": deep}, {"numbers": ["\ud800"]}, {"numbers": [1e999]}):
                answer = await pipe.ask(1, "tools/call", {"name": "sum", "arguments": arguments})
                assert answer["result"]["isError"]
            assert "error" in await pipe.ask(2, "prompts/get", {"name": "\ud800"})
            answer = await pipe.ask(3, "tools/call", {"name": "sum", "arguments": SUM})
            assert answer["result"]["content"][0]["text"] == "27.5"
            pipe.close()
    pipe.release()


@pytest.mark.anyio
async def test_a_server_alone_speaks_over_stdio(tmp_path: Path) -> None:
    with anyio.fail_after(60):
        transport = StdioTransport(COMMAND[0], [*COMMAND[1:], "math", "-w", str(tmp_path / "w")], env=dict(os.environ))
        async with Client(transport) as client:
            await check(client)
    assert (tmp_path / "w").is_dir()


@pytest.mark.slow
@pytest.mark.anyio
async def test_a_server_alone_speaks_over_http() -> None:
    with serving(["math"], command=COMMAND) as url, anyio.fail_after(60):
        async with Client(f"{url}/mcp") as client:
            await check(client)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_and_leaves_nothing(tmp_path: Path, stop: signal.Signals) -> None:
    info = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    message = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": info}
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen([*COMMAND, "math"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps(message).encode() + b"\n")
        server.stdin.flush()
        assert b'"math"' in server.stdout.readline()
        server.send_signal(stop)
        assert server.wait(20) == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["wikki"], "There is no server 'wikki'. Did you mean wiki"),
        (["math", "--http", "8000x"], "is not an address"),
        (["math", "--http", "0.0.0.0:0"], "use 127.0.0.1"),
        (["math", "--sandbox", "moon"], "sandbox"),
    ],
)
def test_what_cannot_be_served_is_refused(arguments: list[str], said: str) -> None:
    refused = CliRunner().invoke(app, ["tools", "serve", *arguments])
    assert isinstance(refused.exception, UserError)
    assert said in str(refused.exception)
