"""Serving clients over Streamable HTTP.

`/mcp` speaks the handshake revisions, in which the protocol session is the seat; a client of the newest
revision is answered there like by an older server and falls back. `/seat/<handle>/mcp` speaks all revisions,
and the handle in the path is the seat. Loopback needs no token; anything else does. Host and Origin are
checked against DNS rebinding, bodies are bounded, sessions that fall idle are ended.
"""

import re
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from m3bench.proxy.front import Front
from m3bench.proxy.seat import Seat
from m3bench.tasks.errors import UserError

IDLE_SECONDS = 1800.0
MAX_BODY_BYTES = 16 * 1024 * 1024

HANDLE = re.compile(r"[A-Za-z0-9_-]{22,64}")
"""A seat's handle: at least 128 bits' worth of letters, so that nobody guesses another's."""

OpenSeat = Callable[[str, str | None], Seat]
CloseSeat = Callable[[Seat], Awaitable[None]]


@dataclass(frozen=True, kw_only=True)
class HttpSettings:
    """How to listen."""

    host: str = "127.0.0.1"
    port: int = 8000
    token: str | None = None
    """Clients must send it as a bearer token; required when the host is not this machine alone."""
    operator_token: str | None = None
    """Opens the pages in place of `token`, which clients have too."""
    idle_seconds: float = IDLE_SECONDS

    @property
    def loopback(self) -> bool:
        """Whether only this machine can connect."""
        return self.host in ("127.0.0.1", "localhost", "::1")


def http_app(
    front: Front, settings: HttpSettings, open_seat: OpenSeat, close_seat: CloseSeat, pages: ASGIApp | None = None
) -> ASGIApp:
    """The ASGI application.

    Args:
        front: What is served.
        settings: How to listen.
        open_seat: Opens a seat by its key, with a profile when one was asked for.
        close_seat: Ends what runs on one.
        pages: Answers at `/` and below `/live`, for people; checks by itself who may see what.
    """
    if not settings.loopback and settings.token is None:
        raise UserError(f"Listening on {settings.host} lets others connect: set a token with --token or M3BENCH_TOKEN.")
    seats: dict[str, Seat] = {}

    async def seat_of(context: Any) -> Seat:
        request: Request = context.request
        handle = request.path_params.get("handle")
        key = handle or request.headers.get("mcp-session-id") or ""
        if key not in seats:
            profile = parse_qs(request.url.query).get("profile", [None])[0]
            try:
                seats[key] = seat = open_seat(key, profile)
            except UserError as error:
                raise MCPError(code=INVALID_PARAMS, message=str(error)) from error

            async def close() -> None:
                del seats[key]
                await close_seat(seat)

            if handle is None:
                # A session's seat ends with the session; a handle's lives as long as the process.
                context.session._connection.exit_stack.push_async_callback(close)
        return seats[key]

    def manager() -> StreamableHTTPSessionManager:
        return StreamableHTTPSessionManager(
            app=front.server(seat_of),
            security_settings=security(settings),
            max_request_body_size=MAX_BODY_BYTES,
            session_idle_timeout=settings.idle_seconds,
        )

    shared, handled = manager(), manager()

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(shared.run())
            await stack.enter_async_context(handled.run())
            yield

    async def health(request: Request) -> Response:
        return JSONResponse({"name": "m3bench", "version": front.version})

    routes = [
        Route("/mcp", endpoint=_HandshakeOnly(_KeepBody(shared.asgi_app))),
        Route("/seat/{handle}/mcp", endpoint=_CheckHandle(_KeepBody(handled.asgi_app))),
        Route("/health", health),
    ]
    app: ASGIApp = Starlette(routes=routes, lifespan=lifespan)
    guarded = _RequireToken(app, settings.token) if settings.token is not None else app
    return guarded if pages is None else _Beside(guarded, pages)


def security(settings: HttpSettings) -> TransportSecuritySettings:
    """Which hosts and origins requests may name."""
    hosts = ["127.0.0.1:*", "localhost:*", "[::1]:*", "127.0.0.1", "localhost"]
    if not settings.loopback:
        # Behind a token, under whatever name the machine is reached; browsers' pages are kept out by Origin.
        return TransportSecuritySettings(enable_dns_rebinding_protection=False)
    return TransportSecuritySettings(
        allowed_hosts=hosts, allowed_origins=["http://127.0.0.1:*", "http://localhost:*", "http://[::1]:*"]
    )


class _Beside:
    """Hands what people look at to its pages, and all else to the door for clients."""

    def __init__(self, app: ASGIApp, pages: ASGIApp) -> None:
        self._app = app
        self._pages = pages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        for_people = scope["type"] == "http" and (scope["path"] == "/" or scope["path"].startswith("/live/"))
        await (self._pages if for_people else self._app)(scope, receive, send)


class _HandshakeOnly:
    """Answers requests of revisions without sessions as an older server would, so that clients fall back."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked = dict(scope.get("headers") or []).get(b"mcp-protocol-version")
        if asked is not None and asked.decode("latin-1") not in HANDSHAKE_PROTOCOL_VERSIONS:
            await _refuse("Bad Request: Unsupported protocol version", 400)(scope, receive, send)
            return
        await self._app(scope, receive, send)


class _CheckHandle:
    """Lets only well-formed handles through."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not HANDLE.fullmatch(scope["path_params"]["handle"]):
            text = "A seat's handle has 22 to 64 letters, digits, - or _: use a random one"
            await _refuse(text, 404)(scope, receive, send)
            return
        await self._app(scope, receive, send)


class _KeepBody:
    """Leaves a request's body in its scope, for the record."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        parts: list[bytes] = []

        async def listen() -> Message:
            message = await receive()
            if message["type"] == "http.request":
                parts.append(message.get("body", b""))
                if not message.get("more_body", False):
                    scope["m3bench.body"] = b"".join(parts)
            return message

        await self._app(scope, listen, send)


class _RequireToken:
    """Turns away requests without the bearer token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] != "/health":
            given = dict(scope["headers"]).get(b"authorization", b"")
            if not secrets.compare_digest(given, self._token):
                response = _refuse("Unauthorized: send the token as 'Authorization: Bearer ...'", 401)
                response.headers["www-authenticate"] = "Bearer"
                await response(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _refuse(message: str, status: int) -> JSONResponse:
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": message}}
    return JSONResponse(error, status_code=status)
