"""Plays one sample: opens its seat, lets an agent work on it within limits, submits the answer and fetches the card.

A model that gives up or reaches a limit is scored on what it did until then. A failure that is not the model's ends the
sample with an error: it has no score, and a headless run counts it as void.
"""

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from pathlib import Path

import anyio
from inspect_ai.agent import AgentState
from inspect_ai.dataset import Sample as InspectSample
from inspect_ai.model import ChatMessageAssistant, get_model
from inspect_ai.model._model import sample_model_usage
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import Limit, LimitExceededError, apply_limits, message_limit, time_limit, token_limit
from mcp_types import Implementation
from pydantic import BaseModel, ConfigDict

from m3bench.server.lab.headless.executor import Executor
from m3bench.server.lab.headless.inspect_listen import HEARD, Heard, listen, spare_tokenizer
from m3bench.server.lab.headless.inspect_seat import SampleSeat, SeatOptions, open_seat
from m3bench.server.lab.headless.inspect_task import ANSWER, CARD, RUN, with_pictures
from m3bench.server.lab.headless.inspect_tools import SeatTools
from m3bench.server.lab.headless.plan import SampleDone
from m3bench.server.lab.headless.providers.failures import Gone
from m3bench.server.lab.headless.solver_m3_bench import M3Bench
from m3bench.server.lab.headless.solver_mcp_bench import McpBench
from m3bench.server.lab.headless.solver_react import React, Retrieving, TextReact
from m3bench.server.lab.results.resultset import Sample, SampleUsage
from m3bench.server.scorecard.migration import read_card
from m3bench.server.scorecard.model import ScoreCard
from m3bench.server.settings import MAX_CALLS
from m3bench.tasks.errors import M3Error, ProviderError, RunEndError, RunError, UserError
from m3bench.tasks.fault import Fault, cut, fault_of_error

PATIENCE = 8
"""Void samples in a row after which no more begin."""


GONE = 2
"""Samples in a row whose provider answers nothing for good, after which nothing more is begun."""


class SampleWatch:
    """Passes on what became of samples.

    Args:
        done: Called with every finished sample.
        patience: Void samples in a row after which no more begin.
        found: Finds what is to be played, for samples that are only places for one; None when nothing is left.
    """

    def __init__(
        self,
        done: SampleDone,
        patience: int = PATIENCE,
        found: Callable[[], Awaitable[InspectSample | None]] | None = None,
    ) -> None:
        self._done = done
        self._found = found
        self._patience = patience
        self._void_in_a_row = 0
        self._gone_in_a_row = 0
        self.broken: Exception | None = None
        """Why samples could no longer be kept."""
        self.last_reason = ""
        self.last_fault: Fault = "client"
        self.gone: Gone = ""
        """What no longer answers requests: the whole provider, or the one model."""

    @property
    def halted(self) -> bool:
        """Whether no more samples may begin."""
        return self.broken is not None or bool(self.gone) or self._void_in_a_row >= self._patience

    def check(self) -> None:
        """Raise when no more samples may begin."""
        if self.halted:
            raise RunError("Not begun: the run was stopped before this sample.")

    async def begin(self, state: TaskState) -> None:
        """A sample is to begin; one that is only a place becomes what is found for it.

        Raises:
            RunError: Nothing more is to be begun.
        """
        self.check()
        if self._found is None:
            return
        sample = await self._found()
        if sample is None:
            raise RunError("Not begun: nothing is left to play.")
        assert isinstance(sample.input, list)
        state.messages, state.metadata = list(sample.input), dict(sample.metadata or {})

    def over(self, sample: Sample, card: ScoreCard | None, gone: Gone = "") -> None:
        """A sample is over; `gone` says which provider or model will answer no further requests."""
        self._gone_in_a_row = self._gone_in_a_row + 1 if gone else 0
        if self._gone_in_a_row >= GONE:
            self.gone = gone
        if sample.state == "void":
            self._void_in_a_row += 1
            self.last_reason, self.last_fault = sample.reason, sample.fault
        else:
            self._void_in_a_row = 0
        try:
            self._done(sample, card)
        except Exception as error:
            self.broken = error
            raise


WATCH: ContextVar[SampleWatch | None] = ContextVar("m3bench_watch", default=None)


FAULT = "m3bench/fault"
"""Where a sample's store says who is responsible for its end, when that is not simply the model."""

