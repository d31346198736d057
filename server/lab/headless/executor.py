"""Drives a model as in the paper: steps that are planned and then carried out, a limited number of times.

In each step the model first says, seeing only names and descriptions, which tools it wants next or that it is done;
then, seeing the schemas of those tools, it writes a batch of calls, which run together. At the end it is asked for the
answer. All of this is one conversation. Calls are native tool calls or JSON in text.

The model may rewrite a reply that cannot be read once, and not a third time (`read_or_ask_again`, which the other
solvers use too). One that should have held calls is put on record as an attempt at one. What the model is told the
second time depends on the solver, because papers differ in that.
"""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol, TypeVar

from inspect_ai.agent import AgentState
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    Content,
    ContentText,
    get_model,
)
from inspect_ai.tool import ToolChoice, ToolInfo
from mcp_types import Tool

from m3bench.server.lab.headless.inspect_tools import SeatTools, calls_of, shown
from m3bench.server.lab.headless.replies import ReplyError, read_calls, read_plan

SYSTEM = """\
You solve tasks that begin with a picture, with the help of tools, in steps. A step has two parts: first you say which \
tools you need next, then you write the calls. The calls of a step run at the same time, at most {batch} of them, so a \
call that needs the result of another one belongs in a later step. What a tool can tell, do not guess."""

PLAN_FORM = """\
Reply with one JSON object and nothing else:
{{"done": false, "why": "what is to be found out or made now", "tools": ["name", "another name"]}}
or, when nothing more is needed to answer:
{{"done": true, "why": "what the answer rests on", "tools": []}}"""

FIRST = (
    """\
These are the tools:
{tools}

Which of them do you need for the first step? """
    + PLAN_FORM
)

NEXT = "{trouble}Which tools do you need for the next step, or are you done? " + PLAN_FORM

CALLS = """\
These are the tools you chose, with the schemas of their arguments:
{schemas}

Write the calls of this step, at most {batch}. Reply with one JSON object and nothing else:
{{"calls": [{{"tool": "name", "arguments": {{"argument": "value"}}}}]}}"""

NATIVE_CALLS = "Make the calls of this step now, all of them in this turn, at most {batch}."

CORRECTION = "That could not be read: {problem} Write it once more, as one JSON object and nothing else."

RESULTS = "These are the results of your calls:"

NO_CALLS = "No call was made in this step. "

NOT_RUN = "Not run: a step has at most {batch} calls, and this one came after them. "

OUT_OF_STEPS = "There are no steps left. "

ANSWER = """\
Give your final answer to the task now, complete in itself, in plain words. Where the task names fields to hand in, \
end with them as one JSON object, the fields' names as keys. No more tools can be called."""


Read = TypeVar("Read")


class AskModel(Protocol):
    """Puts a prompt to the model."""

    async def __call__(self, prompt: str, earlier: Sequence[ChatMessage] = ()) -> ChatMessageAssistant:
        """The reply to a prompt behind some earlier messages, beside the solver's own history."""
        ...


async def read_or_ask_again(
    ask: AskModel,
    prompt: str,
    read: Callable[[str], Read],
    correction: str,
    attempt: Callable[[str], Awaitable[None]] | None = None,
) -> tuple[str, Read]:
    """What the model replied, and what that says.

    Args:
        ask: Puts a prompt to the model.
        prompt: The prompt.
        read: Reads a reply.
        correction: What the model is told of a reply that cannot be read, with `{problem}`.
        attempt: Puts such a reply on record; left out where no call was to be made.

    Raises:
        ReplyError: The second reply cannot be read either.
    """
    text = (await ask(prompt)).text
    try:
        return text, read(text)
    except ReplyError as error:
        if attempt is not None:
            await attempt(text)
        earlier: list[ChatMessage] = [ChatMessageUser(content=prompt), ChatMessageAssistant(content=text)]
        text = (await ask(correction.format(problem=error), earlier)).text
    try:
        return text, read(text)
    except ReplyError:
        if attempt is not None:
            await attempt(text)
        raise


MAX_STEPS = 12
BATCH = 8

MAX_LINE = 160
"""Characters of a tool's description in the list that plans are made from."""


class Executor:
    """Plans and batches on a seat.

    Args:
        max_steps: Steps before the answer is asked for.
        batch: Calls in one step.
        text: Whether the model writes its calls as text, for models without native tool calling.
    """

    def __init__(self, max_steps: int | None = None, batch: int | None = None, *, text: bool = False) -> None:
        self._max_steps = max_steps or MAX_STEPS
        self._batch = batch or BATCH
        self._text = text

    async def __call__(self, tools: SeatTools, work: AgentState) -> None:
        """Work until the model is done or no step is left, then have it answer."""
        talk = _Talk(tools, work, self._batch, text=self._text)
        work.messages.insert(0, ChatMessageSystem(content=SYSTEM.format(batch=self._batch)))
        opening = FIRST.format(tools=_listing(tools.listed))
        for _ in range(self._max_steps):
            wanted = await talk.plan(opening)
            if wanted is None:
                await talk.answer(ANSWER)
                return
            opening = NEXT.format(trouble=await talk.act(wanted))
        await talk.answer(OUT_OF_STEPS + ANSWER)


