"""What clients ask for beside tools: prompts, resources, completions, log messages and news of changes.

The SDK's server comes here with what it has parsed; whoever is served answers (`Resources`). Errors of third-party
servers go to the client as they are.

Beside calls there are two ways to a client. In the revisions with a handshake it can be told and asked things at any
time, on the standing channel of its session. In the newest one it hears only what it subscribed to, on the stream of
that request, and can be asked nothing.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from types import MappingProxyType

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.connection import allowed_log_levels
from mcp.server.lowlevel import Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import event_from_wire
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from m3bench.proxy.front import Resources
from m3bench.proxy.protocol.messages import Json
from m3bench.proxy.protocol.sdk import (
    Context,
    Outbound,
    connection_state,
    request,
    request_channel,
    standing_channel,
    when_closed,
)
from m3bench.proxy.protocol.sizes import fitted_resource
from m3bench.proxy.protocol.tool_calls import MAX_RESULT_BYTES
from m3bench.proxy.seat import CAPABILITIES, Seat
from m3bench.tasks.errors import M3Error, UpstreamError, plain
from m3bench.tasks.jsonrpc import METHOD_NOT_FOUND

OWN = ("m3bench://", "ui://m3bench/")
"""How the addresses of our own resources begin."""

RESOURCE_NOT_FOUND = -32002
"""What the revisions with a handshake say of a resource that is not there."""

UNSUBSCRIBE_SECONDS = 5.0

SeatOf = Callable[[Context], Awaitable[Seat]]

SdkServer = Server[Json]

_SEATED = "m3bench.seated"
"""Marks a session whose client sits on its seat."""


class Handlers:
    """What the SDK asks for beside tools.

    Args:
        resources: Who answers.
        seat_of: Finds the seat of a message.
        limit: How many bytes a client takes, by its name and version; None when that is not known.
    """

    def __init__(self, resources: Resources, seat_of: SeatOf, limit: Callable[[str], int | None]) -> None:
        self._resources = resources
        self._seat_of = seat_of
        self._limit = limit

    def register(self, server: SdkServer, *, changing: bool) -> None:
        """Have a server ask here. As arguments of its constructor they would have to return models.

        Args:
            server: The server.
            changing: Whether lists and resources can change, so that there is something to subscribe to.
        """
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
        if changing:
            server.add_request_handler("resources/subscribe", types.SubscribeRequestParams, self.subscribe)
            server.add_request_handler("resources/unsubscribe", types.UnsubscribeRequestParams, self.subscribe)
            server.add_request_handler("subscriptions/listen", types.SubscriptionsListenRequestParams, self.listen)
            server.add_notification_handler(
                "notifications/roots/list_changed", types.NotificationParams, self.roots_changed
            )

    async def unreached(self, context: Context, params: object) -> Json:
        raise AssertionError(f"{context.method} is answered by the middleware")

    async def list_prompts(self, context: Context, params: object) -> Json:
        return _complete(context, {"prompts": list(await self._resources.prompts(await self._seat_of(context)))})

    async def get_prompt(self, context: Context, params: types.GetPromptRequestParams) -> Json:
        seat = await self._seat_of(context)
        with _errors():
            found = await self._resources.prompt(seat, dict(context.params or {}), SdkRelay(context))
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
        seat = await self._seat_of(context)
        modern = context.protocol_version in MODERN_PROTOCOL_VERSIONS
        code = types.INVALID_PARAMS if modern else RESOURCE_NOT_FOUND
        with _errors({RESOURCE_NOT_FOUND: code}):
            found = await self._resources.resource(seat, {**(context.params or {}), "uri": uri}, SdkRelay(context))
            if found is not None:
                limit = self._limit(client_of(context))
                most = min(limit or MAX_RESULT_BYTES, MAX_RESULT_BYTES) if uri.startswith(OWN) else limit
                found = await anyio.to_thread.run_sync(fitted_resource, found, most) if most is not None else found
        if found is None:
            raise MCPError(code=code, message=f"Resource not found: {uri}", data={"uri": uri})
        return _complete(context, found)

    async def complete(self, context: Context, params: object) -> Json:
        seat = await self._seat_of(context)
        with _errors():
            found = await self._resources.completion(seat, dict(context.params or {}), SdkRelay(context))
        return _complete(context, found or {"completion": {"values": []}})

    async def set_level(self, context: Context, params: types.SetLevelRequestParams) -> Json:
        await self._resources.log_level(await self._seat_of(context), params.level)
        return {}

    async def subscribe(
        self, context: Context, params: types.SubscribeRequestParams | types.UnsubscribeRequestParams
    ) -> Json:
        with _errors():
            await self._resources.subscribe(await self._seat_of(context), context.method, str(params.uri))
        return {}

    async def roots_changed(self, context: Context, params: object) -> None:
        await self._resources.roots_changed(await self._seat_of(context))

    async def listen(
        self, context: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """A stream of changes; servers are subscribed to as in the other revisions, as far as they allow it."""
        seat = await self._seat_of(context)
        uris = params.notifications.resource_subscriptions or []
        async with subscribed(seat) as stream:
            await self._subscribe_all(seat, "resources/subscribe", uris)
            try:
                return await ListenHandler(stream.bus)(context, params)
            finally:
                with anyio.move_on_after(UNSUBSCRIBE_SECONDS, shield=True):
                    await self._subscribe_all(seat, "resources/unsubscribe", uris)

    async def _subscribe_all(self, seat: Seat, method: str, uris: Sequence[str]) -> None:
        for uri in uris:
            with suppress(M3Error):
                await self._resources.subscribe(seat, method, uri)


def client_of(context: Context) -> str:
    """Name and version of the client that sent a message."""
    params = context.session.client_params
    return f"{params.client_info.name} {params.client_info.version}" if params is not None else ""


class SdkRelay:
    """Carries notifications of a call under way to the client that made it."""

    def __init__(self, context: Context) -> None:
        self._context = context

    async def notify(self, method: str, params: Mapping[str, object]) -> None:
        meta = (self._context.params or {}).get("_meta")
        if is_wanted(method, params, self._context.protocol_version, meta if isinstance(meta, dict) else {}):
            await request_channel(self._context).notify(method, params)

    async def request(self, method: str, params: Mapping[str, object]) -> Json:
        return await request(request_channel(self._context), method, params)


def is_wanted(method: str, params: Mapping[str, object], revision: str, meta: Mapping[str, object]) -> bool:
    """Whether a client wants a notification: the newest revision asks for log messages request by request."""
    return method != "notifications/message" or params.get("level") in allowed_log_levels(revision, meta)


@contextmanager
def _errors(codes: Mapping[int, int] = MappingProxyType({})) -> Iterator[None]:
    """What goes wrong, as the client is told: a third-party server's own error is passed on as it is.

    Args:
        codes: Codes that the client's revision has others for.
    """
    try:
        yield
    except UpstreamError as error:
        code = error.code if error.code is not None else types.INTERNAL_ERROR
        raise MCPError(code=codes.get(code, code), message=str(error), data=error.data) from error
    except M3Error as error:
        raise MCPError(code=types.INVALID_REQUEST, message=plain(error)) from error


def _complete(context: Context, result: Json) -> Json:
    """A result of ours or of an upstream server, which speaks an older revision, in the client's revision."""
    return {"resultType": "complete", **result} if context.protocol_version in MODERN_PROTOCOL_VERSIONS else result


