"""Shortens long results by asking the model itself what of them the task may still need.

Only texts are shortened; pictures stay. A reply that is empty or not shorter is of no use: then the beginning of the
result is kept. Whatever is kept is cut at the limit, so that a talkative model has no more room than another.
"""

from collections.abc import Awaitable, Callable, Sequence

from inspect_ai.model import Content, ContentText

from m3bench.server.lab.headless.mcp_bench_prompts import COMPRESS, COMPRESSED

LIMIT = 4_000
"""Characters of a result that are kept as they are: about the thousand tokens of the paper's public runner."""


class Compression:
    """Keeps results within a length.

    Args:
        limit: Characters above which a text is shortened, and to which.
        question: The task.
        ask: Puts a prompt to the model and gives its reply.
    """

    def __init__(self, limit: int, question: str, ask: Callable[[str], Awaitable[str]]) -> None:
        self._limit = limit
        self._question = question
        self._ask = ask

    async def shorten(self, tool: str, parts: Sequence[Content]) -> list[Content]:
        """The parts of a tool's result, each text within the limit."""
        return [
            ContentText(text=await self._text(tool, part.text)) if isinstance(part, ContentText) else part
            for part in parts
        ]

    async def _text(self, tool: str, text: str) -> str:
        if len(text) <= self._limit:
            return text
        prompt = COMPRESS.format(limit=self._limit, question=self._question, tool=tool, text=text)
        said = (await self._ask(prompt)).strip()
        kept = said if 0 < len(said) < len(text) else text
        return COMPRESSED.format(length=len(text), text=kept[: self._limit])
