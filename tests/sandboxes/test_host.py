"""The host as any MCP client sees it, and as a hostile one would."""

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError

from m3bench.sandboxes.host import MAX_LINE_BYTES, Host
from m3bench.sandboxes.offer import load, offer
from m3bench.sandboxes.toolserver import ToolServer
from m3bench.sandboxes.workspace import Workspace
from m3bench.tasks.catalog import load_catalog

ADD = {"name": "math/add", "arguments": {"firstNumber": 1, "secondNumber": 2}}


def _command(workspace: Path, *options: str) -> list[str]:
    return ["-P", "-X", "utf8", "-m", "m3bench.sandboxes.host", "--workspace", str(workspace), *options]


def _request(number: object, method: str, params: object = None) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n"


def _talk(workspace: Path, chunks: Iterable[bytes], load: Any = load) -> list[dict[str, Any]]:
    """What a host answers to a conversation; it ends when the host has had nothing to do for a moment."""
    lines: list[bytes] = []

    async def incoming() -> AsyncIterator[bytes]:
        for chunk in chunks:
            yield chunk
            await anyio.wait_all_tasks_blocked()
        await anyio.wait_all_tasks_blocked()

    async def serve() -> None:
        with anyio.fail_after(30):
            await Host(offer(("math", "probe")), Workspace(workspace), lines.append, (), load).serve(incoming())

    anyio.run(serve)
    assert all(line.endswith(b"\n") and line.count(b"\n") == 1 for line in lines)
    return [json.loads(line) for line in lines]


@pytest.mark.anyio
async def test_the_sdk_client_lists_and_calls_over_stdio(tmp_path: Path) -> None:
    parameters = StdioServerParameters(command=sys.executable, args=_command(tmp_path, "--servers", "math"))
    with anyio.fail_after(30):
        async with Client(parameters) as client:
            assert client.server_info is not None
            assert client.server_info.name == "m3bench-host"
            listed = (await client.list_tools()).tools
            wanted = load_catalog().by_name["math"].tools
            assert [tool.name for tool in listed] == [tool.exposed for tool in wanted]
            assert [tool.input_schema for tool in listed] == [dict(tool.input_schema) for tool in wanted]
            result = await client.call_tool("math__add", {"firstNumber": 1, "secondNumber": 2})
            assert [block.model_dump()["text"] for block in result.content] == ["3"]
            result = await client.call_tool("math__add", {"firstNumber": "one"})
            assert result.is_error
            with pytest.raises(MCPError, match="Did you mean math__add"):
                await client.call_tool("math__ad", {})


def test_half_a_surrogate_pair_goes_out_as_valid_text(tmp_path: Path) -> None:
    [answer] = _talk(tmp_path, [_request(1, "tools/call", {"name": "probe/echo", "arguments": {"text": "\ud83e"}})])
    assert answer["result"]["content"][0]["text"] == "?"


def test_broken_messages_are_answered_as_such_and_do_no_harm(tmp_path: Path) -> None:
    deep = b'{"jsonrpc":"2.0","id":8,"method":"tools/call","params":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"
    answers = _talk(
        tmp_path,
        [
            b"hello\n",
            b"\xff\xfe\n",
            b"[]\n",
            b'{"id":1}\n',
            _request([1], "ping"),
            _request(2, "ping", [1]),
            _request(3, "no/such/method"),
            _request(4, "tools/call", {"name": 1}),
            _request(5, "tools/call", {"name": "math/add", "arguments": [1]}),
            _request(6, "m3bench/configure", {"servers": ["nobody"]}),
            _request(7, "m3bench/configure", {"scenes": [{"sha256": 1}]}),
            deep,
            b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[1]}}\n',
            b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":[1]}\n',
            _request("a", "tools/call", ADD),
        ],
    )
    codes = [(answer["id"], answer["error"]["code"]) for answer in answers[:-1]]
    assert codes == [
        (None, -32700), (None, -32700), (None, -32600), (None, -32600), (None, -32600), (None, -32600), (3, -32601),
        (4, -32602), (5, -32602), (6, -32602), (7, -32602), (8, -32700),
    ]  # fmt: skip
    assert answers[-1]["id"] == "a"
    assert answers[-1]["result"]["content"] == [{"type": "text", "text": "3"}]


