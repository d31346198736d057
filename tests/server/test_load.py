"""Under load every call is recorded once, in the right run, and answered with the tool's own bytes."""

import json
import secrets
from pathlib import Path

import anyio
import httpx2
import pytest

from m3bench.sandboxes.servers.math import number_text
from m3bench.server.store.sqlite import SqliteStore
from tests.proxy.web import events
from tests.server.hosts import Hosts

SEATS = {"process": 32, "docker": 8}
"""A container costs a second to start here."""

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

HEADERS = {
    "accept": "application/json, text/event-stream",
    "content-type": "application/json",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
}
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


async def post(client: httpx2.AsyncClient, url: str, id: int, name: str, arguments: dict[str, object]) -> str:
    """The text of a call's answer."""
    params = {"name": name, "arguments": arguments, "_meta": ENVELOPE}
    body = {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}
    response = await client.post(url, json=body, headers={**HEADERS, "mcp-name": name})
    assert response.status_code == 200, response.text
    text: str = events(response)[-1]["result"]["content"][0]["text"]
    return text


@pytest.mark.parametrize("share", [100, pytest.param(300, marks=pytest.mark.night)])
async def test_thousands_of_calls_from_many_seats_are_all_on_record(
    listening: str, data: Path, sandbox: str, hosts: Hosts, share: int
) -> None:
    seats = SEATS[sandbox]

    async def sit(number: int) -> None:
        url = f"{listening}/seat/{secrets.token_urlsafe(24)}/mcp"
        async with httpx2.AsyncClient(timeout=60) as client:
            await post(client, url, 0, "start_task", {"task_id": "sum-1"})
            for call in range(share):
                pair: dict[str, object] = {"firstNumber": number * 100_000, "secondNumber": call / 7}
                expected = number_text(number * 100_000 + call / 7)
                assert await post(client, url, call + 1, "math__add", pair) == expected
            await post(client, url, share + 1, "submit", {"answer": str(number)})

    with anyio.fail_after(600):
        async with anyio.create_task_group() as tasks:
            for number in range(seats):
                tasks.start_soon(sit, number)
    assert not hosts.alive()
    store = SqliteStore(data)
    try:
        runs = store.runs()
        assert len(runs) == seats
        for run in runs:
            calls = [call for call in store.calls(run.id) if call.tool == "math/add"]
            seconds = [call.arguments["secondNumber"] for call in calls]
            assert seconds == [number / 7 for number in range(share)]
            assert {call.arguments["firstNumber"] for call in calls} == {int(run.answer or -1) * 100_000}
            assert all(call.outcome == "success" and call.sent_ns is not None for call in calls)
            assert [json.loads(call.request)["id"] for call in calls] == list(range(1, share + 1))
    finally:
        store.close()


@pytest.fixture
def arguments(task_set: Path, data: Path, sandbox: str) -> list[str]:
    return ["--tasks", str(task_set), "--data", str(data), "--max-calls", "1000", "--sandbox", sandbox]
