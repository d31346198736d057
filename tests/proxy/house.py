"""A benchmark in memory, as far as the proxy sees it: a journal, tools, a run, a seat; no process, no file."""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
from mcp_types import CLIENT_CAPABILITIES_META_KEY, CLIENT_INFO_META_KEY, PROTOCOL_VERSION_META_KEY

from m3bench.proxy.front import Front, tool_request
from m3bench.proxy.protocol.pipes import AtOnce
from m3bench.proxy.protocol.tool_calls import AnswerDelivery, Caller, Relay, ToolAnswer, ToolRequest
from m3bench.proxy.router import Router
from m3bench.proxy.seat import Seat
from m3bench.proxy.transports.stdio import serve_stream
from m3bench.proxy.weather import RunWeather
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.outcome import Reply
from m3bench.tasks.trap import StrayOrder

MODERN = "2026-07-28"
CLIENT = {"name": "tester", "version": "1"}
SUM = {"name": "math__sum", "arguments": {"numbers": [4, 8, 15]}}
RAW = '{"isError":false,  "content":[{"type":"text","text":"27 — é"}]}'.encode()
"""A result that nobody would write so: whoever parses and writes it again is found out."""


class Record:
    """A journal that keeps everything in lists, and fails when it is told to."""

    def __init__(self) -> None:
        self.requests: list[tuple[ToolRequest, str | None, str]] = []
        self.answers: dict[int, ToolAnswer] = {}
        self.left: list[int] = []
        self.left_ns: list[int] = []
        self.broken: dict[str, Exception] = {}

    async def received(self, request: ToolRequest, run: str | None, tool: str) -> int:
        self._fail("received")
        self.requests.append((request, run, tool))
        return len(self.requests) - 1

    async def answered(self, call: int, answer: ToolAnswer, delivery: AnswerDelivery | None = None) -> None:
        await anyio.lowlevel.checkpoint()
        self._fail("answered")
        assert call not in self.answers, "an answer was recorded twice"
        self.answers[call] = answer
        if delivery is not None:
            delivery.send(answer)

    def sent(self, call: int, sent_ns: int) -> None:
        self._fail("sent")
        self.left.append(call)
        self.left_ns.append(sent_ns)

    def _fail(self, where: str) -> None:
        if where in self.broken:
            raise self.broken[where]


class Run:
    """A run whose sandbox answers as it is told to."""

    id = "run"
    weather: RunWeather | None = None
    order: StrayOrder | None = None

    def __init__(self) -> None:
        self.reply: Reply | Exception = Reply("success", RAW)
        self.calls: list[tuple[str, bytes]] = []
        self.stop: str | None = None
        self.kept: dict[int, bytes] = {}
        self.keeps: Exception | None = None
        self.hold: anyio.Event | None = None
        """When set, calls wait for it."""
        self.begun = anyio.Event()
        self.under_way = 0
        self.lost: list[tuple[ToolRequest, str, ToolAnswer]] = []

    def lose(self, request: ToolRequest, tool: str, answer: ToolAnswer) -> None:
        self.lost.append((request, tool, answer))

    def enter(self) -> None:
        self.under_way += 1

    def leave(self) -> None:
        self.under_way -= 1

    def admit(self) -> str | None:
        return self.stop

    async def call(self, tool: str, arguments: bytes, seconds: float) -> Reply:
        self.calls.append((tool, arguments))
        self.begun.set()
        if self.hold is not None:
            await self.hold.wait()
        if isinstance(self.reply, Exception):
            raise self.reply
        return self.reply

    def keep(self, call: int, result: bytes) -> str:
        if self.keeps is not None:
            raise self.keeps
        self.kept[call] = result
        return f"./results/{call}.json"


class Own:
    """Our own tools: one that answers, one that fails, one that says what it does as it goes."""

    names = frozenset({"start_task", "broken", "find_tools"})

    async def call(self, seat: Seat, name: str, arguments: Mapping[str, Any], client: str = "") -> ToolAnswer:
        if name == "broken":
            raise ZeroDivisionError
        return ToolAnswer(
            outcome="success", result=b'{"content":[],"structuredContent":{"seat":"%b"}}' % seat.id.encode()
        )


