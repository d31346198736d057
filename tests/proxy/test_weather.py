"""Rough weather: what it takes, from whom, and that it depends on nothing but the calls."""

import json
import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import anyio
import pytest

from m3bench.proxy.protocol.tool_calls import ToolAnswer
from m3bench.proxy.weather import ERROR_META, RunWeather, WeatherPlan, canonical, kind_of, roughness, weather_of
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.errors import SandboxError
from m3bench.tasks.fault import void_run, voids
from tests.proxy.house import House, refused

Sent = tuple[str, dict[str, Any]]

TOOLS = [tool.exposed for tool in load_catalog().by_name["math"].tools]


async def no_time(seconds: float) -> None:
    """Time stands still."""


def rough(seed: str) -> House:
    """A house in rough weather."""
    house = House()
    house.run.weather = RunWeather(WeatherPlan(seed), no_time)
    return house


def seed_where(kind: str, tool: str = "math/sum", arguments: dict[str, Any] | None = None) -> str:
    """A seed under which a call meets something of this kind."""
    written = canonical(arguments or {"numbers": [1]})
    for number in range(1000):
        forecast = WeatherPlan(str(number))
        met = forecast.meets(tool, written, 1)
        if kind == "replaced" and forecast.replaces(tool) and met is None:
            return forecast.seed
        if met is not None and met.kind == kind and not forecast.replaces(tool):
            return forecast.seed
    raise AssertionError(kind)


def said(answer: ToolAnswer) -> dict[str, Any]:
    """What an answer tells programs of its fault."""
    found: dict[str, Any] = json.loads(answer.result)["_meta"][ERROR_META]
    return found


def test_fair_weather_is_none_at_all() -> None:
    assert weather_of("fair", "movies-1") is None


def test_it_is_as_rough_as_the_table_says() -> None:
    table, forecasts = roughness(), [WeatherPlan(str(number)) for number in range(2000)]
    kinds = Counter(met.kind if (met := one.meets("math/sum", "{}", 1)) is not None else "" for one in forecasts)
    left = 1 - table.servers.away
    for kind, share in (
        ("away", table.servers.away), ("error", left * table.calls.error), ("limit", left * table.calls.limit),
        ("slow", left * table.calls.slow),
    ):  # fmt: skip
        assert kinds[kind] / 2000 == pytest.approx(share, abs=0.03)
    assert sum(one.replaces("math/sum") for one in forecasts) / 2000 == pytest.approx(table.tools.replaced, abs=0.03)


def test_every_fault_ends_after_few_attempts() -> None:
    most = max(roughness().calls.tries, roughness().servers.attempts)
    for number in range(500):
        assert WeatherPlan(str(number)).meets("math/sum", "{}", most + 1) is None


def test_arguments_are_the_same_in_any_order_and_other_ones_have_other_weather() -> None:
    assert canonical({"a": 1, "b": [2]}) == canonical({"b": [2], "a": 1})
    forecast = WeatherPlan("7")
    met = [forecast.meets("math/sum", canonical({"numbers": [number]}), 1) for number in range(100)]
    assert len({one and one.kind for one in met}) > 1
    assert met == [WeatherPlan("7").meets("math/sum", canonical({"numbers": [number]}), 1) for number in range(100)]


async def _outcomes(seed: str, calls: Sequence[Sent], *, together: bool) -> Counter[str]:
    """How often each call was answered with what."""
    house, found = rough(seed), Counter[str]()

    async def one(name: str, arguments: dict[str, Any]) -> None:
        answer = await house.call(name, arguments)
        found[f"{name} {canonical(arguments)} {answer.outcome} {answer.owner} {answer.result!r}"] += 1

    async with anyio.create_task_group() as tasks:
        for name, arguments in calls:
            if together:
                tasks.start_soon(one, name, arguments)
            else:
                await one(name, arguments)
    return found


@pytest.mark.anyio
async def test_calls_of_a_turn_meet_the_same_in_any_order() -> None:
    calls: list[Sent] = [(name, {"numbers": [number]}) for name in TOOLS for number in range(4)] * 2
    usual = await _outcomes("3", calls, together=False)
    assert len({line.split()[2] for line in usual}) > 1
    for order in range(3):
        shuffled = random.Random(order).sample(calls, len(calls))
        assert await _outcomes("3", shuffled, together=bool(order)) == usual


