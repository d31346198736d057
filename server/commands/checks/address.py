"""Looks at a server over HTTP as a stranger would: whether it answers, how it is encrypted, and what it lets them do.

Nothing is sent but a client's first message, without any token. The record says who may sign in, where anybody was ever
invited.
"""

import re
import socket
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from m3bench.server.commands.checks.diagnostics import Diagnostic, State
from m3bench.server.settings import Settings
from m3bench.tasks.lazy_modules import LazyModule

if TYPE_CHECKING:
    import httpx2
else:
    httpx2 = LazyModule("httpx2")
from m3bench.server.serving.auth.identity import SCOPES
from m3bench.server.serving.auth.people import People
from m3bench.server.store.location import RecordLocation
from m3bench.server.store.sign_ins import has_sign_ins, open_sign_ins
from m3bench.tasks.errors import M3Error

SECONDS = 10.0
SOON_DAYS = 14
"""A certificate that expires sooner is worth a note."""

_HERE = ("127.0.0.1", "localhost", "::1")
_FIRST = {
    "jsonrpc": "2.0", "id": 0, "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "doctor", "version": "1"}},
}  # fmt: skip


def check_address(url: str, settings: Settings) -> list[Diagnostic]:
    """What whoever knows an address finds there.

    Args:
        url: The address, as clients have it, with or without `/mcp`.
        settings: Not used here.
    """
    origin = url.removesuffix("/").removesuffix("/mcp")
    try:
        found = urlsplit(origin)
        _ = found.port
    except ValueError:
        found = urlsplit("")
    if found.scheme not in ("http", "https") or not found.hostname or found.path:
        says = f"{url} is not the address of a server: write it as https://bench.example."
        return [_diagnostic("address", "wrong", says)]
    try:
        encrypted = _encryption(found.scheme, found.hostname, found.port)
        with httpx2.Client(base_url=origin, timeout=SECONDS) as client:
            return [_answers(client, origin), encrypted, *_access(client, origin), _pages(client)]
    except (OSError, ssl.SSLError, ValueError, httpx2.HTTPError) as error:
        reason = getattr(error, "verify_message", "") or str(error) or type(error).__name__
        remedy = "give its certificate in SSL_CERT_FILE if it is your own" if isinstance(error, ssl.SSLError) else ""
        remedy = remedy or "start the server, and see that its proxy and firewall let you through"
        return [_diagnostic("address", "wrong", f"{origin} cannot be reached ({reason}): {remedy}.")]


def _answers(client: "httpx2.Client", origin: str) -> Diagnostic:
    answer = client.get("/health")
    name = _object(answer).get("name")
    if answer.status_code == 421:
        says = f"{origin} does not answer to this name: start the server with --public-url {origin}, or --allow-host."
        return _diagnostic("address", "wrong", says)
    if name != "m3bench":
        says = f"Another program answers at {origin} ({answer.status_code} for /health): see where its proxy leads."
        return _diagnostic("address", "wrong", says)
    return _diagnostic("address", "ok", f"m3bench {_object(answer).get('version')} answers at {origin}.")


def _encryption(scheme: str, host: str, port: int | None) -> Diagnostic:
    if scheme == "http":
        if host in _HERE:
            return _diagnostic("encryption", "ok", "None, which is fine on this machine alone.")
        says = "None: tokens and answers can be read on the way. Put a TLS proxy in front of it, or use --tls-cert."
        return _diagnostic("encryption", "wrong", says)
    with socket.create_connection((host, port or 443), SECONDS) as plain:
        with ssl.create_default_context().wrap_socket(plain, server_hostname=host) as stream:
            version, certificate = stream.version(), stream.getpeercert() or {}
    ends = datetime.fromtimestamp(ssl.cert_time_to_seconds(str(certificate["notAfter"])), UTC)
    left = (ends - datetime.now(UTC)).days
    says = f"{version}, with a certificate that is trusted here until {ends:%Y-%m-%d}"
    if left < SOON_DAYS:
        return _diagnostic("encryption", "note", f"{says}: renew it within {left} days.")
    return _diagnostic("encryption", "ok", f"{says}.")


