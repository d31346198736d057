"""Serving clients over Streamable HTTP.

`/mcp` speaks the handshake revisions, in which the protocol session is the seat; a client of the newest
revision is answered there like by an older server and falls back. `/seat/<handle>/mcp` speaks all revisions,
and the handle in the path is the seat. Here the parts are put together: who may come in (`access`), whose seat it is
(`handle_seats`), tool calls (`http_calls`) and, for everything else, the SDK's session managers.
"""

import re
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qs

import anyio
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from m3bench.proxy.front import Front
from m3bench.proxy.protocol.sdk import Context, end_session, idle_sessions, open_sessions, when_closed
from m3bench.proxy.seat import Seat
from m3bench.proxy.transports.access import Access, CheckNames, RequireGuest, RequireToken, Tell, refusal
from m3bench.proxy.transports.admission import IDENTITY, Admission, Identities, Share, come_again
from m3bench.proxy.transports.client_calls import ClientCalls
from m3bench.proxy.transports.connections import most_requests
from m3bench.proxy.transports.forwarding import Forwarding, SeatAddress
from m3bench.proxy.transports.handle_seats import CloseSeat, HandleSeats, OpenHandle, OpenSeat
from m3bench.proxy.transports.handlers import client_of
from m3bench.proxy.transports.http_calls import MAX_BODY_BYTES, Bodies, HttpCalls, HttpSession
from m3bench.proxy.transports.sdk_server import sdk_server
from m3bench.tasks.errors import M3Error, UserError
from m3bench.tasks.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS

IDLE_SECONDS = 1800.0
MAX_SESSIONS = 256

HANDLE = re.compile(r"[A-Za-z0-9_-]{22,64}")
"""A seat's handle: at least 128 bits' worth of letters, so that nobody guesses another's."""


@dataclass(frozen=True, kw_only=True)
class HttpSettings(Access):
    """How to listen, and to whom."""

    host: str = "127.0.0.1"
    port: int = 8000
    token: str | None = None
    """Clients must send it as a bearer token; required unless only this machine is served."""
    operator_token: str | None = None
    """Opens the pages in place of `token`, which clients have too."""
    guests: Mapping[str, str] = field(default_factory=dict)
    """The seat of each who may come in, by the hash of their token, in place of one token for all; see
    `RequireGuest`."""
    guard: Callable[[ASGIApp], ASGIApp] | None = None
    """Puts sign-in around clients' endpoints and pages, in place of tokens that were handed out."""
    tell: Tell | None = None
    """Is told of what is turned away before it gets to `guard`."""
    proxies: tuple[str, ...] = ()
    """Addresses and networks whose word on where requests come from is taken; this machine's when empty."""
    certificate: tuple[str, str] | None = None
    """The files of a certificate and its key, when connections are encrypted here."""
    idle_seconds: float = IDLE_SECONDS
    """After which a session or a handle that nobody uses is forgotten."""


def http_app(
    front: Front,
    settings: HttpSettings,
    open_seat: OpenSeat,
    close_seat: CloseSeat,
    pages: ASGIApp | None = None,
    open_handle: OpenHandle | None = None,
    seat_address: SeatAddress | None = None,
) -> ASGIApp:
    """The ASGI application.

    Args:
        front: What is served.
        settings: How to listen.
        open_seat: Opens a seat by its key, with a profile when one was asked for.
        close_seat: Ends what runs on one.
        pages: Answers at `/`, `/metrics` and below `/live`, for people; checks by itself who may see what.
        open_handle: Opens the seat of a handle, with the run that its client left there; `open_seat` when None.
        seat_address: Knows which server has the seat of a handle, when there are several.
    """
    if not (settings.loopback or settings.token or settings.guests or settings.guard):
        raise UserError(
            f"Listening on {settings.host} lets others connect: set a token with --token-file or M3BENCH_TOKEN."
        )

    async def open_plain(handle: str, profile: str | None) -> Seat:
        return open_seat(handle, profile)

    handles = HandleSeats(open_handle or open_plain, close_seat, idle_seconds=settings.idle_seconds)
    shared = _Endpoint(front, settings, handles, open_seat, close_seat)
    handled = _Endpoint(front, settings, handles, open_seat, close_seat)
    forwarding = None
    if seat_address is not None:
        forwarding = Forwarding(
            handled.calls, seat_address, handles.__contains__, known=bool(settings.guests or settings.guard)
        )

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            tasks = await stack.enter_async_context(anyio.create_task_group())
            if forwarding is not None:
                await stack.enter_async_context(forwarding.connections())
            await stack.enter_async_context(shared.manager.run())
            await stack.enter_async_context(handled.manager.run())
            tasks.start_soon(handles.keep_tidy)
            try:
                yield
            finally:
                tasks.cancel_scope.cancel()

    async def health(request: Request) -> Response:
        return JSONResponse({"name": "m3bench", "version": front.version})

    routes = [
        Route("/mcp", endpoint=_HandshakeOnly(shared.calls)),
        Route("/seat/{handle}/mcp", endpoint=_CheckHandle(handled, forwarding or handled.calls)),
        Route("/health", health),
    ]
    return _guarded(Starlette(routes=routes, lifespan=lifespan), settings, pages)


