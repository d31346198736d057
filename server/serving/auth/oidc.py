"""Tokens of an OpenID provider: whose they are, and what members of a group may do here.

The provider's keys come from where its metadata says, are kept for an hour, and are asked for again when a token names
one that is not among them. A token counts when it was signed with one of them by a good algorithm, by this issuer, for
this server, and is an access token.
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpx2
import jwt

from m3bench.proxy.transports.access import LOOPBACK
from m3bench.server.serving.auth.address import PublicAddress
from m3bench.server.serving.auth.identity import SCOPES, Identity, Refusals, scopes_of
from m3bench.tasks.errors import UserError

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""None that needs a secret which both sides have, and never none."""

_TYPES = ("at+jwt", "application/at+jwt", "jwt", "")
"""The first two say that it is an access token (RFC 9068); others are looked at more closely."""

_NO_ACCESS = frozenset({"id", "refresh", "logout"})
"""Values of the claim `typ` in tokens that grant no access."""

_KEY_KINDS = ("RSA", "EC", "OKP")

KEYS_SECONDS = 3600.0
STALE_SECONDS = 86_400.0
"""How long keys stay in use while the provider cannot be reached."""

AGAIN_SECONDS = 30.0
"""Between two requests for keys because of tokens that name an unknown one."""

FETCH_SECONDS = 5.0
MOST_BYTES = 262_144
LEEWAY_SECONDS = 30
LATELY_SECONDS = 86_400


class _Unreachable(Exception):
    """The provider could not be asked."""


@dataclass
class ProviderKeys:
    """The keys that a provider signs with.

    Args:
        issuer: The provider's address.
        clock: Gives the time in seconds.
    """

    issuer: str
    clock: Callable[[], float] = time.monotonic
    name: str = ""
    """What the provider calls itself in tokens."""
    _keys: list[dict[str, Any]] = field(default_factory=list)
    _read: float = float("-inf")
    _asked: float = float("-inf")
    _turn: anyio.Lock | None = None

    async def key(self, kid: str | None) -> dict[str, Any] | None:
        """The key of a name; None when there is none."""
        found = self._find(kid)
        if found is not None and self.clock() - self._read < KEYS_SECONDS:
            return found
        self._turn = self._turn or anyio.Lock()
        async with self._turn:
            # A flood of tokens with made-up keys must not become a flood of requests.
            if self.clock() - self._asked >= AGAIN_SECONDS and self._find(kid, fresh=True) is None:
                self._asked = self.clock()
                try:
                    await self._ask()
                except _Unreachable:
                    if self.clock() - self._read > STALE_SECONDS:
                        self._keys = []
        return self._find(kid)

    def _find(self, kid: str | None, *, fresh: bool = False) -> dict[str, Any] | None:
        if fresh and self.clock() - self._read >= KEYS_SECONDS:
            return None
        if kid is None:
            return self._keys[0] if len(self._keys) == 1 else None
        return next((key for key in self._keys if key.get("kid") == kid), None)

    async def _ask(self) -> None:
        metadata = await self._get(self.issuer.rstrip("/") + "/.well-known/openid-configuration")
        name, place = metadata.get("issuer"), metadata.get("jwks_uri")
        # A provider that names another issuer could forge that one's tokens.
        if not isinstance(name, str) or name.rstrip("/") != self.issuer.rstrip("/"):
            raise _Unreachable
        if not isinstance(place, str) or not _safe(place):
            raise _Unreachable
        keys = (await self._get(place)).get("keys")
        if not isinstance(keys, list):
            raise _Unreachable
        self._keys = [
            key
            for key in keys
            if isinstance(key, dict) and key.get("kty") in _KEY_KINDS and key.get("use", "sig") == "sig"
        ]
        self.name, self._read = name, self.clock()

    async def _get(self, url: str) -> dict[str, Any]:
        try:
            with anyio.fail_after(FETCH_SECONDS):
                async with httpx2.AsyncClient() as client, client.stream("GET", url) as answer:
                    body = b""
                    async for chunk in answer.aiter_bytes():
                        body += chunk
                        if len(body) > MOST_BYTES:
                            raise _Unreachable
                    if answer.status_code != 200:
                        raise _Unreachable
            said = json.loads(body)
        except (httpx2.HTTPError, TimeoutError, ValueError, RecursionError) as error:
            raise _Unreachable from error
        if not isinstance(said, dict):
            raise _Unreachable
        return said


