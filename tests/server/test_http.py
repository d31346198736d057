"""The HTTP door: who may come in, and what they are told otherwise."""

import re
import secrets
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.shared.exceptions import MCPError
from typer.testing import CliRunner

from m3bench.server.commands.program import app
from m3bench.tasks.atomic_files import write_private
from tests.server.conftest import over_http, serving

TOKEN = "s3cret-of-the-clients"
HEADERS = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory, task_set: Path) -> Iterator[str]:
    with serving(["--tasks", str(task_set), "--data", str(tmp_path_factory.mktemp("data") / "d")]) as address:
        yield address


def text(result: Any) -> str:
    return "\n".join(block.text for block in result.content if block.type == "text")


def post(address: str, **headers: str) -> httpx2.Response:
    return httpx2.post(address, json=INITIALIZE, headers={**HEADERS, **headers}, timeout=30)


def test_pages_of_other_origins_and_hosts_are_kept_out(url: str) -> None:
    assert post(f"{url}/mcp").status_code == 200
    assert post(f"{url}/mcp", origin="https://evil.example").status_code == 403
    assert post(f"{url}/mcp", host="evil.example").status_code == 421
    assert post(f"{url}/mcp", origin="http://localhost:5173").status_code == 200


def test_a_handle_that_could_be_guessed_is_refused(url: str) -> None:
    assert post(f"{url}/seat/short/mcp").status_code == 404
    assert post(f"{url}/seat/{secrets.token_urlsafe(24)}/mcp").status_code == 200


def test_a_body_over_the_limit_is_refused(url: str) -> None:
    body = b'{"jsonrpc":"2.0","id":1,"method":"ping","x":"' + b"a" * (17 * 1024 * 1024) + b'"}'
    assert httpx2.post(f"{url}/mcp", content=body, headers=HEADERS, timeout=30).status_code == 413


@pytest.mark.anyio
async def test_a_seat_may_ask_for_another_profile(url: str) -> None:
    async with over_http(f"{url}/seat/{secrets.token_urlsafe(24)}/mcp?profile=task:sum-1", "legacy") as client:
        assert {tool.name.partition("__")[0] for tool in (await client.list_tools()).tools} >= {"math", "start_task"}
        assert len((await client.list_tools()).tools) == 26
    async with over_http(f"{url}/seat/{secrets.token_urlsafe(24)}/mcp?profile=huge", "2026-07-28") as client:
        with pytest.raises(MCPError, match="There is no profile 'huge'"):
            await client.list_tools()


@pytest.mark.slow
def test_a_token_that_is_set_must_be_sent(tmp_path: Path, task_set: Path) -> None:
    arguments = ["--tasks", str(task_set), "--data", str(tmp_path / "d")]
    with serving(arguments, env={"M3BENCH_TOKEN": TOKEN}) as address:
        assert post(f"{address}/mcp").status_code == 401
        assert post(f"{address}/mcp", authorization="Bearer wrong").status_code == 401
        assert post(f"{address}/mcp", authorization=f"Bearer {TOKEN}").status_code == 200
        assert httpx2.get(f"{address}/health", timeout=30).json()["name"] == "m3bench"


@pytest.mark.slow
def test_off_loopback_only_names_and_sites_that_were_allowed_come_in(tmp_path: Path, task_set: Path) -> None:
    arguments = [
        "--tasks",
        str(task_set),
        "--data",
        str(tmp_path / "d"),
        "--http",
        "0.0.0.0:0",
        "--allow-host",
        "a.example",
    ]
    allowed = {"M3BENCH_TOKEN": TOKEN, "M3BENCH_ALLOW_ORIGIN": "https://page.example https://other.example"}
    with serving(arguments, env=allowed) as address:
        url = f"http://127.0.0.1:{address.rpartition(':')[2]}/mcp"
        bearer = f"bearer {TOKEN}"
        assert post(url, authorization=bearer).status_code == 200
        assert post(url, authorization=bearer, host="a.example").status_code == 200
        assert post(url, authorization=bearer, origin="https://other.example").status_code == 200
        assert post(url, authorization=bearer, host="evil.example").status_code == 421
        assert post(url, authorization=bearer, origin="https://evil.example").status_code == 403


