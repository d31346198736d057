"""The authorization server's endpoints over HTTP: metadata, consent, tokens, registration, revocation, sign-in.

Of the MCP SDK only its client is used, in tests. Its endpoints for servers compare client secrets in the clear, refuse
revocation by clients without one, do not name the issuer when they refuse, and accept a redirect URI on the person's
machine with the registered port only.
"""

import base64
import binascii
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode

import anyio.to_thread
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from m3bench.proxy.transports.admission import of_address
from m3bench.server.serving.auth import consent
from m3bench.server.serving.auth.address import PublicAddress
from m3bench.server.serving.auth.clients import METHODS, ClientError, OAuthClient, OAuthClients, is_document
from m3bench.server.serving.auth.grants import ConsentRequest, GrantError, Grants
from m3bench.server.serving.auth.identity import PLAY, SCOPES, Identity, Refusals, scope_text, scopes_of
from m3bench.server.serving.auth.people import DAY, DEVICE_DAYS, People, Person, TooManyAttempts, device_name
from m3bench.tasks.errors import M3Error

MOST_BODY, MOST_QUERY = 32_768, 8_192
MOST_STATE = 2_048
_AUTHORIZE = "/auth/authorize"

_NO_STORE = {"cache-control": "no-store", "pragma": "no-cache"}

Endpoint = Callable[[Request], Awaitable[Response]]


class _Refused(Exception):
    """Ends a request with a response."""

    def __init__(self, response: Response) -> None:
        super().__init__()
        self.response = response


