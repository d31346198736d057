"""Seats that handles name: opened when asked for, freed when nobody uses them."""

import pytest

from m3bench.proxy.seat import Seat
from m3bench.proxy.transports.handle_seats import HandleSeats
from m3bench.tasks.errors import UserError
from tests.proxy.house import House

pytestmark = pytest.mark.anyio


class Clock:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        monkeypatch.setattr("m3bench.proxy.transports.handle_seats.time.monotonic", lambda: self.now)


def opened(house: House, most: int = 3) -> HandleSeats:
    house.run = None  # type: ignore[assignment]
    return HandleSeats(house.open_handle, house.close_seat, idle_seconds=100, most=most)


async def test_a_handle_has_one_seat_as_long_as_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, house = Clock(monkeypatch), House()
    handles = opened(house)
    first = await handles.seat("a", "mini")
    assert first.profile == "mini"
    clock.now = 90
    assert await handles.seat("a", None) is first
    clock.now = 180
    await handles.free_idle()
    assert len(handles) == 1
    clock.now = 191
    with handles.in_use("a"):
        clock.now = 500
        await handles.free_idle()
        assert len(handles) == 1
    clock.now = 601
    await handles.free_idle()
    assert (len(handles), house.closed) == (0, ["a"])
    assert await handles.seat("a", None) is not first


async def test_when_there_are_too_many_the_one_unused_for_longest_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, house = Clock(monkeypatch), House()
    handles = opened(house)
    for clock.now, handle in enumerate("abcad"):
        await handles.seat(handle, None)
    assert house.closed == ["b"]


async def test_seats_with_a_run_are_spared_and_when_all_have_one_there_is_no_room() -> None:
    house = House()
    run = house.run
    handles = opened(house, most=2)
    kept = [await handles.seat(handle, None) for handle in "ab"]
    kept[0].run = run
    await handles.seat("c", None)
    assert house.closed == ["b"]
    (await handles.seat("c", None)).run = run
    with pytest.raises(UserError, match="All 2 seats have a run under way"):
        await handles.seat("d", None)


async def test_a_seat_that_cannot_be_closed_is_gone_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, house = Clock(monkeypatch), House()

    async def fail(seat: Seat) -> None:
        raise OSError("The disk is full")

    handles = HandleSeats(house.open_handle, fail, idle_seconds=1)
    await handles.seat("a", None)
    with handles.in_use("unknown"):
        clock.now = 10
    await handles.free_idle()
    assert len(handles) == 0
