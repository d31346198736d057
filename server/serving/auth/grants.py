"""What people allowed clients, and the codes and tokens that stand for it.

All of them are random and kept as hashes: there is no key that could leak or that would have to be changed. A code and
a refresh token are good once. When either is used a second time, somebody else has it too: everything that came of the
same consent then ends. An access token is good for minutes, and for this server alone.

Clients that send calls side by side renew for each of them once their access token has run out, with the same refresh
token at the same time. So one that was exchanged then is answered, for some seconds, with the very tokens that it was
exchanged for, until one of them is renewed in turn. A thief who is that quick has what the client has, and no more:
whichever of the two renews second gives both away.
"""

import base64
import hmac
import json
import secrets
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from hashlib import sha256
from typing import Any

import anyio.to_thread

from m3bench.server.serving.auth.address import PublicAddress
from m3bench.server.serving.auth.clients import OAuthClient
from m3bench.server.serving.auth.identity import Identity, Refusals, scope_text, scopes_of
from m3bench.server.serving.auth.people import DAY, hashed
from m3bench.server.store.sign_ins import SignInTables, SignInWork

CODE_SECONDS = 60.0
REQUEST_SECONDS = 600.0
"""How long somebody may think before they allow or refuse."""

ACCESS_SECONDS = 900.0
REFRESH_DAYS = 30.0
"""After which a client that was not used has to ask again."""

AGAIN_SECONDS = 10.0
"""For how long a refresh token that was exchanged is answered as it was."""

GRANT_DAYS = 90.0
"""After which every client has to ask again."""

MOST_REQUESTS = 20
"""Requests that may wait for one device's answer."""

TIDY_SECONDS = 300.0


@dataclass(frozen=True, kw_only=True)
class ConsentRequest:
    """What a client asks a person for."""

    client: str
    client_name: str
    redirect: str
    challenge: str
    scopes: str
    resource: str
    state: str | None = None


@dataclass(frozen=True)
class _Shown:
    """A code or refresh token that a client shows, with what it stands for."""

    kind: str
    expires: float
    used: float | None
    challenge: str
    redirect: str
    grant: str
    client: str
    scopes: str
    resource: str
    person: str
    ended: float | None
    until: float


_OF_GRANT = "g.id, g.client, g.scopes, g.resource, g.person, g.ended, g.expires"
_SHOWN = {
    "code": f"SELECT c.expires, c.used, c.challenge, c.redirect, {_OF_GRANT} "
    "FROM auth_codes c JOIN auth_grants g ON g.id = c.grant_id WHERE c.hash = ?",
    "refresh token": f"SELECT t.expires, t.used, '', '', {_OF_GRANT} "
    "FROM auth_tokens t JOIN auth_grants g ON g.id = t.grant_id WHERE t.hash = ? AND t.kind = 'refresh'",
}
"""Where a code or refresh token is found by its hash."""


def _random(kind: str) -> str:
    """A new token."""
    return secrets.token_urlsafe(32)


def _successor(token: str, salt: str, kind: str) -> str:
    """The token of a kind that a refresh token was exchanged for."""
    return _encoded(hmac.digest(token.encode(), f"{salt} {kind}".encode(), "sha256"))


def _answer(access: str, refresh: str, scopes: str, seconds: float) -> dict[str, Any]:
    return {
        "access_token": access,
        "token_type": "Bearer",
        "expires_in": int(seconds),
        "refresh_token": refresh,
        "scope": scopes,
    }


