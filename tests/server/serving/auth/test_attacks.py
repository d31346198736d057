"""What thieves and liars try against sign-in: all of it is refused, and logged without a secret."""

import json
import logging
import re
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request

from m3bench.server.serving.auth.address import PublicAddress
from m3bench.server.serving.auth.clients import ClientError, OAuthClients
from m3bench.server.serving.auth.endpoints import MOST_STATE, _place
from m3bench.server.serving.auth.grants import AGAIN_SECONDS, ConsentRequest, Grants
from m3bench.server.serving.auth.identity import MOST_LINES, Refusals
from m3bench.server.serving.auth.people import ATTEMPTS, ATTEMPTS_OF_ALL, ATTEMPTS_SECONDS, TooManyAttempts
from tests.proxy.web import HEADERS
from tests.server.serving.auth.bench import (
    CALLBACK,
    LIST,
    URL,
    App,
    Bench,
    challenge,
    protected,
    refusals,
    sent_back,
    signed_in,
)

pytestmark = pytest.mark.anyio

attack = pytest.mark.usefixtures("refused")
"""Of tests whose attack must have left a line in the log; that none holds a secret is asserted of every test here."""

FORGED: list[dict[str, Any]] = [
    {"redirect_uris": ["javascript:alert(1)"]},
    {"redirect_uris": ["javascript://x/%0aalert(1)"]},
    {"redirect_uris": ["data:text/html,x"]},
    {"redirect_uris": ["http://evil.example/callback"]},
    {"redirect_uris": ["https://*.example/callback"]},
    {"redirect_uris": ["https://user@host.example/callback"]},
    {"redirect_uris": ["https://host.example/callback#x"]},
    {"redirect_uris": ["https://host.example/call back"]},
    {"redirect_uris": ["https://host.example;sandbox/callback"]},
    {"redirect_uris": ["https://host.example,default-src/callback"]},
    {"redirect_uris": ["https://host.example%2eevil.example/callback"]},
    {"redirect_uris": ["https://host.example:x/callback"]},
    {"redirect_uris": ["https:evil.example/callback"]},
    {"redirect_uris": ["http://127.0.0.1:7777\\@evil.example/callback"]},
    {"redirect_uris": ["file:///etc/passwd"]},
    {"redirect_uris": [CALLBACK] * 11},
    {"redirect_uris": ["https://host.example/" + "x" * 600]},
    {"redirect_uris": [["https://host.example/"]]},
    {"redirect_uris": []},
    {"redirect_uris": [CALLBACK], "token_endpoint_auth_method": "private_key_jwt"},
    {"redirect_uris": [CALLBACK], "grant_types": ["client_credentials"]},
    {"redirect_uris": [CALLBACK], "response_types": ["token"]},
]
ELSEWHERE = [
    "https://evil.example/",
    "http://127.0.0.1:7777/callback/../other",
    "http://127.0.0.1:7777/callback?x=1",
    "http://127.0.0.1:7777/callback#x",
    "http://127.0.0.1@evil.example:7777/callback",
    "http://127.0.0.1.evil.example:7777/callback",
    "http://localhost:7777/callback",
    "http://127.0.0.1:7777/call\nback",
    "http://127.0.0.1:7777/callback\t",
    "http://127.0.0.1\r\n:7777/callback",
    "\0http://127.0.0.1:7777/callback",
    " http://127.0.0.1:7777/callback",
    "http://127.0.0.1:7777\\@evil.example/callback",
    "http://127.0.0.1:7777;evil.example/callback",
    "http://127.0.0.1:٧٧٧٧/callback",
    "HTTP:127.0.0.1:7777/callback",
    "//evil.example",
    "javascript:alert(1)",
    "",
]