@pytest.mark.anyio
@pytest.mark.parametrize("kind", ["error", "limit", "away"])
async def test_a_fault_is_the_weathers_reaches_no_tool_and_passes(kind: str) -> None:
    house = rough(seed_where(kind))
    answers = [await house.call("math__sum", {"numbers": [1]}) for _ in range(4)]
    first = answers[0]
    assert (first.outcome, first.owner) == ("failed", "weather")
    assert said(first)["kind"] == kind
    lost = sum(answer.owner == "weather" for answer in answers)
    assert len(house.run.calls) == 4 - lost
    assert answers[-1].outcome == "success"
    assert "nothing was done" in refused(first)


@pytest.mark.anyio
async def test_a_rate_limit_says_how_long_to_wait_in_words_and_for_programs() -> None:
    answer = await rough(seed_where("limit")).call("math__sum", {"numbers": [1]})
    seconds = said(answer)["retry_after"]
    assert seconds in roughness().seconds.wait
    assert f"Wait {seconds:g} second" in refused(answer)


@pytest.mark.anyio
async def test_a_slow_answer_is_what_it_always_is_and_bounded() -> None:
    waited: list[float] = []

    async def noted(seconds: float) -> None:
        waited.append(seconds)

    house = House()
    house.run.weather = RunWeather(WeatherPlan(seed_where("slow")), noted)
    slow = await house.call("math__sum", {"numbers": [1]})
    assert (slow.outcome, slow.owner) == ("success", "agent")
    low, high = roughness().seconds.slow
    assert low <= waited.pop() <= high


@pytest.mark.anyio
async def test_a_replaced_tool_is_listed_by_its_new_name_and_the_old_one_says_so_once() -> None:
    house = rough(seed_where("replaced"))
    house.seat.listing = house.router.shown(house.seat, house.seat.listing)
    names = [entry["name"] for entry in house.seat.listing]
    assert "math__sum_v2" in names
    assert "math__sum" not in names
    old = await house.call("math__sum", {"numbers": [1]})
    assert (old.owner, said(old)["kind"]) == ("weather", "replaced")
    assert "math__sum_v2 has taken its place" in refused(old)
    again = await house.call("math__sum", {"numbers": [1]})
    assert (again.outcome, again.owner) == ("unknown_tool", "agent")
    assert (await house.call("mcp__m3bench__math__sum_v2", {"numbers": [1]})).outcome == "success"
    assert house.run.calls == [("math/sum", b'{"numbers":[1]}')]
    assert {tool for _, _, tool in house.record.requests} == {"math/sum"}


@pytest.mark.anyio
async def test_third_party_tools_have_weather_too_and_our_own_none() -> None:
    house = rough(seed_where("error", "far/tool", {"where": "x"}))
    assert (await house.call("far__tool", {"where": "x"})).owner == "weather"
    calm = [await house.call("start_task", {"n": number}) for number in range(60)]
    assert {answer.outcome for answer in calm} == {"success"}


@pytest.mark.anyio
async def test_what_the_weather_takes_does_not_count_against_the_limits_of_the_run() -> None:
    house = rough(seed_where("error"))
    house.run.stop = "This run has made its 3 calls: submit what you have."
    assert (await house.call("math__sum", {"numbers": [1]})).owner == "weather"


@pytest.mark.anyio
async def test_a_real_fault_in_the_same_run_is_charged_as_ever() -> None:
    house = rough(seed_where("error"))
    house.run.reply = SandboxError("The host died.")
    answers = [await house.call("math__sum", {"numbers": [1]}) for _ in range(4)]
    assert [answer.owner for answer in answers][0::3] == ["weather", "sandbox"]
    assert not voids("weather")
    assert void_run([("weather", "rain")]) is None
    found = void_run([("weather", "rain"), ("sandbox", "The host died.")])
    assert found is not None
    assert (found.fault, found.calls) == ("sandbox", 1)


def test_what_a_result_does_not_say_is_no_fault() -> None:
    for meta in (None, {}, {ERROR_META: "error"}, {ERROR_META: {"kind": "hail"}}):
        assert kind_of(meta) is None
