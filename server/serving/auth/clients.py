"""The clients that people sign in with, and the addresses to which each may send them back.

A client is fixed (an operator made it), registered (it introduced itself, RFC 7591), or described by a document at
the address that is its name. Anybody can register or write a document, so nothing that a client says of itself is
believed. Only the address to which it wants people sent back counts, and the person who is asked is shown that address.
"""

import json
import re
import secrets
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import anyio.to_thread

from m3bench.proxy.transports.access import LOOPBACK
from m3bench.server.serving.auth.identity import Refusals
from m3bench.server.serving.auth.people import DAY, hashed, tried_too_often
from m3bench.server.store.sign_ins import SignInTables, SignInWork
from m3bench.tasks.errors import UserError

MOST_REDIRECTS, MOST_REDIRECT, MOST_NAME = 10, 512, 80
MOST_REGISTERED = 2000
"""Registered clients that nobody has used yet; the oldest makes room for a new one."""

REGISTERED, REGISTERED_BY_ALL = 30, 600
"""Registrations within ten minutes from one address, and from all; beyond those, one from each address."""

READ, READ_BY_ALL = 30, 600
"""Documents read within ten minutes for one person, and for all; beyond those, one for each person."""

UNUSED_DAYS = 2.0
"""After which a client that nobody used is forgotten."""

DOCUMENT_SECONDS = 600.0
"""How long a document is believed before it is read again."""

MOST_DOCUMENTS = 256

METHODS = ("none", "client_secret_post", "client_secret_basic")
"""How a client proves that it is itself."""

_PRIVATE_SCHEME = re.compile(r"[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+")
"""Of programs on the person's own machine, as RFC 8252 asks: a name that somebody owns, turned around."""

_PLACE = re.compile(r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?")
"""Name and port, as a browser and a content security policy read them."""

_ODD = frozenset(' \\"<>^`{|}#')
"""Characters that do not belong in an address, or that programs read differently."""

_KNOWN_SCHEMES = frozenset({"cursor", "vscode", "vscode-insiders", "windsurf", "zed", "claude"})
"""Schemes of well-known programs that do not follow that rule."""


class ClientError(UserError):
    """What a client says about itself cannot be accepted."""

    def __init__(self, message: str, kind: str = "invalid_client_metadata") -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True, kw_only=True)
class OAuthClient:
    """A program that people sign in with."""

    id: str
    name: str
    redirects: tuple[str, ...]
    method: str = "none"
    secret: str | None = None
    """As a hash."""
    kind: str = "registered"

    def takes_redirect(self, uri: str) -> bool:
        """Whether people may be sent back there: to a registered address, on their own machine to any port."""
        return any(uri == known or (_portless(uri) or uri) == _portless(known) for known in self.redirects)

    def is_led_to(self, uri: str) -> bool:
        """Whether people may be sent there before they have agreed: it is on their machine, or the operator's choice.

        Anybody can register a client, and a link to this server must not lead to whatever site they like.
        """
        return self.kind == "fixed" or not uri.startswith("https://")

    def proves(self, secret: str | None) -> bool:
        """Whether this is its secret; a client without one must give none."""
        if self.method == "none":
            return secret is None or secret == ""
        return bool(secret and self.secret) and secrets.compare_digest(hashed(secret or ""), self.secret or "")


Fetch = Callable[[str], Awaitable[dict[str, Any]]]
"""Reads the document at an address; raises `ClientError`."""