@attack
async def test_a_stolen_code_is_worth_nothing_and_ends_what_came_of_it(tmp_path: Path, caplog: Any) -> None:
    async with protected(tmp_path) as bench:
        browser, app, thief = await signed_in(bench), await bench.app(), await bench.app()
        secrets = []
        # Another client, another verifier, another place, another resource: the code is burnt by the first try.
        tries: list[dict[str, Any]] = [
            {"client_id": thief.id},
            {"code_verifier": thief.verifier},
            {"redirect_uri": "http://127.0.0.1:1/other"},
            {"resource": "https://other.example/mcp"},
            {"code_verifier": None},
        ]
        for changed in tries:
            code, before = await app.code(browser), len(refusals(caplog))
            refused = await app.exchange(code, **changed)
            assert refused.status_code == 400, changed
            assert len(refusals(caplog)) == before + 1, changed
            assert refused.json()["error"] in ("invalid_grant", "invalid_target")
            if changed != {"code_verifier": None}:
                assert (await app.exchange(code)).json()["error"] == "invalid_grant", changed
            secrets.append(code)
        # The thief is late: what the client got for the code ends, because one of the two is a thief.
        code = await app.code(browser)
        tokens = (await app.exchange(code)).json()
        assert (await bench.play(tokens["access_token"])).status_code == 200
        assert (await app.exchange(code)).json()["error"] == "invalid_grant"
        assert (await bench.play(tokens["access_token"])).status_code == 401
        assert (await app.refresh(tokens["refresh_token"])).json()["error"] == "invalid_grant"
        # A code is good for a minute.
        code = await app.code(browser)
        bench.clock.now += 61
        assert (await app.exchange(code)).status_code == 400
        secrets += [code, tokens["access_token"], tokens["refresh_token"], *browser.cookies.values(), app.verifier]
    assert "came again" in caplog.text
    assert not [secret for secret in secrets if secret in caplog.text]


@attack
async def test_a_replayed_refresh_token_ends_the_thiefs_and_the_clients(tmp_path: Path, caplog: Any) -> None:
    async with protected(tmp_path) as bench:
        browser, app, thief = await signed_in(bench), await bench.app(), await bench.app()
        first = await app.tokens(browser)
        second = (await app.refresh(first["refresh_token"])).json()
        assert second["refresh_token"] != first["refresh_token"]
        assert (await bench.play(second["access_token"])).status_code == 200
        assert (await app.refresh(first["refresh_token"])).json()["error"] == "invalid_grant"
        for token in (first["access_token"], second["access_token"]):
            assert (await bench.play(token)).status_code == 401
        assert (await app.refresh(second["refresh_token"])).json()["error"] == "invalid_grant"
        # Another client brings one that was never used.
        third = await app.tokens(browser)
        assert (await thief.refresh(third["refresh_token"])).json()["error"] == "invalid_grant"
        assert (await app.refresh(third["refresh_token"])).json()["error"] == "invalid_grant"
        # An access token is no refresh token, and more than was allowed is not had by renewing.
        fourth = await app.tokens(browser, scope="play")
        assert (await app.refresh(fourth["access_token"])).json()["error"] == "invalid_grant"
        assert (await app.refresh(fourth["refresh_token"], scope="play operate")).json()["error"] == "invalid_scope"
    assert "came again" in caplog.text
    assert first["refresh_token"] not in caplog.text


async def ran_out(bench: Bench, tokens: dict[str, Any]) -> None:
    """Wait until an access token has run out."""
    bench.clock.now += tokens["expires_in"]
    assert (await bench.play(tokens["access_token"])).status_code == 401


async def test_a_client_that_renews_twice_at_a_time_gets_the_same_tokens_twice(tmp_path: Path, caplog: Any) -> None:
    async with protected(tmp_path) as bench:
        app = await bench.app()
        first = await app.tokens(await signed_in(bench))
        await ran_out(bench, first)
        second = (await app.refresh(first["refresh_token"])).json()
        bench.clock.now += AGAIN_SECONDS - 1
        again = (await app.refresh(first["refresh_token"], scope="play", resource=f"{URL}/mcp")).json()
        assert again == {**second, "expires_in": second["expires_in"] - AGAIN_SECONDS + 1}
        assert (await bench.play(second["access_token"])).status_code == 200
        assert "came again at once" in caplog.text
        assert "Refused" not in caplog.text
        third = (await app.refresh(second["refresh_token"])).json()
        # What leads from one token to the next is not kept for longer than that.
        bench.clock.now += AGAIN_SECONDS + 1
        await app.refresh(third["refresh_token"])
        assert bench.tables.rows("SELECT count(*) FROM auth_renewals") == [(0,)]


