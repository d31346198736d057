"""One client on a stream of lines: what it gets for whatever it writes."""

import json
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from m3bench.proxy.transports import stdio
from tests.examples import examples
from tests.proxy.house import MODERN, RAW, SUM, House, Pipe, connected, modern
from tests.proxy.junk import JUNK

pytestmark = pytest.mark.anyio

CODES = {"parse": -32700, "invalid": -32600, "params": -32602}


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
async def test_a_result_reaches_the_client_byte_for_byte(revision: str) -> None:
    house = House()
    async with connected(house, revision) as pipe:
        for id in (1, "a", "é\ud800"):
            await pipe.say(id=id, method="tools/call", params=SUM)
            assert await pipe.line() == b'{"jsonrpc":"2.0","id":%b,"result":%b}\n' % (json.dumps(id).encode(), RAW)
    request = house.record.requests[0][0]
    assert (request.caller.revision, request.caller.client) == (revision, "tester 1")
    assert json.loads(request.raw)["params"] == SUM


async def test_ids_may_repeat_begin_anew_and_have_any_form() -> None:
    ids = [7, 7, "7", "", "5b2b0a3e-6f3b-4d6e-9f43-3c1d1c0a5b11", 0, -3, 2**63, 1, 1]
    house = House()
    async with connected(house) as pipe:
        for id in ids:
            await pipe.say(id=id, method="tools/call", params=SUM)
        answered = [(await pipe.read())["id"] for _ in ids]
    assert sorted(map(json.dumps, answered)) == sorted(map(json.dumps, ids))
    assert len(house.record.requests) == len(ids)


async def test_the_newest_revision_gets_its_envelope_around_the_same_bytes() -> None:
    async with connected(House(), None) as pipe:
        for id in (1, 2):
            await pipe.say(id=id, method="tools/call", params=modern(SUM))
            line = await pipe.line()
        assert line.endswith(RAW[1:] + b"}\n")
        result = json.loads(line)["result"]
        assert result["resultType"] == "complete"
        assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "m3bench"
        far = await pipe.ask(3, "tools/call", modern({"name": "far__tool", "arguments": {"a": 1}}))
        assert far["method"] == "notifications/progress"
        far = await pipe.read()
        assert far["result"]["_meta"]["from"] == "far"
        empty = await pipe.ask(4, "tools/call", modern({"name": "far__empty"}))
        assert empty["result"]["resultType"] == "complete"
        listed = await pipe.ask(5, "tools/list", modern())
        assert listed["result"]["ttlMs"] > 0
        late = await pipe.ask(6, "initialize", {"protocolVersion": MODERN, "capabilities": {}, "clientInfo": {}})
        assert "error" in late


async def test_an_error_goes_out_with_its_data() -> None:
    async with connected(House()) as pipe:
        answer = await pipe.ask(1, "tools/call", {"name": "far__error"})
        assert answer["error"] == {"code": -32001, "message": "gone", "data": {"why": "far"}}


async def test_notifications_of_a_call_come_before_its_answer() -> None:
    async with connected(House()) as pipe:
        await pipe.say(id=1, method="tools/call", params={"name": "far__tool", "arguments": {}})
        methods = [(await pipe.read()).get("method") for _ in range(3)]
        assert methods == ["notifications/progress", "notifications/message", None]
    async with connected(House(), None) as pipe:
        await pipe.ask(1, "tools/list", modern())
        await pipe.say(id=2, method="tools/call", params=modern({"name": "far__tool", "arguments": {}}))
        # Log messages must be asked for in the newest revision.
        assert [(await pipe.read()).get("method") for _ in range(2)] == ["notifications/progress", None]


async def test_an_answer_that_left_from_the_record_is_not_sent_again_and_left_before_the_next_call_came() -> None:
    house = House()
    async with connected(house) as pipe:
        pipe.at_once = True
        for id in (1, 2):
            await pipe.say(id=id, method="tools/call", params=SUM)
            assert await pipe.line() == b'{"jsonrpc":"2.0","id":%d,"result":%b}\n' % (id, RAW)
        error = await pipe.ask(3, "tools/call", {"name": "far__error"})
        assert error["error"]["message"] == "gone"
        pipe.at_once = False
        assert (await pipe.ask(4, "tools/call", SUM))["id"] == 4
    received = [request.received_ns for request, _, _ in house.record.requests]
    left = house.record.left_ns
    assert sorted([*received, *left]) == [time for pair in zip(received, left, strict=True) for time in pair]


