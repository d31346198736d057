"""The private names of the MCP SDK that the proxy needs, and nothing else.

Each has a reason: the SDK has no public way to what is asked for. Everybody else in the proxy uses its public names.
`tests/proxy/protocol/test_sdk.py` looks for every name used here, and says what to do when a new SDK lacks one.
"""

import math
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import anyio
from mcp.server.context import ServerRequestContext
from mcp.server.streamable_http import StreamableHTTPServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared._httpx_utils import create_mcp_http_client as create_mcp_http_client
from mcp.shared.dispatcher import Outbound as Outbound
from mcp.shared.exceptions import MCPError

from m3bench.proxy.protocol.messages import Json

Context = ServerRequestContext[Any, Any]
"""What the SDK knows of the message that is being handled."""


def is_initialized(context: Context) -> bool:
    """Whether the handshake is done. The SDK's own gate stands behind the middleware, which must therefore ask."""
    return context.session._connection.initialize_accepted


def when_closed(context: Context, callback: Callable[[], Awaitable[None]]) -> None:
    """Have something done when the client's session ends."""
    context.session._connection.exit_stack.push_async_callback(callback)


def request_channel(context: Context) -> Outbound:
    """The channel of the request that is being handled, which on HTTP is the stream of this very request."""
    return context.session._request_outbound


def standing_channel(context: Context) -> Outbound:
    """The channel of the client's session, for what belongs to no request."""
    return context.session._connection.outbound


def connection_state(context: Context) -> Json:
    """What is remembered of a client for as long as its session lasts."""
    return context.session._connection.state


async def request(outbound: Outbound, method: str, params: Mapping[str, object]) -> Json:
    """Ask the client something; its answer, as `result` or as `error`."""
    try:
        return {"result": await outbound.send_raw_request(method, params)}
    except MCPError as error:
        return {"error": error.error.model_dump(exclude_none=True)}


def session_transport(manager: StreamableHTTPSessionManager, session: str) -> StreamableHTTPServerTransport | None:
    """The transport of a session that is open."""
    found = manager._server_instances.get(session)
    return None if found is None or found.is_terminated else found


def idle_sessions(manager: StreamableHTTPSessionManager) -> list[str]:
    """The sessions that no request is under way in, those first that were not used for longest."""
    idle = [
        (transport.idle_scope.deadline, session)
        for session, transport in manager._server_instances.items()
        if transport.idle_scope is not None and not transport._requests_in_flight
    ]
    return [session for _, session in sorted(idle)]


def open_sessions(manager: StreamableHTTPSessionManager) -> frozenset[str]:
    """The sessions that are open."""
    return frozenset(manager._server_instances)


async def end_session(manager: StreamableHTTPSessionManager, session: str) -> None:
    """End a session as if its client had."""
    transport = manager._server_instances.get(session)
    if transport is not None:
        await manager._discard_session(session, transport)


@contextmanager
def in_use(transport: StreamableHTTPServerTransport) -> Iterator[None]:
    """Keep a session from falling idle while a request of its is answered past the SDK."""
    if transport.idle_scope is None or transport._idle_timeout is None:
        yield
        return
    transport._requests_in_flight += 1
    transport.idle_scope.deadline = math.inf
    try:
        yield
    finally:
        transport._requests_in_flight -= 1
        if not transport._requests_in_flight:
            transport.idle_scope.deadline = anyio.current_time() + transport._idle_timeout
