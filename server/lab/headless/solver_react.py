"""Drives a model by default: Inspect's react agent, a loop of turns in which the model calls tools.

It ends when the model submits an answer, or simply replies without calling anything.
"""

from inspect_ai.agent import Agent, AgentPrompt, AgentState, AgentSubmit, agent, react
from inspect_ai.model import get_model
from inspect_ai.tool import Tool

from m3bench.server.lab.headless.inspect_tools import SUBMIT, SeatTools, shown

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
