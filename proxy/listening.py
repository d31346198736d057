"""Ways to a client for what belongs to no call of its: the standing channel of a session, or a stream it listens on.

In the revisions with a handshake a client can be told and asked things at any time. In the newest one it hears only
what it subscribed to, on the stream of that request, and can be asked nothing.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.subscriptions import event_from_wire
from mcp_types import SubscriptionsListenRequestParams, SubscriptionsListenResult
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from m3bench.proxy.messages import Json
from m3bench.proxy.sdk import Context, Outbound, connection_state, request, standing_channel, when_closed
from m3bench.proxy.seat import CAPABILITIES, Seat
from m3bench.tasks.jsonrpc import METHOD_NOT_FOUND

_SEATED = "m3bench.seated"


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


async def listen(
    context: Context, params: SubscriptionsListenRequestParams, stream: Subscription
) -> SubscriptionsListenResult:
    """Serve a stream until the client ends it."""
    return await ListenHandler(stream.bus)(context, params)
