"""Rough weather as clients meet it: the same over every transport, in a run alone, and put down where it belongs."""

import random
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from m3bench.proxy.weather import NEW, WeatherPlan, weather_of
from m3bench.server.app import App
from m3bench.server.runs.resuming import calls_used
from m3bench.server.settings import Settings
from m3bench.server.store.sqlite import SqliteStore
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.errors import UserError
from tests.server.conftest import over_http, over_stdio, serving
from tests.server.runs.seats import seated

pytestmark = pytest.mark.anyio

TASK = "sum-1"
MATH = [tool.qualified for tool in load_catalog().by_name["math"].tools]


def replacing(weather: str) -> WeatherPlan:
    """The forecast for the task's run."""
    met = weather_of(weather, TASK)
    assert met is not None
    return met.plan


SEED = next(seed for seed in (f"rough:{number}" for number in range(99)) if replacing(seed).replaces("math/sum"))
"""Under which `math/sum` has another name."""

CALLS = [(tool.replace("/", "__"), {"numbers": [number, 4]}) for tool in MATH for number in (1, 2)] * 2


def text(result: Any) -> str:
    return "\n".join(block.text for block in result.content if block.type == "text")


async def names(client: Client) -> set[str]:
    return {tool.name for tool in (await client.list_tools()).tools}


async def met(client: Client, calls: Sequence[tuple[str, dict[str, Any]]]) -> Counter[str]:
    """What each of some calls, sent together, was told."""
    told: Counter[str] = Counter()

    async def one(name: str, arguments: dict[str, Any]) -> None:
        try:
            said = text(await client.call_tool(name, arguments))
        except MCPError as error:
            said = str(error)
        told[f"{name} {arguments} {said}"] += 1

    async with anyio.create_task_group() as tasks:
        for name, arguments in calls:
            tasks.start_soon(one, name, arguments)
    return told


async def test_tools_have_new_names_in_a_run_alone_and_the_manifest_says_why(task_set: Path, tmp_path: Path) -> None:
    app = App(Settings.of(tasks=task_set, data=tmp_path, sandbox="inprocess", weather=SEED, max_calls=1))
    async with seated(app) as (seat, client):
        before = await names(client)
        await client.call_tool("start_task", {"task_id": TASK})
        during = await names(client)
        assert during - before == {f"{name}{NEW}" for name in before - during}
        assert f"math__sum{NEW}" in during
        told = text(await client.call_tool("math__sum", {"numbers": [1]}))
        assert told.startswith("There is no tool math__sum any more")
        run = seat.run
        assert run is not None
        calls = app.runs.tool_calls(run.id)
        assert [(call.tool, call.owner) for call in calls] == [("math/sum", "weather")]
        assert calls_used(calls) == 0
        record = app.store.run(run.id)
        assert record is not None
        assert record.manifest["weather"] == SEED
        await client.call_tool("submit", {"answer": "no", "fields": {}})
        await client.call_tool("submit", {"answer": "no", "fields": {}})
        assert await names(client) == before


async def test_fair_weather_is_not_spoken_of(task_set: Path, tmp_path: Path) -> None:
    app = App(Settings.of(tasks=task_set, data=tmp_path, sandbox="inprocess", weather="fair"))
    async with seated(app) as (seat, client):
        before = await names(client)
        await client.call_tool("start_task", {"task_id": TASK})
        assert await names(client) == before
        assert not app.front.changing
        run = seat.run
        assert run is not None
        assert run.weather is None
        record = app.store.run(run.id)
        assert record is not None
        assert "weather" not in record.manifest


def test_weather_has_two_names_and_a_number() -> None:
    assert Settings.of(weather="rough").weather == "rough:0"
    for given in ("stormy", "rough:", "rough:x", "fair:1"):
        with pytest.raises(UserError, match="--weather cannot be"):
            Settings.of(weather=given)


@pytest.mark.slow
async def test_the_same_calls_meet_the_same_over_every_transport_and_in_any_order(
    task_set: Path, tmp_path: Path
) -> None:
    found = []

    async def play(client: AbstractAsyncContextManager[Client], order: int) -> None:
        async with client as connected:
            await connected.call_tool("start_task", {"task_id": TASK})
            found.append(await met(connected, random.Random(order).sample(CALLS, len(CALLS))))

    options = ["--tasks", str(task_set), "--weather", SEED, "--data"]
    await play(over_stdio([*options, str(tmp_path / "stdio")], "legacy"), 1)
    with serving([*options, str(tmp_path / "http")]) as url:
        await play(over_http(f"{url}/mcp", "legacy"), 2)
        await play(over_http(f"{url}/mcp", "auto"), 3)
    assert found[0] == found[1] == found[2]
    taken = []
    for folder in ("stdio", "http"):
        store = SqliteStore(tmp_path / folder)
        taken += [[call.tool for call in store.calls(run.id) if call.owner == "weather"] for run in store.runs()]
        store.close()
    assert len(taken) == 3
    assert taken[0]
    assert sorted(taken[0]) == sorted(taken[1]) == sorted(taken[2])