@attack
async def test_a_thief_who_is_as_quick_as_the_client_is_found_out_all_the_same(tmp_path: Path) -> None:
    async with protected(tmp_path) as bench:
        browser, app, other = await signed_in(bench), await bench.app(), await bench.app()

        async def lost(first: dict[str, Any], second: dict[str, Any]) -> None:
            for token in (first["access_token"], second["access_token"]):
                assert (await bench.play(token)).status_code == 401
            assert (await app.refresh(second["refresh_token"])).json()["error"] == "invalid_grant"

        for changed in ({"client_id": other.id}, {"resource": "https://other.example"}, {"scope": "play watch"}):
            first = await app.tokens(browser)
            await ran_out(bench, first)
            second = (await app.refresh(first["refresh_token"])).json()
            assert (await app.refresh(first["refresh_token"], **changed)).json()["error"] == "invalid_grant"
            await lost(first, second)
        # The next one of the two is used: the one before it is good for nothing, however quickly.
        first = await app.tokens(browser)
        await ran_out(bench, first)
        second = (await app.refresh(first["refresh_token"])).json()
        assert (await app.refresh(second["refresh_token"])).status_code == 200
        assert (await app.refresh(first["refresh_token"])).json()["error"] == "invalid_grant"
        await lost(first, second)
        # Both have the same: whoever renews it as the second ends it for both.
        first = await app.tokens(browser)
        await ran_out(bench, first)
        second, thiefs = [(await app.refresh(first["refresh_token"])).json() for _ in range(2)]
        assert second == thiefs
        assert (await app.refresh(thiefs["refresh_token"])).status_code == 200
        bench.clock.now += 900
        await lost(first, second)
        # Nothing is told again of what was ended meanwhile.
        first = await app.tokens(browser)
        await ran_out(bench, first)
        await app.refresh(first["refresh_token"])
        bench.people.end("ann")
        assert (await app.refresh(first["refresh_token"])).json()["error"] == "invalid_grant"


@attack
async def test_a_token_of_another_server_is_refused_though_both_share_a_record(tmp_path: Path, caplog: Any) -> None:
    async with protected(tmp_path) as bench:
        token = (await bench.tokens())["access_token"]
        assert (await bench.play(token)).status_code == 200
        async with protected(tmp_path, address=PublicAddress("https://other.example")) as other:
            other.protection.checker.address = PublicAddress("https://other.example")  # type: ignore[attr-defined]
            assert (await other.play(token)).status_code == 401
        browser, app = await signed_in(bench), await bench.app()
        back = sent_back(await browser.get(app.address(resource="https://other.example/mcp")))
        assert back == {"error": "invalid_target", "error_description": "resource is another server", "iss": URL,
                        "state": "st"}  # fmt: skip
    assert "for another server" in caplog.text


@attack
async def test_a_code_or_token_of_another_server_on_the_same_database_is_not_exchanged(tmp_path: Path) -> None:
    async with protected(tmp_path) as bench:
        browser, app = await signed_in(bench), await bench.app()
        code, tokens = await app.code(browser), await app.tokens(browser)
        async with protected(tmp_path) as other:
            other.clock.now = bench.clock.now
            other.protection.checker.address = PublicAddress("https://other.example")  # type: ignore[attr-defined]
            there = App(other, app.id, app.redirect, None, app.verifier)
            assert (await there.exchange(code)).json()["error"] == "invalid_grant"
            assert (await there.refresh(tokens["refresh_token"])).json()["error"] == "invalid_grant"
        # Who brought them there may be a thief.
        assert (await app.exchange(code)).status_code == 400
        assert (await bench.play(tokens["access_token"])).status_code == 401


@attack
async def test_who_sends_people_back_says_so_whether_they_allowed_or_not(tmp_path: Path) -> None:
    """RFC 9207: a client that talks to several servers finds out when one answers for another."""
    async with protected(tmp_path) as bench:
        browser, app = await signed_in(bench), await bench.app()
        page = await browser.get(app.address())
        assert sent_back(await browser.answer(page))["iss"] == URL
        refused = sent_back(await browser.answer(await browser.get(app.address()), "refuse"))
        assert refused == {"error": "access_denied", "iss": URL, "state": "st"}
        wrong = sent_back(await browser.get(app.address(code_challenge_method="plain")))
        assert (wrong["error"], wrong["iss"]) == ("invalid_request", URL)


@attack
async def test_nobody_is_sent_to_a_place_that_the_client_did_not_name(tmp_path: Path, caplog: Any) -> None:
    async with protected(tmp_path) as bench:
        browser, app = await signed_in(bench), await bench.app()
        for redirect in ELSEWHERE:
            for changed in ({}, {"response_type": "token"}):
                answer = await browser.get(app.address(redirect_uri=redirect, **changed))
                assert answer.status_code == 400
                assert "location" not in answer.headers
                assert not redirect or redirect not in answer.text
        assert len(refusals(caplog)) == 2 * len(ELSEWHERE)
        doubled = f"{app.address()}&redirect_uri=https%3A%2F%2Fevil.example"
        assert (await browser.get(doubled)).status_code == 400


