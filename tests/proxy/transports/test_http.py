"""Clients over HTTP: who comes in, where they sit, and what they get."""

import json
import secrets
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from m3bench.proxy.transports import http, http_calls
from m3bench.proxy.transports.http import HttpSettings, http_app
from m3bench.tasks.errors import UserError
from tests.examples import examples
from tests.proxy.house import RAW, SUM, House, modern
from tests.proxy.junk import JUNK
from tests.proxy.web import RawPost, Web, events, modern_headers, serving

pytestmark = pytest.mark.anyio

NUMBERS = {"numbers": [4, 8, 15]}
HANDLE = "h" * 30
SEAT = f"/seat/{HANDLE}/mcp"


@pytest.mark.parametrize("path", ["/mcp", SEAT])
@pytest.mark.parametrize("revision", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
async def test_a_result_reaches_the_client_byte_for_byte(path: str, revision: str) -> None:
    house = House()
    async with serving(house, path) as web:
        await web.open(revision)
        answer = await web.call(1, "math__sum", NUMBERS)
        assert answer.content == b'{"jsonrpc":"2.0","id":1,"result":%b}' % RAW
        assert "mcp-session-id" in answer.headers
    request = house.record.requests[0][0]
    assert (request.caller.revision, request.caller.client) == (revision, "tester 1")
    assert json.loads(request.raw)["id"] == 1
    assert (request.caller.seat == HANDLE) == (path == SEAT)
    assert (house.closed == []) == (path == SEAT), "a session's seat ends with it, a handle's does not"


async def test_a_sessions_first_call_goes_by_the_sdk_and_comes_to_the_same() -> None:
    house = House()
    async with serving(house) as web:
        await web.open()
        other = Web(web.client, "/mcp")
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "o", "version": "2"}}
        answer = await other.post({"id": 0, "method": "initialize", "params": params})
        other.session = {"mcp-session-id": answer.headers["mcp-session-id"]}
        await other.post({"method": "notifications/initialized"})
        for id in (1, 2):
            (found,) = events(await other.call(id, "math__sum", NUMBERS))
            assert found == {"jsonrpc": "2.0", "id": id, "result": json.loads(RAW)}
        (bad,) = events(await other.call(3, "far__error", {}))
        assert bad["error"] == {"code": -32001, "message": "gone", "data": {"why": "far"}}
    assert [request.raw[:9] for request, _, _ in house.record.requests] == [b'{"jsonrpc'] * 3


async def test_the_newest_revision_needs_no_session_and_gets_the_same_bytes() -> None:
    house = House()
    async with serving(house, SEAT) as web:
        message = {"id": 1, "method": "tools/call", "params": modern(SUM)}
        answer = await web.post(message, **modern_headers("math__sum"))
        assert answer.content.endswith(RAW[1:] + b"}")
        assert answer.json()["result"]["resultType"] == "complete"
        assert "mcp-session-id" not in answer.headers
        unknown = {"id": 2, "method": "tools/call", "params": modern({"name": "no"})}
        assert (await web.post(unknown, **modern_headers("no"))).status_code == 400
    assert house.record.requests[0][0].caller.client == "tester 1"


async def test_headers_that_contradict_the_body_are_refused_in_the_newest_revision() -> None:
    house = House()
    async with serving(house, SEAT) as web:
        message = {"id": 1, "method": "tools/call", "params": modern(SUM)}
        assert (await web.post(message, **modern_headers("math__mean"))).json()["error"]["code"] == -32020
        far = {"id": 2, "method": "tools/call", "params": modern({"name": "far__tool", "arguments": {"where": "up"}})}
        wrong = await web.post(far, **modern_headers("far__tool"), mcp_param_where="down")
        assert wrong.json()["error"]["code"] == -32020
        assert house.record.requests == []
        right = await web.post(far, **modern_headers("far__tool"), mcp_param_where="up")
        assert events(right)[-1]["result"]["arguments"] == {"where": "up"}


async def test_at_the_shared_address_the_newest_revision_is_told_to_fall_back() -> None:
    async with serving(House()) as web:
        answer = await web.post({"id": 1, "method": "tools/call", "params": modern(SUM)}, **modern_headers("math__sum"))
        assert answer.status_code == 400


