"""Clients that others wrote sign in, play a task to the end, and renew their tokens in the middle of it."""

import json
import re
import secrets
import ssl
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl

from tests.clients.node import Node
from tests.clients.people import SignedServer, free_port, query, signing_in
from tests.clients.test_independent import NUMBERS, Inspector, check, lines, result
from tests.server.conftest import SERVE
from tests.server.serving.auth.bench import CALLBACK
from tests.server.serving.auth.test_clients import certificate

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server(task_set: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SignedServer]:
    with signing_in(task_set, tmp_path_factory.mktemp("signed")) as opened:
        yield opened


class Kept:
    """What a client of the Python SDK keeps."""

    def __init__(self) -> None:
        self.client: OAuthClientInformationFull | None = None
        self.tokens: list[OAuthToken] = []

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens[-1] if self.tokens else None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens.append(tokens)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


class Signing(Protocol):
    """A server with sign-in, here or at a provider."""

    url: str

    def allow(self, address: str, name: str) -> str:
        """Go where a client sends its person, and allow it; returns the address that leads back to the client."""
        ...

    def expire(self) -> int:
        """Have the access tokens run out."""
        ...


@asynccontextmanager
async def python_client(
    server: Signing, path: str, mode: str, name: str, kept: Kept
) -> AsyncIterator[tuple[Client, OAuthClientProvider]]:
    """A client of the Python SDK, and what signs its person in."""
    back: list[str] = []

    async def go(address: str) -> None:
        back.append(await anyio.to_thread.run_sync(server.allow, address, name))

    async def came_back() -> AuthorizationCodeResult:
        found = query(back[-1])
        return AuthorizationCodeResult(code=found["code"], state=found["state"], iss=found["iss"])

    metadata = OAuthClientMetadata(redirect_uris=[AnyUrl(CALLBACK)], client_name=name)
    auth = OAuthClientProvider(server.url + path, metadata, kept, go, came_back)
    with anyio.fail_after(120):
        async with httpx2.AsyncClient(auth=auth, timeout=60, follow_redirects=True) as http:
            async with Client(streamable_http_client(server.url + path, http_client=http), mode=mode) as client:
                yield client, auth


def words(result: Any) -> str:
    return "\n".join(block.text for block in result.content if block.type == "text")


@pytest.mark.anyio
@pytest.mark.parametrize(("path", "mode"), [("/mcp", "legacy"), ("/seat/{}/mcp", "2026-07-28")], ids=["old", "new"])
async def test_the_python_sdk_plays_on_with_a_new_token(server: SignedServer, path: str, mode: str) -> None:
    kept = Kept()
    async with python_client(server, path.format(secrets.token_urlsafe(24)), mode, f"ann {mode}", kept) as (ann, auth):
        # A task of one call: with sign-in, this client sends one request after the other, which steps show.
        await ann.call_tool("start_task", {"task_id": "sum-1"})
        # The token runs out, here and there.
        assert await anyio.to_thread.run_sync(server.expire)
        auth.context.token_expiry_time = 1
        assert words(await ann.call_tool("math__sum", {"numbers": NUMBERS})) == "108"
        await ann.call_tool("submit", {"answer": "108"})
        card = await ann.call_tool("score", {})
    assert card.meta
    assert card.meta["m3bench/card"]["metrics"]["average"] == 1.0
    assert len(kept.tokens) == 2
    assert kept.tokens[0].access_token != kept.tokens[1].access_token


@pytest.mark.anyio
async def test_a_client_that_may_only_watch_asks_for_more_when_it_plays(server: SignedServer) -> None:
    kept = Kept()
    found = await anyio.to_thread.run_sync(server.tokens, "wim", "watch")
    kept.tokens.append(OAuthToken.model_validate(found))
    id, place = found["client_id"], AnyUrl(CALLBACK)
    kept.client = OAuthClientInformationFull(
        client_id=id, redirect_uris=[place], token_endpoint_auth_method="none", issuer=server.url
    )
    async with python_client(server, "/mcp", "legacy", "wim", kept) as (wim, _):
        await wim.call_tool("start_task", {"task_id": "sum-1"})
    assert [tokens.scope for tokens in kept.tokens] == ["watch", "play watch"]


@pytest.mark.anyio
async def test_each_has_a_run_of_their_own_at_the_same_address(server: SignedServer) -> None:
    path = f"/seat/{secrets.token_urlsafe(24)}/mcp"
    async with python_client(server, path, "legacy", "carl", Kept()) as (carl, _):
        async with python_client(server, path, "legacy", "dora", Kept()) as (dora, _):
            await carl.call_tool("start_task", {"task_id": "survey-1"})
            assert "no task" in words(await dora.call_tool("submit", {"answer": "2.5"})).lower()
            await dora.call_tool("start_task", {"task_id": "sum-1"})
            assert words(await carl.call_tool("math__mean", {"numbers": NUMBERS})) == "18"
            assert "sealed" in words(await dora.call_tool("submit", {"answer": "108"}))
            assert "sealed" in words(await carl.call_tool("submit", {"answer": "2.5"}))


