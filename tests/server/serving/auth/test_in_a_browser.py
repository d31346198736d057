"""Signing in and allowing a client in Chromium, with the policies that the pages are sent with."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import httpx2
import pytest

from tests.browser import Browser, fits
from tests.clients.people import SignedServer, free_port, query, signing_in
from tests.server.serving.auth.bench import challenge
from tests.sets import write_set

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser


def test_a_person_signs_in_and_allows_a_client(browser: Browser, tmp_path: Path) -> None:
    with signing_in(write_set(tmp_path / "set"), tmp_path / "data") as server:
        back = f"http://127.0.0.1:{free_port()}/callback"
        said = {"redirect_uris": [back], "token_endpoint_auth_method": "none", "client_name": "Chat"}
        id = httpx2.post(f"{server.url}/auth/register", json=said, timeout=60).json()["client_id"]
        asked = {
            "response_type": "code", "client_id": id, "redirect_uri": back, "scope": "play", "state": "st",
            "code_challenge": challenge("v" * 43), "code_challenge_method": "S256",
        }  # fmt: skip
        look = _allowing(server, back)
        address = browser.visit(
            f"{server.url}/auth/authorize?{urlencode(asked)}", look, width=400, ready="form", allowed=(server.url, back)
        )
        found = query(address)
        assert (found["state"], found["iss"], bool(found["code"])) == ("st", server.url, True)


def _allowing(server: SignedServer, back: str) -> "Callable[[Page], str]":
    def look(page: "Page") -> str:
        # The client's own page, which ends the way.
        page.route(f"{back}*", lambda route: route.fulfill(body="<title>back</title>", content_type="text/html"))
        assert fits(page)
        page.get_by_label("The code of your invitation").fill(server.invite("ann"))
        page.get_by_role("button", name="Sign in").click()
        page.get_by_role("heading", name="Allow this client?").wait_for()
        assert fits(page)
        page.get_by_role("button", name="Allow").click()
        page.wait_for_url(f"{back}*")
        return page.url

    return look
