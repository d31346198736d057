"""Clients sign in at an OpenID provider that others wrote, `oidc-provider` from npm, and play here."""

import json
import re
import secrets
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode, urljoin

import httpx2
import pytest

from tests.clients.node import Node
from tests.clients.people import free_port, query
from tests.clients.test_independent import NUMBERS, Inspector, check, lines
from tests.clients.test_sign_in import Kept, inspected, python_client, typescript, words
from tests.proxy.web import HEADERS
from tests.server.conftest import serving
from tests.server.serving.auth.bench import CALLBACK, challenge

pytestmark = [pytest.mark.node, pytest.mark.slow]


@dataclass
class Provided:
    """A server whose people sign in at a provider."""

    url: str
    issuer: str

    def expire(self) -> int:
        """Wait until the newest access token has run out: the server believes its times alone."""
        until = int(httpx2.get(f"{self.issuer}/good-until", timeout=60).text)
        time.sleep(max(0.0, until + 1 - time.time()))
        return until

    def allow(self, address: str, name: str) -> str:
        """Go where a client sends its person, who is known there; returns the address that leads back to the client."""
        with httpx2.Client(timeout=60) as browser:
            at = address
            while "code=" not in at:
                answer = browser.get(at)
                assert answer.status_code in (302, 303), f"{name}: {answer.text}"
                at = urljoin(at, answer.headers["location"])
            return at


@contextmanager
def providing(node: Node, task_set: Path, data: Path, *options: str, seconds: int = 600) -> Iterator[Provided]:
    """A provider, and a server whose people sign in there."""
    port, ours = free_port(), free_port()
    issuer, origin = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{ours}"
    given = ["--http", f"127.0.0.1:{ours}", "--auth", f"oidc={issuer}", "--grant", "play=team"]
    given += ["--tasks", str(task_set), "--data", str(data), *options]
    command = [*node.command("openid.mjs"), str(port), origin, str(seconds)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as provider:
        try:
            assert provider.stdout
            assert re.search("ready", provider.stdout.readline())
            with serving(given):
                yield Provided(origin, issuer)
        finally:
            provider.kill()


@pytest.fixture(scope="module")
def server(node: Node, task_set: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Provided]:
    with providing(node, task_set, tmp_path_factory.mktemp("provided")) as opened:
        yield opened


@pytest.mark.anyio
@pytest.mark.parametrize(("path", "mode"), [("/mcp", "legacy"), ("/seat/{}/mcp", "2026-07-28")], ids=["old", "new"])
async def test_the_python_sdk_signs_in_there_and_plays_on(server: Provided, path: str, mode: str) -> None:
    kept = Kept()
    async with python_client(server, path.format(secrets.token_urlsafe(24)), mode, "ann", kept) as (ann, auth):
        await ann.call_tool("start_task", {"task_id": "sum-1"})
        auth.context.token_expiry_time = 1
        assert words(await ann.call_tool("math__sum", {"numbers": NUMBERS})) == "108"
        await ann.call_tool("submit", {"answer": "108"})
        card = await ann.call_tool("score", {})
    assert card.meta
    assert card.meta["m3bench/card"]["metrics"]["average"] == 1.0
    assert len({tokens.access_token for tokens in kept.tokens}) == 2


@pytest.mark.parametrize("sdk", ["1", "2"])
def test_the_typescript_sdks_sign_in_there_and_play_on(node: Node, server: Provided, sdk: str) -> None:
    report, tokens = typescript(node, server, sdk)
    check(json.loads(report))
    assert tokens == "TOKENS 2"


def test_the_inspector_signs_in_there_and_plays_on_with_a_new_token(
    node: Node, task_set: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with providing(node, task_set, tmp_path / "provided", seconds=15) as server:
        inspector: Inspector = inspected(node, server, tmp_path, monkeypatch)
        inspector.call("start_task", task_id="sum-1")
        until = server.expire()
        assert lines(inspector.call("math__sum", numbers=NUMBERS)) == "108"
        inspector.call("submit", answer="108")
        assert inspector.call("score")["_meta"]["m3bench/card"]["metrics"]["average"] == 1.0
        assert int(httpx2.get(f"{server.issuer}/good-until", timeout=60).text) > until, "the token was renewed"


def test_what_says_who_signed_in_is_no_token_to_play_with(server: Provided) -> None:
    verifier, resource = secrets.token_urlsafe(48), f"{server.url}/mcp"
    asked = {
        "response_type": "code", "client_id": "chat", "redirect_uri": CALLBACK, "resource": resource,
        "code_challenge": challenge(verifier), "code_challenge_method": "S256", "scope": "openid play",
    }  # fmt: skip
    code = query(server.allow(f"{server.issuer}/auth?{urlencode(asked)}", "ann"))["code"]
    form = {"grant_type": "authorization_code", "code": code, "code_verifier": verifier, "client_id": "chat"}
    with httpx2.Client(timeout=60) as http:
        tokens = http.post(
            f"{server.issuer}/token", data={**form, "redirect_uri": CALLBACK, "resource": resource}
        ).json()
        for kind, status in (("id_token", 401), ("access_token", 400)):
            given = {**HEADERS, "authorization": f"Bearer {tokens[kind]}"}
            assert http.post(resource, json={}, headers=given).status_code == status
