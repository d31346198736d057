"""Who may come in over HTTP: the names a request may come under, and the token it must bring.

Host is checked against DNS rebinding and Origin against pages of other sites, on every path and before anything is
read. On loopback only the names of this machine are good; elsewhere also the address that is listened on and what
the person allowed. Checks are layers around an ASGI application; nothing here knows what it serves.
"""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from urllib.parse import urlsplit

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from m3bench.tasks.errors import UserError
from m3bench.tasks.jsonrpc import INVALID_REQUEST

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})

ANY = "*"
"""Allows every name."""

MIN_TOKEN = 16
"""Characters that a token has at least: shorter ones can be guessed."""


@dataclass(frozen=True, kw_only=True)
class Access:
    """Who may come in."""

    host: str
    """What is listened on."""
    allow_hosts: tuple[str, ...] = ()
    """Further names, with or without a port, under which requests may come."""
    allow_origins: tuple[str, ...] = ()
    """Further sites, such as `https://example.com`, whose pages may send requests."""

    @property
    def loopback(self) -> bool:
        """Whether only this machine can connect."""
        return self.host in LOOPBACK

    def takes_host(self, host: str) -> bool:
        """Whether a request may come under this `Host`."""
        host = host.lower()
        name = _name(host)
        known = {*LOOPBACK, self.host.lower(), *(allowed.lower() for allowed in self.allow_hosts)}
        return bool(name) and (ANY in known or name in known or host in known or f"[{name}]" in known)

    def takes_origin(self, origin: str | None, host: str) -> bool:
        """Whether pages of an `Origin` may send requests; only pages send one."""
        if origin is None:
            return True
        origin = origin.lower()
        allowed = {site.lower().rstrip("/") for site in self.allow_origins}
        if ANY in allowed or origin in allowed:
            return True
        scheme, _, place = origin.partition("://")
        if scheme not in ("http", "https"):
            return False
        # A page that came from here; on loopback also one of another port of this machine.
        return place == host.lower() or (self.loopback and _name(place) in LOOPBACK)


Tell = Callable[..., None]
"""Is told what was refused: a sentence with `%r` for each fact."""


class CheckNames:
    """Turns away requests under a foreign name or from a foreign page.

    Args:
        app: Answers the others.
        access: Which names and pages are not foreign.
        tell: Is told of it.
    """

    def __init__(self, app: ASGIApp, access: Access, tell: Tell | None = None) -> None:
        self._app = app
        self._access = access
        self._tell = tell or (lambda *_: None)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers = dict(scope["headers"])
            host = headers.get(b"host", b"").decode("latin-1")
            origin = headers[b"origin"].decode("latin-1") if b"origin" in headers else None
            if not self._access.takes_host(host):
                self._tell("a request under the name %r", host)
                text = f"This server does not answer to the name {host!r}: start it with --allow-host to let it"
                await refusal(text, 421)(scope, receive, send)
                return
            if not self._access.takes_origin(origin, host):
                self._tell("a request from a page of %r", origin)
                text = f"Pages of {origin!r} may not send requests: start the server with --allow-origin to let them"
                await refusal(text, 403)(scope, receive, send)
                return
        await self._app(scope, receive, send)


class RequireToken:
    """Turns away requests without the bearer token; `/health` needs none."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        needed = scope["type"] == "http" and scope["path"] != "/health"
        if needed and not bears(dict(scope["headers"]).get(b"authorization", b""), self._token):
            await _unauthorized("the token")(scope, receive, send)
            return
        await self._app(scope, receive, send)


class RequireGuest:
    """Turns away requests without the token of a guest, and has every guest sit on a seat of their own.

    Args:
        app: Answers at `/seat/SEAT/mcp`.
        guests: The seat of each guest, by the SHA-256 of their token in hexadecimal digits.
    """

    def __init__(self, app: ASGIApp, guests: Mapping[str, str]) -> None:
        self._app = app
        self._guests = guests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] != "/health":
            scheme, _, given = dict(scope["headers"]).get(b"authorization", b"").partition(b" ")
            # Looking up a hash tells nothing of the tokens, however long it takes.
            seat = self._guests.get(sha256(given.strip()).hexdigest()) if scheme.lower() == b"bearer" else None
            if seat is None:
                await _unauthorized("your token")(scope, receive, send)
                return
            if scope["path"] == "/mcp" or scope["path"].startswith("/seat/"):
                path = f"/seat/{seat}/mcp"
                scope = {**scope, "path": path, "raw_path": path.encode()}
        await self._app(scope, receive, send)


def _unauthorized(what: str) -> JSONResponse:
    response = refusal(f"Unauthorized: send {what} as 'Authorization: Bearer ...'", 401)
    response.headers["www-authenticate"] = "Bearer"
    return response


def bears(authorization: bytes, token: str) -> bool:
    """Whether an `Authorization` header brings a token; takes the same time whatever it brings."""
    scheme, _, given = authorization.partition(b" ")
    return secrets.compare_digest(given.strip(), token.encode()) and scheme.lower() == b"bearer"


def check_token(token: str | None, which: str) -> None:
    """Raise `UserError` when a token would keep nobody out."""
    if token == "":
        raise UserError(f"{which} is empty, and would keep nobody out: give one, or none at all.")
    if token is not None and len(token) < MIN_TOKEN:
        raise UserError(
            f"{which} has {len(token)} characters and can be guessed: take at least {MIN_TOKEN}, "
            "such as those of `openssl rand -hex 16`."
        )


def refusal(message: str, status: int) -> JSONResponse:
    """A response that says why there is no other."""
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": INVALID_REQUEST, "message": message}}
    return JSONResponse(error, status_code=status)


def _name(host: str) -> str:
    """A `Host` without its port; empty when it is malformed."""
    try:
        found = urlsplit(f"//{host}")
        _ = found.port
    except ValueError:
        return ""
    # With a path in it, or a user, whoever puts an address together from it would be led elsewhere.
    return found.hostname or "" if found.netloc == host and "@" not in host and "\\" not in host else ""
