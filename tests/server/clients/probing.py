"""A model and a client that play the probe from a script, with quirks as real clients have them."""

import json
import re
from base64 import b64decode
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import anyio
from mcp import Client
from mcp_types import Implementation

from m3bench.server.clients.probe_notes import Secrets, picture

SEED = 7
INFO = Implementation(name="scripted", version="1.2")
WORD = re.compile(r"\b[A-Z]{6}\b")

Passed = dict[str, Any]
"""What of a result a client passes on: texts, pictures and data."""


def everything(passed: Passed) -> Passed:
    return passed


def no_pictures(passed: Passed) -> Passed:
    return {**passed, "pictures": []}


def data_in_place_of_texts(passed: Passed) -> Passed:
    return {**passed, "texts": []} if passed["data"] else passed


def data_in_place_of_all(passed: Passed) -> Passed:
    return {**passed, "texts": [], "pictures": []} if passed["data"] else passed


def no_data(passed: Passed) -> Passed:
    return {**passed, "data": None}


def first_30_kb(passed: Passed) -> Passed:
    return {**passed, "texts": [text[:30_000] for text in passed["texts"]]}


def both_ends(passed: Passed) -> Passed:
    return {
        **passed,
        "texts": [text if len(text) < 20_000 else text[:8_000] + text[-8_000:] for text in passed["texts"]],
    }


@dataclass(kw_only=True)
class Script:
    """What a client and its model do."""

    passes: Callable[[Passed], Passed] = everything
    together: bool = True
    reads_together: bool = False
    repeats: bool = False
    pages: int = 2
    sees_tools: int = 1_000
    lists_again: bool = False
    answers: bool = True
    """Whether the model types words back at all."""
    finishes: bool = True
    arguments: dict[str, Any] = field(default_factory=dict)
    """Arguments that the client adds to every call."""
    seed: int = SEED
    words: set[str] = field(default_factory=set)

    async def play(self, client: Client) -> str:
        """The whole probe; returns what the last call said."""
        names = await self._list(client)
        if self.answers:
            self.words |= {name.removeprefix("probe_mark_").upper() for name in names if name.startswith("probe_mark_")}
        await self._call(client, "probe_start")
        if self.lists_again:
            await client.list_tools(cache_mode="bypass")
        for name in ("probe_picture", "probe_mixed", "probe_long"):
            await self._call(client, name)
        for pair in ("probe_pair", "probe_note"):
            if self.together or (self.reads_together and pair == "probe_pair"):
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(self._call, client, f"{pair}_a")
                    tasks.start_soon(self._call, client, f"{pair}_b")
            else:
                await self._call(client, f"{pair}_a")
                await self._call(client, f"{pair}_b")
        await self._call(client, "probe_slow")
        await self._call(client, "probe_flaky")
        if self.repeats:
            await self._call(client, "probe_flaky")
        if not self.finishes:
            return ""
        return await self._call(client, "probe_finish", words=sorted(self.words), tools=len(names))

    async def _list(self, client: Client) -> list[str]:
        first = await client.list_tools()
        tools = [tool.name for tool in first.tools]
        if self.pages == 2:
            assert first.next_cursor is not None
            tools += [tool.name for tool in (await client.list_tools(cursor=first.next_cursor)).tools]
        return tools[: self.sees_tools]

    async def _call(self, client: Client, name: str, **arguments: Any) -> str:
        result = await client.call_tool(name, {**arguments, **self.arguments})
        texts = [block.text for block in result.content if block.type == "text"]
        pictures = [b64decode(block.data) for block in result.content if block.type == "image"]
        passed = self.passes({"texts": texts, "pictures": pictures, "data": result.structured_content})
        if self.answers:
            known = secrets(self.seed)
            seen = "\n".join([*passed["texts"], json.dumps(passed["data"])])
            self.words |= set(WORD.findall(seen)) - {"MARKER"}
            self.words |= {
                word for word in (known.picture, known.mixed_picture) if picture(word) in passed["pictures"]
            }  # fmt: skip
        return "\n".join(texts)


def secrets(seed: int, client: str = f"{INFO.name} {INFO.version}") -> Secrets:
    """The words that a probe of this seed hides from this client, in its first round."""
    from m3bench.server.clients.probe_tools import listing

    # Which words marks have does not depend on the padding, only how many of them there are.
    taken = [mark.word for mark in listing([{"name": f"tool-{number}"} for number in range(232)]).marks]
    return Secrets.draw(f"{seed}/{client}/0", 100_000, taken)
