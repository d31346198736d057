"""Signing in and allowing a client in Chromium, with the policies that the pages are sent with."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlencode

import httpx2
import pytest

from tests.browser import Browser, fits, unsound
from tests.clients.people import SignedServer, free_port, query, signing_in
from tests.server.serving.auth.bench import challenge
from tests.sets import write_set

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SignedServer]:
    folder = tmp_path_factory.mktemp("signed")
    with signing_in(write_set(folder / "set"), folder / "data") as opened:
        yield opened


def asked(server: SignedServer, back: str) -> str:
    """Where a client sends its person."""
    said = {"redirect_uris": [back], "token_endpoint_auth_method": "none", "client_name": "Chat"}
    id = httpx2.post(f"{server.url}/auth/register", json=said, timeout=60).json()["client_id"]
    asked = {
        "response_type": "code", "client_id": id, "redirect_uri": back, "scope": "play", "state": "st",
        "code_challenge": challenge("v" * 43), "code_challenge_method": "S256",
    }  # fmt: skip
    return f"{server.url}/auth/authorize?{urlencode(asked)}"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_a_person_signs_in_and_allows_a_client(host: str, browser: Browser, server: SignedServer) -> None:
    back = f"http://{host}:{free_port()}/callback"
    address = browser.visit(
        asked(server, back), _allowing(server, back), width=400, ready="form", allowed=(server.url, back)
    )
    found = query(address)
    assert (found["state"], found["iss"], bool(found["code"])) == ("st", server.url, True)


@pytest.mark.xdist_group("site")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_read_the_pages_of_sign_in_at_any_width(
    browser: Browser, axe: str, server: SignedServer, scheme: Literal["light", "dark"]
) -> None:
    back = f"http://127.0.0.1:{free_port()}/callback"

    def look(page: "Page") -> dict[str, list[Any]]:
        page.route(f"{back}*", lambda route: route.fulfill(body="<title>back</title>", content_type="text/html"))
        found = {"sign in": unsound(page, axe)}
        page.get_by_label("The code of your invitation").fill("A" * 20)
        page.get_by_role("button", name="Sign in").click()
        page.get_by_role("alert").or_(page.get_by_role("heading", level=1)).first.wait_for()
        found["refused"] = unsound(page, axe)
        page.goto(asked(server, back))
        page.get_by_label("The code of your invitation").fill(server.invite("ann"))
        page.get_by_role("button", name="Sign in").click()
        page.get_by_role("heading", name="Allow this client?").wait_for()
        found["consent"] = unsound(page, axe)
        page.get_by_role("button", name="Allow").click()
        page.wait_for_url(f"{back}*")
        page.goto(f"{server.url}/auth/")
        page.get_by_role("heading", name="Signed in as ann").wait_for()
        found["own page"] = unsound(page, axe)
        return found

    found = browser.visit(
        asked(server, back), look, ready="form", scheme=scheme, allowed=(server.url, back), complaints="403|favicon"
    )
    assert {page: what for page, what in found.items() if what} == {}


def test_a_page_of_somebody_else_neither_shows_ours_nor_presses_its_buttons(
    browser: Browser, server: SignedServer
) -> None:
    """What a browser makes of the policies and of the origin, when a person who is signed in visits a bad site."""
    # Another site, though on this machine: browsers keep pages of the internet away from those of a machine.
    evil = f"http://localhost:{free_port()}"
    address = asked(server, f"http://127.0.0.1:{free_port()}/callback")
    form = f'<form method="post" action="{server.url}/auth/sign-out"><button>Win</button></form>'
    body = f'<html data-ready><title>x</title><iframe src="{address}"></iframe>{form}'

    def look(page: "Page") -> list[str]:
        page.get_by_label("The code of your invitation").fill(server.invite("ann"))
        page.get_by_role("button", name="Sign in").click()
        page.get_by_role("heading", name="Allow this client?").wait_for()
        page.route(f"{evil}/*", lambda route: route.fulfill(body=body, content_type="text/html"))
        page.goto(f"{evil}/")
        frame = page.locator("iframe").element_handle()
        assert frame
        shown = frame.content_frame()
        inside = shown.content() if shown else ""
        page.get_by_role("button", name="Win").click()
        page.get_by_role("heading", name="That did not work").wait_for()
        page.goto(f"{server.url}/auth/")
        return [inside, page.get_by_role("heading", level=1).inner_text()]

    inside, signed_in = browser.visit(
        address, look, ready="form", allowed=(server.url, evil), complaints="frame|403|404|CSP|favicon"
    )
    assert "Allow this client" not in inside
    assert signed_in == "Signed in as ann"


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
