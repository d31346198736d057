"""The HTTP application in memory: requests without a socket."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
from starlette.types import ASGIApp, Message, Scope

from m3bench.proxy.transports.http import HttpSettings, http_app
from tests.proxy.house import CLIENT, MODERN, House

HEADERS = {"accept": "application/json, text/event-stream", "content-type": "application/json"}


@asynccontextmanager
async def running(app: ASGIApp) -> AsyncIterator[None]:
    """An application between its start and its end."""
    into, received = anyio.create_memory_object_stream[Message](2)
    sent, answers = anyio.create_memory_object_stream[Message](2)
    async with into, received, sent, answers, anyio.create_task_group() as tasks:
        scope: Scope = {"type": "lifespan", "state": {}}

        async def live() -> None:
            await app(scope, received.receive, sent.send)

        tasks.start_soon(live)
        for step in ("startup", "shutdown"):
            await into.send({"type": f"lifespan.{step}"})
            assert (await answers.receive())["type"] == f"lifespan.{step}.complete"
            if step == "startup":
                yield


class Web:
    """A client of the application."""

    def __init__(self, client: httpx2.AsyncClient, path: str) -> None:
        self.client = client
        self.path = path
        self.session: dict[str, str] = {}

    async def post(self, body: Any, path: str | None = None, **headers: str) -> httpx2.Response:
        """Send a body; a dict is a message."""
        message = {"jsonrpc": "2.0", **body} if isinstance(body, dict) else body
        data = body if isinstance(body, bytes) else json.dumps(message).encode()
        given = {**HEADERS, **self.session, **{name.replace("_", "-"): value for name, value in headers.items()}}
        return await self.client.post(path or self.path, content=data, headers=given)

    async def get(self, path: str, **headers: str) -> httpx2.Response:
        return await self.client.get(path, headers=headers)

    async def delete(self) -> httpx2.Response:
        return await self.client.delete(self.path, headers=self.session)

    async def open(self, revision: str = "2025-11-25", headers: Mapping[str, str] | None = None) -> None:
        """Shake hands, and ask for the tools so that the session is let in."""
        self.session = dict(headers or {})
        params = {"protocolVersion": revision, "capabilities": {}, "clientInfo": CLIENT}
        answer = await self.post({"id": 0, "method": "initialize", "params": params})
        assert answer.status_code == 200, answer.text
        self.session["mcp-session-id"] = answer.headers["mcp-session-id"]
        await self.post({"method": "notifications/initialized"})
        assert (await self.post({"id": "tools", "method": "tools/list"})).status_code == 200

    async def call(self, id: Any, name: str, arguments: dict[str, Any], **headers: str) -> httpx2.Response:
        params = {"name": name, "arguments": arguments}
        return await self.post({"id": id, "method": "tools/call", "params": params}, **headers)


@asynccontextmanager
async def serving(house: House, path: str = "/mcp", **given: Any) -> AsyncIterator[Web]:
    """A client of a house behind the HTTP application."""
    settings = HttpSettings(**given)
    app = http_app(house.front, settings, house.open_seat, house.close_seat)
    host = "127.0.0.1:8000" if settings.loopback else settings.host
    with anyio.fail_after(60):
        async with running(app):
            transport = httpx2.ASGITransport(app)
            async with httpx2.AsyncClient(transport=transport, base_url=f"http://{host}") as client:
                yield Web(client, path)


class RawPost:
    """A POST whose client can be watched and can go away in the middle."""

    def __init__(self, web: Web, message: dict[str, Any], headers: dict[str, str]) -> None:
        given = {"host": "localhost", **HEADERS, **{name.replace("_", "-"): value for name, value in headers.items()}}
        self._app = web.client._transport.app  # type: ignore[attr-defined]
        self._scope = {
            "type": "http", "method": "POST", "path": web.path, "raw_path": web.path.encode(), "query_string": b"",
            "headers": [(name.encode(), value.encode()) for name, value in given.items()],
            "scheme": "http", "server": ("localhost", 80),
        }  # fmt: skip
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._parts = iter([{"type": "http.request", "body": data, "more_body": False}])
        self.body = b""
        self.answers, self.gone, self.done = anyio.Event(), anyio.Event(), anyio.Event()

    async def run(self) -> None:
        """Send the request and take the response, until it is complete or the client goes."""
        await self._app(self._scope, self._receive, self._send)
        self.done.set()

    async def _receive(self) -> Message:
        for part in self._parts:
            return part
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, part: Message) -> None:
        self.body += part.get("body", b"")
        if self.body:
            self.answers.set()


def events(response: httpx2.Response) -> list[Any]:
    """The messages in a response, whether it is a stream or not."""
    if response.headers["content-type"].startswith("application/json"):
        return [response.json()]
    found = [line[6:] for line in response.text.splitlines() if line.startswith("data: ")]
    return [json.loads(line) for line in found]


def modern_headers(name: str, method: str = "tools/call") -> dict[str, str]:
    """What the newest revision wants in headers."""
    return {"mcp_protocol_version": MODERN, "mcp_method": method, "mcp_name": name}