@dataclass(frozen=True)
class OAuthClients:
    """All clients.

    Args:
        tables: Where they are kept.
        fetch: Reads documents; where there is none, no client is described by one.
        clock: Gives the time in seconds since 1970.
        refusals: Logs what is refused.
    """

    tables: SignInTables
    fetch: Fetch | None
    clock: Callable[[], float] = field(default=time.time)
    refusals: Refusals = field(default_factory=Refusals)
    _documents: OrderedDict[str, tuple[float, OAuthClient]] = field(default_factory=OrderedDict)

    async def client(self, id: str, person: str) -> OAuthClient | None:
        """A client by its name; None when there is none.

        Args:
            id: Its name.
            person: Who asks: the documents that one person has this server read are counted.

        Raises:
            ClientError: Its name is the address of a document, which cannot be read or describes no client.
        """
        if is_document(id):
            return await self._described(id, person)
        return await self._kept(id)

    async def that_exchanges(self, id: str) -> OAuthClient | None:
        """A client that brings a code or token, by its name: only what it brings tells whether it is known."""
        if not is_document(id):
            return await self._kept(id)
        # Anybody may ask to exchange something; that must not let them choose what this server reads.
        return OAuthClient(id=id, name="", redirects=(), kind="document") if self.fetch else None

    async def _kept(self, id: str) -> OAuthClient | None:
        if not 0 < len(id) <= 100:
            return None
        query = "SELECT id, name, redirects, method, secret, kind FROM auth_clients WHERE id = ?"
        found = await anyio.to_thread.run_sync(self.tables.rows, query, id)
        if not found:
            return None
        id, name, redirects, method, secret, kind = found[0]
        known = tuple(json.loads(redirects))
        return OAuthClient(id=id, name=name, redirects=known, method=method, secret=secret, kind=kind)

    def register(self, said: dict[str, Any], place: str) -> tuple[OAuthClient, str | None]:
        """Register a client; returns it with its secret, of which only a hash is kept.

        Args:
            said: What it says of itself.
            place: Where it registers from, so that nobody can fill the tables.

        Raises:
            ClientError: It is refused.
        """
        client, secret = _introduced(said, f"dyn-{secrets.token_urlsafe(18)}", "registered")
        now = self.clock()

        def add(work: SignInWork) -> bool:
            if tried_too_often(work, f"client {place}", now, REGISTERED, REGISTERED_BY_ALL):
                return False
            unused = "kind = 'registered' AND used IS NULL"
            work.change(f"DELETE FROM auth_clients WHERE {unused} AND made < ?", now - UNUSED_DAYS * DAY)
            if work.rows(f"SELECT count(*) FROM auth_clients WHERE {unused}")[0][0] >= MOST_REGISTERED:
                oldest = f"SELECT id FROM auth_clients WHERE {unused} ORDER BY made, id LIMIT 1"
                work.change(f"DELETE FROM auth_clients WHERE id IN ({oldest})")
            _insert(work, client, now)
            return True

        if not self.tables.together(add):
            raise ClientError("Too many clients have registered: try again in ten minutes.")
        return client, secret

    def fix(self, name: str, redirects: Iterable[str], *, public: bool) -> tuple[OAuthClient, str | None]:
        """Make a client for a service that neither registers nor has a document; returns it with its secret.

        Raises:
            ClientError: It is refused.
        """
        method = "none" if public else "client_secret_post"
        said = {"client_name": name, "redirect_uris": list(redirects), "token_endpoint_auth_method": method}
        client, secret = _introduced(said, f"fix-{secrets.token_urlsafe(12)}", "fixed")
        self.tables.together(lambda work: _insert(work, client, self.clock()))
        return client, secret

    def used(self, client: OAuthClient) -> None:
        """Somebody has used a client: it is kept."""
        change = "UPDATE auth_clients SET used = ? WHERE id = ?"
        self.tables.together(lambda work: work.change(change, self.clock(), client.id))

    async def _described(self, url: str, person: str) -> OAuthClient:
        if self.fetch is None:
            raise ClientError("this server reads no documents: have the client register instead")
        known = self._documents.get(url)
        if known is not None and known[0] > self.clock():
            return known[1]
        try:
            check_document_address(url)
            await anyio.to_thread.run_sync(self._count_document, person)
            client = _from_document(url, await self.fetch(url))
        except ClientError as error:
            self.refusals.say("the client %r, because: %s", url, error)
            raise
        self._documents[url] = self.clock() + DOCUMENT_SECONDS, client
        self._documents.move_to_end(url)
        while len(self._documents) > MOST_DOCUMENTS:
            self._documents.popitem(last=False)
        return client

    def _count_document(self, person: str) -> None:
        now = self.clock()
        counted = partial(tried_too_often, what=f"document {person}", now=now, most=READ, most_of_all=READ_BY_ALL)
        if self.tables.together(counted):
            raise ClientError("too many documents were read for you: try again in ten minutes")


def is_document(id: str) -> bool:
    """Whether a client's name is the address of the document that describes it."""
    return id.startswith("https://")


def check_document_address(url: str) -> None:
    """Raise `ClientError` unless an address can name a client: https, a path, and nothing that could be read twice."""
    try:
        found = urlsplit(url)
        port = found.port
    except ValueError:
        raise ClientError("its address cannot be read") from None
    odd = not url.isascii() or not url.isprintable() or set(url) & _ODD or not _PLACE.fullmatch(found.netloc)
    dots = {".", ".."} & {part.lower().replace("%2e", ".") for part in found.path.split("/")}
    if found.scheme != "https" or not found.hostname or port not in (None, 443) or odd or dots or len(url) > 512:
        raise ClientError("a client's document needs a plain https:// address without port, fragment or dots")
    if found.path in ("", "/"):
        raise ClientError("a client's document needs an address with a path")


