"""Connections that keep the server waiting are let go; whoever has something to say is heard."""

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import anyio
import anyio.lowlevel
import pytest
import uvicorn
from anyio.abc import SocketStream
from starlette.types import ASGIApp, Receive, Scope, Send
from websockets.asyncio.client import connect

from m3bench.proxy.transports.admission import Identities
from m3bench.proxy.transports.connections import BoundedProtocol
from m3bench.server.runs.event import token_hash

pytestmark = pytest.mark.anyio

HEAD = b"POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 4\r\n\r\n"


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    message = await receive()
    while message.get("more_body"):
        message = await receive()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


class Impatient(BoundedProtocol):
    max_connections = 3
    head_seconds = 0.1
    body_seconds = 0.2


@asynccontextmanager
async def listening(protocol: type[BoundedProtocol], app: ASGIApp = echo) -> AsyncIterator[int]:
    server = uvicorn.Server(
        uvicorn.Config(app, http=protocol, ws="websockets-sansio", lifespan="off", log_level="critical")
    )
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        with anyio.fail_after(60):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(server._serve, [listener])
                while not server.started:
                    await anyio.lowlevel.checkpoint()
                yield listener.getsockname()[1]
                server.should_exit = True


async def read_all(stream: SocketStream) -> bytes:
    """What comes until the server closes."""
    got = b""
    try:
        with anyio.fail_after(20):
            async for part in stream:
                got += part
    except anyio.BrokenResourceError:
        pass
    return got


async def test_a_head_or_a_body_that_does_not_come_ends_the_connection() -> None:
    async with listening(Impatient) as port:
        for begun in (b"", b"GET / HT", HEAD, HEAD + b"ab"):
            async with await anyio.connect_tcp("127.0.0.1", port) as stream:
                if begun:
                    await stream.send(begun)
                assert await read_all(stream) == b""


async def words(scope: Scope, receive: Receive, send: Send) -> None:
    await receive()
    await send({"type": "websocket.accept"})
    while (message := await receive())["type"] == "websocket.receive":
        await send({"type": "websocket.send", "text": message["text"]})


async def test_a_websocket_may_be_silent_for_longer_than_a_head() -> None:
    async with listening(Impatient, words) as port, connect(f"ws://127.0.0.1:{port}") as socket:
        async with await anyio.connect_tcp("127.0.0.1", port) as silent:
            assert await read_all(silent) == b"", "it came later and is gone"
        await socket.send("still here")
        assert await socket.recv() == "still here"
        assert not Impatient._held


async def test_a_request_that_comes_in_pieces_is_answered_and_the_next_one_too() -> None:
    async with listening(BoundedProtocol) as port, await anyio.connect_tcp("127.0.0.1", port) as stream:
        for _ in range(2):
            for part in (HEAD[:10], HEAD[10:], b"ab", b"cd"):
                await stream.send(part)
                await anyio.wait_all_tasks_blocked()
            assert b"200 OK" in await stream.receive()


async def test_requests_sent_ahead_of_their_turn_are_answered_in_turn() -> None:
    async with listening(BoundedProtocol) as port, await anyio.connect_tcp("127.0.0.1", port) as stream:
        await stream.send((HEAD + b"abcd") * 3)
        got = b""
        with anyio.fail_after(20):
            while got.count(b"200 OK") < 3:
                got += await stream.receive()


class Crowded(BoundedProtocol):
    max_connections = 3


async def test_when_there_are_too_many_the_one_that_was_silent_for_longest_goes() -> None:
    async with listening(Crowded) as port:
        silent = [await anyio.connect_tcp("127.0.0.1", port) for _ in range(4)]
        async with await anyio.connect_tcp("127.0.0.1", port) as stream:
            await stream.send(HEAD + b"abcd")
            assert b"200 OK" in await stream.receive()
        for gone in silent[:2]:
            assert await read_all(gone) == b""
        await silent[3].send(HEAD + b"abcd")
        assert b"200 OK" in await silent[3].receive()
        for one in silent:
            await one.aclose()


async def test_bodies_that_do_not_come_are_the_first_to_go() -> None:
    """Whoever holds all connections with bodies that they never finish keeps nobody out."""
    async with listening(Crowded) as port:
        slow = [await anyio.connect_tcp("127.0.0.1", port) for _ in range(3)]
        for one in slow:
            await one.send(HEAD)
        await anyio.wait_all_tasks_blocked()
        async with await anyio.connect_tcp("127.0.0.1", port) as stream:
            await stream.send(HEAD + b"abcd")
            assert b"200 OK" in await stream.receive()
        assert await read_all(slow[0]) == b""
        for one in slow[1:]:
            await one.send(b"abcd")
            assert b"200 OK" in await one.receive()
        for one in slow:
            await one.aclose()


class Known(BoundedProtocol):
    max_connections = 6
    identities = Identities({token_hash(name): name for name in ("hog", "ann")})


async def test_whoever_holds_the_most_loses_a_connection() -> None:
    async with listening(Known) as port:
        ann = await anyio.connect_tcp("127.0.0.1", port)
        await ann.send(_of("ann"))
        hog = [await anyio.connect_tcp("127.0.0.1", port) for _ in range(20)]
        for one in hog:
            with suppress(anyio.BrokenResourceError):
                await one.send(_of("hog"))
        await ann.send(b"abcd")
        assert b"200 OK" in await ann.receive()
        for one in (ann, *hog):
            await one.aclose()


def _of(name: str) -> bytes:
    return HEAD.replace(b"\r\n\r\n", b"\r\nauthorization: Bearer %b\r\n\r\n" % name.encode())


async def test_when_all_are_busy_another_one_is_told_to_come_back() -> None:
    busy, answer = anyio.Event(), anyio.Event()
    under_way = 0

    async def wait(scope: Scope, receive: Receive, send: Send) -> None:
        nonlocal under_way
        under_way += 1
        if under_way == 3:
            busy.set()
        await answer.wait()
        await echo(scope, receive, send)

    async with listening(Crowded, wait) as port:
        waiting = [await anyio.connect_tcp("127.0.0.1", port) for _ in range(3)]
        for one in waiting:
            await one.send(HEAD + b"abcd")
        await busy.wait()
        async with await anyio.connect_tcp("127.0.0.1", port) as stream:
            refused = await read_all(stream)
            assert b"503" in refused
            assert b"retry-after: 1" in refused
        answer.set()
        for one in waiting:
            assert b"200 OK" in await one.receive()
            await one.aclose()
