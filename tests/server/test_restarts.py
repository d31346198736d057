"""A server is killed or stopped in the middle of a task and started again: a client by handle goes on and scores 1."""

import os
import re
import secrets
import signal
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client

from m3bench.proxy.protocol.tool_calls import CUT_OFF
from m3bench.server.store.records import CallRecord, RunRecord
from m3bench.server.store.sqlite import SqliteStore
from tests.server.conftest import SERVE, over_http
from tests.server.hosts import Hosts
from tests.server.test_http import INITIALIZE
from tests.waiting import eventually

pytestmark = [pytest.mark.anyio, pytest.mark.kills]

NUMBERS = [4, 8, 15, 16, 23, 42]


class Server:
    """A server at one address, which may come and go."""

    def __init__(self, arguments: list[str]) -> None:
        self._arguments = arguments
        self._port = "0"
        self.start()

    def start(self, *more: str) -> None:
        """Start it, at the address that it had before."""
        listen = ["--http", f"127.0.0.1:{self._port}"]
        self.process = subprocess.Popen(
            [*SERVE, *listen, *self._arguments, *more], stderr=subprocess.PIPE, text=True, env=dict(os.environ)
        )
        assert self.process.stderr is not None
        line = self.process.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)(?=/mcp)", line)
        assert found is not None, line + self.process.stderr.read()
        self.url, self._port = found[0], found[1]

    def end(self, how: signal.Signals) -> None:
        """Have it end, and wait until it did."""
        self.process.send_signal(how)
        self.process.communicate(timeout=120)


@pytest.fixture
def server(arguments: list[str]) -> Iterator[Server]:
    started = Server(arguments)
    yield started
    started.end(signal.SIGTERM)


@pytest.mark.all_sample(3)
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
async def test_a_client_goes_on_after_two_restarts_and_scores_one(
    server: Server, how: signal.Signals, mode: str
) -> None:
    url = f"{server.url}/seat/{secrets.token_urlsafe(24)}/mcp"
    async with over_http(url, mode) as client:
        await _told(client, "start_task", task_id="survey-1")
        async with anyio.create_task_group() as together:
            together.start_soon(_told, client, "math__median", NUMBERS)
            together.start_soon(_told, client, "math__mean", NUMBERS)
    for _ in range(2):
        server.end(how)
        server.start()
    async with over_http(url, mode) as client:
        assert await client.call_tool("math__subtract", {"minuend": 18, "subtrahend": 15.5})
        await _told(client, "submit", answer="They differ by 2.5.")
        card = (await client.call_tool("score", {})).meta["m3bench/card"]
    assert card is not None
    assert card["success"] is True
    assert card["ranges"]["average"][1] == 1.0, "whether the first two overlapped is the machine's doing"
    assert card["excluded"] == {}


async def test_a_client_that_keeps_no_session_does_not_even_connect_again(server: Server) -> None:
    async with over_http(f"{server.url}/seat/{secrets.token_urlsafe(24)}/mcp", "2026-07-28") as client:
        await _told(client, "start_task", task_id="sum-1")
        server.end(signal.SIGKILL)
        server.start()
        assert await _told(client, "math__sum", NUMBERS) == "108"
        await _told(client, "submit", answer="108")
        assert _average(await client.call_tool("score", {})) == 1.0


@pytest.mark.all_sample(2)
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
async def test_a_call_that_was_under_way_is_charged_to_nobody(
    server: Server, hosts: Hosts, data: Path, how: signal.Signals
) -> None:
    url = f"{server.url}/seat/{secrets.token_urlsafe(24)}/mcp"
    async with over_http(url, "legacy") as client:
        await _told(client, "start_task", task_id="survey-1")
        await _told(client, "math__median", NUMBERS)
    with ThreadPoolExecutor(1) as pool:
        hosts.pause()
        lost = pool.submit(_post_mean, url)
        eventually(lambda: _under_way(data) == 1, "the call is under way")
        server.end(how)
        with pytest.raises(httpx2.TransportError):
            lost.result(60)
    server.start()
    async with over_http(url, "2026-07-28") as client:
        await _told(client, "math__mean", NUMBERS)
        await _told(client, "math__subtract", minuend=18, subtrahend=15.5)
        await _told(client, "submit", answer="They differ by 2.5.")
        card = (await client.call_tool("score", {})).meta["m3bench/card"]
    assert card is not None
    assert card["excluded"] == {}
    assert card.get("void") is None
    assert card["success"] is True
    assert card["ranges"]["average"][1] == 1.0
    (run,) = _runs(data)
    cut = [call for call in _calls(data, run) if call.error is not None]
    assert [(call.tool, call.outcome, call.owner, call.error) for call in cut] == [
        ("math/mean", "failed", "proxy", CUT_OFF)
    ]


async def test_what_waits_for_its_client_stays_and_the_rest_goes(server: Server, data: Path, hosts: Hosts) -> None:
    url = f"{server.url}/seat/{secrets.token_urlsafe(24)}/mcp"
    async with over_http(url, "2026-07-28") as client:
        await _told(client, "start_task", task_id="sum-1")
        await _told(client, "math__sum", NUMBERS)
    async with over_http(f"{server.url}/mcp", "legacy") as client:
        await _told(client, "start_task", task_id="sum-1")
        await _told(client, "math__sum", NUMBERS)
        server.end(signal.SIGKILL)
    assert len(list(data.glob("workspaces/*/run-*"))) == 2
    server.start()
    eventually(lambda: len(list(data.glob("workspaces/*/run-*"))) == 1, "the workspace of the session is gone", 30)
    eventually(lambda: not hosts.alive(), "no host is left", 30)
    assert sorted(run.state for run in _runs(data)) == ["abandoned", "working"]
    async with over_http(url, "2026-07-28") as client:
        await _told(client, "submit", answer="108")
    assert list(data.glob("workspaces/*/run-*")) == []


async def _told(client: Client, tool: str, numbers: list[int] | None = None, **arguments: Any) -> str:
    result = await client.call_tool(tool, {"numbers": numbers} if numbers is not None else arguments)
    assert not result.is_error, result
    return "\n".join(block.text for block in result.content if block.type == "text")


def _post_mean(url: str) -> None:
    """A call by hand: the SDK's client falls apart with its connection."""
    headers = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
    opened = httpx2.post(url, json=INITIALIZE, headers=headers, timeout=30)
    session = {**headers, "mcp-session-id": opened.headers["mcp-session-id"]}
    initialized = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    httpx2.post(url, json=initialized, headers=session, timeout=30)
    params = {"name": "math__mean", "arguments": {"numbers": NUMBERS}}
    httpx2.post(
        url, json={"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}, headers=session, timeout=60
    ).read()


def _average(result: Any) -> float:
    return float(result.meta["m3bench/card"]["metrics"]["average"])


def _runs(data: Path) -> list[RunRecord]:
    store = SqliteStore(data)
    try:
        return store.runs()
    finally:
        store.close()


def _calls(data: Path, run: RunRecord) -> list[CallRecord]:
    store = SqliteStore(data)
    try:
        return store.calls(run.id)
    finally:
        store.close()


def _under_way(data: Path) -> int:
    return sum(call.outcome is None for run in _runs(data) for call in _calls(data, run))
