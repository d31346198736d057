"""A run on the seat of a handle goes on in the next process: same task, files, limits and calls."""

import json
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from m3bench.proxy.seat import Seat
from m3bench.proxy.transports.sdk_server import sdk_server
from m3bench.server.app import App
from m3bench.server.runs.resources import PICTURE
from m3bench.server.settings import Settings
from m3bench.server.store.sqlite import SqliteStore
from m3bench.server.store.takeover import WAIT_SECONDS, has_leftovers
from m3bench.tasks.errors import M3Error, RunError, UserError
from tests.proxy import far_server
from tests.server.runs.test_runs import NUMBERS, Playing
from tests.sets import write_set

pytestmark = pytest.mark.anyio

HANDLE = "h" * 32
ANSWER = "They differ by 2.5."


class House:
    """Processes on one data folder, one after the other or side by side."""

    def __init__(self, tasks: Path, data: Path) -> None:
        self.tasks, self.data = tasks, data

    @asynccontextmanager
    async def server(self, profile: str | None = None, **settings: Any) -> AsyncIterator[Playing]:
        """A process that serves the handle until the block ends, and is stopped then."""
        app = App(Settings.of(**{"tasks": self.tasks, "data": self.data, "sandbox": "inprocess", **settings}))
        with anyio.fail_after(60):
            async with app.lifespan():
                seat = await app.open_handle(HANDLE, profile)

                async def seat_of(context: object) -> Seat:
                    return seat

                async with Client(sdk_server(app.front, seat_of), mode="legacy") as client:
                    yield Playing(app, seat, client)

    async def refusal(self, kind: type[M3Error], profile: str | None = None) -> M3Error:
        """Why a process does not give the handle its seat."""
        app = App(Settings.of(tasks=self.tasks, data=self.data, sandbox="inprocess"))
        async with app.lifespan():
            with pytest.raises(kind) as found:
                await app.open_handle(HANDLE, profile)
        return found.value

    def workspaces(self) -> list[Path]:
        return sorted(self.data.glob("workspaces/*/run-*"))


@pytest.fixture
def house(task_set: Path, tmp_path: Path) -> House:
    return House(task_set, tmp_path / "data")


async def test_a_run_goes_on_in_the_next_process_and_the_one_after_it(house: House) -> None:
    async with house.server() as playing:
        opening = await playing.call("start_task", task_id="survey-1")
        run = opening.meta["m3bench/task"]["run"]
        assert await playing.told("math__median", numbers=NUMBERS) == "15.5"
        playing.app.runs.running(playing.seat).lease.put("notes/mine.txt", b"kept")
    async with house.server() as playing:
        assert "'survey-1' is still running" in await playing.refused("start_task", task_id="sum-1")
        assert "still running" in await playing.refused("score")
        assert (await playing.client.read_resource(PICTURE)).contents[0].mime_type == "image/png"
        assert await playing.told("math__mean", numbers=NUMBERS) == "18"
    async with house.server() as playing:
        assert await playing.told("math__subtract", minuend=18, subtrahend=15.5) == "2.5"
        assert "Submitted" in await playing.told("submit", answer=ANSWER, run=run)
        calls = playing.app.store.calls(run)
        assert [call.tool for call in calls if call.outcome == "success"][-4:] == [
            "math/median", "math/mean", "math/subtract", "submit",
        ]  # fmt: skip
        assert calls == sorted(calls, key=lambda call: call.received_ns), "in order, whichever process made them"
        card = (await playing.call("score")).meta["m3bench/card"]
        assert card["success"] is True
        assert card["excluded"] == {}
        assert (playing.app.workspace(playing.app.store.run(run)) / "notes" / "mine.txt").read_bytes() == b"kept"  # type: ignore[arg-type]
    assert house.workspaces() == []
    _look(house.data)
    assert not has_leftovers(house.data)