class _Talk:
    """The conversation with the model."""

    def __init__(self, tools: SeatTools, work: AgentState, batch: int, *, text: bool) -> None:
        self._tools = tools
        self._work = work
        self._batch = batch
        self._text = text
        self._known: dict[str, ToolInfo] = {}
        """Tools whose schemas the model has seen; providers want them beside a history that holds their calls."""

    async def plan(self, opening: str) -> list[str] | None:
        """Which tools the model wants next; None when it is done. A plan that cannot be read ends the work."""
        try:
            _, plan = await read_or_ask_again(self._ask, opening, read_plan, CORRECTION)
        except ReplyError:
            return None
        return None if plan.done else list(plan.tools)

    async def act(self, wanted: Sequence[str]) -> str:
        """Have the model write calls to the tools it wants, and run them; what is to be said of the step next."""
        infos = {info.name: info for info in shown(self._tools.listed)}
        chosen = {name: infos[name] for name in wanted if name in infos}
        missing = [name for name in wanted if name not in infos]
        trouble = f"There is no tool {', '.join(map(repr, missing))}. " if missing else ""
        if not chosen:
            return trouble + NO_CALLS
        self._known |= chosen
        found = await (self._act_in_text(chosen) if self._text else self._act_natively())
        return trouble + found

    async def answer(self, request: str) -> None:
        """Have the model answer."""
        await self._ask(request)

    async def _act_natively(self) -> str:
        reply = await self._ask(NATIVE_CALLS.format(batch=self._batch), choice="auto")
        calls = reply.tool_calls or []
        run = reply.model_copy(update={"tool_calls": calls[: self._batch]})
        await self._tools.turn(run)
        if not calls:
            return NO_CALLS
        self._work.messages.extend(await self._tools.run(run))
        left = calls[self._batch :]
        self._work.messages.extend(
            ChatMessageTool(content=NOT_RUN.format(batch=self._batch), tool_call_id=call.id, function=call.function)
            for call in left
        )
        return ""

    async def _act_in_text(self, chosen: Mapping[str, ToolInfo]) -> str:
        schemas = json.dumps([schema(info) for info in chosen.values()], ensure_ascii=False)
        prompt = CALLS.format(batch=self._batch, schemas=schemas)
        try:
            text, calls = await read_or_ask_again(self._ask, prompt, read_calls, CORRECTION, self._tools.attempt)
        except ReplyError as error:
            return f"{error} "
        message = ChatMessageAssistant(content=text, tool_calls=calls_of(calls[: self._batch], self._tools.step))
        await self._tools.turn(message)
        if not calls:
            return NO_CALLS
        content: list[Content] = [ContentText(text=RESULTS)]
        for number, result in enumerate(await self._tools.run(message), 1):
            content += result_parts(number, result)
        self._work.messages.append(ChatMessageUser(content=content))
        return NOT_RUN.format(batch=self._batch) if len(calls) > self._batch else ""

    async def _ask(
        self, prompt: str, earlier: Sequence[ChatMessage] = (), choice: ToolChoice = "none"
    ) -> ChatMessageAssistant:
        """Put a prompt to the model, which together with the reply becomes part of the history: `earlier` is there."""
        self._work.messages.append(ChatMessageUser(content=prompt))
        native = [] if self._text else list(self._known.values())
        output = await get_model().generate(self._work.messages, native, choice if native else None)
        self._work.output = output
        self._work.messages.append(output.message)
        return output.message


def _listing(tools: Sequence[Tool]) -> str:
    """Every tool on a line of its own."""
    lines = []
    for tool in tools:
        first = " ".join((tool.description or "").split())
        lines.append(f"- {tool.name}: {first if len(first) <= MAX_LINE else f'{first[:MAX_LINE]}…'}")
    return "\n".join(lines)


def schema(info: ToolInfo) -> dict[str, object]:
    """A tool for a model that reads text."""
    return {
        "tool": info.name,
        "description": info.description,
        "arguments": info.parameters.model_dump(exclude_none=True),
    }


def result_parts(number: int, result: ChatMessageTool) -> list[Content]:
    """The result of a call, for a model that reads text."""
    head = f"{number}. {result.function}"
    if result.error is not None:
        return [ContentText(text=f"{head} failed: {result.error.message}")]
    if isinstance(result.content, str):
        return [ContentText(text=f"{head}: {result.content}")]
    return [ContentText(text=f"{head}:"), *result.content]
