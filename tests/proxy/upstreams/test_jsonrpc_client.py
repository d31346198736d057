"""Requests to a server on the other side, matched with its answers."""

import json
from typing import Any

import anyio
import pytest

from m3bench.proxy.upstreams.jsonrpc_client import JsonRpcClient, split
from m3bench.tasks.errors import UpstreamError

pytestmark = pytest.mark.anyio


class Far:
    """The other side: what it was sent, and what it told."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.told: list[tuple[str, dict[str, Any]]] = []
        self.closed = False
        self.asked = anyio.Event()
        self.peer = JsonRpcClient("far", self._send, self._notice)

    async def _send(self, line: bytes) -> None:
        if self.closed:
            raise BrokenPipeError
        self.sent.append(json.loads(line))
        self.asked.set()

    async def _notice(self, method: str, params: dict[str, Any]) -> None:
        self.told.append((method, params))

    async def answer(self, *lines: bytes) -> bytes:
        """What a request comes to when the other side writes these lines."""
        found = b""

        async def ask() -> None:
            nonlocal found
            found = await self.peer.request("tools/call", {"name": "x", "_meta": {"progressToken": "mine"}})

        with anyio.fail_after(20):
            try:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(ask)
                    await self.asked.wait()
                    for line in lines:
                        await self.peer.feed(line)
            except BaseExceptionGroup as group:
                raise group.exceptions[0] from None
        return found


@pytest.mark.parametrize(
    ("line", "result"),
    [
        (b'{"jsonrpc":"2.0","id":1,"result":{"a": 1}}', b'{"a": 1}'),
        (b'{"result":{"a": 1},"jsonrpc":"2.0","id":1}', b'{"a": 1}'),
        (b'{"id":1,"result":{"a": 1},"jsonrpc":"2.0"}', b'{"a":1}'),
    ],
)
async def test_a_result_comes_back_as_it_was_written_where_the_layout_is_known(line: bytes, result: bytes) -> None:
    far = Far()
    junk = (b"hello", b"[1]", b'{"jsonrpc":"2.0","id":99,"result":{}}', b'{"jsonrpc":"2.0","id":99,"error":{}}')
    assert await far.answer(*junk, b"[" * 9999, line) == result
    assert far.sent[0]["params"]["_meta"]["progressToken"] == 1


async def test_answers_at_the_front_of_a_chunk_are_taken_and_the_rest_is_left() -> None:
    far = Far()
    first, second = (b'{"jsonrpc":"2.0","id":%d,"result":{"a": %d}}' % (id, id) for id in (1, 2))
    note = b'{"jsonrpc":"2.0","method":"notifications/x"}'
    assert far.peer.take(first + b"\n" + second + b"\n") == b""
    assert far.peer.take(first + b"\n" + note + b"\n" + second + b"\n") == note + b"\n" + second + b"\n"
    assert far.peer.take(first + b"\n" + second[:20]) == second[:20]


async def test_an_error_keeps_its_code_and_data() -> None:
    far = Far()
    with pytest.raises(UpstreamError) as raised:
        await far.answer(b'{"jsonrpc":"2.0","id":1,"error":{"code":-5,"message":"no","data":[1]}}')
    assert (raised.value.code, raised.value.problem, raised.value.data) == (-5, "no", [1])


async def test_what_the_other_side_asks_is_answered_and_what_it_tells_is_passed_on() -> None:
    far = Far()
    await far.peer.feed(b'{"jsonrpc":"2.0","id":"p","method":"ping"}')
    await far.peer.feed(b'{"jsonrpc":"2.0","id":"r","method":"roots/list"}')
    await far.peer.feed(b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info"}}')
    await far.peer.feed(b'{"jsonrpc":"2.0","method":"notifications/message","params":[1]}')
    assert far.sent[0] == {"jsonrpc": "2.0", "id": "p", "result": {}}
    assert far.sent[1]["error"]["code"] == -32601
    assert far.told == [("notifications/message", {"level": "info"}), ("notifications/message", {})]


async def test_a_request_that_is_given_up_is_taken_back() -> None:
    far = Far()
    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(far.peer.request, "tools/call", {})
            await far.asked.wait()
            tasks.cancel_scope.cancel()
    assert far.sent[-1]["method"] == "notifications/cancelled"
    assert far.sent[-1]["params"]["requestId"] == 1


async def test_when_the_other_side_is_gone_everything_that_waits_fails() -> None:
    far = Far()
    failed: list[str] = []

    async def ask() -> None:
        with pytest.raises(UpstreamError, match="it ended"):
            await far.peer.request("tools/call", {})
        failed.append("as it should")

    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await far.asked.wait()
            far.peer.close(UpstreamError("far", "it ended"))
            await ask()
    assert len(failed) == 2


async def test_a_connection_that_breaks_is_said_to_be_closed() -> None:
    far = Far()
    far.closed = True
    with pytest.raises(UpstreamError, match="the connection is closed"):
        await far.peer.notify("notifications/initialized")


@pytest.mark.parametrize("line", [b'{"jsonrpc":"2.0","id":1,"result":{}', b'{"result":{}}', b"{}", b""])
def test_other_lines_are_not_split(line: bytes) -> None:
    assert split(line) is None or line.endswith(b"}")
