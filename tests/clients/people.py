"""A person who signs in for a client, as a browser does it."""

import re
import secrets
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2

from m3bench.server.serving.auth.people import People
from m3bench.server.store.location import RecordLocation
from m3bench.server.store.sign_ins import open_sign_ins
from tests.server.conftest import serving
from tests.server.serving.auth.bench import CALLBACK, challenge


@dataclass
class SignedServer:
    """A server with sign-in, in a process of its own."""

    url: str
    data: Path

    trust: ssl.SSLContext | bool = True
    """What says that it is this server."""
    scopes: str = "play watch operate"
    """What people may who are invited."""

    def invite(self, name: str) -> str:
        """The code of an invitation, as the command makes it."""
        tables = open_sign_ins(RecordLocation(self.data))
        try:
            return People(tables).invite(name, self.scopes, 1)
        finally:
            tables.close()

    def expire(self) -> int:
        """Have all access tokens run out now."""
        tables = open_sign_ins(RecordLocation(self.data))
        try:
            change = "UPDATE auth_tokens SET expires = 0 WHERE kind = 'access'"
            return tables.together(lambda work: work.change(change))
        finally:
            tables.close()

    def allow(self, address: str, name: str) -> str:
        """Go where a client sends its person, sign in, allow it; returns the address that leads back to the client."""
        with self._client(origin=self.url) as browser:
            page = browser.get(address)
            goes_on = re.search(r'name="next" value="([^"]+)"', page.text)
            assert goes_on, page.text
            goes_on_to = goes_on[1].replace("&amp;", "&")
            done = browser.post("/auth/sign-in", data={"code": self.invite(name), "next": goes_on_to})
            assert done.status_code == 303, done.text
            asked = re.search(r'name="request" value="([^"]+)"', browser.get(done.headers["location"]).text)
            assert asked
            back = browser.post("/auth/consent", data={"request": asked[1], "answer": "allow"})
            return str(back.headers["location"])

    def tokens(self, name: str, scope: str = "play") -> dict[str, Any]:
        """The tokens of a person who has just signed in with a client that registered, and allowed it a scope."""
        said = {"redirect_uris": [CALLBACK], "token_endpoint_auth_method": "none", "client_name": "scripted"}
        with self._client() as client:
            id = client.post("/auth/register", json=said).json()["client_id"]
            verifier = secrets.token_urlsafe(48)
            asked = {
                "response_type": "code", "client_id": id, "redirect_uri": CALLBACK, "scope": scope,
                "code_challenge": challenge(verifier), "code_challenge_method": "S256",
            }  # fmt: skip
            code = query(self.allow(f"/auth/authorize?{urlencode(asked)}", name))["code"]
            form = {"grant_type": "authorization_code", "code": code, "redirect_uri": CALLBACK, "client_id": id}
            answer = client.post("/auth/token", data={**form, "code_verifier": verifier})
            assert answer.status_code == 200, answer.text
            return {**answer.json(), "client_id": id}

    def renewed(self, tokens: dict[str, Any]) -> dict[str, Any]:
        """New tokens in place of those of a person."""
        form = {name: tokens[name] for name in ("refresh_token", "client_id")}
        with self._client() as client:
            answer = client.post("/auth/token", data={**form, "grant_type": "refresh_token"})
        assert answer.status_code == 200, answer.text
        return {**answer.json(), "client_id": tokens["client_id"]}

    def _client(self, **headers: str) -> httpx2.Client:
        return httpx2.Client(base_url=self.url, headers=headers, verify=self.trust, timeout=60)


@contextmanager
def signing_in(task_set: Path, data: Path, *options: str) -> Iterator[SignedServer]:
    """A server with sign-in."""
    address = f"127.0.0.1:{free_port()}"
    given = ["--http", address, "--auth", "own", "--tasks", str(task_set), "--data", str(data), *options]
    with serving(given) as url:
        assert url == f"http://{address}"
        yield SignedServer(url, data)


def query(address: str) -> dict[str, str]:
    """What an address says after its question mark."""
    return {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
        return port
