"""Drives a model as MCP-Bench does: rounds in which it plans the next calls from all results so far, then an answer.

Every round is a prompt of its own behind the task and the results, with the whole catalog in it. With planning in one
go there is a single plan, made before any result is known, which is carried out as it stands. The prompts have the
roles that MCP-Bench gives them, in our own words.

Long results are shortened by the model before they are kept. Only texts are shortened; pictures stay. A reply that is
empty or not shorter is of no use: then the beginning of the result is kept. Whatever is kept is cut at the limit, so
that a talkative model has no more room than another.
"""

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from inspect_ai.agent import AgentState
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageUser, Content, ContentText, get_model
from inspect_ai.tool import ToolInfo

from m3bench.server.lab.headless.executor import read_or_ask_again, result_parts, schema
from m3bench.server.lab.headless.inspect_tools import SeatTools, calls_of, shown
from m3bench.server.lab.headless.replies import ReplyError, WrittenCall, read_round, read_steps

ROUND = """\
You solve a task that begins with a picture, by calling tools in rounds. This is round {round} of at most {rounds}.

Look at what the results so far say and decide what is needed next. The calls of a round run at the same time: put \
together what does not need each other's results, and leave whatever needs a result that is not there yet for a later \
round. When the results hold all that the answer needs, say so and call nothing.

{form}

These are the tools, each with its description and the schema of its arguments:
{catalog}"""

ROUND_FORM = """\
Reply with one JSON object:
{"done": false, "why": "what is to be found out now", "calls": [{"tool": "name", "arguments": {"argument": "value"}}]}
or, when nothing more is needed:
{"done": true, "why": "what the answer rests on", "calls": []}"""

NATIVE_FORM = "Call the tools of this round directly, all in this one turn; when nothing more is needed, call none."

ONE_SHOT = """\
You solve a task that begins with a picture, by calling tools. You plan once, now: all calls that you will ever make, \
before the result of any of them is known. Calls of one step run at the same time, and steps run one after the other.

Reply with one JSON object, the steps in their order:
{{"why": "how the steps lead to the answer", "steps": [[{{"tool": "name", "arguments": {{"argument": "value"}}}}]]}}

These are the tools, each with its description and the schema of its arguments:
{catalog}"""

CORRECTION = "That could not be read: {problem} Write it once more, as one JSON object in the form above."

RESULTS = "Results of round {round}:"

COMPRESS = """\
A tool returned more than can be kept. Write down what of it the task may still need, in at most {limit} characters: \
names, numbers, identifiers, addresses and paths exactly as they stand, nothing that is not there, and no comment of \
your own.

The task:
{question}

What {tool} returned:
{text}"""

COMPRESSED = "(shortened from {length} characters) {text}"

ANSWER = """\
No more tools can be called. Write the answer to the task from the results above, complete and in plain words, and \
claim nothing that they do not show. Where the task names fields to hand in, end with them as one JSON object, the \
fields' names as keys."""


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


ROUNDS = 20

Calls = Sequence[WrittenCall]
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
