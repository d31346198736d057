"""An agent that has read a person's description of a picture, and knows nothing else of it.

A description is a text with its facts noted: what is written, what is circled in which colour, what is there. The agent
plays the family's plan for a picture with these facts, so everything else comes from the tools it calls. The scene of
the task's picture is never looked at.
"""

import json
import math
import tomllib
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import anyio.to_thread

from m3bench.server.lab.headless.agents.blind import NOTHING, understood
from m3bench.server.lab.headless.agents.play import AgentPlay
from m3bench.server.lab.headless.agents.threshold import solution_of
from m3bench.tasks.answers.fields import right_fields
from m3bench.tasks.families.base import questions
from m3bench.tasks.families.registry import FAMILIES
from m3bench.tasks.trajectory import Call
from tests.server.lab.headless.sighted.recollection import Noted, Unknown, recollected

FOLDER = Path(__file__).with_name("descriptions")
ID = 11
"""Letters of the id that the address of a photograph ends with."""


@cache
def words() -> dict[str, dict[str, str]]:
    """By family: what it calls things that people call otherwise."""
    return tomllib.loads(FOLDER.with_name("words.toml").read_text("utf-8"))


@cache
def descriptions() -> dict[str, dict[str, Any]]:
    """What people wrote, by task: `text` for people, `facts` for the agent."""
    return {
        task: described
        for file in sorted(FOLDER.glob("*.toml"))
        for task, described in tomllib.loads(file.read_text("utf-8")).items()
    }


def reader(notes: Mapping[str, Noted]) -> Callable[[AgentPlay], Awaitable[str]]:
    """An agent that has the notes on each task."""

    async def sighted(play: AgentPlay) -> str:
        family, asked = FAMILIES[play.task.family], understood(play.task, questions(play.task.family))
        assert asked is not None
        known = words().get(family.name, {})
        noted = _each(lambda said: known.get(said, said) if isinstance(said, str) else said, notes[play.task.id])
        try:
            noted = await _with_codes(play, noted)
            picture = await anyio.to_thread.run_sync(recollected, family, noted)
        except Unknown:
            return NOTHING
        solution = await solution_of(play, family, picture, asked)
        if solution is None:
            return NOTHING
        play.fields = right_fields(solution.fields)
        return solution.answer

    return sighted


async def _with_codes(play: AgentPlay, noted: Noted) -> Noted:
    """The notes with the content of a code wherever they only say where one is, as nobody reads codes by eye."""
    if "code_at" not in str(noted):
        return noted
    text = await play.call(Call(tool="pyzbar-mcp/scan_barcode", arguments={"image_paths": play.pictures[0]}))
    codes = json.loads(text or "{}").get("metadata", {}).get("results", [])
    if not codes:
        raise Unknown("no code is found")

    def read(thing: Any) -> Any:
        if isinstance(thing, Mapping) and "code_at" in thing:
            return min(codes, key=lambda code: math.dist(_middle(code["rect"]), thing["code_at"]))["data"][-ID:]
        return thing

    found: Noted = _each(read, noted)
    return found


def _each(change: Callable[[Any], Any], thing: Any) -> Any:
    """A thing with everything in it changed."""
    thing = change(thing)
    if isinstance(thing, Mapping):
        return {name: _each(change, value) for name, value in thing.items()}
    return [_each(change, one) for one in thing] if isinstance(thing, list) else thing


def _middle(box: Mapping[str, float]) -> tuple[float, float]:
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
