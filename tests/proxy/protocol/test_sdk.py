"""The private names of the SDK are there, and do what they are used for."""

import importlib
from typing import Any

import anyio
import pytest
from mcp.server.connection import Connection
from mcp.server.lowlevel import Server
from mcp.server.session import ServerSession
from mcp.server.streamable_http import StreamableHTTPServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from m3bench.proxy.protocol.sdk import in_use

pytestmark = pytest.mark.anyio


def _session() -> Any:
    channel: Any = None
    return ServerSession(channel, Connection.from_envelope("2025-11-25", None, None))


def _manager() -> Any:
    return StreamableHTTPSessionManager(app=Server("m3bench"))


def _transport() -> Any:
    return StreamableHTTPServerTransport(mcp_session_id="one", idle_timeout=10)


@pytest.mark.parametrize(
    ("make", "name", "purpose"),
    [
        (_session, "_connection", "to know whether the handshake is done, and when a session ends"),
        (_session, "_request_outbound", "to send notifications on the stream of a request"),
        (lambda: _session()._connection, "initialize_accepted", "to keep calls out before the handshake"),
        (lambda: _session()._connection, "exit_stack", "to close the seat of a session that ends"),
        (_manager, "_server_instances", "to know which sessions are open"),
        (_manager, "_discard_session", "to end a session that is idle"),
        (_transport, "_requests_in_flight", "to keep a session alive while a call is answered past the SDK"),
        (_transport, "_idle_timeout", "the same"),
        (_transport, "idle_scope", "the same"),
        (
            lambda: importlib.import_module("mcp.shared._httpx_utils"),
            "create_mcp_http_client",
            "to reach upstream servers with the SDK's own limits",
        ),
    ],
)
async def test_the_sdk_has_the_private_names_that_the_proxy_uses(make: Any, name: str, purpose: str) -> None:
    assert hasattr(make(), name), (
        f"This version of `mcp` has no {name!r}. proxy/protocol/sdk.py uses it {purpose}. Look up in the SDK what took "
        "its place, change proxy/protocol/sdk.py, the only module that knows private names, and this test; until then "
        "keep `mcp` below this version in pyproject.toml and constraints.txt."
    )


async def test_a_session_does_not_fall_idle_while_a_call_is_answered_past_the_sdk() -> None:
    transport = _transport()
    async with transport.connect():
        with in_use(transport), in_use(transport):
            assert transport.idle_scope.deadline == float("inf")
        assert anyio.current_time() < transport.idle_scope.deadline < anyio.current_time() + 11


async def test_a_session_without_an_end_needs_no_keeping() -> None:
    with in_use(StreamableHTTPServerTransport(mcp_session_id="one")):
        pass
