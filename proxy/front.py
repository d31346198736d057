"""The MCP server that clients see.

Built on the SDK's low-level server, which owns the handshake, both protocol eras and everything that is not
a tool. Tool lists and the first tool calls of a client are answered in a middleware; once the SDK has let a client
in, its calls go past the SDK (`conversation`). Either way a result is the raw bytes that the tool gave, put into the
envelope of the client's revision here. What a seat is, and where calls go, is given from outside.
"""

import json
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Protocol

import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.context import CallNext, HandlerResult
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from m3bench.proxy.call import Answer, Caller, Delivery, Relay, ToolRequest, error_object
from m3bench.proxy.handlers import Handlers, Resources, SdkRelay, SdkServer, SeatOf
from m3bench.proxy.listening import take_seat
from m3bench.proxy.messages import Id, Json, dump
from m3bench.proxy.sdk import Context, is_initialized
from m3bench.proxy.seat import Seat

NAME = "m3bench"

LIST_SECONDS = 3600
"""How long a client may keep a tool list, where a seat's never changes."""

_SOUND, _LINKS = "2025-03-26", "2025-06-18"
"""The first revisions whose results may have sound, and links to resources."""


class Calls(Protocol):
    """Where tool calls go: a router, or something that chooses one."""

    def schema(self, name: str) -> Mapping[str, object] | None:
        """The schema whose arguments HTTP clients may have to repeat in headers."""
        ...

    async def call(
        self, seat: Seat, request: ToolRequest, relay: Relay | None = None, delivery: Delivery | None = None
    ) -> Answer:
        """Answer a request; the answer is on record when this returns, and may have been delivered."""
        ...


async def _as_it_is(seat: Seat) -> None:
    pass


class _Server(Server[Json]):
    """The SDK's server, which says of itself in the handshake whether its lists change."""

    changing = False

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        """What is answered to `initialize`."""
        changes = NotificationOptions(
            prompts_changed=self.changing, resources_changed=self.changing, tools_changed=self.changing
        )
        return super().create_initialization_options(
            notification_options or changes, experimental_capabilities, extensions
        )


@dataclass(frozen=True, kw_only=True)
class Front:
    """What the transports share: the router, the resources and how results are shown."""

    router: Calls
    resources: Resources
    version: str
    content_only: bool = False
    """Drop structured content, for clients that would hide images behind it."""
    changing: bool = False
    """Whether third-party servers take part, whose lists may change at any time."""
    prepare: Callable[[Seat], Awaitable[None]] = _as_it_is
    """Has the tool list of a seat complete before it is shown."""

    def server(self, seat_of: SeatOf) -> SdkServer:
        """An SDK server whose requests belong to the seats that `seat_of` names."""
        handlers = Handlers(self.resources, seat_of)
        server = _Server(
            NAME,
            version=self.version,
            title="m3bench",
            instructions=self.resources.instructions,
            # Prompts and resources come with runs and upstream servers, and go with them: stale at once.
            cache_hints={
                "prompts/list": CacheHint(),
                "resources/list": CacheHint(),
                "resources/templates/list": CacheHint(),
                "resources/read": CacheHint(),
            },
            get_tool_input_schema=self.router.schema,
        )
        server.changing = self.changing
        handlers.register(server, changing=self.changing)
        # Replaces the SDK's tracing middleware as well: nothing here exports traces.
        server.middleware[:] = [_Tools(self, seat_of)]
        return server

    @cached_property
    def stamp(self) -> Json:
        """Who answers, as the newest revision has it in every result."""
        return {"name": NAME, "title": "m3bench", "version": self.version}

    def listing(self, seat: Seat, revision: str) -> Json:
        """The result of `tools/list`: who promises no structured content declares none."""
        tools = list(seat.listing)
        if self.content_only:
            tools = [{key: value for key, value in tool.items() if key != "outputSchema"} for tool in tools]
        if revision not in MODERN_PROTOCOL_VERSIONS:
            return {"tools": tools}
        meta = {types.SERVER_INFO_META_KEY: self.stamp}
        hints = {"ttlMs": 0 if self.changing else LIST_SECONDS * 1000, "cacheScope": "private"}
        return {"resultType": "complete", **hints, "tools": tools, "_meta": meta}

    def result(self, answer: Answer, revision: str) -> bytes:
        """The raw result of an answer that is no error, in the envelope of a revision."""
        # What is sent is one line; outside its strings JSON may be broken anywhere.
        result = answer.result.replace(b"\n", b" ") if b"\n" in answer.result else answer.result
        if self.content_only and b'"structuredContent"' in result:
            data = json.loads(result)
            data.pop("structuredContent", None)
            result = dump(data)
        if revision < _LINKS and (b'"audio"' in result or b'"resource_link"' in result):
            result = _without_unknown(result, revision)
        if revision not in MODERN_PROTOCOL_VERSIONS:
            return result
        if b'"_meta"' not in result and result != b"{}":
            stamp = dump({types.SERVER_INFO_META_KEY: self.stamp})
            return b'{"resultType":"complete","_meta":%b,%b' % (stamp, result[1:])
        data = json.loads(result)
        meta = {**(data.get("_meta") or {}), types.SERVER_INFO_META_KEY: self.stamp}
        return dump({"resultType": "complete", **data, "_meta": meta})


