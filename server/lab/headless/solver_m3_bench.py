"""Drives a model as the public evaluator of M³-Bench does: plan, process, decide and reply, each a prompt of its own.

Every prompt is put to the model behind the same history, which holds the task and the results of earlier steps and
nothing that the model said: a plan hands on the tools it chose, a decision ends the work or not. The plan sees the
whole catalog, descriptions and schemas uncut. Calls are strict JSON, unless native calls are asked for. The prompts
have the roles that M³-Bench gives them, in our own words.
"""

import json
import re
from collections.abc import Sequence

from inspect_ai.agent import AgentState
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageUser, Content, ContentText, get_model
from inspect_ai.tool import ToolInfo

from m3bench.server.lab.headless.executor import BATCH, MAX_STEPS, read_or_ask_again, result_parts, schema
from m3bench.server.lab.headless.inspect_tools import SeatTools, calls_of, shown
from m3bench.server.lab.headless.replies import ReplyError, read_strict_calls
from m3bench.tasks.tool_search import ToolSearch

PLAN = """\
You solve a task that begins with a picture, by calling tools in steps. This is step {step} of {steps}.

Decide which tools this step needs. Calls of one step run at the same time, so whatever needs a result that is not \
there yet waits for a later step. Leave out what has been done already: calls that nothing needs count against you.

Write one line for each tool you choose, its name, a colon, and what you want from it, as in
name_of_the_tool: what it is to find out
Below these lines say in a few words how they bring the task forward.

These are the tools, each with its description and the schema of its arguments:
{catalog}"""

PROCESS = """\
Now make the calls of step {step} of {steps} with the tools that were chosen for it, at least one and at most {batch}. \
They run at the same time.

{form}{pool}

The tools that were chosen, each with its description and the schema of its arguments:
{tools}"""

JSON_FORM = """\
Reply with one JSON object and with nothing before or after it, neither prose nor a code fence:
{"calls": [{"tool": "name", "arguments": {"argument": "value"}}]}"""

NATIVE_FORM = "Call the tools directly, all of them in this one turn."

POOL = """

Pictures that tools can open so far, by path, and where each is from:
{lines}"""

AGAIN = """\
Your reply could not be read: {problem} Reply once more with the JSON object alone:
{{"calls": [{{"tool": "name", "arguments": {{"argument": "value"}}}}]}}"""

RESULTS = "Results of step {step}:"

NO_CALLS = "Step {step} made no call: {problem}"

NOT_RUN = "Calls after the first {batch} of the step were not run."

DECIDE = """\
Look at the results so far and at the task again, which was:

{question}

Is everything there that its answer needs? Reply with one word, yes or no."""

REPLY = """\
The work with tools is over. Write the answer to the task from the results above, for the person who asked: plain \
words, nothing about tools or steps, nothing that the results do not show. Where the task names fields to hand in, end \
with them as one JSON object, the fields' names as keys."""


_PATH = re.compile(r"(?<![\w/:.\\-])(?:\.{1,2}/)?\w[\w./-]*\.(?:png|jpe?g|webp|gif|bmp|tiff?)\b", re.IGNORECASE)
"""A relative path to a picture; neither an address nor the path of a machine."""


class ImagePool:
    """Paths of pictures, each with where it is from, in the order in which they came up."""

    def __init__(self) -> None:
        self._origins: dict[str, str] = {}

    def add(self, text: str, origin: str) -> None:
        """Take in the pictures that a text names; those that are known keep their first origin."""
        for path in _PATH.findall(text):
            self._origins.setdefault(path.removeprefix("./"), origin)

    def lines(self) -> str:
        """The pool for a model to read; empty when there is nothing in it."""
        return "\n".join(f"- ./{path} ({origin})" for path, origin in self._origins.items())


FALLBACK = 4
"""Tools that are taken, those most like the task, when a plan names none."""


class M3Bench:
    """The paper's loop on a seat.

    Args:
        max_steps: Steps before the answer is asked for.
        batch: Calls in one step.
        native: Whether calls are the provider's tool calls rather than JSON.
    """

    def __init__(self, max_steps: int | None = None, batch: int | None = None, *, native: bool = False) -> None:
        self._max_steps = max_steps or MAX_STEPS
        self._batch = batch or BATCH
        self._native = native

    async def __call__(self, tools: SeatTools, work: AgentState) -> None:
        """Work until the model decides that it is done or no step is left, then have it reply."""
        talk = _Talk(tools, work, self._max_steps, self._batch, native=self._native)
        for step in range(1, self._max_steps + 1):
            chosen = await talk.plan(step)
            if await talk.process(step, chosen) and await talk.decide():
                break
        await talk.reply()