def typescript(node: Node, server: Signing, sdk: str, *how: str) -> list[str]:
    """What a client of the TypeScript SDKs tells of its task, and how often it got tokens."""
    command = [*node.command("sign_in.mjs"), sdk, f"{server.url}/mcp", *how]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as client:
        assert client.stdin
        assert client.stdout
        line = client.stdout.readline()
        assert line.startswith("GO "), line
        back = server.allow(line.removeprefix("GO ").strip(), f"typescript {sdk}")
        assert query(back)["state"] == "state-of-the-client"
        if how:
            client.stdin.write(f"{back}\n")
            client.stdin.flush()
            assert client.stdout.readline() == "EXPIRE\n"
            assert server.expire()
        told, _ = client.communicate("\n" if how else f"{back}\n", timeout=120)
    return told.strip().splitlines()


@pytest.mark.node
@pytest.mark.parametrize("sdk", ["1", "2"])
def test_the_typescript_sdks_play_on_with_a_new_token(node: Node, server: SignedServer, sdk: str) -> None:
    report, tokens = typescript(node, server, sdk)
    check(json.loads(report))
    assert tokens == "TOKENS 2"


@pytest.mark.node
@pytest.mark.parametrize("sdk", ["1", "2"])
def test_two_calls_side_by_side_renew_the_same_token_and_stay_one_step(
    node: Node, server: SignedServer, sdk: str
) -> None:
    """These clients have each call renew the token by itself, with the same refresh token at the same time."""
    report, tokens = typescript(node, server, sdk, "together")
    check(json.loads(report))
    assert tokens == "TOKENS 3"


def inspected(node: Node, server: Signing, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Inspector:
    """The Inspector, signed in: a process for each request, all of one person."""
    # Without a terminal it signs nobody in unless it may open a browser, and forgets them with the process.
    given = {"MCP_AUTO_OPEN_ENABLED": "true", "BROWSER": "true", "MCP_INSPECTOR_SECRET_STORE": "file"}
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    inspector = Inspector(node, [f"{server.url}/mcp"], folder)
    asking = inspector.start("tools/list")
    assert asking.stderr
    address = re.compile(r"https?://\S+/auth(?:/authorize)?\?\S+")
    found = next(filter(None, (address.search(line) for line in asking.stderr)), None)
    assert found
    httpx2.get(server.allow(found[0], "inspector"), timeout=60)
    assert "start_task" in [tool["name"] for tool in result(asking)["tools"]]
    return inspector


@pytest.mark.node
def test_the_inspector_signs_in_and_plays_on_with_a_new_token(
    node: Node, server: SignedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inspector = inspected(node, server, tmp_path, monkeypatch)
    inspector.call("start_task", task_id="sum-1")
    assert server.expire()
    assert lines(inspector.call("math__sum", numbers=NUMBERS)) == "108"
    inspector.call("submit", answer="108")
    assert inspector.call("score")["_meta"]["m3bench/card"]["metrics"]["average"] == 1.0


@pytest.mark.node
def test_the_authorization_server_conforms(node: Node, server: SignedServer) -> None:
    port = free_port()
    said = {"redirect_uris": [f"http://127.0.0.1:{port}/callback"], "token_endpoint_auth_method": "none"}
    client = httpx2.post(f"{server.url}/auth/register", json=said).json()["client_id"]
    given = ["--url", server.url, "--client-id", client, "--resource", f"{server.url}/mcp", "--port", str(port)]
    command = [*node.command("conformance-2026/dist/index.js"), "authorization", *given, "--verbose"]
    told = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as suite:
        assert suite.stdout
        for line in suite.stdout:
            told.append(line)
            if line.startswith(f"{server.url}/auth/authorize?"):
                httpx2.get(server.allow(line.strip(), "conformance"))
    assert "Total: 3 passed, 0 failed" in "".join(told)


@pytest.mark.anyio
async def test_a_server_with_a_certificate_of_its_own_is_played_over_tls(task_set: Path, tmp_path: Path) -> None:
    cert, key = certificate(tmp_path)
    port = free_port()
    given = ["--tls-cert", str(cert), "--tls-key", str(key), "--http", f"127.0.0.1:{port}", "--tasks", str(task_set)]
    command = [*SERVE, *given, "--auth", "own", "--data", str(tmp_path / "data")]
    command += ["--public-url", f"https://localhost:{port}"]
    trusting = ssl.create_default_context(cafile=str(cert))
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        assert f"https://127.0.0.1:{port}/mcp" in process.stderr.readline()
        with anyio.fail_after(60):
            async with httpx2.AsyncClient(verify=trusting, base_url=f"https://localhost:{port}") as http:
                answer = await http.get("/.well-known/oauth-authorization-server")
                assert answer.json()["issuer"] == f"https://localhost:{port}"
                assert (await http.post("/mcp", json={})).status_code == 401
        process.terminate()
        process.communicate(timeout=60)
