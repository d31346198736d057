"""Tokens of an OpenID provider, made here with keys of every kind: what counts, and what is made up."""

import base64
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.abc
import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519

from m3bench.server.serving.auth.address import PublicAddress
from m3bench.server.serving.auth.modes import protection_of
from m3bench.server.serving.auth.oidc import AGAIN_SECONDS, KEYS_SECONDS, STALE_SECONDS, OidcTokens, ProviderKeys
from m3bench.server.store.location import RecordLocation
from m3bench.tasks.errors import UserError
from tests.proxy.house import CLIENT
from tests.proxy.web import HEADERS
from tests.server.serving.auth.bench import URL, Clock, behind, note

pytestmark = pytest.mark.anyio


class Provider:
    """An OpenID provider: its metadata and keys over HTTP, and whatever token somebody wants."""

    def __init__(self) -> None:
        self.key: Any = ec.generate_private_key(ec.SECP256R1())
        self.kid = "one"
        self.issuer = ""
        self.metadata: dict[str, Any] = {}
        self.asked = 0
        self.away = False

    @property
    def keys(self) -> dict[str, Any]:
        kind = jwt.algorithms.ECAlgorithm if self.kid == "one" else jwt.algorithms.OKPAlgorithm
        return {"keys": [{**kind.to_jwk(self.key.public_key(), as_dict=True), "kid": self.kid, "use": "sig"}]}

    def turn(self) -> None:
        """Sign with a new key from now on."""
        self.key, self.kid = ed25519.Ed25519PrivateKey.generate(), "two"

    def token(self, headers: dict[str, Any] | None = None, key: Any = None, alg: str = "", **claims: Any) -> str:
        now = int(time.time())
        said = {"iss": self.issuer, "sub": "ann-1", "aud": f"{URL}/mcp", "exp": now + 60, "scope": "openid play",
                "client_id": "chat", **claims}  # fmt: skip
        kept = {name: value for name, value in said.items() if value is not None}
        alg = alg or ("ES256" if self.kid == "one" else "EdDSA")
        made = jwt.encode(kept, key or self.key, alg, headers={"kid": self.kid, "typ": "at+jwt", **(headers or {})})
        note(made)
        return made

    async def serve(self, stream: anyio.abc.SocketStream) -> None:
        async with stream:
            asked = await stream.receive()
            self.asked += 1
            if self.away:
                return
            found = self.metadata if b"openid-configuration" in asked else self.keys
            body = json.dumps(found).encode()
            await stream.send(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\nconnection: close\r\n\r\n" % len(body) + body)


@asynccontextmanager
async def provided(**given: Any) -> AsyncIterator[tuple[Provider, OidcTokens, Clock]]:
    """A provider, and what checks its tokens."""
    provider, clock = Provider(), Clock()
    with anyio.fail_after(30):
        async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(listener.serve, provider.serve)
                provider.issuer = f"http://127.0.0.1:{listener.extra(anyio.abc.SocketAttribute.local_port)}"
                provider.metadata = {"issuer": provider.issuer, "jwks_uri": f"{provider.issuer}/keys"}
                yield provider, OidcTokens(ProviderKeys(provider.issuer, clock), PublicAddress(URL), **given), clock
                tasks.cancel_scope.cancel()


async def test_who_signed_in_at_the_provider_plays_here(monkeypatch: pytest.MonkeyPatch) -> None:
    async with provided() as (provider, _, _):
        made = protection_of(f"oidc={provider.issuer}", RecordLocation(None), PublicAddress(URL))  # type: ignore[arg-type]
        async with behind(made) as client:
            metadata = (await client.get("/.well-known/oauth-protected-resource/mcp")).json()
            assert metadata["authorization_servers"] == [provider.issuer]
            assert (await client.get("/.well-known/oauth-authorization-server")).status_code == 401
            params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}
            message = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
            found = []
            for token in (
                provider.token(),
                provider.token(scope="openid"),
                provider.token(aud="https://other.example"),
            ):
                headers = {**HEADERS, "authorization": f"Bearer {token}"}
                found.append((await client.post("/mcp", json=message, headers=headers)).status_code)
            assert found == [200, 403, 401]


