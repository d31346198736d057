"""A server with sign-in as a resource: what it says of itself, what it asks for, and whose seat somebody sits on."""

from pathlib import Path

import pytest

from m3bench.proxy.transports.access import MIN_TOKEN
from m3bench.proxy.transports.admission import IDENTITY
from m3bench.server.serving.auth.address import PublicAddress
from m3bench.server.serving.auth.identity import Identity
from m3bench.server.serving.auth.resource import MOST_CHATS
from m3bench.tasks.errors import UserError
from tests.proxy.house import House
from tests.proxy.web import HEADERS, serving
from tests.server.serving.auth.bench import LIST, URL, protected

pytestmark = pytest.mark.anyio

HANDLE = "a-handle-of-thirty-two-letters-x"


@pytest.mark.parametrize("path", ["/mcp", f"/seat/{HANDLE}/mcp"])
async def test_who_has_no_token_is_told_where_to_get_one(path: str, tmp_path: Path) -> None:
    async with protected(tmp_path) as bench:
        answer = await bench.play(None, path)
        assert answer.status_code == 401
        where = f"{URL}/.well-known/oauth-protected-resource{path}"
        assert answer.headers["www-authenticate"] == f'Bearer resource_metadata="{where}", scope="play"'
        metadata = (await bench.client.get(where)).json()
        assert metadata["resource"] == URL + path
        assert metadata["authorization_servers"] == [URL]
        assert metadata["bearer_methods_supported"] == ["header"]
        # Clients ask for everything that is named here.
        assert metadata["scopes_supported"] == ["play"]
        root = (await bench.client.get("/.well-known/oauth-protected-resource")).json()
        assert root["resource"] == URL
        assert (await bench.client.get("/.well-known/oauth-protected-resource/etc/passwd")).status_code == 404
        for form in ("oauth-authorization-server", "openid-configuration"):
            server = (await bench.client.get(f"/.well-known/{form}")).json()
            assert server["issuer"] == URL
            assert server["code_challenge_methods_supported"] == ["S256"]
        assert (await bench.client.get("/health")).status_code == 200


async def test_a_token_in_the_address_or_of_nobody_is_none(tmp_path: Path) -> None:
    async with protected(tmp_path) as bench:
        token = (await bench.tokens())["access_token"]
        assert (await bench.play(None, f"/mcp?access_token={token}")).status_code == 401
        for wrong in ("x" * MIN_TOKEN, token[:-1], f"{token} {token}", "x" * 100_000):
            answer = await bench.play(wrong)
            assert answer.status_code == 401
            assert 'error="invalid_token"' in answer.headers["www-authenticate"]
        assert (await bench.play(token)).status_code == 200


async def test_what_needs_more_says_so_and_asks_for_it_besides_what_is_there(tmp_path: Path) -> None:
    async with protected(tmp_path) as bench:
        browser, app = bench.browser(), await bench.app()
        await browser.sign_in(bench.people.invite("ann", "play watch operate", 1))
        token = (await app.tokens(browser, scope="play"))["access_token"]
        given = {"authorization": f"Bearer {token}"}
        for path, needed in (("/", "watch"), ("/live/state", "watch"), ("/metrics", "operate")):
            answer = await bench.client.get(path, headers=given)
            assert answer.status_code == 403
            challenge = answer.headers["www-authenticate"]
            assert 'error="insufficient_scope"' in challenge
            assert f'scope="play {needed}"' in challenge
        more = (await app.tokens(browser, scope="play watch operate"))["access_token"]
        for path in ("/", "/live/state", "/metrics"):
            answer = await bench.client.get(path, headers={"authorization": f"Bearer {more}"})
            assert (answer.status_code, answer.text) == (200, f"page {path}")


async def test_nobody_is_allowed_more_than_the_person_is(tmp_path: Path) -> None:
    async with protected(tmp_path) as bench:
        browser, app = bench.browser(), await bench.app()
        await browser.sign_in(bench.people.invite("ann", "play operate", 1))
        found = await app.tokens(browser, scope="play watch operate")
        assert found["scope"] == "play operate"
        bench.people.invite("ann", "play", 1)
        given = {"authorization": f"Bearer {found['access_token']}"}
        assert (await bench.client.get("/metrics", headers=given)).status_code == 403
        assert (await bench.play(found["access_token"])).status_code == 200


async def test_a_browser_that_is_signed_in_sees_the_pages_and_any_other_is_asked_to(tmp_path: Path) -> None:
    async with protected(tmp_path) as bench:
        browser = bench.browser()
        asked = await browser.get("/")
        assert (asked.status_code, asked.headers["location"]) == (303, "/auth/")
        assert (await bench.client.get("/live/state")).status_code == 401
        await browser.sign_in(bench.people.invite("ann", "watch", 1))
        assert (await browser.get("/")).text == "page /"
        assert (await browser.get("/metrics")).status_code == 403
        # A cookie is no token: a page of another site could send it.
        assert (await browser.post("/mcp", {})).status_code == 401