@pytest.mark.parametrize(
    ("line", "code", "id"),
    [
        (b"hello", "parse", None),
        (b"[" * 100_000, "parse", None),
        (b"5", "invalid", None),
        (b'{"jsonrpc":"2.0","id":[1],"method":"ping"}', "invalid", None),
        (b'{"jsonrpc":"2.0","id":9,"method":"ping","params":[]}', "params", 9),
        (b"[]", "invalid", None),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', "invalid", None),
    ],
    ids=range(7),
)
@pytest.mark.parametrize("revision", [None, "2025-11-25"])
async def test_a_line_that_is_no_message_is_answered(line: bytes, code: str, id: object, revision: str | None) -> None:
    async with connected(House(), revision) as pipe:
        await pipe.write(line)
        answer = await pipe.read()
        assert (answer["id"], answer["error"]["code"]) == (id, CODES[code])
        assert (await pipe.ask(1, "ping"))["result"] == {}


async def test_empty_lines_are_nothing() -> None:
    async with connected(House()) as pipe:
        await pipe.write(b"", b"  \r")
        assert (await pipe.ask(1, "ping"))["id"] == 1


async def test_a_line_that_is_too_long_is_dropped_with_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio, "MAX_LINE_BYTES", 1000)
    async with connected(House()) as pipe:
        await pipe.write(b"x" * 5000)
        assert (await pipe.read())["error"]["code"] == CODES["invalid"]
        assert (await pipe.ask(1, "ping"))["id"] == 1


async def test_deep_json_and_half_surrogates_are_answered() -> None:
    deep: dict[str, Any] = {}
    for _ in range(250):
        deep = {"a": deep}
    async with connected(House()) as pipe:
        assert (await pipe.ask(1, "ping", deep))["result"] == {}
        assert (await pipe.ask(2, "tools/call", {"name": "math__sum", "arguments": deep}))["result"]["isError"]
        assert "error" in await pipe.ask(3, "prompts/get", {"name": "\ud800"})
        assert "error" in await pipe.ask("\udfff", "tools/call", {"name": "\ud800"})
        assert "error" in await pipe.ask(5, "\ud800", {"\ud800": 1e999})


async def test_a_call_is_cut_off_when_the_client_takes_it_back() -> None:
    house = House()
    house.run.hold = anyio.Event()
    async with connected(house) as pipe:
        await pipe.say(id=7, method="tools/call", params=SUM)
        await house.run.begun.wait()
        ids: list[object] = [[1], {}, None, 8, 7]
        for id in ids:
            await pipe.say(method="notifications/cancelled", params={"requestId": id})
        # It is not answered, and everything else goes on.
        assert (await pipe.ask(9, "ping"))["id"] == 9
    assert house.record.answers[0].owner == "client"


async def test_two_calls_with_one_id_are_both_answered() -> None:
    async with connected(House()) as pipe:
        line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": SUM}).encode()
        await pipe.write(line + b"\n" + line)
        assert [(await pipe.read())["id"] for _ in range(2)] == [1, 1]


async def test_what_is_not_a_plain_call_is_left_to_the_sdk() -> None:
    async with connected(House()) as pipe:
        answer = await pipe.ask(1, "tools/call", modern(SUM))
        assert answer["error"]["code"] == CODES["invalid"]
        assert [tool["name"] for tool in (await pipe.ask(2, "tools/list"))["result"]["tools"]]
        assert (await pipe.ask(3, "nothing/there"))["error"]["code"] == -32601


async def test_nothing_is_answered_before_the_handshake() -> None:
    house = House()
    async with connected(house, None) as pipe:
        assert "error" in await pipe.ask(1, "tools/call", SUM)
        assert "error" in await pipe.ask(2, "tools/list")
    assert house.record.requests == []


async def test_a_failure_inside_the_proxy_is_an_error_and_nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    house = House()
    monkeypatch.setattr(type(house.router), "_meant", lambda *_: 1 / 0)
    async with connected(house) as pipe:
        assert (await pipe.ask(1, "tools/call", SUM))["error"]["code"] == -32603
        assert (await pipe.ask(2, "ping"))["result"] == {}


