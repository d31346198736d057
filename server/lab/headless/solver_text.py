"""Drives a model without tool calls of its own: the loop of `solver_react`, with calls written as JSON in text.

Every turn the model writes either calls, which run together, or its answer. A reply that holds neither is taken for the
answer, as a turn without calls is in the native loop; one that means calls and cannot be read is put on record as
such, and the model is told what is wrong.
"""

import json

from inspect_ai.agent import AgentState
from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser, Content, ContentText, get_model

from m3bench.server.lab.headless.executor import result_parts, schema
from m3bench.server.lab.headless.executor_prompts import CORRECTION, RESULTS
from m3bench.server.lab.headless.executor_replies import ReplyError, read_answer, read_calls
from m3bench.server.lab.headless.inspect_tools import SeatTools, calls_of, shown
from m3bench.server.lab.headless.solver_react import MAX_STEPS, PROMPT

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
