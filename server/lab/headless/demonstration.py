"""Scripted clients: one that is right, one that is sloppy, one that does nothing.

They speak to a real server process over stdio with the SDK's client, as any client would; the pauses between steps
imitate a model that thinks.
"""

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import TextIO

import anyio
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from m3bench.server.scorecard.migration import read_card
from m3bench.server.scorecard.model import ScoreCard
from m3bench.server.scorecard.pages.app_view import CARD
from m3bench.tasks.catalog import expose
from m3bench.tasks.task import Task

THINK_SECONDS = 0.4

Player = Callable[[Client, Task], Awaitable[str]]


async def play_all(task: Task, narrate: bool) -> dict[str, ScoreCard]:
    """The score cards of the three clients."""
    players: dict[str, Player] = {"right": _right, "sloppy": _sloppy, "idle": _idle}
    cards = {}
    told: set[str] = set()
    with TemporaryDirectory(prefix="m3bench-demo-") as data:
        for name, player in players.items():
            if narrate:
                print(f"The {name} client plays {task.id} …", file=sys.stderr, flush=True)
            with TemporaryFile("w+", encoding="utf-8", errors="replace") as log:
                try:
                    cards[name] = await _play(task, player, Path(data), log)
                finally:
                    _tell(log, told)
    return cards


def _tell(log: TextIO, told: set[str]) -> None:
    """Print what a server has said, unless another has said it before."""
    log.seek(0)
    for line in log:
        if line not in told:
            told.add(line)
            print(line, end="", file=sys.stderr, flush=True)


async def _play(task: Task, player: Player, data: Path, log: TextIO) -> ScoreCard:
    arguments = ["-m", "m3bench.server.cli", "serve", "--data", str(data), "--profile", f"task:{task.id}"]
    server = StdioServerParameters(command=sys.executable, args=arguments)
    async with Client(stdio_client(server, errlog=log)) as client:
        await client.call_tool("start_task", {"task_id": task.id})
        answer = await player(client, task)
        if (await client.call_tool("submit", {"answer": answer})).is_error:
            await client.call_tool("submit", {"answer": answer})  # taken as it is, though fields are missing
        found = (await client.call_tool("score", {})).meta
        assert found is not None
        return read_card(found[CARD])


async def _right(client: Client, task: Task) -> str:
    """Plays the reference, independent calls together."""
    for step in task.references[0].steps:
        async with anyio.create_task_group() as together:
            for call in step:
                together.start_soon(client.call_tool, expose(call.tool), call.arguments)
        await anyio.sleep(THINK_SECONDS)
    return task.answer


async def _sloppy(client: Client, task: Task) -> str:
    """One call after the other, the first one twice, an argument wrong, the last call forgotten."""
    calls = [call for step in task.references[0].steps for call in step]
    for index, call in enumerate([calls[0], *calls[:-1]]):
        arguments = dict(call.arguments)
        if index == len(calls) - 1 and arguments:
            arguments[next(iter(arguments))] = "something else"
        await client.call_tool(expose(call.tool), arguments)
        await anyio.sleep(THINK_SECONDS)
    return "I think it is done."


async def _idle(client: Client, task: Task) -> str:
    return "I do not know."
