"""Plays the samples of a plan with a baseline agent, each on its own seat of one server in this process.

A sample ends with the score card of its run. A sample that breaks through no fault of the agent is void.
"""

import random
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from m3bench.proxy.protocol.messages import MODERN_REVISIONS
from m3bench.proxy.seat import Seat
from m3bench.server.app import App
from m3bench.server.lab.authoring.sets import chosen_library
from m3bench.server.lab.headless.agents.play import AgentPlay, Answer, Hidden, SeatClient
from m3bench.server.lab.headless.agents.registry import BaselineAgent
from m3bench.server.lab.headless.plan import RunPlan, SampleAttempt, SampleDone, SampleSource
from m3bench.server.lab.results.resultset import DATA, HEADER, Sample
from m3bench.server.scorecard.model import ScoreCard
from m3bench.server.store.layout import database
from m3bench.tasks.errors import M3Error, RunError, first_cause
from m3bench.tasks.fault import Fault, fault_of_error
from m3bench.tasks.lazy_modules import LazyModule
from m3bench.tasks.task import Task

if TYPE_CHECKING:
    import mcp
    import mcp_types

    from m3bench.proxy.transports import sdk_server
else:
    # Few agents need the SDK, which takes as long to load as all the rest.
    mcp = LazyModule("mcp")
    mcp_types = LazyModule("mcp_types")
    sdk_server = LazyModule("m3bench.proxy.transports.sdk_server")

RUNS_PER_SANDBOX = 1000
"""Runs per sandbox: the agents are trusted, and most of a sandbox's time goes into reading the world and pictures."""

TELLING_LETTERS = 32
"""A text this long does not occur in a result by chance."""


@dataclass(frozen=True, kw_only=True)
class AgentCell:
    """What one agent is to play, as one of several."""

    plan: RunPlan
    agent: BaselineAgent
    done: SampleDone
    """Called with every finished sample."""
    around: Callable[[], AbstractContextManager[None]]
    """Entered before the first sample and left after the last; it may swallow what went wrong."""


async def play_cells(cells: Iterable[AgentCell]) -> None:
    """Play cells one after the other in the same sandboxes, because most of a sandbox's time goes into reading the
    world."""
    async with AsyncExitStack() as stack:
        lender: App | None = None
        for cell in cells:
            with cell.around():
                if not cell.plan.todo:
                    continue
                try:
                    app = _app(cell.plan, lender)
                    async with AsyncExitStack() as own:
                        # The one that lends its sandboxes is there until the end.
                        await (own if lender is not None else stack).enter_async_context(app.lifespan())
                        lender = lender or app
                        await _play_all(app, cell.plan, cell.agent, cell.done)
                except BaseExceptionGroup as group:
                    # A task group wraps what went wrong, which is still one thing.
                    raise first_cause(group) from group


async def play_plan(plan: RunPlan, agent: BaselineAgent, done: SampleDone, source: SampleSource | None = None) -> None:
    """Play what is to be done, `plan.parallel` samples at a time.

    Args:
        plan: The plan.
        agent: Who plays.
        done: Called with every finished sample.
        source: Gives the samples in place of those of the plan.
    """
    app = _app(plan)
    async with app.lifespan():
        await _play_all(app, plan, agent, done, source)


def _app(plan: RunPlan, lender: App | None = None) -> App:
    """The server of a plan, with the sandboxes of another one where it would start just such."""
    alike = lender is not None and lender.settings.sandbox == plan.settings.sandbox == "process"
    app = App(
        plan.settings, runs_per_sandbox=RUNS_PER_SANDBOX if plan.settings.sandbox == "process" else 1,
        sandboxes=lender.pool if lender is not None and alike else None, library=chosen_library(plan.settings),
    )  # fmt: skip
    app.check()
    return app


async def _play_all(
    app: App, plan: RunPlan, agent: BaselineAgent, done: SampleDone, source: SampleSource | None = None
) -> None:
    waiting = by_family(plan)

    async def work(place: int) -> None:
        while (attempt := next_for(place, waiting) if source is None else await source()) is not None:
            done(*await _sample(app, plan, agent, attempt))

    async with anyio.create_task_group() as workers:
        for place in range(plan.parallel):
            workers.start_soon(work, place)


