"""Requests for a seat go to the server that has it, and come back as they are; one that is gone is asked for again."""

import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from m3bench.proxy.transports import forwarding
from m3bench.proxy.transports.forwarding import FORWARDED, Forwarding
from m3bench.tasks.errors import StoreError
from tests.proxy.web import running

pytestmark = pytest.mark.anyio

HANDLE = "h" * 24
PATH = f"/seat/{HANDLE}/mcp"


class Homes:
    """Says where the seat is, one answer after the other; the last stays."""

    def __init__(self, *places: str | Exception | None) -> None:
        self._places = list(places)
        self.doubts: list[bool] = []

    async def home(self, handle: str, doubted: bool) -> str | None:
        assert handle == HANDLE
        self.doubts.append(doubted)
        place = self._places.pop(0) if len(self._places) > 1 else self._places[0]
        if isinstance(place, Exception):
            raise place
        return place


async def echo(request: Request) -> Response:
    """What arrived."""
    if request.url.query == "stream":

        async def parts() -> AsyncIterator[bytes]:
            yield b"data: one\n\n"
            yield b"data: two\n\n"

        return StreamingResponse(parts(), media_type="text/event-stream")
    body = (await request.body()).decode()
    return JSONResponse({"path": request.url.path, "method": request.method, "body": body,
                         "headers": dict(request.headers)}, headers={"mcp-session-id": "s1"})  # fmt: skip


def routed(app: ASGIApp) -> Starlette:
    return Starlette(routes=[Route("/seat/{handle}/mcp", endpoint=app)])


@asynccontextmanager
async def far_server() -> AsyncIterator[str]:
    """The address of another server, on a real port."""
    app = Starlette(routes=[Route("/seat/{handle}/mcp", echo, methods=["GET", "POST", "DELETE"])])
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", ws="none", lifespan="off"))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server._serve, [listener])
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
            server.should_exit = True


@asynccontextmanager
async def near_server(homes: Homes, *, here: bool = False) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of a server that passes on what is not its own."""

    async def own(scope: Any, receive: Any, send: Any) -> None:
        body = b""
        while True:
            part = await receive()
            body += part.get("body", b"")
            if not part.get("more_body"):
                break
        await JSONResponse({"here": body.decode()})(scope, receive, send)

    passing = Forwarding(own, homes.home, lambda handle: here)

    with anyio.fail_after(60):
        async with (
            passing.connections(), running(routed(passing)),
            httpx2.AsyncClient(transport=httpx2.ASGITransport(routed(passing)), base_url="http://near") as client,
        ):  # fmt: skip
            yield client


@pytest.fixture
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forwarding, "AGAIN_SECONDS", 0.01)


def nowhere() -> str:
    """An address at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"http://127.0.0.1:{listener.getsockname()[1]}"


async def test_a_seat_that_is_here_is_not_asked_for() -> None:
    homes = Homes(None)
    async with near_server(homes, here=True) as client:
        assert (await client.post(PATH, content=b"x")).json() == {"here": "x"}
    assert homes.doubts == []


async def test_a_request_and_its_response_are_passed_on_as_they_are() -> None:
    async with far_server() as address, near_server(Homes(address)) as client:
        answer = await client.post(
            f"{PATH}?profile=mini", content=b'{"id":1}', headers={"authorization": "Bearer t", "origin": "http://near"}
        )
        assert answer.headers["mcp-session-id"] == "s1"
        said = answer.json()
        assert (said["path"], said["method"], said["body"]) == (PATH, "POST", '{"id":1}')
        assert said["headers"]["authorization"] == "Bearer t"
        assert said["headers"][FORWARDED.decode()] == "1"
        assert said["headers"]["host"] == address.removeprefix("http://")
        assert "origin" not in said["headers"]
        assert (await client.delete(PATH)).json()["method"] == "DELETE"
        assert (await client.get(f"{PATH}?stream")).text == "data: one\n\ndata: two\n\n"


async def test_what_was_passed_on_is_not_passed_on_again() -> None:
    async with near_server(Homes(nowhere())) as client:
        answer = await client.post(PATH, content=b"x", headers={FORWARDED.decode(): "1"})
        assert answer.status_code == 503
        assert "try again" in answer.text


async def test_a_server_that_is_gone_is_asked_for_again(quickly: None) -> None:
    gone = nowhere()
    homes = Homes(gone, gone, None)
    async with near_server(homes) as client:
        assert (await client.post(PATH, content=b"again")).json() == {"here": "again"}
    assert homes.doubts == [False, True, True]
    async with far_server() as address, near_server(Homes(gone, address)) as client:
        assert (await client.post(PATH, content=b"x")).json()["body"] == "x"


async def test_a_server_that_stays_away_is_named(quickly: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forwarding, "PATIENCE_SECONDS", 0.05)
    gone = nowhere()
    async with near_server(Homes(gone)) as client:
        answer = await client.post(PATH, content=b"x")
    assert answer.status_code == 503
    assert gone in answer.text


async def test_a_server_that_ends_in_the_middle_costs_the_request_and_says_so() -> None:
    async def hang_up(stream: anyio.abc.SocketStream) -> None:
        async with stream:
            await stream.receive()

    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, hang_up)
        port = listener.extra(anyio.abc.SocketAttribute.local_port)
        async with near_server(Homes(f"http://127.0.0.1:{port}")) as client:
            for body, id in ((json.dumps({"id": 7}).encode(), 7), (b"no JSON", None)):
                answer = await client.post(PATH, content=body)
                assert answer.status_code == 502
                assert answer.json()["id"] == id
                assert "send it again" in answer.json()["error"]["message"]
        tasks.cancel_scope.cancel()


async def test_a_record_that_cannot_be_asked_is_named(quickly: None) -> None:
    for homes in (Homes(StoreError("The database is down.")), Homes(nowhere(), StoreError("The database is down."))):
        async with near_server(homes) as client:
            answer = await client.post(PATH, content=b"x")
            assert answer.status_code == 503
            assert "The database is down." in answer.text