async def test_a_batch_is_answered_as_one_in_the_revision_that_has_them() -> None:
    house = House()
    async with connected(house, "2025-03-26") as pipe:
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": SUM}
        ping = {"jsonrpc": "2.0", "id": "p", "method": "ping"}
        again = {"jsonrpc": "2.0", "id": "p", "method": "ping"}
        note = {"jsonrpc": "2.0", "method": "notifications/x"}
        hello = {"jsonrpc": "2.0", "id": 3, "method": "initialize", "params": {}}
        await pipe.write(json.dumps([call, ping, again, note, hello, 5]).encode())
        answers = await pipe.read()
        assert sorted((str(answer["id"]), "error" in answer) for answer in answers) == [
            ("1", False), ("3", True), ("None", True), ("p", False), ("p", True),
        ]  # fmt: skip
        await pipe.write(json.dumps([note]).encode(), b"[]", json.dumps([ping] * 1001).encode())
        assert [(await pipe.read())["error"]["code"] for _ in range(2)] == [CODES["invalid"]] * 2


async def test_a_batch_does_not_wait_for_what_was_taken_back() -> None:
    house = House()
    house.run.hold = anyio.Event()
    async with connected(house, "2025-03-26") as pipe:
        calls = [{"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": SUM} for id in (1, 2)]
        await pipe.write(json.dumps(calls).encode())
        await house.run.begun.wait()
        await pipe.say(method="notifications/cancelled", params={"requestId": 1})
        await _ping(pipe, "the cancellation was read")
        house.run.hold.set()
        assert [answer["id"] for answer in await pipe.read()] == [2]


async def test_calls_under_way_are_cut_off_when_the_client_closes() -> None:
    house = House()
    house.run.hold = anyio.Event()
    async with connected(house) as pipe:
        await pipe.say(id=1, method="tools/call", params=SUM)
        await house.run.begun.wait()
    assert house.record.answers[0].owner == "client"


async def test_a_call_that_is_the_clients_last_word_is_on_record_as_cut_off() -> None:
    """It and the end of the stream are read in one go: the call has not begun when the client is gone."""
    house = House()
    house.run.hold = anyio.Event()
    async with connected(house) as pipe:
        await pipe.say(id=1, method="tools/call", params=SUM)
    assert [answer.owner for answer in house.record.answers.values()] == ["client"]


async def test_a_call_and_its_cancellation_may_arrive_together() -> None:
    house = House()
    async with connected(house) as pipe:
        call = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": SUM}).encode()
        back = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
        await pipe.write(call + b"\n" + json.dumps(back).encode())
        await _ping(pipe, "both were read")
    assert len(house.record.requests) == len(house.record.answers) == 1


async def test_a_client_that_reads_no_more_has_left() -> None:
    async with connected(House()) as pipe:
        pipe.broken = True
        await pipe.say(id=1, method="ping")


async def junk_then_ping(revision: str | None, lines: list[bytes]) -> None:
    async with connected(House(), revision) as pipe:
        await pipe.write(*lines)
        await _ping(pipe, "the last word")


async def _ping(pipe: Pipe, id: str) -> None:
    await pipe.say(id=id, method="ping")
    while True:
        answer = await pipe.read()
        if isinstance(answer, dict) and answer.get("id") == id:
            assert "result" in answer or answer["error"]["code"] in (-32601, -32602)
            return


@settings(max_examples=examples(60))
@given(revision=st.sampled_from([None, "2025-03-26", "2025-11-25"]), lines=st.lists(JUNK, max_size=12))
def test_after_any_junk_a_request_is_answered(revision: str | None, lines: list[bytes]) -> None:
    anyio.run(junk_then_ping, revision, lines)


async def test_a_tool_can_ask_the_client_while_its_call_is_under_way() -> None:
    async with connected(House()) as pipe:
        await pipe.say(id=1, method="tools/call", params={"name": "far__ask", "arguments": {}})
        asked = await pipe.read()
        assert (asked["method"], asked["params"]) == ("sampling/createMessage", {"maxTokens": 1})
        await pipe.say(id=asked["id"], error={"code": -1, "message": "no"})
        answer = await pipe.read()
        assert (answer["id"], answer["result"]["said"]) == (1, {"error": {"code": -1, "message": "no"}})