@dataclass(frozen=True, kw_only=True)
class AuthorizationServer:
    """The built-in authorization server; a `SignInPages`."""

    address: PublicAddress
    people: People
    clients: OAuthClients
    grants: Grants
    refusals: Refusals

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        request = Request(scope, receive)
        endpoints: dict[tuple[str, str], Endpoint] = {
            ("GET", "/.well-known/oauth-authorization-server"): self._metadata,
            ("GET", "/.well-known/openid-configuration"): self._metadata,
            ("GET", _AUTHORIZE): self._authorize,
            ("POST", "/auth/consent"): self._consent,
            ("POST", "/auth/token"): self._token,
            ("POST", "/auth/register"): self._register,
            ("POST", "/auth/revoke"): self._revoke,
            ("GET", "/auth/invitation"): self._invitation,
            ("POST", "/auth/sign-in"): self._sign_in,
            ("POST", "/auth/sign-out"): self._sign_out,
            ("POST", "/auth/end"): self._end,
            ("GET", "/auth/"): self._own_page,
        }
        endpoint = endpoints.get((request.method, scope["path"]))
        try:
            response = await endpoint(request) if endpoint else consent.wrong_page("There is nothing here.", 404)
        except _Refused as refused:
            response = refused.response
        except ClientDisconnect:
            return
        except M3Error as error:
            self.refusals.say("a request, because: %s", error)
            response = consent.wrong_page("The record of this server cannot be used now: try again later.", 503)
        await response(scope, receive, send)

    async def visitor(self, request: Request) -> Identity | None:
        """Who looks at pages."""
        person = await self._person(request)
        if person is None:
            return None
        return Identity(subject=person.name, issuer=self.address.origin, client="browser", scopes=person.scopes)

    # What there is

    async def _metadata(self, request: Request) -> Response:
        at = self.address.origin + "/auth/"
        said = {
            "issuer": self.address.origin,
            "authorization_endpoint": at + "authorize",
            "token_endpoint": at + "token",
            "registration_endpoint": at + "register",
            "revocation_endpoint": at + "revoke",
            "scopes_supported": list(SCOPES),
            "response_types_supported": ["code"],
            "response_modes_supported": ["query"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "token_endpoint_auth_methods_supported": list(METHODS),
            "revocation_endpoint_auth_methods_supported": list(METHODS),
            "code_challenge_methods_supported": ["S256"],
            "client_id_metadata_document_supported": self.clients.fetch is not None,
            "authorization_response_iss_parameter_supported": True,
        }
        return JSONResponse(said, headers={"cache-control": "max-age=300"})

    # A person allows a client

    async def _authorize(self, request: Request) -> Response:
        query = request.url.query
        said = _pairs(query) if len(query) <= MOST_QUERY else None
        if said is None:
            raise self._wrong("Your client sent something that cannot be read.", "a request for consent: unreadable")
        person = await self._person(request)
        if person is None and is_document(said.get("client_id", "")):
            # Strangers do not choose what this server reads.
            return consent.sign_in_page(f"{_AUTHORIZE}?{query}")
        client = await self._client_for_consent(said.get("client_id", ""), person)
        redirect = said.get("redirect_uri", client.redirects[0] if len(client.redirects) == 1 else "")
        if not client.takes_redirect(redirect):
            says = "Your client wants you sent to a place that it did not name before: nobody is sent there."
            raise self._wrong(says, "a request for consent: %r may not send people to %r", client.id, redirect)
        if person is None:
            return consent.sign_in_page(f"{_AUTHORIZE}?{query}")
        asked = self._asked(said, client, redirect)
        granted = scopes_of(asked.scopes) & person.scopes
        if not granted:
            self.refusals.say("a request for consent from %r: %r may do nothing of it", client.id, person.name)
            return self._failed(client, redirect, said.get("state"), "access_denied", "you may do nothing of it")
        asked = ConsentRequest(**{**asked.__dict__, "scopes": scope_text(granted)})
        secret = await anyio.to_thread.run_sync(self.grants.ask, asked, self._device(request))
        return consent.consent_page(asked, client, person.name, secret)

    async def _client_for_consent(self, id: str, person: Person | None) -> OAuthClient:
        """The client that sent somebody here; they are told when there is no such client."""
        try:
            client = await self.clients.client(id, person.name if person else "")
        except ClientError as error:
            says = f"This server knows nothing of the client that sent you, {id[:200]}, because {error}."
            raise _Refused(consent.wrong_page(says, 400)) from error
        if client is None:
            says = "This server does not know the client that sent you. Remove m3bench from it and add it again."
            raise self._wrong(says, "a request for consent: no client %r", id)
        return client

    def _asked(self, said: dict[str, str], client: OAuthClient, redirect: str) -> ConsentRequest:
        """What a client asks for; it is told what is wrong with that."""
        state = said.get("state")
        challenge, resource = said.get("code_challenge", ""), said.get("resource", "")
        wanted = scopes_of(said.get("scope", "")) or {PLAY}
        problems = (
            (said.get("response_type") != "code", "unsupported_response_type", "response_type is code"),
            (len(state or "") > MOST_STATE, "invalid_request", "state is too long"),
            (said.get("code_challenge_method") != "S256", "invalid_request", "code_challenge_method is S256"),
            (len(challenge) != 43 or not challenge.isascii(), "invalid_request", "code_challenge is a hash"),
            (said.get("response_mode", "query") != "query", "invalid_request", "response_mode is query"),
            (bool({"request", "request_uri"} & said.keys()), "request_not_supported", "requests are plain parameters"),
            (said.get("prompt") == "none", "login_required", "this server always asks"),
            (bool(resource) and not self.address.owns(resource), "invalid_target", "resource is another server"),
        )
        for is_wrong, error, why in problems:
            if is_wrong:
                self.refusals.say("a request for consent from %r: %s", client.id, why)
                short = state if state and len(state) <= MOST_STATE else None
                raise _Refused(self._failed(client, redirect, short, error, why))
        return ConsentRequest(
            client=client.id, client_name=client.name, redirect=redirect, challenge=challenge, state=state,
            scopes=scope_text(wanted), resource=resource or self.address.origin,
        )  # fmt: skip

    async def _consent(self, request: Request) -> Response:
        form = await self._own_form(request)
        device, person = self._device(request), await self._person(request)
        asked = await anyio.to_thread.run_sync(self.grants.asked, form.get("request", ""), device) if person else None
        if person is None or asked is None:
            says = "This question was answered already, or is too old, or was not yours: start again from your client."
            raise self._wrong(says, "an answer to no question of this device")
        client = await self._client_for_consent(asked.client, person)
        if not client.takes_redirect(asked.redirect):
            raise self._wrong("The client has changed meanwhile: start again.", "an answer for %r", asked.client)
        if form.get("answer") != "allow":
            return self._back(asked.redirect, asked.state, error="access_denied")
        code = await anyio.to_thread.run_sync(self.grants.allow, asked, person.name, device)
        if code is None:
            raise self._wrong("You are signed out: start again from your client.", "an answer of somebody signed out")
        await anyio.to_thread.run_sync(self.clients.used, client)
        return self._back(asked.redirect, asked.state, code=code)

    def _failed(self, client: OAuthClient, redirect: str, state: str | None, error: str, why: str) -> Response:
        """Tell a client what is wrong with its request; nobody has agreed to be sent there yet (RFC 9700, 4.11)."""
        if client.is_led_to(redirect):
            return self._back(redirect, state, error=error, error_description=why)
        return consent.failed_page(why, redirect, self._answer(redirect, state, error=error, error_description=why))

    def _back(self, redirect: str, state: str | None, **said: str) -> Response:
        """Send the person back to the client."""
        # The browser must not send the form's body along: 303 makes it a plain visit.
        headers = {**consent.secure_headers(redirect), "location": self._answer(redirect, state, **said)}
        return Response(status_code=303, headers=headers)

    def _answer(self, redirect: str, state: str | None, **said: str) -> str:
        """The address by which a client is answered, and told who answers (RFC 9207)."""
        said = {**said, "iss": self.address.origin, **({"state": state} if state is not None else {})}
        return f"{redirect}{'&' if '?' in redirect else '?'}{urlencode(said)}"

    # A client exchanges

    async def _token(self, request: Request) -> Response:
        form, client = await self._client_form(request)
        kind = form.get("grant_type")
        grants = self.grants
        try:
            if kind == "authorization_code":
                verifier = form.get("code_verifier", "")
                if not 43 <= len(verifier) <= 128:
                    self.refusals.say("a code from the client %r: without a verifier", client.id)
                    raise GrantError("invalid_grant", "code_verifier has 43 to 128 characters")
                redirect = form.get("redirect_uri")
                work = partial(
                    grants.exchange_code, client, form.get("code", ""), verifier, redirect, form.get("resource")
                )
            elif kind == "refresh_token":
                token = form.get("refresh_token", "")
                work = partial(grants.refresh, client, token, form.get("scope"), form.get("resource"))
            else:
                raise GrantError("unsupported_grant_type", "grant_type is authorization_code or refresh_token")
            return JSONResponse(await anyio.to_thread.run_sync(work), headers=_NO_STORE)
        except GrantError as error:
            return _error(error.kind, str(error))

    async def _revoke(self, request: Request) -> Response:
        form, client = await self._client_form(request)
        if not form.get("token"):
            return _error("invalid_request", "token is missing")
        await anyio.to_thread.run_sync(self.grants.revoke, client, form["token"])
        return Response(status_code=200, headers=_NO_STORE)

    async def _register(self, request: Request) -> Response:
        body = await _body(request)
        try:
            said = json.loads(body)
        except (ValueError, RecursionError):
            said = None
        if not isinstance(said, dict):
            self.refusals.say("a client that registers: it sent no object of JSON")
            return _error("invalid_client_metadata", "Send an object of JSON")
        try:
            client, secret = await anyio.to_thread.run_sync(self.clients.register, said, _place(request))
        except ClientError as error:
            self.refusals.say("a client that registers: %s", error)
            return _error(error.kind, str(error))
        answer: dict[str, Any] = {
            "client_id": client.id,
            "client_id_issued_at": int(self.people.clock()),
            "client_name": client.name,
            "redirect_uris": list(client.redirects),
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": client.method,
            "scope": scope_text(frozenset(SCOPES)),
        }
        if secret is not None:
            answer |= {"client_secret": secret, "client_secret_expires_at": 0}
        return JSONResponse(answer, 201, headers=_NO_STORE)

    async def _client_form(self, request: Request) -> tuple[dict[str, str], OAuthClient]:
        """A form that a client sent, and the client, which has proved its identity."""
        form = _pairs((await _body(request)).decode("utf-8", "replace"))
        if form is None:
            self.refusals.say("a form of a client: unreadable")
            raise _Refused(_error("invalid_request", "The form cannot be read"))
        id, secret = form.get("client_id", ""), form.get("client_secret")
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        basic = scheme.lower() == "basic"
        if basic:
            named, secret = _credentials(given)
            if id not in ("", named):
                named = ""
            id = named
        client = await self.clients.that_exchanges(id)
        fits = client is not None and (client.method == "client_secret_basic") == basic
        if client is None or not fits or not client.proves(secret):
            self.refusals.say("the client %r is unknown, or did not prove its identity", id)
            response = _error("invalid_client", "The client is unknown, or did not prove its identity", 401)
            if basic:
                response.headers["www-authenticate"] = 'Basic realm="m3bench"'
            raise _Refused(response)
        return form, client

    # A person signs in

    async def _invitation(self, request: Request) -> Response:
        # Programs that look at links before people do must not use the invitation up.
        return consent.sign_in_page("/auth/", request.query_params.get("code", "")[:64])

    async def _sign_in(self, request: Request) -> Response:
        form = await self._own_form(request)
        goes_on = form.get("next") or "/auth/"
        if goes_on != "/auth/" and not (goes_on.startswith(f"{_AUTHORIZE}?") and goes_on.isprintable()):
            self.refusals.say("a way on after signing in: %r", goes_on.partition("?")[0])
            goes_on = "/auth/"
        place = _place(request)
        agent = "".join(letter for letter in request.headers.get("user-agent", "") if letter.isprintable())
        try:
            redeem = partial(self.people.redeem, form.get("code", ""), place, agent)
            found = await anyio.to_thread.run_sync(redeem)
        except TooManyAttempts as error:
            self.refusals.say("a code for an invitation from %r: too many were tried", place)
            return consent.sign_in_page(goes_on, problem=str(error), status=429)
        if found is None:
            self.refusals.say("a code that is no invitation, from %r", place)
            text = "This is not the code of an invitation that is still valid. Ask for another one."
            return consent.sign_in_page(goes_on, problem=text, status=403)
        response = RedirectResponse(goes_on, 303, headers=consent.secure_headers())
        # Lax, because clients send people here from their own pages.
        response.set_cookie(
            self._cookie, found[1], max_age=int(DEVICE_DAYS * DAY), httponly=True, samesite="lax",
            secure=self.address.secure, path="/",
        )  # fmt: skip
        return response

    async def _sign_out(self, request: Request) -> Response:
        await self._own_form(request)
        await anyio.to_thread.run_sync(self.people.sign_out, self._device(request))
        response = consent.page("Signed out", "<p>This device is signed out. Clients that you allowed go on.</p>")
        response.delete_cookie(self._cookie, path="/", secure=self.address.secure, httponly=True)
        return response

    async def _end(self, request: Request) -> Response:
        form, person = await self._own_form(request), await self._person(request)
        if person is not None and "device" in form:
            await anyio.to_thread.run_sync(self.people.end_device, person.name, form["device"])
        elif person is not None:
            await anyio.to_thread.run_sync(self.people.end_app, person.name, form.get("app", ""))
        return RedirectResponse("/auth/", 303, headers=consent.secure_headers())

    async def _own_page(self, request: Request) -> Response:
        person = await self._person(request)
        if person is None:
            return consent.sign_in_page("/auth/")
        device = self._device(request)
        return consent.own_page(await anyio.to_thread.run_sync(self.people.overview_of, person), device_name(device))

    @property
    def _cookie(self) -> str:
        port = self.address.host.rpartition(":")[2] if ":" in self.address.host else ""
        return "__Host-m3bench" if self.address.secure else f"m3bench-person-{port}"

    def _device(self, request: Request) -> str:
        return request.cookies.get(self._cookie, "")

    async def _person(self, request: Request) -> Person | None:
        return await anyio.to_thread.run_sync(self.people.on_device, self._device(request))

    async def _own_form(self, request: Request) -> dict[str, str]:
        """A form of one of our own pages: browsers name the origin of a form, and any other is refused."""
        if request.headers.get("origin") != self.address.origin:
            says = "This form did not come from this server's own page."
            raise self._wrong(says, "a form from %r", request.headers.get("origin"), status=403)
        return _pairs((await _body(request)).decode("utf-8", "replace")) or {}

    def _wrong(self, says: str, what: str, *facts: object, status: int = 400) -> _Refused:
        self.refusals.say(what, *facts)
        return _Refused(consent.wrong_page(says, status))


def _place(request: Request) -> str:
    """Where a request comes from."""
    return of_address((request.client.host, 0) if request.client else None)


async def _body(request: Request) -> bytes:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_BODY:
            raise _Refused(_error("invalid_request", f"Send at most {MOST_BODY} bytes", 413))
    return body


def _pairs(text: str) -> dict[str, str] | None:
    """The fields of a form or query; None when one is repeated, or the text cannot be read."""
    try:
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=50, errors="strict")
    except ValueError:
        return None
    found = dict(pairs)
    # PostgreSQL knows no text with a zero byte.
    return found if len(found) == len(pairs) and "\0" not in "".join(found.values()) else None


def _credentials(given: str) -> tuple[str, str]:
    try:
        id, _, secret = base64.b64decode(given, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return "", ""
    return unquote(id).replace("\0", ""), unquote(secret)


def _error(kind: str, says: str, status: int = 400) -> Response:
    return JSONResponse({"error": kind, "error_description": says}, status, headers=_NO_STORE)
