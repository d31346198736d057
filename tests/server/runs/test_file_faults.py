"""Every operation on files fails once in turn while a task is played from start to score, with a restart in between.

The client gets an error that names the cause, tries once more and gets on; what it saw is on record, once, in its run.
"""

import json
from collections.abc import Awaitable, Callable
from errno import EIO, ENOSPC, EROFS
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

import anyio
import pytest

from m3bench.proxy import router
from m3bench.proxy.protocol.tool_calls import Caller, ToolAnswer, ToolRequest
from m3bench.proxy.seat import Seat
from m3bench.server.app import App
from m3bench.server.settings import Settings
from m3bench.server.store.layout import run_workspace
from m3bench.server.store.seal import file_hashes, seal
from m3bench.server.store.sqlite import SqliteStore
from m3bench.tasks.errors import M3Error
from m3bench.tasks.outcome import text_of
from tests.server.store.faults import failing_files

HANDLE = "h" * 32
NUMBERS = [4, 8, 15, 16, 23, 42]
CODES = (ENOSPC, EIO, EROFS)

Found = TypeVar("Found")


class Player:
    """A client that tries everything a second time when it gets an error, and remembers what it saw."""

    def __init__(self) -> None:
        self.seen: dict[int, bytes] = {}
        """Results of tools within the run, by the id of the request."""
        self.errors: list[str] = []
        self._ids = count(1)

    async def play(self, tasks: Path, data: Path) -> None:
        """A whole task; the server is stopped in the middle of it."""
        settings = Settings.of(tasks=tasks, data=data, sandbox="inprocess")
        with anyio.fail_after(60):
            app = App(settings)
            async with app.lifespan():
                seat = await self._open(app)
                await self._call(app, seat, "start_task", task_id="survey-1")
                await self._call(app, seat, "math__median", numbers=NUMBERS)
            app = App(settings)
            async with app.lifespan():
                seat = await self._open(app)
                await self._call(app, seat, "math__mean", numbers=NUMBERS)
                await self._call(app, seat, "math__subtract", minuend=18, subtrahend=15.5)
                await self._call(app, seat, "submit", answer="They differ by 2.5.")
                await self._call(app, seat, "score")

    async def _open(self, app: App) -> Seat:
        return await self._twice(lambda: app.open_handle(HANDLE))

    async def _call(self, app: App, seat: Seat, tool: str, **arguments: Any) -> None:
        for _ in range(2):
            id = next(self._ids)
            raw = {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
            request = ToolRequest(
                caller=Caller(seat=seat.id, revision="2025-11-25", client="tests 1"), id=id, name=tool,
                raw=json.dumps(raw).encode(), arguments=arguments, received_ns=id, wall="2026-01-01T00:00:00+00:00",
            )  # fmt: skip
            answer: ToolAnswer = await app.router.call(seat, request)
            if answer.outcome == "success":
                if "__" in tool:
                    self.seen[id] = answer.result
                return
            self.errors.append(text_of(json.loads(answer.result)) if answer.result else str(answer.error))
        raise AssertionError(f"{tool} failed twice: {self.errors}")

    async def _twice(self, action: Callable[[], Awaitable[Found]]) -> Found:
        try:
            return await action()
        except M3Error as error:
            self.errors.append(str(error))
            return await action()


@pytest.mark.slow
@pytest.mark.parametrize("code", CODES)
def test_any_operation_on_files_may_fail_once(
    code: int, task_set: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # So that every result is kept in the workspace as well.
    monkeypatch.setattr(router, "MAX_RESULT_BYTES", 1)
    with failing_files(tmp_path / "count", -1, code) as made:
        anyio.run(Player().play, task_set, tmp_path / "count")
    assert {"open", "write", "mkdir", "rename", "lock"} <= set(made)
    told = 0
    for number in range(len(made)):
        data, player = tmp_path / str(number), Player()
        with failing_files(data, number, code):
            anyio.run(player.play, task_set, data)
        _check(data, player)
        told += bool(player.errors)
    assert told > len(made) / 4


def _check(data: Path, player: Player) -> None:
    assert not any("m3bench failed" in error or "Traceback" in error for error in player.errors), player.errors
    store = SqliteStore(data)
    try:
        (run,) = (run for run in store.runs() if run.state == "scored")
        calls = store.calls(run.id)
        recorded = {int(call.request_id): call.result for call in calls if call.outcome == "success"}
        assert len([call for call in calls if int(call.request_id) in player.seen]) == len(player.seen)
        assert {id: recorded.get(id) for id in player.seen} == player.seen
        own = [call for call in calls if "/" in call.tool]
        assert run.seal == seal(run, own, file_hashes(run_workspace(data, run.id)), run.answer or "")
        assert [one.state for one in store.runs() if one.state not in ("scored", "abandoned", "void")] == []
    finally:
        store.close()