@pytest.mark.parametrize("newest", [False, True])
async def test_notifications_make_the_response_a_stream(newest: bool) -> None:
    async with serving(House(), SEAT) as web:
        params = {"name": "far__tool", "arguments": {}}
        if newest:
            message = {"id": 1, "method": "tools/call", "params": modern(params)}
            answer = await web.post(message, **modern_headers("far__tool"))
        else:
            await web.open()
            answer = await web.call(1, **params)  # type: ignore[arg-type]
        assert answer.headers["content-type"] == "text/event-stream"
        found = events(answer)
        expected = (
            ["notifications/progress", None] if newest else ["notifications/progress", "notifications/message", None]
        )
        assert [message.get("method") for message in found] == expected
        assert found[-1]["id"] == 1


async def test_a_response_that_takes_long_is_kept_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_calls, "PING_SECONDS", 0.01)
    house = House()
    house.run.hold = anyio.Event()
    async with serving(house) as web, anyio.create_task_group() as tasks:
        await web.open()
        request = RawPost(web, {"id": 1, "method": "tools/call", "params": SUM}, web.session)
        tasks.start_soon(request.run)
        await request.answers.wait()
        house.run.hold.set()
        await request.done.wait()
    assert request.body.startswith(b": ping\r\n\r\n")
    assert RAW in request.body