class Upstream:
    """A third-party server with one tool that reports progress and a log line, and one that asks the client."""

    names = ("far__tool", "far__error", "far__empty", "far__ask")

    def owns(self, seat: Seat, name: str) -> bool:
        return name in self.names

    def qualified(self, seat: Seat, name: str) -> str:
        return name.replace("__", "/")

    def schema(self, name: str) -> Mapping[str, Any] | None:
        if name not in self.names:
            return None
        where = {"type": "string", "x-mcp-header": "Where"}
        return {"type": "object", "properties": {"where": where}}

    async def call(
        self, seat: Seat, run: str | None, name: str, params: Mapping[str, Any], relay: Relay | None, seconds: float
    ) -> ToolAnswer:
        if name == "far__ask" and relay is not None:
            said = await relay.request("sampling/createMessage", {"maxTokens": 1})
            return ToolAnswer(outcome="success", result=json.dumps({"content": [], "said": said}).encode())
        if name == "far__error":
            return ToolAnswer(outcome="failed", owner="upstream", error=(-32001, "gone", {"why": "far"}))
        if name == "far__empty":
            return ToolAnswer(outcome="success", result=b"{}")
        if relay is not None:
            token = params["_meta"].get("progressToken", 1)
            await relay.notify("notifications/progress", {"progressToken": token, "progress": 0.5})
            await relay.notify("notifications/message", {"level": "info", "data": "half"})
        given = {"content": [], "_meta": {"from": "far"}, "arguments": params["arguments"]}
        return ToolAnswer(outcome="success", result=json.dumps(given).encode())


class Shown:
    """Prompts and resources."""

    instructions = "Do as you are told."

    def __init__(self) -> None:
        self.level = ""
        self.subscribed: list[tuple[str, str]] = []

    async def prompts(self, seat: Seat) -> Sequence[dict[str, Any]]:
        return [{"name": "hello", "description": "Say it"}]

    async def prompt(self, seat: Seat, params: dict[str, Any], relay: Relay) -> dict[str, Any] | None:
        name, arguments = params["name"], params.get("arguments") or {}
        said = {"role": "user", "content": {"type": "text", "text": f"hello {arguments.get('to', 'you')}"}}
        return {"messages": [said]} if name == "hello" else None

    async def resources(self, seat: Seat) -> Sequence[dict[str, Any]]:
        return [{"uri": "m3bench://one", "name": "one"}]

    async def templates(self, seat: Seat) -> Sequence[dict[str, Any]]:
        return [{"uriTemplate": "m3bench://{name}", "name": "any"}]

    async def resource(self, seat: Seat, params: dict[str, Any], relay: Relay) -> dict[str, Any] | None:
        uri = params["uri"]
        return {"contents": [{"uri": uri, "text": "one"}]} if uri == "m3bench://one" else None

    async def completion(self, seat: Seat, params: dict[str, Any], relay: Relay) -> dict[str, Any] | None:
        return {"completion": {"values": ["world"]}} if params["argument"]["value"] == "w" else None

    async def log_level(self, seat: Seat, level: str) -> None:
        self.level = level

    async def subscribe(self, seat: Seat, method: str, uri: str) -> None:
        self.subscribed.append((method, uri))

    async def roots_changed(self, seat: Seat) -> None:
        pass


