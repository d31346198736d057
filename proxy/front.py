"""The MCP server that clients see.

Built on the SDK's low-level server, which owns the handshake, both protocol eras and everything that is not
a tool. Tool lists and tool calls are answered in a middleware, from prepared data and raw bytes: no model is
built of a result, so it passes through as the tool gave it. What a seat is, and where calls go, is given
from outside.
"""

import json
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.connection import allowed_log_levels
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from m3bench.proxy.call import Answer, Caller, ToolRequest, error_object
from m3bench.proxy.router import Relay
from m3bench.proxy.seat import Seat

NAME = "m3bench"

LIST_SECONDS = 3600
"""How long a client may keep a tool list: a seat's never changes."""

SeatOf = Callable[[ServerRequestContext[Any, Any]], Awaitable[Seat]]


class Calls(Protocol):
    """Where tool calls go: a router, or something that chooses one."""

    def schema(self, name: str) -> Mapping[str, Any] | None:
        """The schema whose arguments HTTP clients may have to repeat in headers."""
        ...

    async def call(self, seat: Seat, request: ToolRequest, relay: Relay | None = None) -> Answer:
        """Answer a request; the answer is on record when this returns."""
        ...


class Resources(Protocol):
    """Prompts, resources, completions and the log level, answered by whoever is served; entries are as on the wire."""

    instructions: str

    async def prompts(self, seat: Seat) -> Sequence[dict[str, Any]]:
        """The prompts a client can offer as commands."""
        ...

    async def prompt(self, seat: Seat, name: str, arguments: Mapping[str, str]) -> dict[str, Any] | None:
        """A prompt by name; None when there is none."""
        ...

    async def resources(self, seat: Seat) -> Sequence[dict[str, Any]]:
        """What can be read now."""
        ...

    async def templates(self, seat: Seat) -> Sequence[dict[str, Any]]:
        """Patterns of what can be read."""
        ...

    async def resource(self, seat: Seat, uri: str) -> dict[str, Any] | None:
        """A resource by URI; None when there is none."""
        ...

    async def completion(self, seat: Seat, params: Mapping[str, Any]) -> dict[str, Any] | None:
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

    def server(self, seat_of: SeatOf) -> Server[Any]:
        """An SDK server whose requests belong to the seats that `seat_of` names."""

        async def unreached(context: Any, params: Any) -> Any:
            raise AssertionError(f"{context.method} is answered by the middleware")

        async def list_prompts(context: Any, params: Any) -> Any:
            return _complete(context, {"prompts": list(await self.resources.prompts(await seat_of(context)))})

        async def get_prompt(context: Any, params: types.GetPromptRequestParams) -> Any:
            found = await self.resources.prompt(await seat_of(context), params.name, params.arguments or {})
            if found is None:
                raise MCPError(code=types.INVALID_PARAMS, message=f"Unknown prompt {params.name!r}")
            return _complete(context, found)

        async def list_resources(context: Any, params: Any) -> Any:
            return _complete(context, {"resources": list(await self.resources.resources(await seat_of(context)))})

        async def list_templates(context: Any, params: Any) -> Any:
            return _complete(
                context, {"resourceTemplates": list(await self.resources.templates(await seat_of(context)))}
            )

        async def read_resource(context: Any, params: types.ReadResourceRequestParams) -> Any:
            uri = str(params.uri)
            found = await self.resources.resource(await seat_of(context), uri)
            if found is None:
                code = types.INVALID_PARAMS if context.protocol_version in MODERN_PROTOCOL_VERSIONS else -32002
                raise MCPError(code=code, message=f"Resource not found: {uri}", data={"uri": uri})
            return _complete(context, found)

        async def complete(context: Any, params: Any) -> Any:
            asked = {key: value for key, value in (context.params or {}).items() if key != "_meta"}
            found = await self.resources.completion(await seat_of(context), asked)
            return _complete(context, found or {"completion": {"values": []}})

        async def set_level(context: Any, params: types.SetLevelRequestParams) -> Any:
            await self.resources.log_level(params.level)
            return {}

        server: Server[Any] = Server(
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
            on_list_tools=unreached,
            on_call_tool=unreached,
            on_list_prompts=list_prompts,
            on_get_prompt=get_prompt,
            on_list_resources=list_resources,
            on_list_resource_templates=list_templates,
            on_read_resource=read_resource,
            on_completion=complete,
        )
        # As an argument of the constructor it would warn: newer revisions have logging per request.
        server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, set_level)
        # Replaces the SDK's tracing middleware as well: nothing here exports traces.
        server.middleware[:] = [_Tools(self, seat_of, server)]
        return server

    def listing(self, seat: Seat) -> list[dict[str, Any]]:
        """A seat's tools as this front door shows them: who promises no structured content declares none."""
        if not self.content_only:
            return list(seat.listing)
        return [{key: value for key, value in tool.items() if key != "outputSchema"} for tool in seat.listing]

    def shape(self, result: bytes) -> bytes:
        """A result as this front door shows it."""
        if not self.content_only or b'"structuredContent"' not in result:
            return result
        data = json.loads(result)
        data.pop("structuredContent", None)
        return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()