@attack
async def test_a_link_to_this_server_leads_to_no_site_that_somebody_registered(tmp_path: Path) -> None:
    """RFC 9700, 4.11: whoever makes a mistake on purpose must not have others sent on without being asked."""
    async with protected(tmp_path) as bench:
        site = "https://evil.example/callback?x=1"
        evil, ann, stranger = await bench.app(redirect_uris=[site]), await signed_in(bench), bench.browser()
        nothing_left = {"scope": "operate"}
        for changed in ({"response_type": "token"}, {"prompt": "none"}, {"code_challenge": "short"}, nothing_left):
            asked = await stranger.get(evil.address(**changed))
            assert (asked.status_code, "location" in asked.headers) == (200, False)
            assert 'name="code"' in asked.text
            told = await ann.get(evil.address(**changed))
            assert (told.status_code, "location" in told.headers) == (400, False)
            # Who knows the place goes back by themselves, and the client is told what was wrong.
            assert "<code>https://evil.example</code>" in told.text
            assert 'href="https://evil.example/callback?x=1&amp;error=' in told.text
        # A program on the person's machine, and a service that the operator chose, are told at once.
        made, _ = OAuthClients(bench.tables, None, bench.clock).fix("Studio", ["https://studio.example/"], public=True)
        for app in (await bench.app(), App(bench, made.id, "https://studio.example/")):
            back = await ann.get(app.address(response_type="token"))
            assert sent_back(back)["error"] == "unsupported_response_type"
            assert "location" not in (await stranger.get(app.address(response_type="token"))).headers


@attack
async def test_signing_in_leads_to_our_own_pages_alone(tmp_path: Path) -> None:
    async with protected(tmp_path) as bench:
        for goes_on in ("https://evil.example", "//evil.example/auth/authorize?", "/\\evil", "/auth/authorize", "\n/x"):
            browser = bench.browser()
            done = await browser.sign_in(bench.people.invite("ann", "play", 1), goes_on)
            assert (done.status_code, done.headers["location"]) == (303, "/auth/")
        app = await bench.app()
        done = await browser.sign_in(bench.people.invite("ann", "play", 1), app.address())
        assert done.headers["location"] == app.address()


@attack
async def test_a_forged_registration_is_refused(tmp_path: Path, caplog: Any) -> None:
    async with protected(tmp_path) as bench:
        for said in FORGED:
            answer = await bench.client.post("/auth/register", json=said)
            assert answer.status_code == 400, said
            assert answer.json()["error"] in ("invalid_redirect_uri", "invalid_client_metadata")
        assert bench.tables.rows("SELECT count(*) FROM auth_clients") == [(0,)]
        assert len(refusals(caplog)) == len(FORGED)


@attack
async def test_registering_has_an_end_and_locks_nobody_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("m3bench.server.serving.auth.clients.REGISTERED", 3)
    monkeypatch.setattr("m3bench.server.serving.auth.clients.REGISTERED_BY_ALL", 4)
    monkeypatch.setattr("m3bench.server.serving.auth.clients.MOST_REGISTERED", 5)
    async with protected(tmp_path) as bench:
        clients = OAuthClients(bench.tables, bench.documents, bench.clock)
        for _ in range(3):
            await bench.app()
        more = await bench.client.post("/auth/register", json={"redirect_uris": [CALLBACK]})
        assert "Too many clients" in more.json()["error_description"]
        for body in (b"[]", b"{", b"[" * 10_000, b" " * 40_000):
            assert (await bench.client.post("/auth/register", content=body)).status_code in (400, 413)
        # Others can, each at least once, and those that nobody used make room.
        said = {"redirect_uris": [CALLBACK]}
        others = []
        for number in range(6):
            bench.clock.now += 1
            others.append(clients.register(said, f"192.0.2.{number}")[0].id)
        with pytest.raises(ClientError, match="Too many"):
            clients.register(said, "192.0.2.1")
        assert {id for (id,) in bench.tables.rows("SELECT id FROM auth_clients")} >= set(others[3:])
        assert bench.tables.rows("SELECT count(*) FROM auth_clients") == [(5,)]
        bench.clock.now += 3 * 86_400
        await bench.app()
        assert bench.tables.rows("SELECT count(*) FROM auth_clients") == [(1,)]


async def test_a_network_of_addresses_counts_as_one() -> None:
    places = [_place(Request({"type": "http", "client": (f"2001:db8::{number}", 1)})) for number in range(3)]
    assert len(set(places)) == 1
    assert _place(Request({"type": "http", "client": ("2001:db8:0:1::1", 1)})) != places[0]