class GrantError(Exception):
    """A code or token is not exchanged, in the words of RFC 6749.

    Args:
        kind: The error's code.
        message: What is wrong.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass
class Grants:
    """Everything that was allowed.

    Args:
        tables: Where it is kept.
        address: Of this server, which is who gives the tokens and who they are for.
        clock: Gives the time in seconds since 1970.
        access_seconds: How long an access token is good.
        refusals: Logs what is refused.
    """

    tables: SignInTables
    address: PublicAddress
    clock: Callable[[], float] = time.time
    access_seconds: float = ACCESS_SECONDS
    refusals: Refusals = field(default_factory=Refusals)
    _tidied: float = 0.0

    # A person is asked

    def ask(self, request: ConsentRequest, device: str) -> str:
        """Keep a request until the person at a device has answered; returns the secret that the answer must bring."""
        name, now = secrets.token_urlsafe(32), self.clock()
        of_device = "FROM auth_requests WHERE device = ?"

        def add(work: SignInWork) -> None:
            self._tidy(work, now)
            if work.rows(f"SELECT count(*) {of_device}", hashed(device))[0][0] >= MOST_REQUESTS:
                work.change(f"DELETE {of_device}", hashed(device))
            values = (hashed(name), hashed(device), json.dumps(asdict(request)), now + REQUEST_SECONDS)
            work.change("INSERT INTO auth_requests VALUES (?, ?, ?, ?)", *values)

        self.tables.together(add)
        return name

    def asked(self, name: str, device: str) -> ConsentRequest | None:
        """The request that an answer is to, once, and only from the device that was asked."""
        which = "FROM auth_requests WHERE hash = ? AND device = ?"

        def take(work: SignInWork) -> list[Any]:
            found = work.rows(f"SELECT request {which} AND expires > ?", hashed(name), hashed(device), self.clock())
            work.change(f"DELETE {which}", hashed(name), hashed(device))
            return found

        found = self.tables.together(take)
        return ConsentRequest(**json.loads(found[0][0])) if found else None

    def allow(self, request: ConsentRequest, person: str, device: str) -> str | None:
        """A code for what a person allowed on a device; None when they were signed out there meanwhile."""
        code, grant, now = secrets.token_urlsafe(32), secrets.token_hex(16), self.clock()

        def add(work: SignInWork) -> bool:
            signed_in = "SELECT 1 FROM auth_devices WHERE hash = ? AND person = ? AND expires > ?"
            if not work.rows(signed_in, hashed(device), person, now):
                return False
            work.change(
                "INSERT INTO auth_grants VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL)",
                grant, person, request.client, request.client_name, request.scopes, request.resource, now,
                now + GRANT_DAYS * DAY,
            )  # fmt: skip
            values = (hashed(code), grant, request.challenge, request.redirect, now + CODE_SECONDS)
            work.change("INSERT INTO auth_codes VALUES (?, ?, ?, ?, ?, NULL)", *values)
            return True

        return code if self.tables.together(add) else None

    # A client exchanges what it has

    def exchange_code(
        self, client: OAuthClient, code: str, verifier: str, redirect: str | None, resource: str | None
    ) -> dict[str, Any]:
        """Tokens for a code.

        Raises:
            GrantError: It belongs to another client, is no longer valid, or was used before.
        """
        now = self.clock()

        def use(work: SignInWork, shown: _Shown) -> "dict[str, Any] | GrantError":
            # Whatever is wrong, the first attempt uses a code up.
            work.change("UPDATE auth_codes SET used = ? WHERE hash = ?", now, hashed(code))
            if redirect is not None and redirect != shown.redirect:
                return self._refused(work, shown, client, "it was sent elsewhere")
            if not secrets.compare_digest(_challenge(verifier), shown.challenge):
                return self._refused(work, shown, client, "the verifier does not fit")
            if resource is not None and not self.address.owns(resource):
                return self._denied(shown, client, "invalid_target", "it is for another resource")
            return self._tokens(work, shown.grant, shown.scopes, now)

        return self._exchanged(client, "code", code, use)

    def refresh(self, client: OAuthClient, token: str, scopes: str | None, resource: str | None) -> dict[str, Any]:
        """New tokens for a refresh token, which is then used up.

        Raises:
            GrantError: It belongs to another client, is no longer valid, or was used before.
        """
        now = self.clock()

        def use(work: SignInWork, shown: _Shown) -> "dict[str, Any] | GrantError":
            if resource is not None and not self.address.owns(resource):
                return self._denied(shown, client, "invalid_target", "it is for another resource")
            allowed = scopes_of(shown.scopes)
            wanted = scopes_of(scopes) if scopes else allowed
            if not wanted or not wanted <= allowed:
                return self._denied(shown, client, "invalid_scope", "that was not allowed")
            work.change("UPDATE auth_tokens SET used = ? WHERE hash = ?", now, hashed(token))
            work.change("DELETE FROM auth_renewals WHERE at < ?", now - AGAIN_SECONDS)
            good = "SELECT 1 FROM auth_tokens WHERE grant_id = ? AND kind = 'access' AND expires > ?"
            if work.rows(good, shown.grant, now):
                return self._tokens(work, shown.grant, scope_text(wanted), now)
            # With it, and for as long as it is kept, whoever has the old tokens finds the new ones.
            salt = secrets.token_urlsafe(32)
            work.change("INSERT INTO auth_renewals VALUES (?, ?, ?, ?)", hashed(token), salt, scope_text(wanted), now)
            return self._tokens(work, shown.grant, scope_text(wanted), now, partial(_successor, token, salt))

        def again(work: SignInWork, shown: _Shown) -> "dict[str, Any] | None":
            query = "SELECT salt, scopes, at FROM auth_renewals WHERE hash = ? AND at > ?"
            found = work.rows(query, hashed(token), now - AGAIN_SECONDS)
            other = resource is not None and not self.address.owns(resource)
            if not found or other or (scopes and scopes_of(scopes) != scopes_of(found[0][1])):
                return None
            salt, given, at = found[0]
            access, refresh = (_successor(token, salt, kind) for kind in ("access", "refresh"))
            if not work.rows("SELECT 1 FROM auth_tokens WHERE hash = ? AND used IS NULL", hashed(refresh)):
                return None
            self.refusals.note("A refresh token of %r came again at once: it was answered as before", shown.person)
            return _answer(access, refresh, given, at + self.access_seconds - now)

        return self._exchanged(client, "refresh token", token, use, again)

    def _exchanged(
        self,
        client: OAuthClient,
        kind: str,
        secret: str,
        use: "Callable[[SignInWork, _Shown], dict[str, Any] | GrantError]",
        again: "Callable[[SignInWork, _Shown], dict[str, Any] | None]" = lambda work, shown: None,
    ) -> dict[str, Any]:
        """What a client gets for a code or refresh token that is its own, is good, and was never used before.

        Args:
            client: Who brings it.
            kind: What it is.
            secret: It.
            use: Exchanges it.
            again: What it was exchanged for, when it may be told again.
        """
        now = self.clock()

        def exchange(work: SignInWork) -> "dict[str, Any] | GrantError":
            found = work.rows(_SHOWN[kind], hashed(secret))
            if not found:
                self.refusals.say(f"a {kind} that is none, from the client %r", client.id)
                return GrantError("invalid_grant", f"There is no such {kind}")
            shown = _Shown(kind, *found[0])
            if shown.used is not None:
                alive = shown.client == client.id and shown.ended is None and min(shown.expires, shown.until) > now
                return (again(work, shown) if alive else None) or self._refused(work, shown, client, "it came again")
            if shown.client != client.id:
                return self._refused(work, shown, client, "it is another client's")
            if not self.address.owns(shown.resource):
                # Another server on the same database gave it.
                return self._refused(work, shown, client, "it is another server's")
            if shown.ended is not None or min(shown.expires, shown.until) <= now:
                return self._refused(work, shown, client, "it was ended, or is too old")
            return use(work, shown)

        done = self.tables.together(exchange)
        if isinstance(done, GrantError):
            raise done
        return done

    def revoke(self, client: OAuthClient, token: str) -> None:
        """End what a token of either kind stands for; nothing happens when it is not the client's."""

        def end(work: SignInWork) -> None:
            query = "SELECT g.id FROM auth_tokens t JOIN auth_grants g ON g.id = t.grant_id"
            for (grant,) in work.rows(f"{query} WHERE t.hash = ? AND g.client = ?", hashed(token), client.id):
                self._end(work, grant, "client")

        self.tables.together(end)

    # This server is shown a token

    async def identity(self, token: str) -> Identity | None:
        """Whose an access token is; None when it is not valid here."""
        found = await self._bearer(token)
        if found is None:
            self.refusals.say("a token that is not of this server")
            return None
        who, until, ours = found
        if not ours:
            self.refusals.say("a token of %r that was ended, or is for another server", who.subject)
            return None
        return who if until > self.clock() else None

    async def ran_out(self, token: str) -> Identity | None:
        """Whose an access token is that expired recently."""
        found = await self._bearer(token)
        return found[0] if found is not None and found[2] and found[1] <= self.clock() else None

    async def _bearer(self, token: str) -> tuple[Identity, float, bool] | None:
        """Who has an access token, until when, and whether it was given by this server and was not ended."""
        query = (
            "SELECT t.expires, t.scopes, g.person, g.client, g.resource, g.ended, g.expires, p.scopes "
            "FROM auth_tokens t JOIN auth_grants g ON g.id = t.grant_id JOIN auth_people p ON p.name = g.person "
            "WHERE t.hash = ? AND t.kind = 'access'"
        )
        found = await anyio.to_thread.run_sync(self.tables.rows, query, hashed(token))
        if not found:
            return None
        expires, scopes, person, client, resource, ended, until, may = found[0]
        allowed = scopes_of(scopes) & scopes_of(may)
        who = Identity(subject=person, issuer=self.address.origin, client=client, scopes=allowed)
        return who, min(expires, until), ended is None and self.address.owns(resource)

    def _tokens(
        self, work: SignInWork, grant: str, scopes: str, now: float, made: Callable[[str], str] = _random
    ) -> dict[str, Any]:
        access, refresh = made("access"), made("refresh")
        for kind, token, seconds in (("access", access, self.access_seconds), ("refresh", refresh, REFRESH_DAYS * DAY)):
            values = (hashed(token), kind, grant, scopes, now + seconds)
            work.change("INSERT INTO auth_tokens VALUES (?, ?, ?, ?, ?, NULL)", *values)
        return _answer(access, refresh, scopes, self.access_seconds)

    def _denied(self, shown: "_Shown", client: OAuthClient, kind: str, why: str) -> GrantError:
        """Refuse more than was allowed; what was allowed stays as it is."""
        self.refusals.say(f"a {shown.kind} of %r from the client %r: {why}", shown.person, client.id)
        return GrantError(kind, f"The {shown.kind} cannot be exchanged: {why}")

    def _refused(self, work: SignInWork, shown: "_Shown", client: OAuthClient, why: str) -> GrantError:
        """End everything that was allowed with it: somebody else may have it too."""
        self.refusals.say(f"a {shown.kind} of %r from the client %r: {why}", shown.person, client.id)
        self._end(work, shown.grant, f"a {shown.kind} that was refused: {why}")
        return GrantError("invalid_grant", f"The {shown.kind} is not valid, or no longer: sign in again")

    def _end(self, work: SignInWork, grant: str, why: str) -> None:
        change = "UPDATE auth_grants SET ended = ?, why = ? WHERE id = ? AND ended IS NULL"
        work.change(change, self.clock(), why, grant)

    def _tidy(self, work: SignInWork, now: float) -> None:
        """Delete what has expired. Used refresh tokens stay as long as their grant, because they reveal thieves."""
        if now - self._tidied < TIDY_SECONDS:
            return
        self._tidied = now
        work.change("DELETE FROM auth_requests WHERE expires < ?", now)
        work.change("DELETE FROM auth_renewals WHERE at < ?", now - AGAIN_SECONDS)
        work.change("DELETE FROM auth_devices WHERE expires < ?", now)
        work.change("DELETE FROM auth_invitations WHERE expires < ?", now)
        # They stay known for another day: whoever sends one has just come back and is no thief.
        work.change("DELETE FROM auth_tokens WHERE kind = 'access' AND expires < ?", now - DAY)
        work.change("DELETE FROM auth_grants WHERE expires < ? OR ended < ?", now, now - DAY)
        for table in ("auth_tokens", "auth_codes"):
            work.change(f"DELETE FROM {table} WHERE grant_id NOT IN (SELECT id FROM auth_grants)")


def _challenge(verifier: str) -> str:
    return _encoded(sha256(verifier.encode()).digest())


def _encoded(digest: bytes) -> str:
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
