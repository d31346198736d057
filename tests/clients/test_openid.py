"""People of an OpenID provider that others wrote play here: `oidc-provider` from npm."""

import re
import secrets
import subprocess
from collections.abc import Generator
from pathlib import Path
from urllib.parse import urlencode, urljoin

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.clients.node import Node
from tests.clients.people import free_port, query
from tests.clients.test_sign_in import words
from tests.server.conftest import serving
from tests.server.serving.auth.bench import CALLBACK, challenge

pytestmark = [pytest.mark.node, pytest.mark.anyio]


class Bearer(httpx2.Auth):
    """Sends the token of the moment."""

    token = ""

    def auth_flow(self, request: httpx2.Request) -> Generator[httpx2.Request, httpx2.Response, None]:
        request.headers["authorization"] = f"Bearer {self.token}"
        yield request


def signed_in(issuer: str, resource: str) -> dict[str, str]:
    """The tokens of somebody who signed in at the provider."""
    verifier = secrets.token_urlsafe(48)
    asked = {
        "response_type": "code", "client_id": "chat", "redirect_uri": CALLBACK, "resource": resource,
        "code_challenge": challenge(verifier), "code_challenge_method": "S256", "prompt": "consent",
        "scope": "openid offline_access play",
    }  # fmt: skip
    with httpx2.Client(timeout=30) as browser:
        at = f"{issuer}/auth?{urlencode(asked)}"
        while not at.startswith(CALLBACK):
            at = urljoin(at, browser.get(at).headers["location"])
        form = {"grant_type": "authorization_code", "code": query(at)["code"], "code_verifier": verifier}
        form |= {"client_id": "chat", "redirect_uri": CALLBACK, "resource": resource}
        found: dict[str, str] = browser.post(f"{issuer}/token", data=form).json()
        return found


async def test_people_of_a_provider_play_on_with_a_new_token(node: Node, task_set: Path, tmp_path: Path) -> None:
    port, ours = free_port(), free_port()
    issuer, resource = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{ours}/mcp"
    command = [*node.command("openid.mjs"), str(port), resource]
    given = ["--http", f"127.0.0.1:{ours}", "--auth", f"oidc={issuer}", "--grant", "play=team"]
    given += ["--tasks", str(task_set), "--data", str(tmp_path / "data")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as provider, serving(given):
        assert provider.stdout
        assert re.search("ready", provider.stdout.readline())
        tokens, bearer = await anyio.to_thread.run_sync(signed_in, issuer, resource), Bearer()
        bearer.token = tokens["id_token"]
        with anyio.fail_after(60):
            async with httpx2.AsyncClient(auth=bearer, timeout=60) as http:
                assert (await http.post(resource, json={})).status_code == 401
                bearer.token = tokens["access_token"]
                async with Client(streamable_http_client(resource, http_client=http), mode="legacy") as ann:
                    await ann.call_tool("start_task", {"task_id": "sum-1"})
                    form = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
                    form |= {"client_id": "chat", "resource": resource}
                    async with httpx2.AsyncClient() as plain:
                        bearer.token = (await plain.post(f"{issuer}/token", data=form)).json()["access_token"]
                    assert bearer.token != tokens["access_token"]
                    assert words(await ann.call_tool("math__sum", {"numbers": [4, 8, 15, 16, 23, 42]})) == "108"
                    await ann.call_tool("submit", {"answer": "108"})
                    card = await ann.call_tool("score", {})
        assert card.meta
        assert card.meta["m3bench/card"]["metrics"]["average"] == 1.0
        provider.kill()