@dataclass
class House:
    """Everything together."""

    record: Record = field(default_factory=Record)
    run: Run = field(default_factory=Run)
    shown: Shown = field(default_factory=Shown)
    content_only: bool = False
    closed: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.router = Router(self.record, Own(), Upstream(), timeout=5)
        self.front = Front(router=self.router, resources=self.shown, version="0", content_only=self.content_only)
        self.seat = self.open_seat("seat")

    def open_seat(self, id: str, profile: str | None = None) -> Seat:
        tools = {tool.exposed: tool for tool in load_catalog().ready.by_name["math"].tools}
        shaped: dict[str, object] = {
            "name": "shaped",
            "description": "",
            "inputSchema": {"type": "object"},
            "outputSchema": {"type": "object"},
        }
        listing = (shaped, *(tool.wire() for tool in tools.values()))
        return Seat(id=id, profile=profile or "full", tools=tools, run=self.run, listing=listing)

    async def open_handle(self, handle: str, profile: str | None = None) -> Seat:
        return self.open_seat(handle, profile)

    async def close_seat(self, seat: Seat) -> None:
        self.closed.append(seat.id)

    async def call(
        self, name: object, arguments: object = None, raw: bytes | None = None, meta: Mapping[str, Any] | None = None
    ) -> ToolAnswer:
        """Past the front door."""
        caller = Caller(seat=self.seat.id, revision="2025-11-25", client="tester 1")
        params = {"name": name, "arguments": arguments, "_meta": meta}
        return await self.router.call(self.seat, tool_request(caller, 1, params, raw))


class Pipe:
    """A client's two ends of a stream of lines."""

    def __init__(self) -> None:
        self._out, self._in = anyio.create_memory_object_stream[bytes](1000)
        self._answers, self._answered = anyio.create_memory_object_stream[bytes](1000)
        self.broken = False
        self.at_once = False
        """Whether lines can be written without waiting."""

    async def chunks(self, at_once: AtOnce | None = None) -> AsyncIterator[bytes]:
        async for chunk in self._in:
            left = at_once(chunk) if at_once is not None else chunk
            if left:
                yield left

    async def send(self, *data: bytes) -> None:
        if self.broken:
            raise BrokenPipeError
        line = b"".join(data)
        assert line.endswith(b"\n")
        assert line.count(b"\n") == 1
        await self._answers.send(line)

    def send_at_once(self, data: bytes) -> bool:
        if self.broken:
            raise BrokenPipeError
        if self.at_once:
            self._answers.send_nowait(data)
        return self.at_once

    async def write(self, *lines: bytes) -> None:
        """Send lines as they are."""
        for line in lines:
            await self._out.send(line + b"\n")

    async def say(self, **message: Any) -> None:
        """Send a message."""
        await self.write(json.dumps({"jsonrpc": "2.0", **message}).encode())

    async def line(self) -> bytes:
        with anyio.fail_after(30):
            return await self._answered.receive()

    async def read(self) -> Any:
        return json.loads(await self.line())

    async def ask(self, id: Any, method: str, params: dict[str, Any] | None = None) -> Any:
        await self.say(id=id, method=method, params=params or {})
        return await self.read()

    async def open(self, revision: str = "2025-11-25") -> Any:
        """Shake hands."""
        params = {"protocolVersion": revision, "capabilities": {}, "clientInfo": CLIENT}
        answer = await self.ask(0, "initialize", params)
        await self.say(method="notifications/initialized")
        return answer

    def close(self) -> None:
        self._out.close()

    def release(self) -> None:
        """Close all ends, so that nothing is warned about."""
        for end in (self._out, self._in, self._answers, self._answered):
            end.close()


@asynccontextmanager
async def connected(house: House, revision: str | None = "2025-11-25") -> AsyncIterator[Pipe]:
    """A client on a stream of lines, past the handshake unless there is no revision."""
    pipe = Pipe()
    try:
        with anyio.fail_after(60):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(serve_stream, house.front, house.seat, pipe)
                if revision is not None:
                    await pipe.open(revision)
                yield pipe
                pipe.close()
    finally:
        pipe.release()


def modern(params: dict[str, Any] | None = None) -> dict[str, Any]:
    """Parameters in the envelope of the newest revision."""
    meta = {PROTOCOL_VERSION_META_KEY: MODERN, CLIENT_CAPABILITIES_META_KEY: {}, CLIENT_INFO_META_KEY: CLIENT}
    return {**(params or {}), "_meta": {**((params or {}).get("_meta") or {}), **meta}}


def refused(answer: ToolAnswer) -> str:
    """The text of an answer that must be an error result."""
    result = json.loads(answer.result)
    assert result["isError"]
    found: str = result["content"][0]["text"]
    return found