@attack
async def test_nothing_is_allowed_without_the_page_that_asks(tmp_path: Path, caplog: Any) -> None:
    async with protected(tmp_path) as bench:
        app, ann, eve = await bench.app(), await signed_in(bench), await signed_in(bench, "eve")
        # Nobody is signed in: only the page to do so.
        stranger = bench.browser()
        assert 'name="code"' in (await stranger.get(app.address())).text
        # No question was asked, or somebody else was asked, or it was answered.
        assert (await ann.post("/auth/consent", {"request": "x", "answer": "allow"})).status_code == 400
        page = await ann.get(app.address())
        assert (await eve.answer(page)).status_code == 400
        assert (await stranger.answer(page)).status_code == 400
        assert "code" in sent_back(await ann.answer(page))
        assert (await ann.answer(page)).status_code == 400
        # Having allowed it once does not skip the page, nor does asking for no page.
        assert "asks to act here" in (await ann.get(app.address())).text
        assert sent_back(await ann.get(app.address(prompt="none")))["error"] == "login_required"
        # Who thought for too long is asked again.
        page = await ann.get(app.address())
        bench.clock.now += 601
        assert (await ann.answer(page)).status_code == 400
        assert len(refusals(caplog)) == 6


@attack
async def test_what_proves_that_a_client_asked_is_not_left_out(tmp_path: Path, caplog: Any) -> None:
    """PKCE in its weak form, or none at all, at either end."""
    async with protected(tmp_path) as bench:
        ann, app = await signed_in(bench), await bench.app()
        weaker: list[dict[str, str | None]] = [
            {"code_challenge": None},
            {"code_challenge_method": None},
            {"code_challenge_method": "plain"},
            {"code_challenge": None, "code_challenge_method": None},
        ]
        for changed in weaker:
            assert sent_back(await ann.get(app.address(**changed)))["error"] == "invalid_request"
        for verifier in (challenge(app.verifier), app.verifier[:42], "", None):
            refused = await app.exchange(await app.code(ann), code_verifier=verifier)
            assert refused.json()["error"] == "invalid_grant"
        assert len(refusals(caplog)) == 2 * 4


@attack
async def test_what_a_client_asks_is_in_plain_parameters_and_answered_in_the_query(tmp_path: Path) -> None:
    async with protected(tmp_path) as bench:
        ann, app = await signed_in(bench), await bench.app()
        for changed in ({"response_mode": "fragment"}, {"response_mode": "form_post"}):
            assert sent_back(await ann.get(app.address(**changed)))["error"] == "invalid_request"
        for changed in ({"request": "x.y.z"}, {"request_uri": "https://169.254.169.254/"}):
            assert sent_back(await ann.get(app.address(**changed)))["error"] == "request_not_supported"
        assert "code" in sent_back(await ann.answer(await ann.get(app.address(response_mode="query"))))


@attack
async def test_a_cookie_that_somebody_planted_is_not_signed_in_by_its_victim(tmp_path: Path) -> None:
    async with protected(tmp_path) as bench:
        app, ann, eve = await bench.app(), bench.browser(), await signed_in(bench, "eve")
        for planted in ("x" * 43, eve.cookies["__Host-m3bench"]):
            ann.cookies["__Host-m3bench"] = planted
            await ann.sign_in(bench.people.invite("ann", "play", 1))
            assert ann.cookies["__Host-m3bench"] != planted
            assert "as <strong>ann</strong>" in (await ann.get(app.address())).text
        assert "Signed in as eve" in (await eve.get("/auth/")).text
        # What ann is asked is answered with her cookie alone.
        assert (await eve.answer(await ann.get(app.address()))).status_code == 400


@attack
async def test_what_is_said_twice_or_without_end_is_not_understood(tmp_path: Path) -> None:
    async with protected(tmp_path) as bench:
        ann, app = await signed_in(bench), await bench.app()
        long = "s" * (MOST_STATE + 1)
        told = sent_back(await ann.get(app.address(state=long)))
        assert (told["error"], "state" in told) == ("invalid_request", False)
        for more in (
            "&resource=https%3A%2F%2Fbench.example",
            "&scope=operate",
            "&state=other",
            "&x=" + "x" * 9000,
            "&=%FF",
        ):
            answer = await ann.get(app.address() + more)
            assert (answer.status_code, "location" in answer.headers) == (400, False), more
        code = await app.code(ann, state="ünï & =\r\n" * 50)
        body = f"grant_type=authorization_code&code={code}&code={code}&client_id={app.id}"
        refused = await bench.client.post("/auth/token", content=body)
        assert refused.json()["error"] == "invalid_request"
        # A client that names no resource has a token for this server alone, as others have.
        tokens = await app.tokens(ann, resource=None)
        assert bench.tables.rows("SELECT DISTINCT resource FROM auth_grants WHERE resource = ?", URL)
        assert (await bench.play(tokens["access_token"])).status_code == 200


