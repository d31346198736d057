"""The MCP server that clients see.

Built on the SDK's low-level server, which owns the handshake, both protocol eras and everything that is not
a tool. Tool lists and the first tool calls of a client are answered in a middleware; once the SDK has let a client
in, its calls go past the SDK (`conversation`). Either way a result is the raw bytes that the tool gave, put into the
envelope of the client's revision here. What a seat is, and where calls go, is given from outside.
"""

import json
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Protocol

import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.connection import allowed_log_levels
from mcp.server.context import CallNext, HandlerResult
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from m3bench.proxy.call import Answer, Caller, Relay, ToolRequest, error_object
from m3bench.proxy.messages import Id, Json, dump
from m3bench.proxy.sdk import Context, is_initialized, notify
from m3bench.proxy.seat import Seat

NAME = "m3bench"

LIST_SECONDS = 3600
"""How long a client may keep a tool list: a seat's never changes."""

RESOURCE_NOT_FOUND = -32002
"""What the revisions with a handshake say of a resource that is not there."""

SeatOf = Callable[[Context], Awaitable[Seat]]

SdkServer = Server[Json]


class Calls(Protocol):
    """Where tool calls go: a router, or something that chooses one."""

    def schema(self, name: str) -> Mapping[str, object] | None:
        """The schema whose arguments HTTP clients may have to repeat in headers."""
        ...

    async def call(self, seat: Seat, request: ToolRequest, relay: Relay | None = None) -> Answer:
        """Answer a request; the answer is on record when this returns."""
        ...


class Resources(Protocol):
    """Prompts, resources, completions and the log level, answered by whoever is served; entries are as on the wire."""

    instructions: str

    async def prompts(self, seat: Seat) -> Sequence[Json]:
        """The prompts a client can offer as commands."""
        ...

    async def prompt(self, seat: Seat, name: str, arguments: Mapping[str, str]) -> Json | None:
        """A prompt by name; None when there is none."""
        ...

    async def resources(self, seat: Seat) -> Sequence[Json]:
        """What can be read now."""
        ...

    async def templates(self, seat: Seat) -> Sequence[Json]:
        """Patterns of what can be read."""
        ...

    async def resource(self, seat: Seat, uri: str) -> Json | None:
        """A resource by URI; None when there is none."""
        ...

    async def completion(self, seat: Seat, params: Json) -> Json | None:
        """Values for an argument that is being typed; None when nobody knows any."""
        ...

    async def log_level(self, level: str) -> None:
        """The client wants log messages from this level on."""
        ...


