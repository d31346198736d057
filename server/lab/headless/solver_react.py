"""Drives a model by default: Inspect's react agent, a loop of turns in which the model calls tools.

It ends when the model submits an answer, or simply replies without calling anything. For a model without tool calls of
its own there is the same loop with calls written as JSON in text: every turn the model writes either calls, which run
together, or its answer. A reply that holds neither is taken for the answer, as a turn without calls is in the native
loop; one that means calls and cannot be read is put on record as such, and the model is told what is wrong.

As in MCPVerse's mode of retrieval, the model may first be asked which servers it wants, in its own words: the five that
are nearest to its descriptions, by embedding, are mounted, and the loop goes on with their tools alone.
"""

import json
from collections.abc import Sequence

import anyio.to_thread
from inspect_ai.agent import Agent, AgentPrompt, AgentState, AgentSubmit, agent, react
from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser, Content, ContentText, get_model
from inspect_ai.tool import Tool

from m3bench.server.lab.headless.executor import CORRECTION, RESULTS, result_parts, schema
from m3bench.server.lab.headless.inspect_tools import SUBMIT, SeatTools, calls_of, shown
from m3bench.server.lab.headless.replies import ReplyError, read_answer, read_calls
from m3bench.server.scoring.encoder import Encoder, open_encoder
from m3bench.tasks.catalog import SEPARATOR
from m3bench.tasks.table_tools import whole_catalog

MAX_STEPS = 50

PROMPT = """\
You solve tasks that begin with a picture. Look at it closely, decide what has to be found out or made, and use the \
tools to do so: what a tool can tell, do not guess. A tool that takes a file takes the path given in the task.

Calls that do not need each other's results belong in one turn; make a call that does need one in a later turn. When a \
call fails, read why, and call again with what was wrong put right."""

SUBMIT_PROMPT = """\
When the task is solved, call {submit}() with the final answer, complete in itself. Where the task names fields to \
hand in, put them into that answer as one JSON object, the fields' names as keys."""

SUBMIT_DESCRIPTION = "Hand in the final answer to the task. This ends the work on it."


class React:
    """Inspect's react agent on a seat.

    Args:
        max_steps: Turns of the model.
    """

    def __init__(self, max_steps: int | None = None) -> None:
        self._max_steps = max_steps or MAX_STEPS

    async def __call__(self, tools: SeatTools, work: AgentState) -> None:
        """Work until there is an answer, or no turn is left."""
        turns = 0

        async def go_on(state: AgentState) -> bool:
            nonlocal turns
            turns += 1
            return bool(state.output.message.tool_calls) and turns < self._max_steps

        acting = react(
            prompt=AgentPrompt(
                instructions=PROMPT, handoff_prompt=None, assistant_prompt=None, submit_prompt=SUBMIT_PROMPT
            ),
            tools=[tools],
            model=_turns(tools),
            submit=AgentSubmit(name=SUBMIT, description=SUBMIT_DESCRIPTION, answer_only=True),
            on_continue=go_on,
        )
        await acting(work)


@agent
def _turns(seat: SeatTools) -> Agent:
    """One turn of the model, which sees the tools of its profile and the one to submit with."""

    async def execute(state: AgentState, tools: list[Tool]) -> AgentState:
        """Take a turn.

        Args:
            state: The conversation.
            tools: What react would show.
        """
        submit = tools[-1]  # react puts it behind ours
        state.output = await get_model().generate(state.messages, [*shown(seat.listed), submit])
        state.messages.append(state.output.message)
        await seat.turn(state.output.message)
        return state

    return execute


FORM = """\

These are the tools, with the schemas of their arguments:
{schemas}

To call tools, reply with one JSON object and nothing else:
{{"calls": [{{"tool": "name", "arguments": {{"argument": "value"}}}}]}}
You are told the results and go on. When the task is solved, reply with the final answer, complete in itself:
{{"answer": "the answer"}}
Where the task names fields to hand in, the answer is an object with the fields' names as keys."""


class TextReact:
    """Turns of calls in text on a seat.

    Args:
        max_steps: Turns of the model.
    """

    def __init__(self, max_steps: int | None = None) -> None:
        self._max_steps = max_steps or MAX_STEPS

    async def __call__(self, tools: SeatTools, work: AgentState) -> None:
        """Work until there is an answer, or no turn is left."""
        schemas = json.dumps([schema(info) for info in shown(tools.listed)], ensure_ascii=False)
        work.messages.insert(0, ChatMessageSystem(content=PROMPT + FORM.format(schemas=schemas)))
        for _ in range(self._max_steps):
            work.output = await get_model().generate(work.messages)
            reply = work.output.message
            work.messages.append(reply)
            answer = read_answer(reply.text)
            if answer is not None:
                work.output.completion = answer
                return
            if '"calls"' not in reply.text:
                return
            try:
                calls = read_calls(reply.text)
            except ReplyError as error:
                await tools.attempt(reply.text)
                work.messages.append(ChatMessageUser(content=CORRECTION.format(problem=error)))
                continue
            message = ChatMessageAssistant(content=reply.text, tool_calls=calls_of(calls, tools.step))
            await tools.turn(message)
            content: list[Content] = [ContentText(text=RESULTS)]
            for number, result in enumerate(await tools.run(message), 1):
                content += result_parts(number, result)
            work.messages.append(ChatMessageUser(content=content))


MOUNTED = 5
"""Servers that are mounted."""

MOST_WANTED = 10
"""Descriptions of servers that are read."""

WANTED = """\
Before you begin: no tools are mounted yet, and you do not know which there are. Think of what the task needs, and \
describe each server of tools that you want, in a sentence that says what it should be able to do. Reply with one JSON \
object and nothing else: {"servers": ["what the first should do", "what the second should do"]}"""


class Retrieving:
    """Inspect's react agent on the servers that the model describes.

    Args:
        max_steps: Turns of the model once its tools are mounted.
    """

    def __init__(self, max_steps: int | None = None) -> None:
        self._react = React(max_steps)

    async def __call__(self, tools: SeatTools, work: AgentState) -> None:
        """Ask what is wanted, mount it, and work until there is an answer, or no turn is left."""
        output = await get_model().generate([*work.messages, ChatMessageUser(content=WANTED)])
        there = list(dict.fromkeys(tool.name.partition(SEPARATOR)[0] for tool in tools.listed))
        wanted = descriptions(output.message.text)
        tools.mount(await anyio.to_thread.run_sync(nearest_servers, wanted, there, open_encoder()))
        await self._react(tools, work)


def descriptions(reply: str) -> list[str]:
    """The servers that a model describes; what is no such object is one description as it stands."""
    start, end = reply.find("{"), reply.rfind("}")
    try:
        found = json.loads(reply[start : end + 1])["servers"]
    except (ValueError, KeyError, TypeError):
        found = [reply]
    said = [text.strip() for text in found if isinstance(text, str)] if isinstance(found, list) else [reply]
    return [text for text in said if text][:MOST_WANTED]


def nearest_servers(wanted: Sequence[str], there: Sequence[str], encoder: Encoder) -> list[str]:
    """The servers whose own description is nearest to one of those wanted, by cosine, the nearest first."""
    if not wanted:
        return []
    known = whole_catalog().by_name
    told = [f"{known[name].title}: {', '.join(tool.name for tool in known[name].tools)}" for name in there]
    close = (encoder.encode(list(wanted)) @ encoder.encode(told).T).max(axis=0)
    return [name for _, name in sorted(zip((-close).tolist(), there, strict=True))][:MOUNTED]