def check_redirect(uri: object) -> str:
    """An address that people may be sent back to.

    Raises:
        ClientError: They may not: somebody could listen on the way, or the address is a script.
    """
    if not isinstance(uri, str) or len(uri) > MOST_REDIRECT or not uri.isascii() or not uri.isprintable():
        raise ClientError("A redirect URI is a short text in ASCII.", "invalid_redirect_uri")
    try:
        found = urlsplit(uri)
        _ = found.port
    except ValueError:
        raise ClientError("A redirect URI cannot be read.", "invalid_redirect_uri") from None
    scheme = uri.partition(":")[0]
    safe = (
        (scheme == "https" and bool(found.hostname))
        or (scheme == "http" and found.hostname in LOOPBACK)
        or scheme in _KNOWN_SCHEMES
        or _PRIVATE_SCHEME.fullmatch(scheme) is not None
    )
    place = _PLACE.fullmatch(found.netloc) if scheme in ("http", "https") else "@" not in found.netloc
    if not safe or not place or set(uri) & _ODD:
        raise ClientError(
            "A redirect URI is https://, http:// on this very machine, or a private scheme with a period, without "
            "fragment, user or wildcard.",
            "invalid_redirect_uri",
        )
    return uri


def _from_document(url: str, said: dict[str, Any]) -> OAuthClient:
    if said.get("client_id") != url:
        raise ClientError("its document is another client's")
    if "client_secret" in said or "client_secret_expires_at" in said:
        raise ClientError("its document holds a secret, which everybody can read")
    if said.get("token_endpoint_auth_method", "none") != "none":
        raise ClientError("its document asks for a proof that this server does not know: use none")
    return _introduced({**said, "token_endpoint_auth_method": "none"}, url, "document")[0]


def _introduced(said: dict[str, Any], id: str, kind: str) -> tuple[OAuthClient, str | None]:
    redirects = said.get("redirect_uris")
    if not isinstance(redirects, list) or not 0 < len(redirects) <= MOST_REDIRECTS:
        raise ClientError(f"A client names up to {MOST_REDIRECTS} redirect URIs.", "invalid_redirect_uri")
    known = tuple(check_redirect(uri) for uri in redirects)
    # By RFC 7591 a client that says nothing has a secret; one that cannot keep it says `none`.
    method = said.get("token_endpoint_auth_method") or "client_secret_basic"
    if method not in METHODS:
        raise ClientError(f"token_endpoint_auth_method is one of {', '.join(METHODS)}.")
    grants, responses = said.get("grant_types"), said.get("response_types")
    if grants is not None and (not isinstance(grants, list) or "authorization_code" not in grants):
        raise ClientError("grant_types must have authorization_code.")
    if responses is not None and (not isinstance(responses, list) or "code" not in responses):
        raise ClientError("response_types must have code.")
    name = said.get("client_name")
    name = "".join(letter for letter in name if letter.isprintable())[:MOST_NAME] if isinstance(name, str) else ""
    secret = None if method == "none" else secrets.token_urlsafe(32)
    client = OAuthClient(
        id=id, name=name.strip() or "a client without a name", redirects=known, method=method,
        secret=None if secret is None else hashed(secret), kind=kind,
    )  # fmt: skip
    return client, secret


def _insert(work: SignInWork, client: OAuthClient, now: float) -> None:
    values = (client.id, client.name, json.dumps(client.redirects), client.method, client.secret, client.kind, now)
    work.change("INSERT INTO auth_clients VALUES (?, ?, ?, ?, ?, ?, ?, NULL)", *values)


def _portless(uri: str) -> str | None:
    """An address on the person's own machine without its port, which a program takes as it gets it (RFC 8252)."""
    try:
        found = urlsplit(uri)
        _ = found.port
    except ValueError:
        return None
    # What urlsplit leaves out, such as a line break, would still be sent.
    if not uri.isascii() or not uri.isprintable() or set(uri) & _ODD or not _PLACE.fullmatch(found.netloc):
        return None
    if found.scheme != "http" or found.hostname not in LOOPBACK:
        return None
    return f"http://{found.hostname}{found.path}?{found.query}"
