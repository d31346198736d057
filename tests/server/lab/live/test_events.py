"""News reach watchers whole and in order; who is slow gets a fresh picture, and who does not look costs nothing."""

import json
from typing import Any

import anyio
import pytest

from m3bench.proxy.call import Answer, Caller, ToolRequest
from m3bench.server.lab.live import events
from m3bench.server.lab.live.board import Board
from m3bench.server.lab.live.events import Broker, Watcher
from m3bench.server.lab.live.stream import messages
from tests.server.lab.live.conftest import Watched
from tests.server.lab.live.players import player
from tests.server.lab.reports.forge import MARKUP, ODD
from tests.waiting import eventually

pytestmark = pytest.mark.anyio


class CountingSource:
    """A source that counts how often it is asked."""

    details = True

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def state(self) -> tuple[dict[str, Any], dict[int, int]]:
        self.asked.append("state")
        return {"kind": "live"}, {}

    async def runs(self, names: list[str]) -> list[dict[str, Any]]:
        self.asked.append("runs")
        return [{"type": "run", "run": name} for name in names]

    def seats(self) -> dict[str, Any]:
        self.asked.append("seats")
        return {"type": "seats", "seats": []}


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
    broker.answered(1, Answer(outcome="success"))
    broker.run_changed("run")
    broker.seats_changed()
    assert source.asked == []
    with broker.watch() as watcher:
        assert await following(watcher) == [("state", {"kind": "live"})]
    assert source.asked == ["state"]


async def test_a_call_is_told_when_it_arrives_and_when_it_is_answered() -> None:
    broker = Broker(CountingSource())
    with broker.watch() as watcher:
        await following(watcher)
        broker.received(255, request(255, {"numbers": [1]}), "run", "math/add")
        ((_, (begun,)),) = await following(watcher)
        assert (begun["call"], begun["new"], begun["outcome"]) == ("ff", True, None)
        assert (begun["tool"], begun["arguments"]) == ("math/add", "numbers [1]")
        broker.answered(255, Answer(outcome="not_found", returned_ns=256_000))
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
    caller = {"seat": "s", "client": "client 1", "run": "r"}
    call = {"type": "call", "new": True, "call": "1", "tool": "math/add", "outcome": "not_found", **caller}
    run = {"type": "run", "run": "r", "state": "working", "calls": 0, "failed": 0, "client": ""}
    seats = {"type": "seats", "seats": [{"seat": "s", "client": ""}]}
    board = Board()
    board.apply([seats, run, call])
    board.apply([run, call])
    assert (board.runs["r"]["calls"], board.runs["r"]["failed"], board.seats[0]["client"]) == (1, 1, "client 1")


def test_news_put_together_are_the_state(fresh: Watched) -> None:
    stream = messages(fresh.url, None)
    board = Board()
    kind, first = next(stream)
    assert kind == "state"
    board.adopt(first)
    with player(fresh.url) as one:
        one.play()
        one.play("survey-1")
        one.start("sum-1")
        wanted = fresh.state()

        def up_to_date() -> bool:
            kind, news = next(stream)
            assert kind == "news"
            board.apply(news)
            return _rows(board) == _rows_of(wanted)

        eventually(up_to_date, "the news add up to the state")


def _rows(board: Board) -> dict[str, Any]:
    calls = [_plain(call) for call in board.calls.values()]
    runs = {name: _plain(run) for name, run in board.runs.items()}
    return {"calls": calls, "runs": runs, "seats": board.seats, "standings": board.standings}


def _rows_of(state: dict[str, Any]) -> dict[str, Any]:
    runs = {run["run"]: run for run in state["runs"]}
    return {"calls": state["calls"], "runs": runs, "seats": state["seats"], "standings": state["standings"]}


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in ("type", "new")}