@dataclass
class OidcTokens:
    """Checks the tokens of a provider; a `TokenChecker`.

    Args:
        keys: The provider's.
        address: Of this server.
        audience: What the provider calls this server, when not by its address.
        groups: The scopes of each group's members; when there are none, the token's own scopes count.
        refusals: Logs what is refused.
    """

    keys: ProviderKeys
    address: PublicAddress
    audience: str | None = None
    groups: Mapping[str, frozenset[str]] = field(default_factory=dict)
    refusals: Refusals = field(default_factory=Refusals)

    async def identity(self, token: str) -> Identity | None:
        """Whose a token is; None when it is not valid here."""
        found = await self._checked(token)
        if isinstance(found, str):
            self.refusals.say(found)
            return None
        return None if found is None else self._of(*found)

    async def ran_out(self, token: str) -> Identity | None:
        """Whose a token is that expired recently."""
        if await self._checked(token) is not None:
            return None
        found = await self._checked(token, lately=True)
        return self._of(*found) if isinstance(found, tuple) else None

    async def _checked(self, token: str, *, lately: bool = False) -> tuple[dict[str, Any], bool] | str | None:
        """What a token says, and whether it is an access token for sure; why it does not count; None when it ran out.

        Args:
            token: The token.
            lately: Whether one counts that ran out within a day.
        """
        leeway = LATELY_SECONDS if lately else LEEWAY_SECONDS
        try:
            header = jwt.get_unverified_header(token)
            algorithm, kid = header.get("alg"), header.get("kid")
            if algorithm not in ALGORITHMS or str(header.get("typ", "")).lower() not in _TYPES or "crit" in header:
                return "a token of a kind that does not count"
            certain = str(header.get("typ", "")).lower() in _TYPES[:2]
            found = await self.keys.key(kid if isinstance(kid, str) else None)
            if found is None or found.get("alg", algorithm) != algorithm:
                return "a token that none of the provider's keys signed"
            key = jwt.PyJWK.from_dict(found, algorithm=algorithm)
            claims: dict[str, Any] = jwt.decode(
                token, key, algorithms=[algorithm], issuer=self.keys.name, leeway=leeway,
                options={"require": ["exp", "iss", "aud", "sub"], "verify_aud": False},
            )  # fmt: skip
        except jwt.ExpiredSignatureError:
            return None
        except (jwt.PyJWTError, ValueError, TypeError) as error:
            return f"a token that does not hold ({type(error).__name__})"
        return claims, certain

    def _of(self, claims: dict[str, Any], certain: bool) -> Identity | None:
        audience = claims["aud"] if isinstance(claims["aud"], list) else [claims["aud"]]
        if not any(isinstance(name, str) and self._means_us(name) for name in audience):
            return self._refused("a token of %r for another server", claims["sub"])
        kind = str(claims.get("typ", claims.get("token_use", ""))).lower()
        unscoped = not certain and "scope" not in claims and "scp" not in claims
        if "nonce" in claims or "at_hash" in claims or kind in _NO_ACCESS or unscoped:
            return self._refused("a token of %r that tells who signed in, and allows nothing", claims["sub"])
        scope = claims.get("scope", claims.get("scp", ""))
        named = scopes_of(" ".join(map(str, scope)) if isinstance(scope, list) else str(scope))
        scopes = named
        if self.groups:
            member = _texts(claims.get("groups")) | _texts(claims.get("roles"))
            may = frozenset(scope for group in member for scope in self.groups.get(group, ()))
            # A token that names some of our scopes is good for no others.
            scopes = may & named if named else may
        client = claims.get("client_id", claims.get("azp", ""))
        return Identity(subject=str(claims["sub"]), issuer=self.keys.name, client=str(client), scopes=scopes)

    def _means_us(self, audience: str) -> bool:
        return audience == self.audience if self.audience is not None else self.address.owns(audience)

    def _refused(self, what: str, *facts: object) -> Identity | None:
        self.refusals.say(what, *facts)
        return None


def provider_address(url: str) -> str:
    """The address of a provider.

    Raises:
        UserError: It is not an address, or not a safe one.
    """
    if not _safe(url):
        raise UserError(f"--auth cannot be 'oidc={url}': give the provider's issuer, such as oidc=https://id.example.")
    return url


def group_scopes(given: Sequence[str]) -> dict[str, frozenset[str]]:
    """Which scopes the members of each group have, from `SCOPE=GROUP`.

    Raises:
        UserError: There is no such scope.
    """
    found: dict[str, frozenset[str]] = {}
    for grant in given:
        scope, _, group = grant.partition("=")
        if scope not in SCOPES or not group:
            raise UserError(f"--grant cannot be {grant!r}: write SCOPE=GROUP, with one of {', '.join(SCOPES)}.")
        found[group] = found.get(group, frozenset()) | {scope}
    return found


def _safe(url: str) -> bool:
    try:
        found = urlsplit(url)
    except ValueError:
        return False
    if found.query or found.fragment or "@" in found.netloc or not found.hostname:
        return False
    return found.scheme == "https" or (found.scheme == "http" and found.hostname in LOOPBACK)


def _texts(claim: object) -> frozenset[str]:
    if isinstance(claim, str):
        return frozenset([claim])
    return frozenset(item for item in claim if isinstance(item, str)) if isinstance(claim, list) else frozenset()