async def test_limits_count_on_and_are_those_that_the_client_was_told(house: House) -> None:
    async with house.server(max_calls=2) as playing:
        await playing.call("start_task", task_id="sum-1")
        assert "Unknown tool" in str(await _failure(playing, "math__summ"))
        assert await playing.told("math__sum", numbers=[1, 2]) == "3"
    async with house.server(max_calls=50) as playing:
        assert await playing.told("math__sum", numbers=NUMBERS) == "108"
        assert "has made its 2 calls" in await playing.refused("math__sum", numbers=[1])
        assert "Submitted" in await playing.told("submit", answer="108")


async def test_a_run_whose_time_ran_out_meanwhile_can_only_be_submitted(house: House) -> None:
    async with house.server(max_minutes=5) as playing:
        await playing.call("start_task", task_id="sum-1")
        assert await playing.told("math__sum", numbers=NUMBERS) == "108"
    _began(house.data, timedelta(minutes=6))
    async with house.server(max_minutes=60) as playing:
        assert "has used its 5 minutes: submit what you have" in await playing.refused("math__sum", numbers=[1])
        assert "Submitted" in await playing.told("submit", answer="108")
        assert (await playing.call("score")).meta["m3bench/card"]["success"] is True


async def test_the_profile_is_that_of_the_run_whatever_the_server_shows_now(house: House) -> None:
    async with house.server("retrieve") as playing:
        await playing.call("start_task", task_id="sum-1")
        listed = await playing.client.list_tools()
        assert "math__sum" in await playing.told("find_tools", query="sum of numbers")
    async with house.server(profile=None) as playing:
        assert await playing.client.list_tools() == listed
        assert await playing.told("call_tool", name="math__sum", arguments={"numbers": NUMBERS}) == "108"
        assert "math__sum" in await playing.told("find_tools", query="sum of numbers")


async def test_a_client_that_never_saw_its_task_is_shown_it_again(house: House) -> None:
    async with house.server() as playing:
        first = await playing.call("start_task", task_id="survey-1")
    async with house.server() as playing:
        assert (await playing.call("start_task")).content == first.content
        await playing.told("math__mean", numbers=NUMBERS)
        assert "still running" in await playing.refused("start_task")


async def test_a_server_that_died_while_an_answer_was_being_sealed_takes_the_answer_again(house: House) -> None:
    async with house.server() as playing:
        run = (await playing.call("start_task", task_id="sum-1")).meta["m3bench/task"]["run"]
        await playing.told("math__sum", numbers=NUMBERS)
    (workspace,) = house.workspaces()
    (house.data / "runs" / run).mkdir(parents=True)
    workspace.rename(house.data / "runs" / run / "workspace")
    async with house.server() as playing:
        assert await playing.told("math__sum", numbers=NUMBERS) == "108"
        assert "Submitted" in await playing.told("submit", answer="108")


