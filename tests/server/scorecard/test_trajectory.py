"""Calls on both sides of a restart are read as if there had been none."""

import json
from typing import Any

from m3bench.proxy.protocol.tool_calls import CUT_OFF
from m3bench.server.scorecard.trajectory import played_run, without_repetitions
from m3bench.server.store.records import CallRecord
from m3bench.tasks.trajectory import JSON

MS = 1_000_000


def call(id: int, at: int, number: int, *, cut_off: bool = False, taken: bool = False, took: int = 5) -> CallRecord:
    """A call `math/add` of a number, received `at` milliseconds after the machine started."""
    params = {"name": "math__add", "arguments": {"firstNumber": number, "secondNumber": number}}
    answer: dict[str, Any] = {"outcome": "success", "owner": "agent", "result": b"{}", "error": None}
    if cut_off:
        answer = {"outcome": "failed", "owner": "proxy", "result": None, "error": CUT_OFF}
    if taken:
        answer = {"outcome": "failed", "owner": "weather", "result": b"{}", "error": None}
    end = 0 if cut_off else (at + took) * MS
    return CallRecord(
        id=id, run="run", seat="seat", tool="math/add", request_id=str(id), revision="", client="", wall="",
        request=json.dumps({"params": params}).encode(), received_ns=at * MS, full=None, forwarded_ns=end,
        returned_ns=end, sent_ns=end or None, **answer,
    )  # fmt: skip


def steps(*calls: CallRecord) -> list[list[JSON]]:
    """The numbers that were added, by step."""
    return [[one.arguments["firstNumber"] for one in step.calls] for step in played_run(calls).trajectory.steps]


def test_a_call_made_again_stands_where_the_lost_one_stood() -> None:
    together = [call(1, 1000, 10), call(2, 1001, 20), call(4, 9000, 30)]
    assert steps(*together) == [[10, 20], [30]]
    lost = [call(1, 1000, 10), call(2, 1001, 20, cut_off=True), call(3, 5000, 20), call(4, 9000, 30)]
    assert steps(*lost) == [[10, 20], [30]]
    assert played_run(lost).excluded == ()


def test_a_call_lost_twice_is_made_good_once_and_another_one_not_at_all() -> None:
    twice = [call(1, 1000, 10, cut_off=True), call(2, 3000, 10, cut_off=True), call(3, 5000, 10), call(4, 7000, 10)]
    assert [one.id for one in without_repetitions(twice)] == [1, 3, 4]
    other = [call(1, 1000, 10, cut_off=True), call(2, 3000, 11)]
    assert without_repetitions(other) == other


def test_a_call_that_the_weather_took_counts_once_and_the_wait_for_it_is_no_pause() -> None:
    fair = [call(1, 1000, 10), call(2, 1001, 20), call(3, 1007, 30), call(4, 1013, 40)]
    met = [
        call(1, 1000, 10, taken=True), call(2, 1001, 20), call(3, 3000, 10, taken=True), call(4, 6000, 10),
        call(5, 6006, 30), call(6, 6012, 40),
    ]  # fmt: skip
    assert steps(*met) == steps(*fair)
    times = [one.received_ns // MS for one in without_repetitions(met)]
    assert times == [1000, 1001, 1007, 1013]
    assert [one.id for one in played_run(met).excluded] == [1, 3]


def test_a_call_that_the_weather_took_and_nobody_made_again_is_left_out() -> None:
    given_up = [call(1, 1000, 10, taken=True), call(2, 1010, 20), call(3, 1011, 10, taken=True)]
    assert steps(*given_up) == [[20]]
    assert [one.id for one in played_run(given_up).excluded] == [1, 3]
    lost = [call(1, 1000, 10, taken=True), call(2, 2000, 10, cut_off=True)]
    assert [one.id for one in played_run(lost).excluded] == [1, 2]


def test_a_call_made_beside_the_one_that_the_weather_took_does_not_make_it_again() -> None:
    beside = [call(1, 1000, 10, taken=True), call(2, 1001, 10), call(3, 3000, 10), call(4, 3010, 30)]
    assert steps(*beside) == [[10, 10], [30]]


def test_a_machine_that_was_started_anew_does_not_make_calls_overlap() -> None:
    reboot = [call(1, 100_000, 10), call(2, 100_020, 20), call(3, 3_000, 30), call(4, 3_001, 40)]
    assert steps(*reboot) == [[10], [20], [30, 40]]


def test_calls_numbered_in_another_order_than_they_came_in_are_left_alone() -> None:
    mixed = [call(1, 1002, 10), call(2, 1000, 20)]
    assert without_repetitions(mixed) == mixed