async def test_the_seat_is_the_persons_whatever_the_token_and_the_address(tmp_path: Path) -> None:
    seats = []

    async def note(scope: dict[str, object], receive: object, send: object) -> None:
        seats.append((scope["path"], scope[IDENTITY]))

    async with protected(tmp_path) as bench:
        ann, bob = await bench.tokens("ann"), await bench.tokens("bob")
        guarded = bench.protection(note)  # type: ignore[arg-type]
        for path, who in (("/mcp", ann), (f"/seat/{HANDLE}/mcp", ann), (f"/seat/{HANDLE}/mcp", bob)):
            headers = [(b"authorization", f"Bearer {who['access_token']}".encode())]
            await guarded({"type": "http", "method": "POST", "path": path, "headers": headers}, None, None)  # type: ignore[arg-type]
        # What another server passes on, and what somebody copies: the person's own seat, and nobody else's.
        for who in (ann, bob):
            headers = [(b"authorization", f"Bearer {who['access_token']}".encode())]
            await guarded({"type": "http", "method": "POST", "path": seats[1][0], "headers": headers}, None, None)  # type: ignore[arg-type]
    paths = [path for path, _ in seats]
    assert len(set(paths[:3])) == 3
    assert paths[3] == paths[1]
    assert paths[4] not in paths[:4]
    assert [who for _, who in seats] == [f"person {URL} {name}" for name in ("ann", "ann", "bob", "ann", "bob")]


async def test_a_session_is_nobody_elses_though_somebody_knows_its_name(tmp_path: Path) -> None:
    async with protected(tmp_path) as bench:
        ann, bob = [(await bench.tokens(name))["access_token"] for name in ("ann", "bob")]
        opened = await bench.play(ann)
        session = {"mcp-session-id": opened.headers["mcp-session-id"], "mcp-protocol-version": "2025-11-25"}
        for token, status in ((ann, 200), (bob, 404), (None, 401)):
            given = {**HEADERS, **session, **({"authorization": f"Bearer {token}"} if token else {})}
            assert (await bench.client.post("/mcp", json=LIST, headers=given)).status_code == status
            if token != ann:
                ended = await bench.client.delete("/mcp", headers=given)
                assert ended.status_code == status
        given = {**HEADERS, **session, "authorization": f"Bearer {ann}"}
        assert (await bench.client.post("/mcp", json=LIST, headers=given)).status_code == 200


async def test_one_person_cannot_take_all_seats(tmp_path: Path) -> None:
    async with protected(tmp_path) as bench:
        ann, bob = [(await bench.tokens(name))["access_token"] for name in ("ann", "bob")]
        paths = [f"/seat/{HANDLE}{number:02}/mcp" for number in range(MOST_CHATS + 1)]
        answers = [(await bench.play(ann, path)).status_code for path in paths]
        assert answers == [200] * MOST_CHATS + [429]
        # However it is written: with a slash at the end, too.
        assert (await bench.play(ann, f"{paths[0]}/")).status_code == 200
        assert (await bench.play(bob, paths[-1])).status_code == 200


async def test_in_an_event_everybody_has_the_one_seat_of_their_name(tmp_path: Path) -> None:
    async with protected(tmp_path, seats={"ann": "s" * 40}) as bench:
        ann, bob = await bench.tokens("ann"), await bench.tokens("bob")
        assert (await bench.play(ann["access_token"])).status_code == 200
        assert (await bench.play(ann["access_token"], f"/seat/{HANDLE}/mcp")).status_code == 200
        answer = await bench.play(bob["access_token"])
        assert (answer.status_code, "event" in answer.text) == (403, True)


async def test_without_sign_in_nothing_of_it_is_there() -> None:
    async with serving(House(), host="127.0.0.1", token="x" * MIN_TOKEN) as web:
        answer = await web.get("/.well-known/oauth-protected-resource")
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
    async with serving(House(), host="127.0.0.1") as web:
        assert (await web.get("/auth/")).status_code == 404


@pytest.mark.parametrize(
    ("resource", "ours"),
    [
        (URL, True),
        (f"{URL}/", True),
        (f"{URL}/mcp", True),
        ("https://BENCH.example:443/mcp/", True),
        (f"{URL}/seat/{HANDLE}/mcp", True),
        (f"{URL}/other", False),
        (f"{URL}:8443/mcp", False),
        ("http://bench.example/mcp", False),
        ("https://bench.example.evil.example/mcp", False),
        ("https://bench.example@evil.example/mcp", False),
        (f"{URL}/mcp#x", False),
        (f"{URL}/mcp?x", False),
        (f"{URL}/MCP", False),
        (f"{URL}./mcp", False),
        (f"{URL}/mcp\n", False),
        (" " + URL, False),
        ("\0" + URL, False),
        ("https://bench.exam\nple/mcp", False),
        ("https://[", False),
        ("", False),
    ],
)
def test_a_resource_is_this_server_or_another(resource: str, ours: bool) -> None:
    assert PublicAddress.of(URL).owns(resource) is ours


@pytest.mark.parametrize(
    "url", ["http://bench.example", "https://bench.example/path", "bench.example", "https://a@b.c", "https://bänch.de"]
)
def test_an_address_that_is_not_safe_is_refused_at_the_start(url: str) -> None:
    with pytest.raises(UserError, match="--public-url"):
        PublicAddress.of(url)


def test_a_seat_that_is_ones_own_stays_and_nobody_else_gets_it() -> None:
    ann, bob = (Identity(subject=who, issuer=URL, client="c", scopes=frozenset()) for who in ("ann", "bob"))
    assert ann.seat(ann.seat(HANDLE)) == ann.seat(HANDLE)
    assert bob.seat(ann.seat(HANDLE)) != ann.seat(HANDLE)