@pytest.mark.parametrize("change", ["tasks", "workspace", "sandbox"])
async def test_a_run_that_cannot_go_on_is_void_and_its_client_is_told_why(
    house: House, tmp_path: Path, change: str
) -> None:
    async with house.server() as playing:
        run = (await playing.call("start_task", task_id="sum-1")).meta["m3bench/task"]["run"]
        await playing.told("math__sum", numbers=NUMBERS)
    settings: dict[str, Any] = {}
    if change == "tasks":
        settings, why = {"tasks": _other_set(tmp_path / "other")}, "started again with another set of tasks"
    elif change == "sandbox":
        settings, why = {"sandbox": "process"}, "started again with another kind of sandbox"
    else:
        why = "its workspace run-"
        for workspace in house.workspaces():
            shutil.rmtree(workspace)
    async with house.server(**settings) as playing:
        for told in (
            await playing.refused("math__sum", numbers=[1]),
            await playing.refused("submit", answer="108"),
            await playing.refused("score"),
        ):
            assert why in told
            assert "void" in told
            assert "call start_task" in told.replace("Call", "call")
        assert playing.app.store.run(run).state == "void"
        assert "sum-1" in await playing.told("start_task", task_id="sum-1")
        assert await playing.told("math__sum", numbers=[1, 2]) == "3"
        await playing.told("submit", answer="3")
    assert house.workspaces() == []
    async with house.server(**settings) as playing:
        assert "No task is running" in await playing.refused("math__sum", numbers=[1])


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize("stateful", [True, False])
async def test_a_run_goes_on_with_third_party_servers_that_remember_nothing_alone(
    house: House, tmp_path: Path, stateful: bool
) -> None:
    servers = tmp_path / "servers.json"
    far = {"command": sys.executable, "args": [far_server.__file__], "stateful": stateful}
    servers.write_text(json.dumps({"mcpServers": {"far": far}}))
    async with house.server(servers=servers) as playing:
        await playing.call("start_task", task_id="sum-1")
        assert await playing.told("far__count") == "1"
    async with house.server(servers=servers) as playing:
        if stateful:
            assert "what it did with far was lost with the process" in await playing.refused("submit", answer="108")
        else:
            assert "Submitted" in await playing.told("submit", answer="108")


async def test_a_run_that_another_living_server_has_is_left_to_it(house: House) -> None:
    async with house.server() as first:
        await first.call("start_task", task_id="sum-1")
        assert "running on another m3bench server" in str(await house.refusal(RunError))
        assert await first.told("math__sum", numbers=NUMBERS) == "108"
    async with house.server() as second:
        assert "Submitted" in await second.told("submit", answer="108")


async def test_nobody_else_ends_a_run_that_waits_until_it_waited_long(house: House) -> None:
    async with house.server() as playing:
        run = (await playing.call("start_task", task_id="sum-1")).meta["m3bench/task"]["run"]
    _look(house.data)
    assert len(house.workspaces()) == 1
    _began(house.data, timedelta(hours=1, seconds=WAIT_SECONDS - 60))
    assert _look(house.data, run) == "working"
    _began(house.data, timedelta(hours=1, seconds=WAIT_SECONDS + 60))
    assert _look(house.data, run) == "abandoned"
    assert house.workspaces() == []
    async with house.server() as playing:
        assert "No task is running" in await playing.refused("math__sum", numbers=[1])


async def test_a_seat_without_a_handle_ends_with_its_process(house: House) -> None:
    app = App(Settings.of(tasks=house.tasks, data=house.data, sandbox="inprocess"))
    async with app.lifespan():
        seat = app.open_seat(HANDLE)
        run = await app.runs.start(seat, app.library.task("sum-1"))
    assert _look(house.data, run.id) == "abandoned"
    assert house.workspaces() == []


async def test_a_profile_that_does_not_exist_is_refused_as_ever(house: House) -> None:
    async with house.server() as playing:
        await playing.call("list_tasks")
    assert "huge" in str(await house.refusal(UserError, "huge"))


async def _failure(playing: Playing, tool: str) -> Exception:
    with pytest.raises(Exception, match="Unknown tool") as found:
        await playing.call(tool)
    return found.value


def _began(data: Path, ago: timedelta) -> None:
    """Have every run of a record begin earlier."""
    store = SqliteStore(data)
    try:
        for run in store.runs():
            store.change_run(run.id, started=(datetime.now(UTC) - ago).isoformat(timespec="microseconds"))
    finally:
        store.close()


def _look(data: Path, run: str | None = None) -> str | None:
    """Open the record as any command does; the state of a run then."""
    store = SqliteStore(data)
    try:
        store.mend()
        found = store.run(run) if run is not None else None
        return found.state if found is not None else None
    finally:
        store.close()


def _other_set(folder: Path) -> Path:
    tasks = write_set(folder) / "tasks.json"
    changed = json.loads(tasks.read_text())
    changed["tasks"][0]["question"] += " Say it in words."
    tasks.write_text(json.dumps(changed))
    return folder