def _without_unknown(result: bytes, revision: str) -> bytes:
    """A result without blocks of kinds that a revision does not know, which would make a client refuse all of it."""
    data = json.loads(result)
    unknown = ("resource_link",) if revision >= _SOUND else ("audio", "resource_link")
    content = data.get("content")
    if not isinstance(content, list):
        return result
    data["content"] = [block for block in content if _kind(block) not in unknown]
    return dump(data)


def _kind(block: object) -> object:
    """The type of a block; None of what is no block, as a careless server sends it."""
    return block.get("type") if isinstance(block, dict) else None


def tool_request(caller: Caller, id: Id, params: Mapping[str, object], raw: bytes | None) -> ToolRequest:
    """A request that has just arrived."""
    received = time.monotonic_ns()
    if raw is None:
        raw = dump({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
    meta = params.get("_meta")
    return ToolRequest(
        caller=caller,
        id=id,
        raw=raw,
        name=params.get("name"),
        arguments=params.get("arguments"),
        meta=meta if isinstance(meta, dict) else {},
        received_ns=received,
        wall=datetime.now(UTC).isoformat(),
    )


def client_name(info: object) -> str:
    """Name and version that a client gave of itself."""
    return f"{info.get('name', '')} {info.get('version', '')}".strip() if isinstance(info, dict) else ""


def client_of(context: Context) -> str:
    """Name and version of the client that sent a message."""
    params = context.session.client_params
    return f"{params.client_info.name} {params.client_info.version}" if params is not None else ""


class _Tools:
    """Answers `tools/list` and `tools/call`; lets everything else through."""

    def __init__(self, front: Front, seat_of: SeatOf) -> None:
        self._front = front
        self._seat_of = seat_of

    async def __call__(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        revision = ctx.protocol_version
        if revision not in MODERN_PROTOCOL_VERSIONS and not is_initialized(ctx):
            return await call_next(ctx)
        # Over stdio calls may go past the SDK from now on; over HTTP only after a request.
        if self._front.changing and (ctx.request_id is not None or ctx.request is None):
            take_seat(ctx, await self._seat_of(ctx))
        if ctx.request_id is None or ctx.method not in ("tools/list", "tools/call"):
            return await call_next(ctx)
        seat = await self._seat_of(ctx)
        if ctx.method == "tools/list":
            await self._front.prepare(seat)
            return self._front.listing(seat, revision)
        caller = Caller(seat=seat.id, revision=revision, client=client_of(ctx))
        request = tool_request(caller, ctx.request_id, ctx.params or {}, _body(ctx))
        answer = await self._front.router.call(seat, request, SdkRelay(ctx))
        if answer.error is not None:
            raise MCPError(**error_object(answer.error))
        found: Json = json.loads(self._front.result(answer, revision))
        return found


def _body(context: Context) -> bytes | None:
    """The message as it came over HTTP, when the transport kept it."""
    scope = getattr(context.request, "scope", None)
    return scope.get("m3bench.body") if scope is not None else None
