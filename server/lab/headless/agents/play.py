"""What an agent has while it plays one sample: a client on its seat, and what the task told it.

Its client speaks the newest revision at the front door, where calls of every client arrive once the SDK has let it in,
and is recorded like any other. The agent says which calls it makes together and gives no hint about steps: like those
of any client, they follow from the record.
"""

import json
import random
import time
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

import anyio

from m3bench.proxy.front import Front, tool_request
from m3bench.proxy.names import CALL_TOOL
from m3bench.proxy.protocol.messages import CLIENT_CAPABILITIES, CLIENT_INFO, MODERN_REVISIONS, PROTOCOL_VERSION
from m3bench.proxy.protocol.tool_calls import Caller
from m3bench.proxy.seat import Seat
from m3bench.tasks.catalog import SEPARATOR, Tool, expose, load_catalog
from m3bench.tasks.library import Library
from m3bench.tasks.outcome import text_of
from m3bench.tasks.task import Task
from m3bench.tasks.trajectory import Call, Trajectory

if TYPE_CHECKING:
    from mcp import Client

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


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a call came to, as a client sees it."""

    is_error: bool
    text: str
    """Of a result the texts, one below the other; of a protocol error its message."""
    images: tuple[bytes, ...] = ()
    meta: Mapping[str, Any] = field(default_factory=dict)


class SeatClient:
    """A client of the newest revision, which needs no handshake.

    Args:
        front: Who answers.
        seat: Where it sits.
        name: Its name.
        version: Its version.
    """

    def __init__(self, front: Front, seat: Seat, name: str, version: str) -> None:
        self._front = front
        self._seat = seat
        self._caller = Caller(seat=seat.id, revision=MODERN_REVISIONS[-1], client=f"{name} {version}")
        self._ids = count(1)
        self._about = {
            PROTOCOL_VERSION: self._caller.revision,
            CLIENT_INFO: {"name": name, "version": version},
            CLIENT_CAPABILITIES: {},
        }

    async def call_tool(self, name: str, arguments: Mapping[str, object], sent_ns: int = 0) -> Answer:
        """Call a tool.

        Args:
            name: Which.
            arguments: What it is given.
            sent_ns: When it was sent, where it goes out together with others; now, when it is left out.
        """
        params = {"name": name, "arguments": dict(arguments), "_meta": self._about}
        request = tool_request(self._caller, next(self._ids), params, None, sent_ns)
        answer = await self._front.router.call(self._seat, request)
        if answer.error is not None:
            return Answer(is_error=True, text=answer.error[1])
        result = json.loads(self._front.result(answer, self._caller.revision))
        pictures = (block["data"] for block in result["content"] if block["type"] == "image")
        return Answer(
            is_error=bool(result.get("isError")),
            text=text_of(result),
            images=tuple(map(b64decode, pictures)),
            meta=result.get("_meta") or {},
        )

    async def list_tools(self) -> list[str]:
        """The names of the tools that it is shown."""
        await self._front.prepare(self._seat)
        return [str(tool["name"]) for tool in self._seat.listing]


@dataclass(kw_only=True)
class AgentPlay:
    """One sample under way."""

    client: SeatClient
    connect: "Callable[[], AbstractAsyncContextManager[Client]]"
    """An ordinary MCP client on the same seat, for what is no call."""
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
        # All are sent before the first is answered, however fast the tools are.
        texts, sent_ns = [""] * len(calls), time.monotonic_ns()

        async def one(index: int, call: Call) -> None:
            texts[index] = await self._call(call, sent_ns)

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
        self.run = str(opening.meta["m3bench/task"]["run"])

    async def tools(self) -> list[Tool]:
        """The tools of the seat, the benchmark's own left out."""
        listed = await self.client.list_tools()
        catalog = load_catalog()
        if self.indirect:
            return [tool for tool in catalog.tools if tool.qualified in self.shown]
        return [catalog.tool(name) for name in listed if SEPARATOR in name]

    async def _call(self, call: Call, sent_ns: int) -> str:
        name, arguments = expose(call.tool), dict(call.arguments)
        name = self.renamed.get(name, name)
        if self.indirect:
            name, arguments = CALL_TOOL, {"name": name, "arguments": arguments}
        return (await self.client.call_tool(name, arguments, sent_ns)).text


def references(play: AgentPlay) -> list[Trajectory]:
    """The references that the tools of the seat can play; the first where they can play none."""
    ways = [way.trajectory for way in play.task.references]
    return [way for way in ways if all(call.tool in play.shown for call in way.calls)] or ways[:1]


def reference(play: AgentPlay) -> Trajectory:
    """The first of them."""
    return references(play)[0]