async def test_a_name_does_not_rewrite_the_page_that_asks(tmp_path: Path) -> None:
    """Letters that turn the direction, that are not seen, or that are no letters at all."""
    async with protected(tmp_path) as bench:
        ann = await signed_in(bench)
        app = await bench.app(client_name="\u202eedualC\u2066 \u200bClaudé 例 \x00<b>", client_uri="javascript:x")
        page = await ann.get(app.address())
        assert "<strong>edualC Claudé 例 &lt;b&gt;</strong>" in page.text
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        half = json.dumps({"redirect_uris": [CALLBACK], "client_name": "\ud800\u202e\u200b "})
        nameless = (await bench.client.post("/auth/register", content=half)).json()["client_id"]
        assert "<strong>a client without a name</strong>" in (await ann.get(App(bench, nameless).address())).text


@attack
async def test_who_was_ended_in_the_middle_signs_in_again_and_sits_where_they_sat(tmp_path: Path) -> None:
    async with protected(tmp_path) as bench:
        ann, app = await signed_in(bench), await bench.app()
        first = await app.tokens(ann)
        opened = await bench.play(first["access_token"])
        session = {"mcp-session-id": opened.headers["mcp-session-id"], "mcp-protocol-version": "2025-11-25"}
        bench.people.end("ann")

        async def asks(token: str) -> int:
            given = {**HEADERS, **session, "authorization": f"Bearer {token}"}
            return (await bench.client.post("/mcp", json=LIST, headers=given)).status_code

        assert await asks(first["access_token"]) == 401
        second = await app.tokens(await signed_in(bench))
        assert await asks(second["access_token"]) == 200
        assert await asks(first["access_token"]) == 401


@attack
async def test_a_code_tells_nothing_of_why_it_is_no_good(tmp_path: Path) -> None:
    async with protected(tmp_path) as bench:
        used, late, revoked = (bench.people.invite(name, "play", 1) for name in ("ann", "bob", "eve"))
        await bench.browser().sign_in(used)
        bench.people.revoke_invitations("eve")
        bench.clock.now += 86_401
        told = {(await bench.browser().sign_in(code)).text for code in (used, late, revoked, "A" * 20, "", "x" * 5000)}
        assert len(told) == 1


@attack
async def test_who_is_ended_meanwhile_allows_nothing_and_signs_in_nowhere(tmp_path: Path) -> None:
    async with protected(tmp_path) as bench:
        ann, app = await signed_in(bench), await bench.app()
        grants = bench.protection.checker
        assert isinstance(grants, Grants)
        allow = grants.allow

        def ended_first(request: ConsentRequest, person: str, device: str) -> str | None:
            bench.people.end("ann")
            return allow(request, person, device)

        # The operator ends them after their answer has come, and before it counts.
        bench.protection.pages.grants.allow = ended_first
        answer = await ann.answer(await ann.get(app.address()))
        assert (answer.status_code, "signed out" in answer.text) == (400, True)
        assert bench.tables.rows("SELECT count(*) FROM auth_grants") == [(0,)]
        unused = bench.people.invite("ann", "play", 1)
        bench.people.end("ann", forget=True)
        assert (await ann.sign_in(unused)).status_code == 403
        assert bench.tables.rows("SELECT count(*) FROM auth_devices") == [(0,)]


@attack
async def test_what_no_database_takes_is_refused_before_it_gets_there(tmp_path: Path) -> None:
    async with protected(tmp_path) as bench:
        app, ann = await bench.app(), await signed_in(bench)
        assert (await ann.get(app.address(client_id="x\0"))).status_code == 400
        assert (await app.exchange("code" * 5, client_id="x\0")).status_code == 400
        basic = (b"authorization", b"Basic " + b64encode(b"x%00:y"))
        answer = await bench.client.post("/auth/token", data={"grant_type": "refresh_token"}, headers=[basic])
        assert answer.status_code == 401


async def test_who_goes_away_while_sending_leaves_no_error(tmp_path: Path, caplog: Any) -> None:
    parts = [{"type": "http.request", "body": b"grant_type=", "more_body": True}, {"type": "http.disconnect"}]

    async def receive() -> Any:
        return parts.pop(0)

    async def send(message: Any) -> None:
        raise AssertionError(message)

    async with protected(tmp_path) as bench:
        scope = {"type": "http", "method": "POST", "path": "/auth/token", "headers": [], "query_string": b""}
        assert bench.protection.pages
        await bench.protection.pages(scope, receive, send)
    assert caplog.text == ""


