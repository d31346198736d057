"""The resource server's side of authorization: nothing is answered without a token that is good for this server.

Metadata says where tokens come from (RFC 9728), a refusal says where the metadata is and which scope is missing, and
whoever comes in sits on seats of their own. What makes a token good is the checker's business.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from time import monotonic, monotonic_ns
from typing import Protocol

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from m3bench.proxy.transports.access import refusal
from m3bench.proxy.transports.admission import IDENTITY
from m3bench.proxy.transports.http_calls import FIRST_CAME, Bodies, read_body
from m3bench.server.serving.auth.address import RESOURCE_METADATA, PublicAddress
from m3bench.server.serving.auth.identity import OPERATE, PLAY, SCOPES, WATCH, Identity, Refusals, TokenChecker

WITHIN_NS = 10_000_000_000
"""From the first request with a token that ran out: later ones are not remembered."""

KNOWN_NS = 60_000_000_000
"""For how long those are: a busy client takes seconds to find out where it gets a new token, once for each call."""

MOST_EACH, MOST_TOKENS = 16, 256
"""Requests that are remembered for a token, and tokens."""


@dataclass
class _Lapse:
    """What came with one token that had run out."""

    who: tuple[str, str]
    since: int
    requests: dict[bytes, int] = field(default_factory=dict)
    """When each came."""


class Renewals:
    """What was refused because a token had run out, and comes again with a new one.

    A client that sends several calls at a time has each of them refused when its token runs out, gets a new token, and
    then sends them one after the other. They count as arrived when they first came, or a turn would fall apart because
    of us. What was sent is compared to the byte, so nobody gains time to think. A client that sends guesses in this
    way, to keep those that turn out well, has only a few seconds for a few of them with each token.

    Args:
        clock: Gives the time in nanoseconds.
    """

    def __init__(self, clock: Callable[[], int] = monotonic_ns) -> None:
        self._clock = clock
        self._lapses: OrderedDict[bytes, _Lapse] = OrderedDict()
        self._bodies = Bodies(known=False)

    async def refused(self, token: str, who: Identity, scope: Scope, receive: Receive) -> None:
        """Remember a request with a token that this person had, and that has run out."""
        now, key = self._clock(), sha256(token.encode()).digest()
        lapse = self._lapses.get(key)
        if lapse is None:
            lapse = self._lapses[key] = _Lapse((who.issuer, who.subject), now)
            if len(self._lapses) > MOST_TOKENS:
                self._lapses.popitem(last=False)
        if scope["method"] != "POST" or now - lapse.since > WITHIN_NS or len(lapse.requests) >= MOST_EACH:
            return
        body = await read_body(scope, receive, self._bodies)
        if body is not None and not isinstance(body, Response):
            lapse.requests.setdefault(_request(scope, body), now)

    def first_came(self, who: Identity, scope: Scope, body: bytes) -> int:
        """When a request of a person came for the first time; 0 when it is now. It is forgotten by that."""
        mine, now = (who.issuer, who.subject), self._clock()
        lapses = [lapse for lapse in self._lapses.values() if lapse.who == mine and now - lapse.since <= KNOWN_NS]
        if not lapses:
            return 0
        key = _request(scope, body)
        return next((lapse.requests.pop(key) for lapse in lapses if key in lapse.requests), 0)


def _request(scope: Scope, body: bytes) -> bytes:
    session = Headers(scope=scope).get("mcp-session-id", "")
    return sha256(b"\0".join((session.encode(), body))).digest()


MOST_CHATS = 16
"""Seats that one person may use within the time after which a seat is freed."""

MOST_TOKEN = 8192
"""Characters of a token: those of OpenID providers are long."""

_SIGN_IN = ("/auth/", "/.well-known/")


class SignInPages(Protocol):
    """An authorization server of our own: its endpoints, and whom a browser's cookie stands for."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        ...

    async def visitor(self, request: Request) -> Identity | None:
        """Who looks at pages; None when nobody is signed in."""
        ...


@dataclass(frozen=True, kw_only=True)
class Protection:
    """How a server is protected; put around an application by calling it."""

    address: PublicAddress
    issuer: str
    """Who gives tokens."""
    checker: TokenChecker
    pages: SignInPages | None = None
    """When tokens are our own."""
    seats: Mapping[str, str] | None = None
    """In an event: the one seat of each person who may play."""
    pages_scope: str = WATCH
    """What people need who look at pages."""
    idle_seconds: float = 1800.0
    refusals: Refusals = field(default_factory=Refusals)

    def __call__(self, app: ASGIApp) -> ASGIApp:
        """The application behind the protection."""
        return _Protected(app, self)

    def metadata(self, resource: str) -> dict[str, object]:
        """What clients are told of this server as a resource."""
        return {
            "resource": resource,
            "authorization_servers": [self.issuer],
            # What playing needs: clients ask for all that is named here, and for more when something needs it.
            "scopes_supported": [PLAY],
            "bearer_methods_supported": ["header"],
            "resource_name": "m3bench",
        }

    def needed(self, path: str) -> str:
        """The scope that a path needs."""
        if path == "/metrics":
            return OPERATE
        return self.pages_scope if path == "/" or path.startswith("/live/") else PLAY