class SlowPost(RawPost):
    """A client that takes so long over each part of a response that a ping becomes due."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.parts: list[Any] = []

    async def _send(self, part: Any) -> None:
        self.parts.append(part)
        with anyio.move_on_after(0.05):
            await anyio.sleep_forever()


async def test_a_ping_that_is_due_while_the_response_goes_out_is_not_sent_after_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with serving(House()) as web:
        await web.open()
        monkeypatch.setattr(http_calls, "PING_SECONDS", 0.02)
        request = SlowPost(web, {"id": 1, "method": "tools/call", "params": SUM}, web.session)
        await request.run()
    kinds = [(part["type"], part.get("more_body", False)) for part in request.parts]
    assert kinds[0] == ("http.response.start", False)
    assert kinds[-1] == ("http.response.body", False)
    assert len([kind for kind in kinds if kind != ("http.response.body", True)]) == 2, "one start and one end"


async def test_a_call_is_cut_off_when_the_client_takes_it_back() -> None:
    house = House()
    house.run.hold = anyio.Event()
    async with serving(house) as web, anyio.create_task_group() as tasks:
        await web.open()

        async def call() -> None:
            assert (await web.call(7, "math__sum", NUMBERS)).json()["error"]["code"] == -32800

        tasks.start_soon(call)
        await house.run.begun.wait()
        ids: list[object] = [[1], {}, 8]
        for id in ids:
            answer = await web.post({"method": "notifications/cancelled", "params": {"requestId": id}})
            assert answer.status_code < 500
        taken = await web.post({"method": "notifications/cancelled", "params": {"requestId": 7}})
        assert taken.status_code == 202
    assert house.record.answers[0].owner == "client"


async def test_the_end_of_a_session_cuts_off_its_calls_and_closes_its_seat() -> None:
    house = House()
    house.run.hold = anyio.Event()
    async with serving(house) as web:
        await web.open()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(web.call, 1, "math__sum", NUMBERS)
            await house.run.begun.wait()
            assert (await web.delete()).status_code == 200
        assert (await web.call(2, "math__sum", NUMBERS)).status_code == 404
    assert house.record.answers[0].owner == "client"
    assert len(house.closed) == 1


@pytest.mark.parametrize("newest", [False, True])
async def test_a_lost_connection_takes_a_call_back_only_where_the_revision_says_so(newest: bool) -> None:
    house = House()
    house.run.hold = anyio.Event()
    async with serving(house, SEAT) as web, anyio.create_task_group() as tasks:
        await web.open()
        message = {"id": 1, "method": "tools/call", "params": modern(SUM) if newest else SUM}
        request = RawPost(web, message, modern_headers("math__sum") if newest else web.session)
        tasks.start_soon(request.run)
        await house.run.begun.wait()
        request.gone.set()
        await anyio.wait_all_tasks_blocked()
        house.run.hold.set()
        await request.done.wait()
    assert house.record.answers[0].owner == ("client" if newest else "agent")
    assert (RAW in request.body) == (not newest)


async def test_what_is_no_plain_call_is_answered_by_the_sdk() -> None:
    async with serving(House()) as web:
        await web.open()
        assert (await web.post(b"{")).status_code == 400
        assert (await web.post([{"jsonrpc": "2.0", "id": 1, "method": "tools/call"}])).status_code == 400
        assert (await web.post(b'{"jsonrpc":"2.0","id":[1],"method":"tools/call"}')).status_code == 400
        assert (await web.call(1, "math__sum", NUMBERS, accept="application/json")).status_code == 406
        assert (await web.call(1, "math__sum", NUMBERS, content_type="text/plain")).status_code == 400
        assert (await web.call(1, "math__sum", NUMBERS, mcp_session_id="other")).status_code == 404
        assert events(await web.post({"id": 1, "method": "ping"}))[0]["result"] == {}
        assert (await web.get("/mcp")).status_code == 400
        assert (await web.get("/nothing")).status_code == 404


async def junk_then_ping(bodies: list[bytes]) -> None:
    async with serving(House(), SEAT) as web:
        await web.open()
        for body in bodies:
            assert (await web.post(body)).status_code < 500
            assert (await web.post(body, **modern_headers("x"))).status_code < 500
        assert events(await web.post({"id": "the last word", "method": "ping"}))[-1]["result"] == {}


@settings(max_examples=examples(25))
@given(st.lists(JUNK, max_size=6))
def test_after_any_junk_a_request_is_answered(bodies: list[bytes]) -> None:
    anyio.run(junk_then_ping, bodies)


async def test_bodies_are_bounded_one_by_one_and_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_calls, "MAX_BODY_BYTES", 1000)
    async with serving(House()) as web:
        assert (await web.post(b"x" * 1001)).status_code == 413
        assert (await web.post(b"x" * 1001, content_length="1")).status_code == 413
    monkeypatch.setattr(http_calls, "MAX_BODIES_BYTES", 10)
    async with serving(House()) as web:
        answer = await web.post(b"x" * 11)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")


async def test_health_needs_nothing_and_a_handle_must_not_be_guessable() -> None:
    async with serving(House(), token="t" * 16) as web:
        assert (await web.get("/health")).json() == {"name": "m3bench", "version": "0"}
        assert (await web.post({"id": 1, "method": "ping"})).status_code == 401
        good = await web.post({"id": 1, "method": "ping"}, "/seat/short/mcp", authorization="bearer " + "t" * 16)
        assert good.status_code == 404


async def test_an_unknown_profile_is_told_to_the_client() -> None:
    house = House()

    def refuse(id: str, profile: str | None = None) -> None:
        raise UserError(f"There is no profile {profile!r}.")

    house.open_seat = refuse  # type: ignore[method-assign,assignment]
    async with serving(house, f"{SEAT}?profile=huge") as web:
        message = {"id": 1, "method": "tools/call", "params": modern(SUM)}
        answer = await web.post(message, **modern_headers("math__sum"))
        assert "no profile 'huge'" in answer.json()["error"]["message"]
    with pytest.raises(UserError, match="set a token"):
        http_app(house.front, HttpSettings(host="0.0.0.0"), house.open_seat, house.close_seat)


async def test_when_there_are_too_many_sessions_the_one_unused_for_longest_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(http, "MAX_SESSIONS", 3)
    house = House()
    async with serving(house) as web:
        others = [Web(web.client, "/mcp") for _ in range(5)]
        for one in others:
            house.run = None  # type: ignore[assignment]
            await one.open()
        assert [(await one.post({"id": 1, "method": "ping"})).status_code for one in others] == [
            404,
            404,
            200,
            200,
            200,
        ]


async def test_sessions_with_a_run_are_spared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "MAX_SESSIONS", 2)
    async with serving(House()) as web:
        for _ in range(2):
            await Web(web.client, "/mcp").open()
        with pytest.raises(AssertionError, match="Too many open sessions"):
            await Web(web.client, "/mcp").open()


async def test_handles_that_nobody_uses_make_room_for_others() -> None:
    house = House()
    house.run = None  # type: ignore[assignment]
    async with serving(house, SEAT) as web:
        message = {"id": 1, "method": "tools/call", "params": modern(SUM)}
        for _ in range(400):
            path = f"/seat/{secrets.token_urlsafe(24)}/mcp"
            assert (await web.post(message, path, **modern_headers("math__sum"))).status_code == 200
    assert len(house.closed) == 400 - 256