@attack
async def test_pages_of_others_cannot_press_our_buttons(tmp_path: Path, caplog: Any) -> None:
    async with protected(tmp_path) as bench:
        app, ann = await bench.app(), await signed_in(bench)
        page = await ann.get(app.address())
        for origin in ("https://evil.example", "null", None, "http://bench.example"):
            assert (await ann.answer(page, origin=origin)).status_code == 403
            code = bench.people.invite("ann", "play", 1)
            forged = await bench.browser().post("/auth/sign-in", {"code": code}, origin)
            assert forged.status_code == 403
            assert "set-cookie" not in forged.headers
            for path in ("/auth/end", "/auth/sign-out"):
                assert (await ann.post(path, {"app": "x"}, origin)).status_code == 403
        assert len(refusals(caplog)) == 4 * 4
        # A name that leads here, which somebody made theirs: pages of that name could read what we answer.
        rebound = await bench.client.get("/auth/", headers={"host": "evil.example"})
        assert (rebound.status_code, len(refusals(caplog))) == (421, 4 * 4 + 1)
        assert "code" in sent_back(await ann.answer(page))
        cookie = (await bench.browser().sign_in(bench.people.invite("ann", "play", 1))).headers["set-cookie"]
        assert cookie.startswith("__Host-m3bench=")
        assert {"HttpOnly", "Secure", "Path=/", "SameSite=lax"} <= set(cookie.split("; "))


async def test_pages_are_not_shown_inside_others_and_run_no_script(tmp_path: Path) -> None:
    async with protected(tmp_path) as bench:
        browser = await signed_in(bench)
        app = await bench.app(client_name="<script>alert(1)</script>\x1b[31m" + "x" * 500)
        for path in (app.address(), "/auth/", "/auth/invitation?code=%22%3E%3Cscript%3E", "/auth/nothing"):
            page = await browser.get(path)
            policy = page.headers["content-security-policy"]
            assert "frame-ancestors 'none'" in policy
            assert "default-src 'none'" in policy
            assert page.headers["x-frame-options"] == "DENY"
            assert "<script" not in page.text
            assert "\x1b" not in page.text
        asked = await browser.get(app.address())
        assert f"form-action 'self' {CALLBACK.rpartition('/')[0]};" in asked.headers["content-security-policy"]
        for words in ("records every call", "127.0.0.1:7777", "nobody checked it", "&lt;script&gt;", "play tasks"):
            assert words in asked.text
        # Every input has a label, every page a language and one heading.
        for page in (asked, await bench.browser().get("/auth/")):
            assert '<html lang="en">' in page.text
            assert page.text.count("<h1>") == 1
            shown = re.findall(r'<input (?!type="hidden")[^>]*id="(\w+)"', page.text)
            assert all(f'<label for="{name}">' in page.text for name in shown)


@attack
async def test_guessing_invitations_comes_to_an_end(tmp_path: Path, caplog: Any) -> None:
    async with protected(tmp_path) as bench:
        code = bench.people.invite("ann", "play", 1)
        browser = bench.browser()
        found = [(await browser.sign_in(f"{'A' * 19}{letter}")).status_code for letter in "BCDEFGHJKLMN"]
        assert found == [403] * ATTEMPTS + [429] * (12 - ATTEMPTS)
        assert len(refusals(caplog)) == len(found)
        # Then not even the right one is taken, or guessing would go on.
        assert (await browser.sign_in(code)).status_code == 429
        bench.clock.now += ATTEMPTS_SECONDS + 1
        assert (await browser.sign_in(code)).status_code == 303
        # A code is good once, and for a time.
        assert (await browser.sign_in(code)).status_code == 403
        late = bench.people.invite("ann", "play", 1)
        bench.clock.now += 86_401
        assert (await browser.sign_in(late)).status_code == 403
        # From many addresses together it comes to an end too, and nobody else is locked out by that.
        for number in range(ATTEMPTS_OF_ALL):
            assert bench.people.redeem("x" * 20, f"192.0.2.{number}", "") is None
        for number in range(ATTEMPTS_OF_ALL):
            with pytest.raises(TooManyAttempts):
                bench.people.redeem("x" * 20, f"192.0.2.{number}", "")
        assert bench.people.redeem(bench.people.invite("ann", "play", 1), "198.51.100.7", "")
    assert "too many were tried" in caplog.text
    assert code.replace("-", "") not in caplog.text.replace("-", "")
    assert code not in str(list(tmp_path.rglob("*")))


async def test_no_secret_is_in_the_record(tmp_path: Path) -> None:
    async with protected(tmp_path) as bench:
        browser, app = await signed_in(bench), await bench.app(token_endpoint_auth_method="client_secret_post")
        invitation = bench.people.invite("bob", "play", 1)
        code = await app.code(browser)
        tokens = (await app.exchange(code)).json()
        assert app.secret
        secrets = [invitation.replace("-", ""), code, app.secret, tokens["access_token"], tokens["refresh_token"]]
        secrets += browser.cookies.values()
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert app.id.encode() in written
    assert not [secret for secret in secrets if secret.encode() in written]


