"""The SDK's server before the front door: it owns the handshake, both protocol eras and everything that is not a tool.

Built on the SDK's low-level server. Tool lists and the first tool calls of a client are answered in a middleware; once
the SDK has let a client in, its calls go past the SDK (`client_calls`).
"""

import json

from mcp.server.caching import CacheHint
from mcp.server.context import CallNext, HandlerResult
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from m3bench.proxy.front import NAME, Front, tool_request
from m3bench.proxy.protocol.messages import Json
from m3bench.proxy.protocol.sdk import Context, is_initialized
from m3bench.proxy.protocol.tool_calls import Caller
from m3bench.proxy.transports.handlers import Handlers, SdkRelay, SdkServer, SeatOf, client_of, take_seat


def sdk_server(front: Front, seat_of: SeatOf) -> SdkServer:
    """An SDK server whose requests belong to the seats that `seat_of` names."""
    handlers = Handlers(front.resources, seat_of, front.limit)
    server = _Server(
        NAME,
        version=front.version,
        title="m3bench",
        instructions=front.resources.instructions,
        # Prompts and resources come with runs and upstream servers, and go with them: stale at once.
        cache_hints={
            "prompts/list": CacheHint(),
            "resources/list": CacheHint(),
            "resources/templates/list": CacheHint(),
            "resources/read": CacheHint(),
        },
        get_tool_input_schema=front.router.schema,
    )
    server.changing = front.changing
    handlers.register(server, changing=front.changing)
    # Replaces the SDK's tracing middleware as well: nothing here exports traces.
    server.middleware[:] = [_Tools(front, seat_of)]
    if front.attend is not None:
        front.attend(server)
    return server


class _Server(Server[Json]):
    """The SDK's server, which says of itself in the handshake whether its lists change."""

    changing = False

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, Json] | None = None,
        extensions: dict[str, Json] | None = None,
    ) -> InitializationOptions:
        """What is answered to `initialize`."""
        changes = NotificationOptions(
            prompts_changed=self.changing, resources_changed=self.changing, tools_changed=self.changing
        )
        return super().create_initialization_options(
            notification_options or changes, experimental_capabilities, extensions
        )


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
            code, message, *data = answer.error
            raise MCPError(code=code, message=message, data=data[0] if data else None)
        found: Json = json.loads(self._front.result(answer, revision))
        return found


def _body(context: Context) -> bytes | None:
    """The message as it came over HTTP, when the transport kept it."""
    scope = getattr(context.request, "scope", None)
    return scope.get("m3bench.body") if scope is not None else None