class Channel:
    """The standing channel of a session."""

    def __init__(self, outbound: Outbound) -> None:
        self._outbound = outbound

    async def notify(self, method: str, params: Mapping[str, object]) -> None:
        """Tell the client something."""
        await self._outbound.notify(method, params or None)

    async def request(self, method: str, params: Mapping[str, object]) -> Json:
        """Ask the client something."""
        return await request(self._outbound, method, params)


class Subscription:
    """A stream that a client of the newest revision listens on."""

    def __init__(self) -> None:
        self.bus = InMemorySubscriptionBus()

    async def notify(self, method: str, params: Mapping[str, object]) -> None:
        """Tell the client something, if it is of the kinds that can be subscribed to."""
        event = event_from_wire(method, params)
        if event is not None:
            await self.bus.publish(event)

    async def request(self, method: str, params: Mapping[str, object]) -> Json:
        """Refused: the revision has no such requests."""
        return {"error": {"code": METHOD_NOT_FOUND, "message": f"The client's revision has no {method}."}}


def take_seat(context: Context, seat: Seat) -> None:
    """Note who sits on a seat: what the client can be asked for, and how it is reached while its session lasts."""
    state = connection_state(context)
    if context.protocol_version in MODERN_PROTOCOL_VERSIONS or _SEATED in state:
        return
    state[_SEATED] = True
    params = context.session.client_params
    declared = params.capabilities.model_dump(by_alias=True, exclude_none=True) if params is not None else {}
    seat.client = {key: value for key, value in declared.items() if key in CAPABILITIES}
    channel = Channel(standing_channel(context))
    seat.listeners.append(channel)

    async def leave() -> None:
        seat.listeners.remove(channel)

    when_closed(context, leave)


@asynccontextmanager
async def subscribed(seat: Seat) -> AsyncIterator[Subscription]:
    """A stream that hears what a seat is told."""
    stream = Subscription()
    seat.listeners.append(stream)
    try:
        yield stream
    finally:
        seat.listeners.remove(stream)
