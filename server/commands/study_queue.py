"""How `m3bench study --store` has its cells played: samples go into a queue, workers play them, results come back."""

import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from m3bench.tasks.errors import UserError

if TYPE_CHECKING:
    from m3bench.server.evaluate.headless.plan import Plan
    from m3bench.server.evaluate.study.cells import Cell
    from m3bench.server.evaluate.study.crews import Crew
    from m3bench.server.evaluate.study.gathering import Gathering
    from m3bench.server.evaluate.study.plan_file import StudyPlan
    from m3bench.server.results.resultset import Sample
    from m3bench.server.scorecard.model import ScoreCard
    from m3bench.server.store.place import Place
    from m3bench.server.store.postgres.queue import Queue

LOOK_SECONDS = 0.5
"""Between two looks for results."""

ALONE_SECONDS = 15.0
"""After which it is said that nobody plays."""


@dataclass(frozen=True, kw_only=True)
class Help:
    """Who plays what is in the queue."""

    place: "Place"
    """Where the queue is."""
    workers: int = 0
    """Processes to start here."""
    slots: int = 4
    """Samples at a time, of each worker that is started."""
    lease: float = 60.0
    """Seconds after which samples of a worker that is gone are taken by another."""


def play_queued(
    meant: "StudyPlan", chosen: "Sequence[tuple[Cell, Plan]]", help: Help, spent: "Callable[[Sample | None], None]"
) -> list[str]:
    """Have what is left of every cell played by workers; what went wrong, in words.

    Args:
        meant: The study.
        chosen: Its cells.
        help: Who plays.
        spent: Is told of every sample, and before the first; raises what ends the study.
    """
    from m3bench.server.evaluate.headless.progress import progress
    from m3bench.server.evaluate.study.gathering import Gathering
    from m3bench.server.evaluate.study.queued import identity, put
    from m3bench.server.store.postgres.queue import Queue

    left = sum(len(plan.todo) for _, plan in chosen)
    with ExitStack() as held:
        queue = held.enter_context(closing(Queue(help.place, _say)))
        for _, plan in chosen:
            held.enter_context(plan.begin())
        if not left:
            return []
        spent(None)
        study = identity(meant)
        put(queue, study, meant, chosen)
        _say(f"In the queue as {study}.")
        shown = held.enter_context(progress(left, parallel=help.slots * max(1, help.workers)))

        def told(cell: "Cell", sample: "Sample", card: "ScoreCard | None") -> None:
            shown.tell(cell.name, sample, card)
            spent(sample)

        gathering = Gathering(queue, study, chosen, told)
        crew = _crew(help, study)
        held.callback(crew.close)
        try:
            crew.start()
            return _wait(gathering, queue, study, crew, help)
        except UserError:
            queue.withdraw(study, [cell.name for cell, _ in chosen])
            raise


def _wait(gathering: "Gathering", queue: "Queue", study: str, crew: "Crew", help: Help) -> list[str]:
    """Gather until everything is done, or nobody is left to do it."""
    said: dict[str, str] = {}
    alone = time.monotonic() + ALONE_SECONDS
    while True:
        gone = crew.gone()
        counts = gathering.gather()
        if not counts.waiting and not counts.leased:
            return []
        for cell, why in queue.troubles(study).items():
            if said.get(cell) != why:
                said[cell] = why
                _say(f"{cell}: {why}")
        if gone is not None:
            return [gone]
        if counts.workers or help.workers:
            alone = max(alone, time.monotonic() + ALONE_SECONDS)
        elif time.monotonic() > alone:
            alone = float("inf")
            _say(f"Nobody plays: start workers with `m3bench worker --store {help.place}`, or add --workers N.")
        time.sleep(LOOK_SECONDS)


def _crew(help: Help, study: str) -> "Crew":
    from m3bench.server.evaluate.study.crews import LocalCrew, NoCrew
    from m3bench.server.evaluate.study.worker import Terms

    if not help.workers:
        return NoCrew()
    return LocalCrew(Terms(place=help.place, study=study, slots=help.slots, lease=help.lease), help.workers)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
