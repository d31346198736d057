"""The link against a host that is a few lines of the test itself."""

import json
from collections.abc import Callable
from typing import Any

import anyio
import pytest

from m3bench.sandboxes.link import HostLink
from m3bench.sandboxes.wire import encode, encode_reply, error
from m3bench.tasks.errors import SandboxError, UnknownToolError
from m3bench.tasks.outcome import Reply

pytestmark = pytest.mark.anyio


class FakeHost:
    """The far end of a link: keeps what is sent, says what the test says."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.link = HostLink(self.lines.append)
        self.say = self.link.feed

    @property
    def messages(self) -> list[Any]:
        return [json.loads(line) for line in self.lines]


def connected() -> tuple[HostLink, FakeHost]:
    host = FakeHost()
    return host.link, host


async def _replies(link: HostLink, host: FakeHost, answer: Callable[[FakeHost], None]) -> Reply:
    """Send one call, let the host answer, give what comes of it."""
    pending = link.call("math/add", b"{}")
    answer(host)
    with anyio.fail_after(60):
        return await pending.reply()


async def test_arguments_and_results_pass_byte_for_byte() -> None:
    arguments = b'{ "b":1 , "a" : 1e0, "a":2, "\\u00e9": "\xc3\xa9" }'
    result = b'{ "content": [ ], "x":{"m3bench":"}"}, "isError" :false}'
    link, host = connected()
    reply = await _replies(link, host, lambda host: host.say(encode_reply(1, Reply("success", result))))
    assert reply == Reply("success", result)
    link.call("math/add", arguments)
    assert b'"arguments":' + arguments + b"}}\n" in host.lines[1]


async def test_arguments_over_several_lines_become_one() -> None:
    link, host = connected()
    link.call("math/add", b'{\n "a":\n 1\n}')
    assert host.lines[0].count(b"\n") == 1
    assert host.messages[0]["params"] == {"name": "math/add", "arguments": {"a": 1}}


async def test_replies_find_their_calls_in_any_order_and_in_any_pieces() -> None:
    link, host = connected()
    calls = [link.call("math/add", b"{}") for _ in range(20)]
    data = b"".join(encode_reply(number, Reply("success", b'{"n":%d}' % number)) for number in range(20, 0, -1))
    for start in range(0, len(data), 7):
        host.say(data[start : start + 7])
    assert [(await call.reply()).result for call in calls] == [b'{"n":%d}' % number for number in range(1, 21)]


async def test_lines_that_are_no_answers_are_passed_over() -> None:
    def answer(host: FakeHost) -> None:
        host.say(b'hello\n\n[]\n"x"\n{"id":[1]}\n\xff\xfe\n{"jsonrpc":"2.0","id":77,"result":{}}\n')
        host.say(encode_reply(99, Reply("success", b"{}")) + encode_reply(1, Reply("success", b'{"mine":1}')))

    link, host = connected()
    assert (await _replies(link, host, answer)).result == b'{"mine":1}'


async def test_an_unknown_tool_is_an_error_with_the_nearest_names() -> None:
    problem = encode(error(1, -32602, "Unknown tool", {"nearest": ["math/add"]}))
    link, host = connected()
    with pytest.raises(UnknownToolError) as caught:
        await _replies(link, host, lambda host: host.say(problem))
    assert (caught.value.name, caught.value.nearest) == ("math/add", ("math/add",))


async def test_a_host_that_cannot_load_a_server_is_a_broken_sandbox() -> None:
    link, host = connected()
    with pytest.raises(SandboxError, match="cannot be loaded"):
        await _replies(link, host, lambda host: host.say(encode(error(1, -32603, "Server cannot be loaded"))))


async def test_arguments_the_host_cannot_read_are_refused_as_a_result() -> None:
    link, host = connected()
    reply = await _replies(link, host, lambda host: host.say(encode(error(1, -32700, "Not JSON: NaN"))))
    assert reply.outcome == "invalid_arguments"
    assert json.loads(reply.result) == {
        "content": [{"type": "text", "text": "Invalid arguments for tool math/add: Not JSON: NaN"}],
        "isError": True,
    }


async def test_the_end_of_a_host_fails_what_waits_and_what_comes_later() -> None:
    failed: list[str] = []

    async def call(link: HostLink) -> None:
        with pytest.raises(SandboxError) as caught:
            await link.call("math/add", b"{}").reply()
        failed.append(str(caught.value))

    link, _host = connected()
    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(call, link)
        await anyio.wait_all_tasks_blocked()
        link.fail(SandboxError("It ended."))
        link.fail(SandboxError("Something later."))
    await call(link)
    assert failed == ["It ended."] * 4
    assert link.broken


async def test_a_cancelled_call_returns_at_once_and_tells_the_host() -> None:
    link, host = connected()
    with anyio.move_on_after(0):
        await link.call("math/add", b"{}").reply()
    await anyio.wait_all_tasks_blocked()
    assert host.messages[1] == {
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": 1},
    }
    host.say(encode_reply(1, Reply("success", b"{}")))
    assert (await _replies(link, host, lambda host: host.say(encode_reply(2, Reply("success", b"{}"))))).result == b"{}"


async def test_drained_waits_for_the_last_reply() -> None:
    link, host = connected()
    order: list[str] = []

    async def wait() -> None:
        await link.drained()
        order.append("drained")

    async def call() -> None:
        await link.call("math/add", b"{}").reply()
        order.append("answered")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(call)
        await anyio.wait_all_tasks_blocked()
        tasks.start_soon(wait)
        await anyio.wait_all_tasks_blocked()
        assert order == []
        host.say(encode_reply(1, Reply("success", b"{}")))
    assert order == ["answered", "drained"]