@dataclass(frozen=True, kw_only=True)
class Front:
    """What the transports share: the router, the resources and how results are shown."""

    router: Calls
    resources: Resources
    version: str
    content_only: bool = False
    """Drop structured content, for clients that would hide images behind it."""

    def server(self, seat_of: SeatOf) -> SdkServer:
        """An SDK server whose requests belong to the seats that `seat_of` names."""
        handlers = _Handlers(self.resources, seat_of)
        server: SdkServer = Server(
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
        handlers.register(server)
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
        hints = {"ttlMs": LIST_SECONDS * 1000, "cacheScope": "private"}
        return {"resultType": "complete", **hints, "tools": tools, "_meta": meta}

    def result(self, answer: Answer, revision: str) -> bytes:
        """The raw result of an answer that is no error, in the envelope of a revision."""
        # What is sent is one line; outside its strings JSON may be broken anywhere.
        result = answer.result.replace(b"\n", b" ") if b"\n" in answer.result else answer.result
        if self.content_only and b'"structuredContent"' in result:
            data = json.loads(result)
            data.pop("structuredContent", None)
            result = dump(data)
        if revision not in MODERN_PROTOCOL_VERSIONS:
            return result
        if b'"_meta"' not in result and result != b"{}":
            stamp = dump({types.SERVER_INFO_META_KEY: self.stamp})
            return b'{"resultType":"complete","_meta":%b,%b' % (stamp, result[1:])
        data = json.loads(result)
        meta = {**(data.get("_meta") or {}), types.SERVER_INFO_META_KEY: self.stamp}
        return dump({"resultType": "complete", **data, "_meta": meta})


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


def is_wanted(method: str, params: Mapping[str, object], revision: str, meta: Mapping[str, object]) -> bool:
    """Whether a client wants a notification: the newest revision asks for log messages request by request."""
    return method != "notifications/message" or params.get("level") in allowed_log_levels(revision, meta)


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
        if ctx.request_id is None or ctx.method not in ("tools/list", "tools/call"):
            return await call_next(ctx)
        revision = ctx.protocol_version
        if revision not in MODERN_PROTOCOL_VERSIONS and not is_initialized(ctx):
            return await call_next(ctx)
        seat = await self._seat_of(ctx)
        if ctx.method == "tools/list":
            return self._front.listing(seat, revision)
        caller = Caller(seat=seat.id, revision=revision, client=client_of(ctx))
        request = tool_request(caller, ctx.request_id, ctx.params or {}, _body(ctx))
        answer = await self._front.router.call(seat, request, _SdkRelay(ctx))
        if answer.error is not None:
            raise MCPError(**error_object(answer.error))
        found: Json = json.loads(self._front.result(answer, revision))
        return found


class _Handlers:
    """What the SDK asks for beside tools."""

    def __init__(self, resources: Resources, seat_of: SeatOf) -> None:
        self._resources = resources
        self._seat_of = seat_of

    def register(self, server: SdkServer) -> None:
        """Have a server ask here. As arguments of its constructor they would have to return models."""
        page = types.PaginatedRequestParams
        server.add_request_handler("tools/list", page, self.unreached)
        server.add_request_handler("tools/call", types.CallToolRequestParams, self.unreached)
        server.add_request_handler("prompts/list", page, self.list_prompts)
        server.add_request_handler("prompts/get", types.GetPromptRequestParams, self.get_prompt)
        server.add_request_handler("resources/list", page, self.list_resources)
        server.add_request_handler("resources/templates/list", page, self.list_templates)
        server.add_request_handler("resources/read", types.ReadResourceRequestParams, self.read_resource)
        server.add_request_handler("completion/complete", types.CompleteRequestParams, self.complete)
        server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, self.set_level)

    async def unreached(self, context: Context, params: object) -> Json:
        raise AssertionError(f"{context.method} is answered by the middleware")

    async def list_prompts(self, context: Context, params: object) -> Json:
        return _complete(context, {"prompts": list(await self._resources.prompts(await self._seat_of(context)))})

    async def get_prompt(self, context: Context, params: types.GetPromptRequestParams) -> Json:
        found = await self._resources.prompt(await self._seat_of(context), params.name, params.arguments or {})
        if found is None:
            raise MCPError(code=types.INVALID_PARAMS, message=f"Unknown prompt {params.name!r}")
        return _complete(context, found)

    async def list_resources(self, context: Context, params: object) -> Json:
        return _complete(context, {"resources": list(await self._resources.resources(await self._seat_of(context)))})

    async def list_templates(self, context: Context, params: object) -> Json:
        found = await self._resources.templates(await self._seat_of(context))
        return _complete(context, {"resourceTemplates": list(found)})

    async def read_resource(self, context: Context, params: types.ReadResourceRequestParams) -> Json:
        uri = str(params.uri)
        found = await self._resources.resource(await self._seat_of(context), uri)
        if found is None:
            modern = context.protocol_version in MODERN_PROTOCOL_VERSIONS
            code = types.INVALID_PARAMS if modern else RESOURCE_NOT_FOUND
            raise MCPError(code=code, message=f"Resource not found: {uri}", data={"uri": uri})
        return _complete(context, found)

    async def complete(self, context: Context, params: object) -> Json:
        asked = {key: value for key, value in (context.params or {}).items() if key != "_meta"}
        found = await self._resources.completion(await self._seat_of(context), asked)
        return _complete(context, found or {"completion": {"values": []}})

    async def set_level(self, context: Context, params: types.SetLevelRequestParams) -> Json:
        await self._resources.log_level(params.level)
        return {}


class _SdkRelay:
    """Carries notifications of a call under way to the client that made it."""

    def __init__(self, context: Context) -> None:
        self._context = context

    async def notify(self, method: str, params: Mapping[str, object]) -> None:
        meta = (self._context.params or {}).get("_meta")
        if is_wanted(method, params, self._context.protocol_version, meta if isinstance(meta, dict) else {}):
            await notify(self._context, method, params)


def _complete(context: Context, result: Json) -> Json:
    """A result of ours or of an upstream server, which speaks an older revision, in the client's revision."""
    return {"resultType": "complete", **result} if context.protocol_version in MODERN_PROTOCOL_VERSIONS else result


def _body(context: Context) -> bytes | None:
    """The message as it came over HTTP, when the transport kept it."""
    scope = getattr(context.request, "scope", None)
    return scope.get("m3bench.body") if scope is not None else None
