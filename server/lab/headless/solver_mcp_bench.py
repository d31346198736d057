"""Drives a model as MCP-Bench does: rounds in which it plans the next calls from all results so far, then an answer.

Every round is a prompt of its own behind the task and the results, with the whole catalog in it. Long results are
shortened by the model before they are kept. With planning in one go there is a single plan, made before any result is
known, which is carried out as it stands.
"""

import json
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from inspect_ai.agent import AgentState
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageUser, Content, ContentText, get_model
from inspect_ai.tool import ToolInfo

from m3bench.server.lab.headless.compression import LIMIT, Compression
from m3bench.server.lab.headless.executor import result_parts, schema
from m3bench.server.lab.headless.executor_replies import ReplyError, read_round, read_steps
from m3bench.server.lab.headless.inspect_tools import SeatTools, calls_of, shown
from m3bench.server.lab.headless.mcp_bench_prompts import (
    ANSWER,
    CORRECTION,
    NATIVE_FORM,
    ONE_SHOT,
    RESULTS,
    ROUND,
    ROUND_FORM,
)
from m3bench.server.lab.headless.second_try import read_or_ask_again

ROUNDS = 20

Calls = Sequence[tuple[str, dict[str, Any]]]
Read = TypeVar("Read")


class McpBench:
    """The paper's loop on a seat.

    Args:
        max_steps: Rounds before the answer is asked for.
        compress: Characters above which a result is shortened.
        one_shot: Whether all calls are planned at once.
        native: Whether calls are the provider's tool calls rather than JSON.
    """

    def __init__(
        self,
        max_steps: int | None = None,
        compress: int | None = None,
        *,
        one_shot: bool = False,
        native: bool = False,
    ) -> None:
        self._rounds = max_steps or ROUNDS
        self._compress = compress or LIMIT
        self._one_shot = one_shot
        self._native = native

    async def __call__(self, tools: SeatTools, work: AgentState) -> None:
        """Plan and call until the model is done or no round is left, then have it answer."""
        talk = _Talk(tools, work, self._compress)
        if self._one_shot:
            for step, calls in enumerate(await talk.plan(), 1):
                await talk.run(step, await talk.written(calls))
        else:
            for number in range(1, self._rounds + 1):
                message = await talk.round(number, self._rounds, native=self._native)
                if message is None:
                    break
                await talk.run(number, message)
        await talk.ask(ANSWER)


class _Talk:
    """The prompts of a task, all behind one history."""

    def __init__(self, tools: SeatTools, work: AgentState, compress: int) -> None:
        self._tools = tools
        self._work = work
        self._infos = shown(tools.listed)
        self._catalog = "\n".join(json.dumps(schema(info), ensure_ascii=False) for info in self._infos)
        self._history = list(work.messages)
        question = "\n".join(message.text for message in self._history)
        self._compression = Compression(compress, question, self._alone)

    async def plan(self) -> Sequence[Calls]:
        """All steps at once; none when the plan cannot be read."""
        return await self._read(ONE_SHOT.format(catalog=self._catalog), read_steps) or []

    async def round(self, number: int, rounds: int, *, native: bool) -> ChatMessageAssistant | None:
        """The calls of the next round; None when the model is done or says nothing that can be read."""
        form = NATIVE_FORM if native else ROUND_FORM
        prompt = ROUND.format(round=number, rounds=rounds, form=form, catalog=self._catalog)
        if native:
            message = await self.ask(prompt, tools=self._infos)
            await self._tools.turn(message)
            return message if message.tool_calls else None
        calls = await self._read(prompt, read_round)
        return await self.written(calls) if calls else None

    async def written(self, calls: Calls) -> ChatMessageAssistant:
        """Calls that were written as text, announced as one step."""
        message = ChatMessageAssistant(content="", tool_calls=calls_of(calls, self._tools.step))
        await self._tools.turn(message)
        return message

    async def run(self, number: int, message: ChatMessageAssistant) -> None:
        """Make calls and keep their results, the long ones shortened."""
        content: list[Content] = [ContentText(text=RESULTS.format(round=number))]
        for place, result in enumerate(await self._tools.run(message), 1):
            content += await self._compression.shorten(str(result.function), result_parts(place, result))
        self._history.append(ChatMessageUser(content=content))

    async def ask(
        self, prompt: str, earlier: Sequence[ChatMessage] = (), tools: Sequence[ToolInfo] = ()
    ) -> ChatMessageAssistant:
        """Put a prompt to the model behind the history, which it does not become part of."""
        return await self._generate([*self._history, *earlier], prompt, tools)

    async def _alone(self, prompt: str) -> str:
        """Put a prompt to the model with nothing before it: it holds the task itself."""
        return (await self._generate([], prompt)).text

    async def _read(self, prompt: str, read: Callable[[str], Read]) -> Read | None:
        """What a reply says, which may be written once more; None when it cannot be read then either."""
        try:
            _, found = await read_or_ask_again(self.ask, prompt, read, CORRECTION, self._tools.attempt)
        except ReplyError:
            return None
        return found

    async def _generate(
        self, before: Sequence[ChatMessage], prompt: str, tools: Sequence[ToolInfo] = ()
    ) -> ChatMessageAssistant:
        asked = ChatMessageUser(content=prompt)
        self._work.output = await get_model().generate([*before, asked], list(tools))
        self._work.messages += [asked, self._work.output.message]
        return self._work.output.message
