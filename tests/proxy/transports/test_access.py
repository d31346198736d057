"""Who may come in over HTTP."""

import pytest

from m3bench.proxy.transports.access import Access, bears, check_token
from m3bench.tasks.errors import UserError
from tests.proxy.house import House
from tests.proxy.web import serving

HERE, ALL, NAMED = Access(host="127.0.0.1"), Access(host="0.0.0.0"), Access(host="192.0.2.7")
LET_IN = Access(
    host="0.0.0.0", allow_hosts=("bench.example", "other.example:99"), allow_origins=("https://page.example/",)
)
TOKEN = "0123456789abcdef"


@pytest.mark.parametrize(
    ("access", "host", "taken"),
    [
        (HERE, "127.0.0.1:8000", True),
        (HERE, "localhost", True),
        (HERE, "LOCALHOST:1", True),
        (HERE, "[::1]:8000", True),
        (HERE, "evil.example", False),
        (HERE, "127.0.0.1.evil.example", False),
        (HERE, "", False),
        (HERE, "[", False),
        (HERE, "localhost/metrics?", False),
        (HERE, "evil.example@localhost", False),
        (HERE, "localhost:x", False),
        (LET_IN, "bench.example#", False),
        (LET_IN, "bench.example\\@evil.example", False),
        (ALL, "localhost:8000", True),
        (ALL, "evil.example", False),
        (ALL, "192.0.2.7:8000", False),
        (NAMED, "192.0.2.7:8000", True),
        (LET_IN, "bench.example:8000", True),
        (LET_IN, "Bench.Example", True),
        (LET_IN, "other.example:99", True),
        (LET_IN, "other.example:98", False),
        (Access(host="0.0.0.0", allow_hosts=("*",)), "anything.example", True),
    ],
)
def test_a_request_comes_under_a_name_that_was_allowed(access: Access, host: str, taken: bool) -> None:
    assert access.takes_host(host) is taken


@pytest.mark.parametrize(
    ("access", "origin", "taken"),
    [
        (HERE, None, True),
        (HERE, "http://localhost:5173", True),
        (HERE, "https://evil.example", False),
        (HERE, "null", False),
        (HERE, "http://[", False),
        (LET_IN, "http://localhost:5173", False),
        (LET_IN, "https://page.example", True),
        (LET_IN, "http://page.example", False),
        (LET_IN, "http://bench.example:8000", True),
        (Access(host="0.0.0.0", allow_origins=("*",)), "https://evil.example", True),
    ],
)
def test_pages_of_other_sites_are_kept_out(access: Access, origin: str | None, taken: bool) -> None:
    assert access.takes_origin(origin, "bench.example:8000") is taken


@pytest.mark.parametrize(
    ("given", "good"),
    [
        (f"Bearer {TOKEN}", True),
        (f"bearer {TOKEN}", True),
        (f"BEARER  {TOKEN} ", True),
        (f"Basic {TOKEN}", False),
        (TOKEN, False),
        ("Bearer wrong", False),
        ("", False),
    ],
)
def test_the_token_is_what_counts_and_not_how_the_scheme_is_spelt(given: str, good: bool) -> None:
    assert bears(given.encode(), TOKEN) is good


def test_a_token_that_can_be_guessed_is_refused() -> None:
    check_token(TOKEN, "The token")
    check_token(None, "The token")
    with pytest.raises(UserError, match="The token has 15 characters"):
        check_token(TOKEN[1:], "The token")
    with pytest.raises(UserError, match="empty"):
        check_token("", "The token")


@pytest.mark.anyio
async def test_names_and_token_are_checked_on_every_path() -> None:
    async with serving(House(), host="bench.example", token=TOKEN) as web:
        for path in ("/health", "/mcp", "/nothing"):
            assert (await web.get(path, host="evil.example")).status_code == 421
            foreign = await web.get(path, origin="https://evil.example")
            assert foreign.status_code == 403
            assert "--allow-origin" in foreign.json()["error"]["message"]
        assert (await web.get("/mcp")).status_code == 401
        assert (await web.get("/health")).status_code == 200
