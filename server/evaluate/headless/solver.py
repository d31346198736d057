"""Plays one sample: opens its seat, lets an agent work on it within limits, hands in the answer and fetches the card.

A model that gives up or reaches a limit is scored with what it did by then. What breaks through no fault of the model
ends the sample with an error: it has no score, and a headless run counts it as void.
"""

import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from inspect_ai.agent import AgentState
from inspect_ai.model import ChatMessageAssistant

# The usage of a sample so far has no public name; the log that does is written when the sample is over.
from inspect_ai.model._model import sample_model_usage
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import Limit, LimitExceededError, apply_limits, message_limit, time_limit, token_limit
from mcp_types import Implementation

from m3bench.server.evaluate.headless.executor import Executor
from m3bench.server.evaluate.headless.inspect_seat import SampleSeat, Seating, open_seat
from m3bench.server.evaluate.headless.inspect_tools import SeatTools
from m3bench.server.evaluate.headless.inspect_watch import WATCH, Watch
from m3bench.server.evaluate.headless.scorer import ANSWER, CARD, RUN
from m3bench.server.evaluate.headless.solver_react import React
from m3bench.server.results.resultset import Sample, Usage, void_reason
from m3bench.tasks.errors import M3Error, SandboxError, UserError

SOLVERS = ("react", "executor")
CALLING = ("native", "text")

MAX_MINUTES = 60.0
"""What the server allows a run, where the limit of the sample does not come first."""

HAND_IN_SECONDS = 60.0
"""What submitting and scoring may take when time is up already."""

MAX_REASON = 500


@solver
def seated(
    data: str,
    tasks: str | None = None,
    sandbox: str = "process",
    runtime: str | None = None,
    max_calls: int = 200,
    agent: str = "react",
    calling: str | None = None,
    max_steps: int | None = None,
    batch: int | None = None,
    minutes: float | None = None,
    messages: int | None = None,
    tokens: int | None = None,
) -> Solver:
    """An agent on a seat of its own.

    Args:
        data: Folder for the record of runs.
        tasks: Folder with a set of tasks; the bundled set when left out.
        sandbox: Where tools run.
        runtime: Another OCI runtime for containers.
        max_calls: Calls a sample may make.
        agent: `react` or `executor`.
        calling: How the executor's model calls tools: `native` or `text`.
        max_steps: Turns a sample may take.
        batch: Calls the executor makes in one step.
        minutes: Time a sample may take.
        messages: Messages a conversation may have.
        tokens: Tokens a sample may use.
    """
    play = _player(agent, calling, max_steps, batch)
    seating = Seating(
        data=Path(data),
        tasks=Path(tasks) if tasks is not None else None,
        sandbox=sandbox,
        runtime=runtime,
        max_calls=max_calls,
        max_minutes=max(MAX_MINUTES, minutes or 0.0),
    )

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        watch = WATCH.get()
        if watch is not None:
            watch.check()
        began = time.monotonic()
        try:
            await _sample(state)
        except LimitExceededError:
            _tell(watch, state, began)
            raise
        except Exception as error:
            _tell(watch, state, began, _reason(error))
            raise
        _tell(watch, state, began)
        return state

    async def _sample(state: TaskState) -> None:
        facts = state.metadata
        client = Implementation(name=str(state.model), version=agent)
        async with open_seat(seating, facts["task"], facts["profile"], client) as seat:
            state.store.set(RUN, seat.run)
            work = AgentState(messages=state.messages)
            async with _handing_in(seat, state, work):
                with apply_limits(_limits(minutes, messages, tokens), catch_errors=True):
                    await play(SeatTools(seat), work)

    return solve


def check_player(agent: str, calling: str | None) -> None:
    """Raise what is wrong with a choice of solver."""
    if agent not in SOLVERS:
        raise UserError(f"There is no solver {agent!r}: choose {' or '.join(SOLVERS)}.")
    if calling is not None and calling not in CALLING:
        raise UserError(f"Tools cannot be called in the way {calling!r}: choose {' or '.join(CALLING)}.")
    if agent == "react" and calling == "text":
        raise UserError("Calling tools in text is a way of the executor: add --solver executor.")


def _player(agent: str, calling: str | None, max_steps: int | None, batch: int | None) -> React | Executor:
    check_player(agent, calling)
    return React(max_steps) if agent == "react" else Executor(max_steps, batch, text=calling == "text")


def _limits(minutes: float | None, messages: int | None, tokens: int | None) -> list[Limit]:
    limits: list[Limit] = []
    if minutes:
        limits.append(time_limit(minutes * 60))
    if messages:
        limits.append(message_limit(messages))
    if tokens:
        limits.append(token_limit(tokens))
    return limits


@asynccontextmanager
async def _handing_in(seat: SampleSeat, state: TaskState, work: AgentState) -> AsyncIterator[None]:
    """Hand in what there is when the body ends, by itself or by a limit; not when it breaks or is called off."""
    deadline = anyio.current_effective_deadline()
    try:
        yield
    except LimitExceededError:
        await _hand_in(seat, state, work)
        raise
    except anyio.get_cancelled_exc_class():
        if anyio.current_time() >= deadline:
            with anyio.move_on_after(HAND_IN_SECONDS, shield=True):
                await _hand_in(seat, state, work)
        raise
    else:
        await _hand_in(seat, state, work)


async def _hand_in(seat: SampleSeat, state: TaskState, work: AgentState) -> None:
    state.messages, state.output = work.messages, work.output
    answer = _answer(work)
    await seat.submit(answer)
    card = await seat.score()
    state.store.set(ANSWER, answer)
    reason = void_reason(card)
    if reason:
        raise SandboxError(reason)
    state.store.set(CARD, card)


def _answer(work: AgentState) -> str:
    """What the model said last."""
    if work.output.completion:
        return work.output.completion
    said = (message.text for message in reversed(work.messages) if isinstance(message, ChatMessageAssistant))
    return next((text for text in said if text), "")


def _tell(watch: Watch | None, state: TaskState, began: float, reason: str = "") -> None:
    """Tell a headless run what became of a sample."""
    if watch is None:
        return
    card: Mapping[str, Any] | None = None if reason else state.store.get(CARD)
    sample = Sample(
        task=state.metadata["task"],
        repeat=state.metadata["repeat"],
        state="void" if card is None else "scored",
        run=state.store.get(RUN),
        reason=reason,
        usage=_usage(),
        seconds=round(time.monotonic() - began, 3),
    )
    watch.over(sample, card)


def _usage() -> Usage:
    used = sample_model_usage().values()
    costs = [usage.total_cost for usage in used if usage.total_cost is not None]
    return Usage(
        input_tokens=sum(
            usage.input_tokens + (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
            for usage in used
        ),
        output_tokens=sum(usage.output_tokens for usage in used),
        cost=sum(costs) if costs else None,
    )


def _reason(error: Exception) -> str:
    """What a person is told of a failure, on one line."""
    text = str(error) if isinstance(error, M3Error) else f"{type(error).__name__}: {error}"
    line = " ".join(text.split())
    return line if len(line) <= MAX_REASON else f"{line[:MAX_REASON]}…"