@attack
@pytest.mark.parametrize("method", ["client_secret_post", "client_secret_basic"])
async def test_a_client_with_a_secret_proves_that_it_has_it(method: str, tmp_path: Path) -> None:
    async with protected(tmp_path) as bench:
        browser, app = await signed_in(bench), await bench.app(token_endpoint_auth_method=method)
        form = {"grant_type": "authorization_code", "redirect_uri": app.redirect, "code_verifier": app.verifier}

        async def ask(secret: str | None, way: str) -> int:
            sent = {**form, "code": await app.code(browser), "client_id": app.id}
            if way == "client_secret_post" and secret is not None:
                sent["client_secret"] = secret
            auth = (app.id, secret or "") if way == "client_secret_basic" else None
            return (await bench.client.post("/auth/token", data=sent, auth=auth)).status_code  # type: ignore[arg-type]

        other = {"client_secret_post": "client_secret_basic", "client_secret_basic": "client_secret_post"}[method]
        assert await ask(None, "client_secret_post") == 401
        assert await ask("x" * 43, method) == 401
        assert await ask(app.secret, other) == 401
        assert await ask(app.secret, method) == 200


async def test_what_is_refused_does_not_fill_the_disk(caplog: Any) -> None:
    now = [0.0]
    refusals = Refusals(lambda: now[0])
    for number in range(MOST_LINES + 50):
        refusals.say("a thing by %r", f"line\nbreak {number}{'x' * 1000}")
    assert len(caplog.records) == MOST_LINES
    assert max(len(record.getMessage()) for record in caplog.records) < 200
    assert "line\n" not in caplog.text
    now[0] = 61.0
    refusals.say("a thing")
    assert "50 more refusals were not logged" in caplog.text
    assert caplog.records[-1].levelno == logging.WARNING


async def test_revoking_ends_both_kinds_for_every_kind_of_client(tmp_path: Path) -> None:
    async with protected(tmp_path) as bench:
        browser = await signed_in(bench)
        for which in ("access_token", "refresh_token"):
            app, thief = await bench.app(), await bench.app()
            tokens = await app.tokens(browser)
            await thief.send("/auth/revoke", {"token": tokens[which], "client_id": thief.id})
            assert (await bench.play(tokens["access_token"])).status_code == 200
            done = await app.send("/auth/revoke", {"token": tokens[which], "client_id": app.id})
            assert done.status_code == 200
            assert (await bench.play(tokens["access_token"])).status_code == 401
            assert (await app.refresh(tokens["refresh_token"])).status_code == 400
        assert (await app.send("/auth/revoke", {"token": "none", "client_id": app.id})).status_code == 200


async def test_ending_a_person_holds_from_the_next_request_on(tmp_path: Path) -> None:
    async with protected(tmp_path) as bench:
        browser, app = await signed_in(bench), await bench.app()
        tokens, unused = await app.tokens(browser), bench.people.invite("ann", "play", 1)
        bench.people.end("ann")
        assert (await bench.play(tokens["access_token"])).status_code == 401
        assert (await app.refresh(tokens["refresh_token"])).status_code == 400
        assert 'name="code"' in (await browser.get("/auth/")).text
        assert (await browser.sign_in(unused)).status_code == 403


async def test_people_see_and_end_what_is_theirs_alone(tmp_path: Path) -> None:
    async with protected(tmp_path) as bench:
        ann, eve = await signed_in(bench), await signed_in(bench, "eve")
        app: App = await bench.app()
        tokens = await app.tokens(ann)
        page = (await ann.get("/auth/")).text
        found = re.search(r'name="app" value="(\w+)"', page)
        assert found
        assert "<strong>Chat</strong>" in page
        assert found[1] not in (await eve.get("/auth/")).text
        await eve.post("/auth/end", {"app": found[1]})
        assert (await bench.play(tokens["access_token"])).status_code == 200
        await ann.post("/auth/end", {"app": found[1]})
        assert (await bench.play(tokens["access_token"])).status_code == 401
        # A device that was lost is signed out from another one.
        lost = await signed_in(bench)
        named = re.findall(r'name="device" value="(\w+)"', (await ann.get("/auth/")).text)
        assert (len(named), "(this one)" in page) == (1, True)
        await eve.post("/auth/end", {"device": named[0]})
        assert "Signed in as ann" in (await lost.get("/auth/")).text
        await ann.post("/auth/end", {"device": named[0]})
        assert 'name="code"' in (await lost.get("/auth/")).text
        await ann.post("/auth/sign-out", {})
        assert 'name="code"' in (await ann.get("/auth/")).text