@pytest.mark.usefixtures("refused")
async def test_what_is_made_up_does_not_count(caplog: Any) -> None:
    async with provided() as (provider, tokens, _):
        assert await tokens.identity(provider.token(headers={"typ": "JWT"}, typ="Bearer"))
        good = provider.token()
        who = await tokens.identity(good)
        assert who
        assert (who.subject, who.issuer, who.client, who.scopes) == (
            "ann-1",
            provider.issuer,
            "chat",
            frozenset({"play"}),
        )
        public = provider.key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        head, body, mark = good.split(".")
        forged = base64.urlsafe_b64encode(json.dumps({"alg": "none", "typ": "at+jwt"}).encode()).decode().rstrip("=")
        other = ec.generate_private_key(ec.SECP256R1())
        secret = base64.urlsafe_b64encode(public).decode()
        claims = jwt.decode(good, options={"verify_signature": False})
        hmac = jwt.encode(claims, secret, "HS256", headers={"kid": "one", "typ": "at+jwt"})
        now = int(time.time())
        bad = {
            "another issuer": provider.token(iss="https://id.other.example"),
            "the issuer mixed up": provider.token(iss=URL),
            "another server": provider.token(aud="https://other.example/mcp"),
            "several others": provider.token(aud=["https://other.example", "account"]),
            "nobody": provider.token(aud=None),
            "no person": provider.token(sub=None),
            "no end": provider.token(exp=None),
            "run out": provider.token(exp=now - 3600),
            "not yet": provider.token(nbf=now + 3600),
            "who signed in": provider.token(nonce="x"),
            "who signed in, plainly": provider.token(headers={"typ": "JWT"}, scope=None),
            "who signed in, by a claim": provider.token(headers={"typ": "JWT"}, typ="ID"),
            "who signed in, by its use": provider.token(headers={"typ": "JWT"}, token_use="id"),
            "of another kind": provider.token(headers={"typ": "logout+jwt"}),
            "must understand": provider.token(headers={"crit": ["x"], "x": 1}),
            "another key": provider.token(key=other),
            "an unknown key": provider.token(headers={"kid": "nine"}),
            "no signature": f"{forged}.{body}.",
            "the public key as a secret": hmac,
            "changed": f"{head}.{body[:-4]}AAAA.{mark}",
            "no token": "x" * 40,
            "nothing": "..",
        }
        found = {name: await tokens.identity(token) for name, token in bad.items()}
        assert {name: who for name, who in found.items() if who is not None} == {}
        # A key is for the algorithm that it names.
        tokens.keys._keys[0]["alg"] = "ES384"
        assert await tokens.identity(good) is None
    assert not [name for name, token in bad.items() if token in caplog.text]
    assert "for another server" in caplog.text


async def test_groups_say_who_may_do_what() -> None:
    groups = {"players": frozenset({"play", "watch"}), "staff": frozenset({"operate"})}
    async with provided(groups=groups) as (provider, tokens, _):

        async def scopes(**claims: Any) -> set[str]:
            who = await tokens.identity(provider.token(**claims))
            assert who
            return set(who.scopes)

        assert await scopes(scope="openid", groups=["players", "other"]) == {"play", "watch"}
        assert await scopes(scope="openid", groups=["players"], roles="staff") == {"play", "watch", "operate"}
        assert await scopes(scope="openid play operate", groups=["players"]) == {"play"}
        assert await scopes(scope="play", groups=[{"name": "players"}, 1]) == set()
        assert await scopes(scope=None, scp=["play"], groups="players") == {"play"}
        assert await scopes(scope="openid") == set()


async def test_an_audience_of_another_name_counts_alone() -> None:
    async with provided(audience="api://m3") as (provider, tokens, _):
        assert await tokens.identity(provider.token(aud=["x", "api://m3"]))
        assert await tokens.identity(provider.token()) is None


async def test_keys_are_kept_changed_and_not_asked_for_without_end() -> None:
    async with provided() as (provider, tokens, clock):
        for _ in range(5):
            assert await tokens.identity(provider.token())
        assert provider.asked == 2
        for number in range(20):
            assert await tokens.identity(provider.token(headers={"kid": f"made-up-{number}"})) is None
        assert provider.asked == 2
        # The provider signs with a new key.
        old = provider.token()
        provider.turn()
        clock.now += AGAIN_SECONDS
        assert await tokens.identity(provider.token())
        assert await tokens.identity(old) is None
        assert provider.asked == 4
        # It is away for an hour: its keys are good. For days: they are not.
        provider.away = True
        clock.now += KEYS_SECONDS
        assert await tokens.identity(provider.token())
        clock.now += STALE_SECONDS
        assert await tokens.identity(provider.token()) is None


@pytest.mark.usefixtures("refused")
@pytest.mark.parametrize(
    "changed", [{"issuer": "https://id.other.example"}, {"jwks_uri": "http://192.0.2.1/keys"}, {"jwks_uri": None}]
)
async def test_a_provider_that_speaks_for_another_is_not_believed(changed: dict[str, Any]) -> None:
    async with provided() as (provider, tokens, _):
        provider.metadata |= changed
        assert await tokens.identity(provider.token()) is None


@pytest.mark.parametrize(
    ("auth", "groups", "told"),
    [
        ("oidc=http://id.example", [], "oidc="),
        ("oidc=", [], "oidc="),
        ("oidc=https://user@id.example", [], "oidc="),
        ("other", [], "choose own"),
        ("own", ["play=x"], "invitations"),
        ("oidc=https://id.example", ["fly=x"], "SCOPE=GROUP"),
        ("oidc=https://id.example", ["play"], "SCOPE=GROUP"),
    ],
)
def test_what_cannot_be_is_said_at_the_start(auth: str, groups: list[str], told: str) -> None:
    with pytest.raises(UserError, match=told):
        protection_of(auth, RecordLocation(None), PublicAddress(URL), groups=groups)  # type: ignore[arg-type]