def _access(client: "httpx2.Client", origin: str) -> Iterator[Diagnostic]:
    accept = {"accept": "application/json, text/event-stream"}
    answer = client.post("/mcp", json=_FIRST, headers=accept)
    if answer.status_code != 401:
        if answer.is_success:
            here = urlsplit(origin).hostname in _HERE
            says = "Whoever reaches /mcp plays without a token" + ("." if here else ": use --auth or --token-file.")
            yield _diagnostic("access", "note" if here else "wrong", says)
        else:
            yield _diagnostic("access", "wrong", f"/mcp answers {answer.status_code}: {answer.text[:200]}")
        return
    place = re.search(r'resource_metadata="([^"]+)"', answer.headers.get("www-authenticate", ""))
    if place is None:
        yield _diagnostic("access", "ok", "/mcp asks for the token of --token-file.")
        return
    said = _object(client.get(place[1])) if place[1].startswith(f"{origin}/") else {}
    if said.get("resource") != f"{origin}/mcp":
        says = f"/mcp sends clients to {place[1]}, which is not of this address: start it with --public-url {origin}."
        yield _diagnostic("access", "wrong", says)
        return
    servers = said.get("authorization_servers")
    issuer = str(servers[0]) if isinstance(servers, list) and servers else ""
    who = "the server itself" if issuer == origin else issuer
    yield _diagnostic("access", "ok", f"/mcp has people sign in at {who}.")
    yield _issuer(client, issuer)


def _issuer(client: "httpx2.Client", issuer: str) -> Diagnostic:
    """What clients read of the authorization server, which they believe only when it names itself."""
    found = urlsplit(issuer)
    path = found.path.rstrip("/")
    kinds = ("oauth-authorization-server", "openid-configuration")
    base = f"{found.scheme}://{found.netloc}"
    places = [f"{base}/.well-known/{kind}{path}" for kind in kinds]
    for place in (*places, f"{base}{path}/.well-known/{kinds[1]}"):
        said = _object(client.get(place))
        if said.get("issuer") == issuer and "S256" in said.get("code_challenge_methods_supported", ()):
            ways = [
                *(["registration"] if said.get("registration_endpoint") else []),
                *(["documents"] if said.get("client_id_metadata_document_supported") else []),
            ]
            says = (
                f"{issuer} takes new clients by {' and '.join(ways)}."
                if ways
                else f"{issuer} knows fixed clients only."
            )
            return _diagnostic("authorization", "ok", says)
    says = f"{issuer} has no metadata that names it and PKCE with S256: clients will refuse to sign in there."
    return _diagnostic("authorization", "wrong", says)


def _pages(client: "httpx2.Client") -> Diagnostic:
    open_to_all = [path for path in ("/", "/metrics") if client.get(path).status_code == 200]
    if open_to_all:
        return _diagnostic("pages", "note", f"Whoever reaches the server sees {' and '.join(open_to_all)}.")
    return _diagnostic("pages", "ok", "Strangers do not see / and /metrics.")


def _object(answer: "httpx2.Response") -> dict[str, Any]:
    """The object that an answer holds; an empty one when it holds none."""
    try:
        said = answer.json()
    except ValueError:
        return {}
    return said if answer.status_code == 200 and isinstance(said, dict) else {}


def _diagnostic(subject: str, state: State, says: str) -> Diagnostic:
    return Diagnostic(subject=subject, state=state, says=says, need="always")


def check_exposure(settings: Settings) -> list[Diagnostic]:
    """Who may sign in; nothing is said of a record for which nobody was invited."""
    place = RecordLocation(settings.data, settings.store)
    try:
        if not has_sign_ins(place):
            return []
        tables = open_sign_ins(place)
        try:
            people = People(tables).overview()
        finally:
            tables.close()
    except M3Error as error:
        return [Diagnostic(subject="sign-in", state="wrong", says=str(error), need="always")]
    may = ", ".join(f"{scope} {sum(scope in person.scopes.split() for person in people)}" for scope in SCOPES)
    counts = (
        (sum(len(person.invited) for person in people), "invitation that is not used", "invitations that are not used"),
        (sum(len(person.devices) for person in people), "device", "devices"),
        (sum(len(person.apps) for person in people), "client", "clients"),
    )
    open_now = ", ".join(f"{count} {one if count == 1 else many}" for count, one, many in counts)
    says = f"With --auth own these may sign in: {may}. Open now: {open_now}. `m3bench people list` names them."
    return [Diagnostic(subject="sign-in", state="ok", says=says, need="always")]