SOLVERS = ("react", "executor", "m3-bench", "mcp-bench", "mcpverse")
RETRIEVING = "mcpverse"
PLANNING = ("rounds", "one-shot")
CALLING = ("native", "text")

MAX_MINUTES = 60.0
"""The server's own limit for a run, unless the sample's limit is longer."""

HAND_IN_SECONDS = 60.0
"""How long submitting and scoring may take after the time limit."""


class SampleOptions(BaseModel):
    """How a sample is played: by which agent, where its tools run, and within which limits.

    Inspect writes it to its log as plain data and builds it from that again when an evaluation is retried.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    data: Path
    """Folder for the record of runs."""
    tasks: Path | None = None
    """Folder with a set of tasks; the bundled set when left out."""
    sandbox: str = "process"
    """Where tools run."""
    runtime: str | None = None
    """Another OCI runtime for containers."""
    encoder: str = "minilm"
    """What compares arguments."""
    max_calls: int = MAX_CALLS
    """Calls a sample may make."""
    weather: str = "fair"
    """Whether tools fail and change as they do in use."""
    agent: str = "react"
    """One of `SOLVERS`."""
    calling: str | None = None
    """How the model calls tools: `native` or `text`."""
    sighted: bool = True
    """Whether the model is shown pictures."""
    max_steps: int | None = None
    """Turns a sample may take."""
    batch: int | None = None
    """Calls in one step, for solvers that work in steps."""
    planning: str | None = None
    """One of `PLANNING`, for `mcp-bench`."""
    compress: int | None = None
    """Characters above which `mcp-bench` has a result shortened."""
    minutes: float | None = None
    """Time a sample may take."""
    messages: int | None = None
    """Messages a conversation may have."""
    tokens: int | None = None
    """Tokens a sample may use."""

    def player(self) -> React | TextReact | Retrieving | Executor | M3Bench | McpBench:
        """What drives the model.

        Raises:
            UserError: There is no such agent, or it cannot call tools in this way.
        """
        check_player(self.agent, self.calling, self.planning, self.compress)
        if self.agent == "react":
            return TextReact(self.max_steps) if self.calling == "text" else React(self.max_steps)
        if self.agent == RETRIEVING:
            return Retrieving(self.max_steps)
        if self.agent == "m3-bench":
            return M3Bench(self.max_steps, self.batch, native=self.calling == "native")
        if self.agent == "mcp-bench":
            return McpBench(
                self.max_steps,
                self.compress,
                one_shot=self.planning == "one-shot",
                native=self.calling == "native",
            )
        return Executor(self.max_steps, self.batch, text=self.calling == "text")

    def seating(self) -> SeatOptions:
        """How the server of a sample is started."""
        return SeatOptions(
            data=self.data,
            tasks=self.tasks,
            sandbox=self.sandbox,
            runtime=self.runtime,
            encoder=self.encoder,
            max_calls=self.max_calls,
            weather=self.weather,
            max_minutes=max(MAX_MINUTES, self.minutes or 0.0),
        )

    def limits(self) -> list[Limit]:
        """The limits that Inspect watches."""
        limits: list[Limit] = []
        if self.minutes:
            limits.append(time_limit(self.minutes * 60))
        if self.messages:
            limits.append(message_limit(self.messages))
        if self.tokens:
            limits.append(token_limit(self.tokens))
        return limits


@solver
def seated(options: SampleOptions) -> Solver:
    """An agent on a seat of its own."""
    options = SampleOptions.model_validate(options)
    play, seating = options.player(), options.seating()

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        watch = WATCH.get()
        if watch is not None:
            await watch.begin(state)
        began = time.monotonic()
        heard = Heard(task=str(state.metadata.get("task", "")))
        listen(get_model())
        spare_tokenizer(get_model())
        token = HEARD.set(heard)
        try:
            await _sample(state, heard)
        except LimitExceededError as error:
            _tell(watch, state, heard, began, heard.ended(error.type), fault="limit")
            raise
        except Exception as error:
            _tell(watch, state, heard, began, error)
            raise
        finally:
            HEARD.reset(token)
        _tell(watch, state, heard, began, fault=state.store.get(FAULT, "client"))
        return state

    async def _sample(state: TaskState, heard: Heard) -> None:
        facts = state.metadata
        client = Implementation(name=str(state.model), version=options.agent)
        async with open_seat(seating, facts["task"], facts["profile"], client) as seat:
            state.store.set(RUN, seat.run)
            work = AgentState(messages=with_pictures(state.messages, seat.pictures))
            async with _handing_in(seat, state, work, heard):
                with apply_limits(options.limits(), catch_errors=True) as limited:
                    await play(SeatTools(seat, sighted=options.sighted), work)
                if limited.limit_error is not None:
                    _raise(heard.ended(limited.limit_error.type))
                    state.store.set(FAULT, "limit")

    return solve


def check_player(agent: str, calling: str | None, planning: str | None = None, compress: int | None = None) -> None:
    """Raise what is wrong with a choice of solver."""
    if agent not in SOLVERS:
        raise UserError(f"There is no solver {agent!r}: choose {', '.join(SOLVERS)}.")
    if calling is not None and calling not in CALLING:
        raise UserError(f"There is no way of calling {calling!r}: choose {' or '.join(CALLING)}.")
    if planning is not None and planning not in PLANNING:
        raise UserError(f"There is no planning {planning!r}: choose {' or '.join(PLANNING)}.")
    if agent != "mcp-bench" and (planning is not None or compress is not None):
        raise UserError("--planning and --compress are for the solver mcp-bench: add --solver mcp-bench.")
    if agent == RETRIEVING and calling == "text":
        raise UserError(f"The solver {RETRIEVING} makes native calls: leave out --calling text.")
    if planning == "one-shot" and calling == "native":
        raise UserError("A plan in one shot is written as JSON: leave out --calling native.")


@asynccontextmanager
async def _handing_in(seat: SampleSeat, state: TaskState, work: AgentState, heard: Heard) -> AsyncIterator[None]:
    """Submit what there is when the body ends or reaches a limit, but not when it fails or is cancelled.

    What the provider did not answer is not handed in, whichever limit ended the waiting.
    """
    deadline = anyio.current_effective_deadline()
    try:
        yield
    except LimitExceededError as error:
        _raise(heard.ended(error.type))
        await _hand_in(seat, state, work)
        raise
    except anyio.get_cancelled_exc_class():
        if anyio.current_time() >= deadline and heard.ended("time") is None:
            with anyio.move_on_after(HAND_IN_SECONDS, shield=True):
                await _hand_in(seat, state, work)
        raise
    except Exception as error:
        # What the provider said, not what Inspect makes of it; but not when something of ours broke meanwhile.
        said = None if isinstance(error, M3Error) and not isinstance(error, ProviderError) else heard.failure
        ended = heard.ended() if said is not None else None
        if ended is None:
            raise
        if ended.fault != "limit":
            raise ended from error
        state.store.set(FAULT, "limit")
        await _hand_in(seat, state, work)
    else:
        await _hand_in(seat, state, work)


def _raise(error: Exception | None) -> None:
    if error is not None:
        raise error


async def _hand_in(seat: SampleSeat, state: TaskState, work: AgentState) -> None:
    state.messages, state.output = work.messages, work.output
    answer = _answer(work)
    await seat.submit(answer)
    card = await seat.score()
    state.store.set(ANSWER, answer)
    if card.void is not None:
        raise RunEndError(card.void.words, fault=card.void.fault)
    state.store.set(CARD, card.to_json())


def _answer(work: AgentState) -> str:
    """What the model said last."""
    if work.output.completion:
        return work.output.completion
    said = (message.text for message in reversed(work.messages) if isinstance(message, ChatMessageAssistant))
    return next((text for text in said if text), "")


def _tell(
    watch: SampleWatch | None,
    state: TaskState,
    heard: Heard,
    began: float,
    error: Exception | None = None,
    *,
    fault: Fault = "client",
) -> None:
    """Report a finished sample to a headless run."""
    if watch is None:
        return
    found = None if error is not None else state.store.get(CARD)
    card = None if found is None else read_card(found)
    sample = Sample(
        task=state.metadata["task"],
        repeat=state.metadata["repeat"],
        state="void" if card is None else "scored",
        run=state.store.get(RUN),
        fault=fault if error is None else fault_of_error(error),
        reason="" if error is None else _reason(error),
        usage=_usage(),
        seconds=round(time.monotonic() - began, 3),
        retries=tuple(heard.retries),
    )
    watch.over(sample, card, error.gone if isinstance(error, ProviderError) else "")


def _usage() -> SampleUsage:
    used = sample_model_usage().values()
    costs = [usage.total_cost for usage in used if usage.total_cost is not None]
    return SampleUsage(
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
    return cut(text)