class _Talk:
    """The prompts of a task, all behind one history."""

    def __init__(self, tools: SeatTools, work: AgentState, steps: int, batch: int, *, native: bool) -> None:
        self._tools = tools
        self._work = work
        self._steps = steps
        self._batch = batch
        self._native = native
        self._infos = {info.name: info for info in shown(tools.listed)}
        self._history = list(work.messages)
        self._question = "\n".join(message.text for message in self._history)
        self._pool = ImagePool()
        self._pool.add(self._question, "with the task")

    async def plan(self, step: int) -> list[ToolInfo]:
        """The tools that the model chooses for a step."""
        prompt = PLAN.format(step=step, steps=self._steps, catalog=_described(list(self._infos.values())))
        reply = await self._ask(prompt)
        named = [name for name in self._infos if _names(reply.text, name)]
        if not named:
            search = ToolSearch([tool.model_dump(by_alias=True, exclude_none=True) for tool in self._tools.listed])
            named = [str(tool["name"]) for tool in search.find(self._question, FALLBACK)]
        return [self._infos[name] for name in named]

    async def process(self, step: int, chosen: Sequence[ToolInfo]) -> bool:
        """Have the model make the calls of a step and run them; whether there were any."""
        pool = self._pool.lines()
        prompt = PROCESS.format(
            step=step,
            steps=self._steps,
            batch=self._batch,
            form=NATIVE_FORM if self._native else JSON_FORM,
            pool=POOL.format(lines=pool) if pool else "",
            tools=_described(chosen),
        )
        try:
            calls, left = await (self._called(prompt, chosen) if self._native else self._written(prompt))
        except ReplyError as error:
            self._history.append(ChatMessageUser(content=NO_CALLS.format(step=step, problem=error)))
            return False
        content: list[Content] = [ContentText(text=RESULTS.format(step=step))]
        for number, result in enumerate(await self._tools.run(calls), 1):
            self._pool.add(result.text, f"from {result.function}, step {step}")
            content += result_parts(number, result)
        if left:
            content.append(ContentText(text=NOT_RUN.format(batch=self._batch)))
        self._history.append(ChatMessageUser(content=content))
        return True

    async def decide(self) -> bool:
        """Whether the model says that the task is done; whatever is not a yes is a no."""
        reply = await self._ask(DECIDE.format(question=self._question))
        return re.match(r"\W*yes\b", reply.text, re.IGNORECASE) is not None

    async def reply(self) -> None:
        """Have the model answer."""
        await self._ask(REPLY)

    async def _called(self, prompt: str, chosen: Sequence[ToolInfo]) -> tuple[ChatMessageAssistant, bool]:
        """A turn of native calls, those that are run; whether more were made."""
        reply = await self._ask(prompt, tools=chosen)
        made = reply.tool_calls or []
        run = reply.model_copy(update={"tool_calls": made[: self._batch]})
        await self._tools.turn(run)
        if not made:
            raise ReplyError("no tool was called.")
        return run, len(made) > self._batch

    async def _written(self, prompt: str) -> tuple[ChatMessageAssistant, bool]:
        """A turn of calls in JSON, which the model may write once more when they cannot be read."""
        text, made = await read_or_ask_again(self._ask, prompt, read_strict_calls, AGAIN, self._tools.attempt)
        run = ChatMessageAssistant(content=text, tool_calls=calls_of(made[: self._batch], self._tools.step))
        await self._tools.turn(run)
        return run, len(made) > self._batch

    async def _ask(
        self,
        prompt: str,
        earlier: Sequence[ChatMessage] = (),
        tools: Sequence[ToolInfo] = (),
    ) -> ChatMessageAssistant:
        """Put a prompt to the model behind the history, which it does not become part of."""
        asked = ChatMessageUser(content=prompt)
        self._work.output = await get_model().generate([*self._history, *earlier, asked], list(tools))
        self._work.messages += [asked, self._work.output.message]
        return self._work.output.message


def _described(tools: Sequence[ToolInfo]) -> str:
    """Tools with all that is known of them, one on a line."""
    return "\n".join(json.dumps(schema(info), ensure_ascii=False) for info in tools)


def _names(text: str, name: str) -> bool:
    """Whether a line of a plan begins with a tool's name and a colon; bullets and quotes around it are ignored."""
    return re.search(rf"^[\s\"'`*\d.-]*{re.escape(name)}[\"'`*]*\s*:", text, re.MULTILINE) is not None
