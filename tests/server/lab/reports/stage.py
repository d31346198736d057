"""Plays runs for tests of reports: a whole m3bench in this process, and a script of what its client does."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import anyio
from mcp import Client

from m3bench.proxy.transports.sdk_server import sdk_server
from m3bench.server.app import App
from m3bench.server.settings import Settings
from m3bench.tasks.catalog import expose

Step = Sequence[tuple[str, dict[str, Any]]]

PAUSE_SECONDS = 0.25
"""A model thinks between two steps; less would look like calls of one turn."""


def play(
    data: Path,
    task: str,
    steps: Sequence[Step],
    answer: str,
    *,
    tasks: Path | None = None,
    pause: float = PAUSE_SECONDS,
    **settings: Any,
) -> Any:
    """Play one run; calls of a step go out together. Returns what `score` answered."""
    return anyio.run(partial(_play, data, task, steps, answer, tasks=tasks, pause=pause, **settings))


async def _play(
    data: Path, task: str, steps: Sequence[Step], answer: str, *, tasks: Path | None, pause: float, **settings: Any
) -> Any:
    app = App(Settings.of(data=data, tasks=tasks, sandbox="inprocess", **settings))

    async def send(client: Client, name: str, arguments: dict[str, Any]) -> None:
        await client.call_tool(expose(name) if "/" in name else name, arguments)

    with anyio.fail_after(120):
        async with app.lifespan():
            seat = app.open_seat()

            async def seat_of(context: object) -> Any:
                return seat

            async with Client(sdk_server(app.front, seat_of)) as client:
                await client.call_tool("start_task", {"task_id": task})
                for step in steps:
                    async with anyio.create_task_group() as together:
                        for name, arguments in step:
                            together.start_soon(send, client, name, arguments)
                    if pause:
                        await anyio.sleep(pause)
                await client.call_tool("submit", {"answer": answer})
                return await client.call_tool("score", {})