def by_family(plan: RunPlan) -> list[deque[SampleAttempt]]:
    """What is to be played, divided among as many as play at a time: a family's samples go to one of them.

    So the world that a family asks about is read by one sandbox, and a picture is read once for all agents.
    """
    families: dict[str, int] = {}
    parts: list[deque[SampleAttempt]] = [deque() for _ in range(plan.parallel)]
    for task in plan.header.tasks:
        families.setdefault(plan.library.task(task).family, len(families))
    for attempt in plan.todo:
        parts[families[plan.task(attempt).family] % plan.parallel].append(attempt)
    return parts


def next_for(place: int, parts: Sequence[deque[SampleAttempt]]) -> SampleAttempt | None:
    """The next sample of a part; when it is empty, the last one of the longest, whose turn would come last."""
    if parts[place]:
        return parts[place].popleft()
    longest = max(parts, key=len)
    return longest.pop() if longest else None


async def _sample(
    app: App, plan: RunPlan, agent: BaselineAgent, attempt: SampleAttempt
) -> tuple[Sample, ScoreCard | None]:
    began = time.monotonic()
    run = None
    card: ScoreCard | None = None
    try:
        run = await _play(app, plan, agent, attempt)
        record = app.store.run(run)
        assert record is not None
        card = await app.score(record)
        reason = card.void_reason
        fault: Fault = card.void.fault if card.void is not None else "client"
    except M3Error as error:
        reason, fault = str(error), fault_of_error(error)
    sample = Sample(
        task=attempt.task,
        repeat=attempt.repeat,
        state="void" if reason else "scored",
        run=run,
        fault=fault,
        reason=reason,
        seconds=round(time.monotonic() - began, 3),
    )
    return sample, None if reason else card


async def _play(app: App, plan: RunPlan, agent: BaselineAgent, attempt: SampleAttempt) -> str:
    """Play one sample up to its submission; the run's handle."""
    task = plan.task(attempt)
    seat = app.open_seat(profile=plan.profile(task.id))
    client = SeatClient(app.front, seat, agent.name, _own_version())
    try:
        opening = _meant(await client.call_tool("start_task", {"task_id": task.id}))
        facts = opening.meta["m3bench/task"]
        play = AgentPlay(
            client=client,
            connect=partial(_connected, app, agent.name, seat),
            task=task,
            library=plan.library,
            run=str(facts["run"]),
            repeat=attempt.repeat,
            pictures=(*facts["pictures"], *facts.get("recordings", ())),
            images=opening.images,
            shown=frozenset(tool.qualified for tool in seat.tools.values()),
            indirect=bool(seat.unlisted),
            hidden=_hidden(plan, task),
            dice=random.Random(f"{plan.seed} {task.id} {attempt.repeat}"),
        )
        answer = await agent.play(play)
        handed_in = {"answer": answer, **({"fields": play.fields} if play.fields else {})}
        if (await client.call_tool("submit", handed_in)).is_error:
            # An answer without its fields is sent back once, and then taken as it is.
            _meant(await client.call_tool("submit", handed_in))
        return play.run
    finally:
        with anyio.CancelScope(shield=True):
            await app.close_seat(seat)


@asynccontextmanager
async def _connected(app: App, name: str, seat: Seat) -> "AsyncIterator[mcp.Client]":
    """An MCP client on a seat."""

    async def seat_of(context: object) -> Seat:
        return seat

    info = mcp_types.Implementation(name=name, version=_own_version())
    async with mcp.Client(
        sdk_server.sdk_server(app.front, seat_of), mode=MODERN_REVISIONS[-1], client_info=info
    ) as client:
        yield client


@cache
def _own_version() -> str:
    # A package's metadata is read anew each time it is asked for.
    return version("m3bench")


def _hidden(plan: RunPlan, task: Task) -> Hidden:
    """What a run of the task must not see."""
    texts = (task.wording, task.answer, plan.library.hash)
    return Hidden(
        files=_hidden_files(plan.library.folder, plan.folder),
        texts=tuple(text for text in texts if len(text) >= TELLING_LETTERS),
    )


@lru_cache(maxsize=4)
def _hidden_files(tasks: Path, results: Path) -> tuple[str, ...]:
    return tuple(str(path.resolve()) for path in (tasks / "tasks.json", results / HEADER, database(results / DATA)))


def _meant(answer: Answer) -> Answer:
    """The answer of one of the benchmark's own tools, which do not fail in normal operation."""
    if answer.is_error:
        raise RunError(answer.text)
    return answer
