"""A token runs out while a client sends several calls at a time: the record shows the turn as it was."""

from pathlib import Path
from typing import Any

import pytest

from m3bench.server.serving.auth.identity import Identity
from m3bench.server.serving.auth.resource import KNOWN_NS, MOST_EACH, MOST_TOKENS, WITHIN_NS, Renewals
from tests.proxy.house import SUM
from tests.proxy.web import HEADERS
from tests.server.serving.auth.bench import LIST, Bench, protected, signed_in

pytestmark = pytest.mark.anyio

ANN, BOB = (
    Identity(subject=name, issuer="https://id.example", client="c", scopes=frozenset()) for name in ("ann", "bob")
)


class Session:
    """A client's session, whose token runs out."""

    def __init__(self, bench: Bench, tokens: dict[str, Any]) -> None:
        self.bench = bench
        self.tokens = tokens
        self.session: dict[str, str] = {}

    async def open(self) -> None:
        opened = await self.bench.play(self.tokens["access_token"])
        self.session = {"mcp-session-id": opened.headers["mcp-session-id"], "mcp-protocol-version": "2025-11-25"}
        assert await self.post(LIST) == 200

    async def post(self, message: dict[str, Any]) -> int:
        given = {**HEADERS, **self.session, "authorization": f"Bearer {self.tokens['access_token']}"}
        return (await self.bench.client.post("/mcp", json=message, headers=given)).status_code

    async def call(self, id: int) -> int:
        return await self.post({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": SUM})


async def test_calls_that_came_together_are_together_though_they_come_again_one_by_one(tmp_path: Path) -> None:
    async with protected(tmp_path) as bench:
        browser, app = await signed_in(bench), await bench.app()
        client = Session(bench, await app.tokens(browser))
        await client.open()
        bench.clock.now += 901
        assert [await client.call(id) for id in (2, 3)] == [401, 401]
        client.tokens = (await app.refresh(client.tokens["refresh_token"])).json()
        assert [await client.call(id) for id in (2, 3, 4)] == [200, 200, 200]
        first, second, third = (request.received_ns for request, _, _ in bench.house.record.requests)
        answered = bench.house.record.left_ns
        assert first < second < answered[0]
        # One that was never refused came when it came.
        assert third > answered[1]


async def test_only_who_had_the_token_is_remembered_and_only_what_was_sent(tmp_path: Path) -> None:
    async with protected(tmp_path) as bench:
        browser, app = await signed_in(bench), await bench.app()
        client = Session(bench, await app.tokens(browser))
        await client.open()
        good = client.tokens
        client.tokens = {"access_token": "x" * 43}
        assert await client.call(2) == 401
        client.tokens = good
        assert await client.call(2) == 200
        assert await client.call(3) == 200
        bench.clock.now += 901
        assert await client.call(4) == 401
        client.tokens = (await app.refresh(good["refresh_token"])).json()
        # Another call than the one that was refused.
        assert await client.call(5) == 200
        times = [request.received_ns for request, _, _ in bench.house.record.requests]
        answered = bench.house.record.left_ns
        assert all(came > before for came, before in zip(times[1:], answered, strict=False))


async def test_what_is_remembered_has_an_end() -> None:
    now = [1]
    renewals = Renewals(lambda: now[0])

    async def refused(token: str, body: bytes, who: Identity = ANN) -> None:
        async def receive() -> Any:
            return {"type": "http.request", "body": body, "more_body": False}

        await renewals.refused(token, who, {"method": "POST", "headers": []}, receive)

    def came(body: bytes, who: Identity = ANN) -> int:
        return renewals.first_came(who, {"headers": []}, body)

    await refused("token", b"a")
    now[0] = 2
    assert came(b"a", BOB) == 0
    assert [came(b"a"), came(b"a")] == [1, 0]
    for number in range(MOST_EACH + 1):
        await refused("other", b"%d" % number)
    assert [bool(came(b"%d" % number)) for number in (0, MOST_EACH - 1, MOST_EACH)] == [True, True, False]
    # The token ran out some time ago: what comes with it now could be a guess.
    now[0] = 2 + WITHIN_NS
    await refused("token", b"b")
    assert came(b"b") == 0
    for number in range(MOST_TOKENS):
        await refused(f"token {number}", b"c", BOB)
    assert came(b"1") == 0
    assert came(b"c", BOB) == 2 + WITHIN_NS
    now[0] += KNOWN_NS + 1
    assert came(b"c", BOB) == 0