def test_two_calls_with_the_same_id_are_both_answered(tmp_path: Path) -> None:
    answers = _talk(tmp_path, [_request(1, "tools/call", ADD) * 2])
    assert [answer["result"]["content"][0]["text"] for answer in answers] == ["3", "3"]


def test_a_call_of_50_megabytes_is_refused_unread(tmp_path: Path) -> None:
    head = b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"math/add","arguments":{"x":['
    line = head + b"[]," * 17_000_000 + b"[]]}}}\n"
    [refused, answered] = _talk(tmp_path, [line, _request(10, "tools/call", ADD)])
    assert (refused["id"], refused["m3bench"], refused["result"]["isError"]) == (9, "invalid_arguments", True)
    assert f"{len(line) - 1} bytes" in refused["result"]["content"][0]["text"]
    assert answered["id"] == 10


def test_a_line_without_end_is_dropped_as_it_comes(tmp_path: Path) -> None:
    chunk = b"x" * 2**20
    flood = [chunk] * (MAX_LINE_BYTES // len(chunk) + 2)
    dropped, answered = _talk(tmp_path, [*flood, b"\n", _request(1, "ping")])
    assert dropped["error"]["message"].endswith("dropped")
    assert answered == {"jsonrpc": "2.0", "id": 1, "result": {}}


def test_a_server_that_cannot_be_loaded_is_the_sandboxs_fault_and_its_alone(tmp_path: Path) -> None:
    def broken(server: str) -> ToolServer:
        if server == "math":
            raise ImportError("No module named 'numbers_of_old'")
        return load(server)

    failed, answered = _talk(
        tmp_path,
        [
            _request(1, "tools/call", ADD),
            _request(2, "tools/call", {"name": "probe/echo", "arguments": {"text": "x"}}),
        ],
        broken,
    )
    assert failed["error"]["code"] == -32603
    assert "'math' cannot be loaded" in failed["error"]["message"]
    assert answered["result"]["isError"] is False


def test_a_cancelled_call_is_over_when_the_host_says_it_has_settled(tmp_path: Path) -> None:
    answers = _talk(
        tmp_path,
        [
            _request(1, "tools/call", {"name": "probe/rest", "arguments": {}}),
            b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}\n',
            _request(2, "m3bench/settle", {"requestId": 1}),
            _request(3, "tools/call", {"name": "probe/resting", "arguments": {}}),
        ],
    )
    assert [answer["id"] for answer in answers] == [2, 3]
    assert answers[1]["result"]["content"][0]["text"] == '{"resting":0}'


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_the_protocol_revision_asked_for_is_spoken(tmp_path: Path, version: str) -> None:
    [answer] = _talk(tmp_path, [_request(1, "initialize", {"protocolVersion": version})])
    assert answer["result"]["protocolVersion"] == version


def test_nothing_heavy_is_imported_before_a_tool_needs_it() -> None:
    script = "import m3bench.sandboxes.host, sys; print(*sys.modules)"
    found = subprocess.run([sys.executable, "-P", "-c", script], capture_output=True, text=True, check=True)
    loaded = set(found.stdout.split())
    heavy = {"mcp", "pydantic", "numpy", "PIL", "openpyxl", "pptx", "scipy", "rapidfuzz"}
    assert not loaded & heavy
    assert not [name for name in loaded if name.startswith("m3bench.sandboxes.servers.")]


def test_a_conversation_in_a_file_is_answered_too(tmp_path: Path) -> None:
    (tmp_path / "conversation").write_bytes(_request(1, "ping") + _request(2, "tools/call", ADD))
    with (tmp_path / "conversation").open("rb") as file:
        found = subprocess.run(
            [sys.executable, *_command(tmp_path)], stdin=file, capture_output=True, check=True, timeout=30
        )
    assert [json.loads(line)["id"] for line in found.stdout.splitlines()] == [1, 2]


@pytest.mark.parametrize("tool", ["echo", "rest", "hang_thread", "spin"])
def test_the_process_ends_with_its_input_whatever_runs(tmp_path: Path, tool: str) -> None:
    arguments = {"text": "x"} if tool == "echo" else {}
    call = _request(1, "tools/call", {"name": f"probe/{tool}", "arguments": arguments})
    process = subprocess.Popen(
        [sys.executable, *_command(tmp_path, "--servers", "probe")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(call + _request(2, "ping"))
    process.stdin.flush()
    assert process.stdout.readline()
    process.communicate(timeout=30)
    assert process.returncode == 0