class _Tools:
    """Answers `tools/list` and `tools/call`; lets everything else through."""

    def __init__(self, front: Front, seat_of: SeatOf, server: Server[Any]) -> None:
        self._front = front
        self._seat_of = seat_of
        self._server = server

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        context = ctx
        if context.request_id is None or context.method not in ("tools/list", "tools/call"):
            return await call_next(context)
        modern = context.protocol_version in MODERN_PROTOCOL_VERSIONS
        # The SDK's own gate stands behind this middleware, so it must be kept here.
        if not modern and not context.session._connection.initialize_accepted:
            return await call_next(context)
        seat = await self._seat_of(context)
        if context.method == "tools/list":
            return self._envelope(
                {"tools": self._front.listing(seat)}, modern, {"ttlMs": LIST_SECONDS * 1000, "cacheScope": "private"}
            )
        params = dict(context.params or {})
        caller = Caller(seat=seat.id, revision=context.protocol_version, client=_client(context))
        request = tool_request(caller, context.request_id, params, _body(context))
        answer = await self._front.router.call(seat, request, _Relay(context))
        result = json.loads(result_of(self._front, answer))
        return self._envelope(result, modern, {})

    def _envelope(self, result: dict[str, Any], modern: bool, hints: dict[str, Any]) -> dict[str, Any]:
        """What the 2026-07-28 revision wants around a result."""
        if not modern:
            return result
        meta = {**(result.get("_meta") or {}), types.SERVER_INFO_META_KEY: self._server.server_info_stamp}
        return {"resultType": "complete", **hints, **result, "_meta": meta}


def tool_request(caller: Caller, id: str | int, params: Mapping[str, Any], raw: bytes | None) -> ToolRequest:
    """A request that has just arrived."""
    received = time.monotonic_ns()
    if raw is None:
        message = {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}
        raw = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode(errors="surrogatepass")
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


def result_of(front: Front, answer: Answer) -> bytes:
    """The raw result of an answer; raises `MCPError` when the answer is a protocol error."""
    if answer.error is not None:
        raise MCPError(**error_object(answer.error))
    return front.shape(answer.result)


def is_wanted(method: str, params: Mapping[str, Any], revision: str, meta: Mapping[str, Any]) -> bool:
    """Whether a client wants a notification: the newest revision asks for log messages request by request."""
    return method != "notifications/message" or params.get("level") in allowed_log_levels(revision, meta)


def _complete(context: ServerRequestContext[Any, Any], result: dict[str, Any]) -> dict[str, Any]:
    """A result of ours or of an upstream server, which speaks an older revision, in the client's revision."""
    return {"resultType": "complete", **result} if context.protocol_version in MODERN_PROTOCOL_VERSIONS else result


def _client(context: ServerRequestContext[Any, Any]) -> str:
    params = context.session.client_params
    return f"{params.client_info.name} {params.client_info.version}" if params is not None else ""


def _body(context: ServerRequestContext[Any, Any]) -> bytes | None:
    """The message as it came over HTTP, when the transport kept it."""
    scope = getattr(context.request, "scope", None)
    return scope.get("m3bench.body") if scope is not None else None


class _Relay:
    """Carries notifications of a call under way to the client that made it."""

    def __init__(self, context: ServerRequestContext[Any, Any]) -> None:
        self._context = context

    async def notify(self, method: str, params: Mapping[str, Any]) -> None:
        meta = (self._context.params or {}).get("_meta") or {}
        if not is_wanted(method, params, self._context.protocol_version, meta):
            return
        # The request-scoped channel, which on HTTP is the stream of this very request; the SDK has no other way to it.
        await self._context.session._request_outbound.notify(method, params)
