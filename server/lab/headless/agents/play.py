"""What an agent has while it plays one sample: a client on its seat, and what the task told it.

Everything goes through an ordinary MCP client, so calls are recorded like those of any other. The agent says which
calls it makes together and gives no hint about steps: like those of any client, they follow from the record.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import anyio
from mcp import Client
from mcp.shared.exceptions import MCPError

from m3bench.proxy.names import CALL_TOOL
from m3bench.server.lab.headless.inspect_seat import text_of
from m3bench.tasks.catalog import SEPARATOR, Tool, expose, load_catalog
from m3bench.tasks.library import Library
from m3bench.tasks.task import Task
from m3bench.tasks.trajectory import Call, Trajectory

_TRIES = 3
AGAIN = "You may call the tool again."
"""How the answer ends when a tool failed through no fault of the call."""


@dataclass(frozen=True, kw_only=True)
class Hidden:
    """What a run must never see, for the agent that looks for it."""

    files: tuple[str, ...]
    """Absolute paths on this machine."""
    texts: tuple[str, ...]
    """Texts that are in them and nowhere else."""


@dataclass(kw_only=True)
class AgentPlay:
    """One sample under way."""

    client: Client
    task: Task
    """References and answer with it: only agents that stand for perfect knowledge may look further than the
    question."""
    library: Library
    """The set that the task is from: a template for a task may be another one."""
    run: str
    """The handle of the run that is played now."""
    repeat: int = 1
    """Which sample of the task this is."""
    pictures: tuple[str, ...]
    """Paths in the workspace of what the task shows or plays."""
    images: tuple[bytes, ...] = ()
    """The files of the pictures as the client was sent them, with the mark of the run."""
    shown: frozenset[str]
    """Canonical names of the tools of the seat."""
    indirect: bool = False
    """Whether the seat lists `call_tool` instead of them."""
    hidden: Hidden
    dice: random.Random
    fields: Mapping[str, object] | None = None
    """What the agent hands in beside its answer; prose alone when it sets none."""
    renamed: dict[str, str] = field(default_factory=dict)
    """New names of tools that it was told of, by the old ones."""

    async def step(self, calls: Sequence[Call]) -> list[str]:
        """Make calls together; the text of each result, in their order."""
        texts = [""] * len(calls)

        async def one(index: int, call: Call) -> None:
            texts[index] = await self._call(call)

        async with anyio.create_task_group() as together:
            for index, call in enumerate(calls):
                together.start_soon(one, index, call)
        return texts

    async def patient_step(self, calls: Sequence[Call]) -> list[str]:
        """As `step`; a call that failed through no fault of the agent is made again."""
        texts = await self.step(calls)
        for _ in range(_TRIES - 1):
            failed = [place for place, text in enumerate(texts) if text.endswith(AGAIN)]
            if not failed:
                break
            for place, text in zip(failed, await self.step([calls[place] for place in failed]), strict=True):
                texts[place] = text
        return texts

    async def call(self, call: Call) -> str:
        """Make one call as a step of its own."""
        return (await self.step([call]))[0]

    async def restart(self) -> None:
        """Give the run up and begin the same task anew."""
        opening = await self.client.call_tool("start_task", {"task_id": self.task.id, "abandon": True})
        facts = (opening.meta or {})["m3bench/task"]
        self.run = str(facts["run"])

    async def tools(self) -> list[Tool]:
        """The tools of the seat, the benchmark's own left out."""
        listed = await self.client.list_tools()
        catalog = load_catalog()
        if self.indirect:
            return [tool for tool in catalog.tools if tool.qualified in self.shown]
        return [catalog.tool(tool.name) for tool in listed.tools if SEPARATOR in tool.name]

    async def _call(self, call: Call) -> str:
        try:
            name, arguments = expose(call.tool), dict(call.arguments)
            name = self.renamed.get(name, name)
            if self.indirect:
                name, arguments = CALL_TOOL, {"name": name, "arguments": arguments}
            result = await self.client.call_tool(name, arguments)
        except MCPError as error:
            return str(error)
        return text_of(result)


def references(play: AgentPlay) -> list[Trajectory]:
    """The references that the tools of the seat can play; the first where they can play none."""
    ways = [way.trajectory for way in play.task.references]
    return [way for way in ways if all(call.tool in play.shown for call in way.calls)] or ways[:1]


def reference(play: AgentPlay) -> Trajectory:
    """The first of them."""
    return references(play)[0]
