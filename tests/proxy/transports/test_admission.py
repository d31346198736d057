"""Nobody can hold so much of the server that others are turned away."""

import anyio
import anyio.lowlevel
import httpx2
import pytest
from starlette.types import Receive, Scope, Send

from m3bench.proxy.transports import handle_seats, http
from m3bench.proxy.transports.admission import IDENTITY, Admission, Identities, Pace, Share, of_address
from m3bench.proxy.transports.handle_seats import HandleSeats
from m3bench.server.runs.event import token_hash
from m3bench.tasks.errors import UserError
from tests.proxy.house import House
from tests.proxy.web import Web, serving

pytestmark = pytest.mark.anyio

GUESTS = {token_hash(f"token of {number}"): f"seat-of-participant-{number:02}" for number in range(33)}


def bearer(number: int) -> dict[str, str]:
    return {"authorization": f"Bearer token of {number}"}


def test_whoever_brings_a_token_is_its_owner_and_everybody_else_their_address() -> None:
    identities = Identities(GUESTS)
    headers = [(b"authorization", b"bearer token of 1")]
    assert (
        identities.of(headers, ("10.0.0.1", 1))
        == identities.of(headers, ("10.0.0.2", 1))
        == "guest seat-of-participant-01"
    )
    for other in ([], [(b"authorization", b"Bearer nobody's")]):
        assert identities.of(other, ("10.0.0.1", 1)) == "address 10.0.0.1"
    assert Identities({}).of(headers, ("10.0.0.1", 2)) == "address 10.0.0.1"
    assert of_address(("2001:db8::1", 1)) == of_address(("2001:db8::ffff:1", 1)) != of_address(("2001:db9::1", 1))
    assert of_address(("::ffff:10.0.0.1", 1)) == of_address(("10.0.0.1", 1))
    assert of_address(None) == of_address(("", 0))


def test_one_may_hold_as_much_as_they_leave_free() -> None:
    share = Share(100, known=True)
    while share.admits("hog"):
        share.take("hog")
    assert share.held["hog"] == 50
    for name in map(str, range(31)):
        assert share.admits(name)
        share.take(name)
    share.give_back("hog", 50)
    assert (share.total, "hog" in share.held) == (31, False)
    alone = Share(100, known=False)
    while alone.admits("address"):
        alone.take("address")
    assert alone.held["address"] == 87
    assert not alone.admits("other", 14)


def test_whoever_uses_far_more_than_others_waits_when_the_processor_is_short() -> None:
    now = 0.0
    pace = Pace(lambda: now)
    pace.use("hog", 0.4)
    assert pace.wait("hog") == 0, "there is enough for all"
    pace.use("hog", 0.5)
    assert pace.wait("hog") == 0, "nobody else wants any"
    for name in map(str, range(31)):
        pace.use(name, 0.005)
    assert pace.wait("hog") == 1
    assert pace.wait("1") == pace.wait("new") == 0
    now = 3.0
    assert pace.wait("hog") == 0


async def test_requests_under_way_have_a_share_and_health_is_answered_all_the_same() -> None:
    release = anyio.Event()
    seen: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope.get(IDENTITY, ""))
        if scope["path"] != "/health" and scope["path"] != "/quick":
            await release.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    transport = httpx2.ASGITransport(Admission(app, Identities(GUESTS), 8))
    refused: list[httpx2.Response] = []
    async with httpx2.AsyncClient(transport=transport, base_url="http://x") as client:

        async def ask() -> None:
            answer = await client.get("/", headers=bearer(0))
            if answer.status_code != 200:
                refused.append(answer)

        with anyio.fail_after(20):
            async with anyio.create_task_group() as tasks:
                for _ in range(20):
                    tasks.start_soon(ask)
                await anyio.wait_all_tasks_blocked()
                assert {answer.status_code for answer in refused} == {429}
                assert {answer.headers["retry-after"] for answer in refused} == {"1"}
                for number in range(1, 32):
                    assert (await client.get("/quick", headers=bearer(number))).status_code == 200
                assert (await client.get("/health")).status_code == 200
                release.set()
    assert len(refused) == 16
    assert seen.count("guest seat-of-participant-00") == 4


async def test_idle_sessions_of_one_keep_no_start_of_others_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "MAX_SESSIONS", 24)
    house = House()
    async with serving(house, guests=GUESTS) as web:

        async def opened(number: int) -> Web:
            one = Web(web.client, "/mcp")
            await one.open(headers=bearer(number))
            return one

        hog = [await opened(0) for _ in range(15)]
        others: list[Web] = []

        async def join(number: int) -> None:
            others.append(await opened(number))

        async with anyio.create_task_group() as tasks:
            for number in range(1, 11):
                tasks.start_soon(join, number)
        assert len(others) == 10
        # What others hold is not taken away for more of the same.
        for _ in range(5):
            await opened(0)
        for one in others:
            assert (await one.post({"id": 1, "method": "ping"})).status_code == 200
        assert (await hog[0].post({"id": 1, "method": "ping"})).status_code == 404


@pytest.mark.slow
async def test_120_of_120_starts_of_30_teams_get_through_beside_300_idle_sessions_of_one() -> None:
    async with serving(House(), guests=GUESTS) as web:
        for _ in range(300):
            await Web(web.client, "/mcp").open(headers=bearer(0))
        started = 0

        async def start(number: int) -> None:
            nonlocal started
            one = Web(web.client, "/mcp")
            await one.open(headers=bearer(number))
            answer = await one.call(1, "start_task", {})
            assert answer.status_code == 200, answer.text
            started += 1

        async with anyio.create_task_group() as tasks:
            for number in range(120):
                tasks.start_soon(start, 1 + number % 30)
        assert started == 120


async def test_sessions_that_come_at_once_do_not_count_on_the_same_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "MAX_SESSIONS", 12)
    house = House()
    house.run = None  # type: ignore[assignment]
    async with serving(house) as web:
        for _ in range(12):
            await Web(web.client, "/mcp").open()
        async with anyio.create_task_group() as tasks:
            for _ in range(10):
                tasks.start_soon(Web(web.client, "/mcp").open)


async def test_handles_of_one_address_with_runs_leave_some_for_others() -> None:
    house = House()
    handles = HandleSeats(house.open_handle, house.close_seat, idle_seconds=100, most=16)
    assert handle_seats.RESERVED == 8
    for number in range(14):
        await handles.seat(f"hog {number}", None, "hog")
    with pytest.raises(UserError, match="All 14 seats"):
        await handles.seat("one more", None, "hog")
    for name in ("ann", "bob"):
        await handles.seat(name, None, name)
    with pytest.raises(UserError, match="All 16 seats"):
        await handles.seat("cy", None, "cy")
