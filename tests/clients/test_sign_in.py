"""Clients that others wrote sign in, play a task to the end, and renew their tokens in the middle of it."""

import json
import secrets
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl

from tests.clients.node import Node
from tests.clients.people import SignedServer, query, signing_in
from tests.clients.test_independent import NUMBERS, check

CALLBACK = "http://127.0.0.1:7777/callback"

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


@asynccontextmanager
async def python_client(
    server: SignedServer, path: str, mode: str, name: str, kept: Kept
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


@pytest.mark.node
@pytest.mark.parametrize("sdk", ["1", "2"])
def test_the_typescript_sdks_play_on_with_a_new_token(node: Node, server: SignedServer, sdk: str) -> None:
    command = [*node.command("sign_in.mjs"), sdk, f"{server.url}/mcp"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as client:
        assert client.stdin
        assert client.stdout
        line = client.stdout.readline()
        assert line.startswith("GO "), line
        back = server.allow(line.removeprefix("GO ").strip(), f"typescript {sdk}")
        assert query(back)["state"] == "state-of-the-client"
        told, _ = client.communicate(back + "\n", timeout=120)
    report, tokens = told.strip().splitlines()
    check(json.loads(report))
    assert tokens == "TOKENS 2"