@pytest.mark.slow
@pytest.mark.parametrize("option", ["--token-file", "--operator-file"])
def test_a_token_that_can_be_guessed_is_refused_at_the_start(option: str, tmp_path: Path) -> None:
    write_private(tmp_path / "token", b"short\n")
    refused = CliRunner().invoke(app, ["serve", "--http", "127.0.0.1:0", option, str(tmp_path / "token")])
    assert "token has 5 characters" in str(refused.exception)


@pytest.mark.slow
@pytest.mark.parametrize(("option", "instead"), [("--token", "--token-file"), ("--operator-token", "--operator-file")])
def test_a_token_is_no_argument(option: str, instead: str) -> None:
    refused = CliRunner().invoke(app, ["serve", "--http", "127.0.0.1:0", option, "x" * 32])
    assert (refused.exit_code, instead in refused.output, "xxx" in refused.output) == (2, True, False)


@pytest.mark.slow
def test_a_token_that_others_can_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("x" * 32)
    (tmp_path / "token").chmod(0o644)
    refused = CliRunner().invoke(app, ["serve", "--http", "127.0.0.1:0", "--token-file", str(tmp_path / "token")])
    assert "make it private (chmod 600)" in str(refused.exception)


@pytest.mark.slow
def test_families_of_a_ranked_server_are_no_arguments() -> None:
    refused = CliRunner().invoke(app, ["serve", "--ranked", "--family", "movies"])
    assert "name families in M3BENCH_FAMILY" in str(refused.exception)


@pytest.mark.slow
def test_a_port_that_is_taken_is_said_in_one_sentence() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        where = f"127.0.0.1:{taken.getsockname()[1]}"
        refused = CliRunner().invoke(app, ["serve", "--http", where])
    assert str(refused.exception) == f"Cannot listen on {where}: another program uses the port."


@pytest.mark.anyio
async def test_a_client_whose_sessions_do_not_last_is_told_how_to_go_on(url: str) -> None:
    """As LangChain's adapters are used by default: every call opens a session and ends it."""
    async with over_http(f"{url}/mcp", "legacy") as client:
        opening = text(await client.call_tool("start_task", {"task_id": "sum-1"}))
    handle = opening.rpartition("Run handle: ")[2].strip()
    said = []
    numbers = {"numbers": [4, 8, 15, 16, 23, 42]}
    for name, arguments in (("math__sum", numbers), ("submit", {"answer": "108"}), ("score", {"run": handle})):
        async with over_http(f"{url}/mcp", "legacy") as client:
            result = await client.call_tool(name, arguments)
            assert result.is_error
            said.append(text(result))
    way = {re.search(r"/seat/[\w-]{22,64}/mcp", one) is not None for one in said}
    assert way == {True}
    advised = re.search(r"/seat/[\w-]{22,64}/mcp", said[0])
    assert advised is not None
    for name, arguments in (
        ("start_task", {"task_id": "sum-1"}),
        ("math__sum", numbers),
        ("submit", {"answer": "108"}),
    ):
        async with over_http(f"{url}{advised[0]}", "legacy") as client:
            assert not (await client.call_tool(name, arguments)).is_error
    async with over_http(f"{url}{advised[0]}", "legacy") as client:
        assert "average 1.000" in text(await client.call_tool("score", {}))


@pytest.mark.anyio
async def test_a_handle_leads_to_its_run_from_another_session_while_the_run_lasts(url: str) -> None:
    async with over_http(f"{url}/mcp", "legacy") as first, over_http(f"{url}/mcp", "legacy") as second:
        handle = text(await first.call_tool("start_task", {"task_id": "sum-1"})).rpartition("Run handle: ")[2].strip()
        await first.call_tool("math__sum", {"numbers": [4, 8, 15, 16, 23, 42]})
        early = await second.call_tool("score", {"run": handle})
        assert "still running" in text(early)
        assert not (await second.call_tool("submit", {"answer": "108", "run": handle})).is_error
        assert "submitted before" in text(await second.call_tool("submit", {"answer": "109", "run": handle}))
        assert "average 1.000" in text(await second.call_tool("score", {"run": handle}))
        assert "average 1.000" in text(await first.call_tool("score", {}))
        assert "no run with that handle" in text(await second.call_tool("score", {"run": "0" * 40}))
        assert "not known here" in text(await second.call_tool("submit", {"answer": "1", "run": "0" * 40}))