class _Protected:
    def __init__(self, app: ASGIApp, how: Protection) -> None:
        self._app = app
        self._how = how
        self._chats: dict[str, OrderedDict[str, float]] = {}
        """When each person last used each seat."""
        self._renewals = Renewals()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] == "/health":
            await self._app(scope, receive, send)
            return
        path = scope["path"]
        if path.startswith(RESOURCE_METADATA):
            await self._metadata(scope)(scope, receive, send)
        elif self._how.pages is not None and path.startswith(_SIGN_IN):
            await self._how.pages(scope, receive, send)
        else:
            answer = await self._admitted(scope, receive)
            await (answer if isinstance(answer, Response) else self._app)(
                scope if isinstance(answer, Response) else answer, receive, send
            )

    def _metadata(self, scope: Scope) -> Response:
        resource = self._how.address.resource_of(scope["path"])
        if scope["method"] not in ("GET", "HEAD") or resource is None:
            return refusal("There is no such metadata", 404)
        return JSONResponse(self._how.metadata(resource), headers={"cache-control": "max-age=300"})

    async def _admitted(self, scope: Scope, receive: Receive) -> Scope | Response:
        """The scope of a request that may go on, or why it may not."""
        path, how = scope["path"], self._how
        needed = how.needed(path)
        for_people = needed != PLAY
        given = Headers(scope=scope).get("authorization", "")
        scheme, _, token = given.partition(" ")
        token = token.strip()
        who: Identity | None = None
        if scheme.lower() == "bearer" and 0 < len(token) <= MOST_TOKEN:
            who = await how.checker.identity(token)
        elif given:
            how.refusals.say("an authorization that is no bearer token, or too long")
        elif not given and for_people and how.pages is not None:
            request = Request(scope, receive)
            who = await how.pages.visitor(request)
            if who is None and "text/html" in request.headers.get("accept", ""):
                return RedirectResponse("/auth/", status_code=303)
        if who is None and given and not for_people:
            await self._lapsed(token, scope, receive)
        if who is None:
            return self._unauthorized(path, needed, invalid=bool(given))
        if needed not in who.scopes:
            how.refusals.say(f"%r needs the scope {needed}, and %r has not got it", path, who.subject)
            return self._forbidden(path, needed, who)
        scope = {
            **scope,
            IDENTITY: f"person {who.issuer} {who.subject}",
            FIRST_CAME: partial(self._renewals.first_came, who, scope),
        }
        return scope if for_people else self._seated(scope, who)

    async def _lapsed(self, token: str, scope: Scope, receive: Receive) -> None:
        """Remember what came with a token that has just run out: it comes again with a new one."""
        had = await self._how.checker.ran_out(token) if 0 < len(token) <= MOST_TOKEN else None
        if had is not None:
            await self._renewals.refused(token, had, scope, receive)

    def _seated(self, scope: Scope, who: Identity) -> Scope | Response:
        """A request on the person's own seat, however its address was written."""
        # With a slash at the end it would be sent elsewhere, and the token with it: to http:// behind some proxies.
        path = scope["path"].rstrip("/")
        if path != "/mcp" and not (path.startswith("/seat/") and path.endswith("/mcp")):
            return scope
        if self._how.seats is not None:
            seat = self._how.seats.get(who.subject)
            if seat is None:
                self._how.refusals.say("%r takes no part in the event", who.subject)
                return refusal("This server holds an event, and you are not among its participants", 403)
        else:
            chat = f"client {who.client}" if path == "/mcp" else path.removeprefix("/seat/").removesuffix("/mcp")
            seat = who.seat(chat)
            if not self._takes_chat(f"{who.issuer}\n{who.subject}", seat):
                self._how.refusals.say("%r uses too many seats at once", who.subject)
                return refusal(f"You have {MOST_CHATS} chats here already: use one of them, or come back later", 429)
        path = f"/seat/{seat}/mcp"
        return {**scope, "path": path, "raw_path": path.encode()}

    def _takes_chat(self, person: str, seat: str) -> bool:
        """Whether a person may use a seat, besides those that they have used lately."""
        now = monotonic()
        mine = self._chats.setdefault(person, OrderedDict())
        while mine and now - next(iter(mine.values())) > self._how.idle_seconds:
            mine.popitem(last=False)
        if seat not in mine and len(mine) >= MOST_CHATS:
            return False
        mine[seat] = now
        mine.move_to_end(seat)
        return True

    def _unauthorized(self, path: str, needed: str, *, invalid: bool) -> Response:
        says = "The token is not valid here, or no longer" if invalid else "Sign in"
        response = refusal(f"Unauthorized: {says}; see {self._how.address.metadata_of(path)}", 401)
        error = ('error="invalid_token"',) if invalid else ()
        response.headers["www-authenticate"] = self._challenge(path, needed, *error)
        return response

    def _forbidden(self, path: str, needed: str, who: Identity) -> Response:
        response = refusal(f"This needs the scope {needed}: allow it when your client asks you to sign in again", 403)
        # What the client has is named too, so that it does not lose it when it asks for more.
        wanted = " ".join(scope for scope in SCOPES if scope in who.scopes or scope == needed)
        response.headers["www-authenticate"] = self._challenge(path, wanted, 'error="insufficient_scope"')
        return response

    def _challenge(self, path: str, wanted: str, *more: str) -> str:
        parts = (*more, f'resource_metadata="{self._how.address.metadata_of(path)}"', f'scope="{wanted}"')
        return f"Bearer {', '.join(parts)}"
