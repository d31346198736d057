"""News reach watchers whole and in order; who is slow gets a fresh picture, and who does not look costs nothing."""

import json
from dataclasses import replace
from typing import Any

import anyio
import pytest

from m3bench.proxy.protocol.tool_calls import Caller, ToolAnswer, ToolRequest
from m3bench.server.lab.live import events
from m3bench.server.lab.live.events import Broker, Watcher
from m3bench.server.lab.live.rows import (
    CallNews,
    LiveCall,
    LiveNews,
    LiveRun,
    LiveSeat,
    LiveState,
    RunNews,
    SeatsNews,
)
from m3bench.server.lab.live.watching import LiveView, server_messages
from tests.server.lab.live.conftest import Watched
from tests.server.lab.live.players import player
from tests.server.lab.reports.forge import MARKUP, ODD
from tests.waiting import eventually

pytestmark = pytest.mark.anyio

NOTHING = LiveState(version="1", at="now", mode="practice", details=True, seats=(), runs=(), calls=(), standings=())
RUN = LiveRun(
    run="r", seat="s", client="", task="t-1", state="working", mode="practice", profile=None, started="now", ended=None,
    calls=0, failed=0, average=None, success=None, void="", hidden=False,
)  # fmt: skip
CALL = LiveCall(
    call="1", run="r", seat="s", client="client 1", tool="math/add", arguments="", wall="now", outcome="not_found",
    owner="agent", took_ns=1,
)  # fmt: skip


class CountingSource:
    """A source that counts how often it is asked."""

    details = True

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def state(self) -> tuple[LiveState, dict[int, int]]:
        self.asked.append("state")
        return NOTHING, {}

    async def runs(self, names: list[str]) -> list[LiveNews]:
        self.asked.append("runs")
        return [RunNews(row=replace(RUN, run=name)) for name in names]

    def seats(self) -> SeatsNews:
        self.asked.append("seats")
        return SeatsNews(seats=())


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """News are sent at once."""
    monkeypatch.setattr(events, "TICK_SECONDS", 0.0)


def request(number: int, arguments: object = None) -> ToolRequest:
    caller = Caller(seat="seat", revision="2025-11-25", client="client 1")
    moment = number * 1000
    return ToolRequest(
        caller=caller, id=number, raw=b"{}", name="math__add", arguments=arguments, received_ns=moment, wall="now"
    )


