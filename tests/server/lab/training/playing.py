"""Episodes and runs over MCP of the same calls, for tests; and a server for trainers."""

import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, cast

import anyio

from m3bench.sandboxes.backends.inprocess import InProcessBackend
from m3bench.server.app import App
from m3bench.server.lab.headless.agents.player import _connected
from m3bench.server.lab.training.episodes import EpisodeRules, Episodes, LocalEpisode, LocalTurn
from m3bench.server.lab.training.train_set import oracle_answer, oracle_turns
from m3bench.server.scorecard.building import score_run
from m3bench.server.scorecard.model import ScoreCard
from m3bench.server.settings import Settings
from m3bench.tasks.library import Library
from m3bench.tasks.task import Task


@asynccontextmanager
async def episodes(root: Path, rules: EpisodeRules | None = None, library: Library | None = None) -> AsyncIterator[Any]:
    """Episodes whose tools run in this process."""
    root.mkdir(exist_ok=True)
    async with Episodes(library or Library(), InProcessBackend(), root, rules) as found:
        yield found


async def play_oracle(episode: LocalEpisode) -> list[LocalTurn]:
    """Every turn of a perfect episode."""
    turns = [await episode.step(calls) for calls in oracle_turns(episode.task)]
    return [*turns, await episode.submit(**oracle_answer(episode.task))]  # type: ignore[arg-type]


async def over_mcp(app: App, task: Task) -> tuple[list[bytes], ScoreCard, dict[str, Any]]:
    """The bytes of every answer, the card and the facts of the same calls, made by a client."""
    seat = app.open_seat()
    async with _connected(app, "oracle", seat) as client:
        opening = await client.call_tool("start_task", {"task_id": task.id})
        facts = (opening.meta or {})["m3bench/task"]
        for turn in oracle_turns(task):
            async with anyio.create_task_group() as together:
                for call in turn:
                    together.start_soon(client.call_tool, call.name, cast("dict[str, Any]", call.arguments))
        await client.call_tool("submit", oracle_answer(task))
        record = app.store.run(facts["run"])
        assert record is not None
        calls = app.runs.tool_calls(facts["run"])
        library = app.library
        card = score_run(
            record, task, calls, app.workspace(record), None, None, library.plans(task), library.scenes(task)
        )
        await app.close_seat(seat)
        texts = [block.text for block in opening.content if block.type == "text"]
        return [call.result or b"" for call in calls], card, {**facts, "text": texts[0]}


def app_of(data: Path, library: Library) -> App:
    """A server whose tools run in this process."""
    return App(Settings(data=data, sandbox="inprocess"), library=library)


@contextmanager
def serving_openenv(*options: str) -> Iterator[str]:
    """The address of a server for trainers."""
    command = [sys.executable, "-m", "m3bench.server.cli", "serve", "--openenv", "127.0.0.1:0", *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
    assert process.stderr is not None
    try:
        said = ""
        while "serves http" not in said:
            said = process.stderr.readline()
            assert said, "it ended"
        yield said.split()[-1].removesuffix("/mcp")
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)
        process.stderr.close()
