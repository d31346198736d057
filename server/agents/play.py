"""What an agent has in hand while it plays one sample: a client of its seat, and what the task told it.

Everything goes through an ordinary MCP client, so calls are recorded as those of any other. The agent says which
calls it makes together; the hint in `_meta` keeps the clock out of it.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import anyio
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, TextContent, Tool

from m3bench.proxy.steps import HINT
from m3bench.tasks.catalog import SEPARATOR
from m3bench.tasks.task import Task


class Made(NamedTuple):
    """A call to make: the name as clients see it, and the arguments."""

    tool: str
    arguments: Mapping[str, Any]


@dataclass(kw_only=True)
class Play:
    """One sample under way."""

    client: Client
    task: Task
    """References and answer with it: only agents that stand for perfect knowledge may look further than the
    question."""
    pictures: tuple[str, ...]
    """Paths in the workspace."""
    places: tuple[str, ...]
    """Files of this machine that a run must never see."""
    dice: random.Random
    steps: int = field(default=0, init=False)

    async def step(self, calls: Sequence[Made]) -> list[str]:
        """Make calls together; the text of each result, in their order."""
        self.steps += 1
        texts = [""] * len(calls)

        async def one(index: int, call: Made) -> None:
            texts[index] = await self._call(call)

        async with anyio.create_task_group() as together:
            for index, call in enumerate(calls):
                together.start_soon(one, index, call)
        return texts

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """Make one call as a step of its own."""
        return (await self.step([Made(tool, arguments)]))[0]

    async def tools(self) -> list[Tool]:
        """The tools the seat shows, our own left out."""
        listed = await self.client.list_tools()
        return [tool for tool in listed.tools if SEPARATOR in tool.name]

    async def _call(self, call: Made) -> str:
        try:
            result = await self.client.call_tool(call.tool, dict(call.arguments), meta={HINT: self.steps})
        except MCPError as error:
            return str(error)
        return text_of(result)


def text_of(result: CallToolResult) -> str:
    """The texts of a result, one below the other."""
    return "\n".join(block.text for block in result.content if isinstance(block, TextContent))