def parsed(text: bytes | None) -> list[tuple[str, Any]]:
    assert text is not None
    blocks = [block.split("\n") for block in text.decode().strip().split("\n\n")]
    return [(event.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for event, data in blocks]


async def following(watcher: Watcher) -> list[tuple[str, Any]]:
    with anyio.fail_after(60):
        return parsed(await watcher.next())


async def test_nothing_is_computed_while_nobody_watches() -> None:
    source = CountingSource()
    broker = Broker(source)
    broker.received(1, request(1, {"numbers": [1]}), "run", "math/add")
    broker.answered(1, ToolAnswer(outcome="success"))
    broker.run_changed("run")
    broker.seats_changed()
    assert source.asked == []
    with broker.watch() as watcher:
        assert await following(watcher) == [("state", NOTHING.to_json())]
    assert source.asked == ["state"]


async def test_a_call_is_told_when_it_arrives_and_when_it_is_answered() -> None:
    broker = Broker(CountingSource())
    with broker.watch() as watcher:
        await following(watcher)
        broker.received(255, request(255, {"numbers": [1]}), "run", "math/add")
        ((_, (begun,)),) = await following(watcher)
        assert (begun["call"], begun["new"], begun["outcome"]) == ("ff", True, None)
        assert (begun["tool"], begun["arguments"]) == ("math/add", "numbers [1]")
        broker.answered(255, ToolAnswer(outcome="not_found", returned_ns=256_000))
        ((_, (ended,)),) = await following(watcher)
        assert ended == {
            "type": "call", "new": False, "call": "ff", "outcome": "not_found", "owner": "agent", "took_ns": 1000,
        }  # fmt: skip


async def test_arguments_and_names_are_bounded_whatever_they_hold() -> None:
    broker = Broker(CountingSource())
    with broker.watch() as watcher:
        await following(watcher)
        arguments = {
            MARKUP * 100: ODD,
            "big": 10**400,
            "text": "x" * 5_000_000,
            "list": [[[[0]]]] * 9999,
            "nan": float("nan"),
        }
        broker.received(1, request(1, arguments), None, ODD * 1000)
        broker.received(2, request(2, "no object"), None, "math/add")
        with anyio.fail_after(60):
            message = await watcher.next()
    assert message is not None
    assert len(message) < 8000
    assert [len(call["arguments"]) > 0 for call in parsed(message)[0][1]] == [True, False]


async def test_watchers_share_messages_and_a_slow_one_gets_a_fresh_picture() -> None:
    source = CountingSource()
    broker = Broker(source)
    with broker.watch() as quick, broker.watch() as slow:
        await following(quick)
        await following(slow)
        for number in range(events.KEPT + 1):
            broker.received(number, request(number), None, "math/add")
            ((kind, _),) = await following(quick)
            assert kind == "news"
        assert [kind for kind, _ in await following(slow)] == ["state"]
        broker.run_changed("run")
        assert await following(quick) == await following(slow)
    assert source.asked == ["state", "state", "state", "seats", "runs"]


async def test_more_news_than_anybody_can_read_become_one_picture() -> None:
    broker = Broker(CountingSource())
    with broker.watch() as watcher:
        await following(watcher)
        for number in range(events.PENDING + 1):
            broker.received(number, request(number), None, "math/add")
        assert [kind for kind, _ in await following(watcher)] == ["state"]


async def test_a_server_that_ends_lets_its_watchers_go() -> None:
    broker = Broker(CountingSource())
    with broker.watch() as watcher:
        await following(watcher)
        broker.close()
        with anyio.fail_after(60):
            assert await watcher.next() is None


async def test_seats_and_runs_are_told_before_the_calls_that_belong_to_them() -> None:
    broker = Broker(CountingSource())
    with broker.watch() as watcher:
        await following(watcher)
        broker.received(1, request(1), "run", "math/add")
        broker.run_changed("run")
        ((_, news),) = await following(watcher)
    assert [one["type"] for one in news] == ["seats", "run", "call"]


def test_a_call_counts_once_whether_its_run_or_the_picture_came_first() -> None:
    seats = SeatsNews(seats=(LiveSeat(seat="s", profile="all", run="r", client=""),))
    view = LiveView()
    view.apply([seats, RunNews(row=RUN), CallNews(row=CALL)])
    view.apply([RunNews(row=RUN), CallNews(row=CALL)])
    assert (view.runs["r"].calls, view.runs["r"].failed, view.seats[0].client) == (1, 1, "client 1")


def test_news_put_together_are_the_state(fresh: Watched) -> None:
    stream = server_messages(fresh.url, None)
    view = LiveView()
    first = next(stream)
    assert isinstance(first, LiveState)
    view.adopt(first)
    with player(fresh.url) as one:
        one.play()
        one.play("survey-1")
        one.start("sum-1")
        wanted = fresh.state()

        def up_to_date() -> bool:
            news = next(stream)
            assert isinstance(news, list)
            view.apply(news)
            return _rows(view) == _rows_of(wanted)

        eventually(up_to_date, "the news add up to the state")


def _rows(view: LiveView) -> dict[str, Any]:
    return {
        "calls": [call.to_json() for call in view.calls.values()],
        "runs": {name: run.to_json() for name, run in view.runs.items()},
        "seats": [seat.to_json() for seat in view.seats],
        "standings": [line.to_json() for line in view.standings],
    }


def _rows_of(state: dict[str, Any]) -> dict[str, Any]:
    runs = {run["run"]: run for run in state["runs"]}
    return {"calls": state["calls"], "runs": runs, "seats": state["seats"], "standings": state["standings"]}