def _guarded(app: ASGIApp, settings: HttpSettings, pages: ASGIApp | None) -> ASGIApp:
    """An application behind the checks that settings ask for; pages check by themselves who may see them."""
    if settings.guard is not None:
        # By address until a token is known, and then by whose it is.
        people = Admission(app if pages is None else _Beside(app, pages), Identities({}, known=True), most_requests())
        guarded = Admission(settings.guard(people), Identities({}), most_requests())
        return CheckNames(guarded, settings, settings.tell)
    if settings.guests:
        app = RequireGuest(app, settings.guests)
    elif settings.token is not None:
        app = RequireToken(app, settings.token)
    if pages is not None:
        app = _Beside(app, pages)
    return CheckNames(Admission(app, Identities(settings.guests), most_requests()), settings)


class _Endpoint:
    """A session manager of the SDK and the layer before it, and the seats of those who come in."""

    def __init__(
        self, front: Front, settings: HttpSettings, handles: HandleSeats, open_seat: OpenSeat, close_seat: CloseSeat
    ) -> None:
        self._front = front
        self._handles = handles
        self._open_seat = open_seat
        self._close_seat = close_seat
        self._seats: dict[str, Seat] = {}
        """By session."""
        self.manager = StreamableHTTPSessionManager(
            app=sdk_server(front, self._seat_of_message),
            # Who may come in was checked before.
            security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
            max_request_body_size=MAX_BODY_BYTES,
            session_idle_timeout=settings.idle_seconds,
            # They are counted here, by whose they are.
            max_sessions=None,
        )
        self._owners: dict[str, str] = {}
        """Whose each session is."""
        self._known = bool(settings.guests or settings.guard)
        self._opening = Share(MAX_SESSIONS, known=self._known)
        """Sessions that somebody is about to have."""
        bodies = Bodies(known=self._known)
        self.calls = HttpCalls(self._enter, self.manager, front, self._seat_of, handles, bodies)

    async def _enter(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Have the SDK answer. When there are too many sessions for another, one that is idle ends for it."""
        if "mcp-session-id" in Headers(scope=scope):
            await self.manager.asgi_app(scope, receive, send)
            return
        who = scope.get(IDENTITY, "")
        # Until the place is taken nothing is awaited, so that nobody else counts on the same place.
        victim, full = self._make_room(who)
        if full:
            await come_again("Too many open sessions: end some of yours, or try again in a moment", 503)(
                scope, receive, send
            )
            return
        self._opening.take(who)
        opening = True

        async def note(message: Message) -> None:
            nonlocal opening
            if opening and message["type"] == "http.response.start":
                opening = False
                self._opening.give_back(who)
                session = Headers(raw=message["headers"]).get("mcp-session-id")
                if session is not None:
                    self._owners[session] = who
            await send(message)

        try:
            if victim is not None:
                await end_session(self.manager, victim)
            await self.manager.asgi_app(scope, receive, note)
        finally:
            if opening:
                self._opening.give_back(who)

    def _make_room(self, who: str) -> tuple[str | None, bool]:
        """The session that ends to make room for somebody's new one, and whether there is no room at all.

        The one who holds the most loses one, or those who ask when they already hold as many as allowed.
        """
        open_now = open_sessions(self.manager)
        self._owners = {session: owner for session, owner in self._owners.items() if session in open_now}
        held = Counter(self._owners.values()) + self._opening.held
        most = MAX_SESSIONS - (MAX_SESSIONS // 2 if self._known else MAX_SESSIONS // 8)
        mine_alone = held[who] >= most
        if not mine_alone and held.total() < MAX_SESSIONS:
            return None, False
        free = [
            session
            for session in idle_sessions(self.manager)
            if session in self._owners and not self._plays(session) and (not mine_alone or self._owners[session] == who)
        ]
        if not free:
            return None, True
        victim = max(free, key=lambda session: held[self._owners[session]])
        # Whoever comes next, before this one has ended, must not count on it.
        del self._owners[victim]
        return victim, False

    def _plays(self, session: str) -> bool:
        """Whether a run would end with a session; a run that belongs to a handle would not."""
        return session in self._seats and self._seats[session].run is not None

    async def _seat_of_message(self, context: Context) -> Seat:
        """The seat of a message that the SDK handles; its session is let in with it."""
        request = context.request
        assert isinstance(request, Request)
        seat = await self._seat_of(request.scope)
        session = request.headers.get("mcp-session-id")
        if session is None or session in self.calls.sessions:
            return seat
        if context.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS:
            client_calls = ClientCalls(self._front, context.protocol_version, client_of(context))
            self.calls.sessions[session] = HttpSession(session, client_calls, seat)

            async def close() -> None:
                del self.calls.sessions[session]
                client_calls.close()
                # A session's seat ends with the session; a handle's lives on.
                if session in self._seats:
                    await self._close_seat(self._seats.pop(session))

            when_closed(context, close)
        return seat

    async def _seat_of(self, scope: Scope) -> Seat:
        request = Request(scope)
        handle = request.path_params.get("handle")
        profile = parse_qs(request.url.query).get("profile", [None])[0]
        try:
            if handle is not None:
                return await self._handles.seat(handle, profile, scope.get(IDENTITY, ""))
            session = request.headers.get("mcp-session-id") or ""
            if session not in self._seats:
                self._seats[session] = self._open_seat(session, profile)
                self._seats[session].hint = _hint()
            return self._seats[session]
        except UserError as error:
            raise MCPError(code=INVALID_PARAMS, message=str(error)) from error
        except M3Error as error:
            raise MCPError(code=INTERNAL_ERROR, message=str(error)) from error


def _hint() -> str:
    """Frameworks that open a session for every call, as LangChain's adapters do, are told how to keep a run."""
    return (
        " If you did call it, your client opens a new session for every call, and a run ends with its session: connect "
        f"the client to /seat/{secrets.token_urlsafe(24)}/mcp at this server instead of /mcp, or to any other random "
        "handle of 22 to 64 letters; then every call belongs to one seat. While the run's session is open, submit and "
        "score also take the run's handle as the argument run."
    )


class _Beside:
    """Hands what people look at to its pages, and everything else to clients' endpoints."""

    def __init__(self, app: ASGIApp, pages: ASGIApp) -> None:
        self._app = app
        self._pages = pages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        for_people = scope["type"] == "http" and (
            scope["path"] in ("/", "/metrics") or scope["path"].startswith("/live/")
        )
        await (self._pages if for_people else self._app)(scope, receive, send)


class _HandshakeOnly:
    """Answers requests of revisions without sessions as an older server would, so that clients fall back."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked = dict(scope.get("headers") or []).get(b"mcp-protocol-version")
        if asked is not None and asked.decode("latin-1") not in HANDSHAKE_PROTOCOL_VERSIONS:
            await refusal("Bad Request: Unsupported protocol version", 400)(scope, receive, send)
            return
        await self._app(scope, receive, send)


class _CheckHandle:
    """Lets only well-formed handles through, and nobody into the session of another handle."""

    def __init__(self, endpoint: _Endpoint, app: ASGIApp) -> None:
        self._calls = endpoint.calls
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not HANDLE.fullmatch(scope["path_params"]["handle"]):
            text = "A seat's handle has 22 to 64 letters, digits, - or _: use a random one"
            await refusal(text, 404)(scope, receive, send)
            return
        session = self._calls.sessions.get(Headers(scope=scope).get("mcp-session-id", ""))
        if session is not None and session.seat.id != scope["path_params"]["handle"]:
            await refusal("Session not found", 404)(scope, receive, send)
            return
        await self._app(scope, receive, send)
