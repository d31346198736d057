"""How `m3bench study --store` has its cells played: samples go into a queue, workers play them, results come back."""

import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from m3bench.tasks.errors import UserError

if TYPE_CHECKING:
    from m3bench.server.lab.headless.plan import Plan
    from m3bench.server.lab.results.resultset import Sample
    from m3bench.server.lab.studies.cells import Cell
    from m3bench.server.lab.studies.crews import Crew
    from m3bench.server.lab.studies.gathering import Gathering
    from m3bench.server.lab.studies.plan_file import StudyPlan
    from m3bench.server.lab.studies.ray_crew import Cluster
    from m3bench.server.scorecard.model import ScoreCard
    from m3bench.server.store.place import Place
    from m3bench.server.store.postgres.queue import Queue

LOOK_SECONDS = 0.5
"""Between two looks for results."""

ALONE_SECONDS = 15.0
"""After which it is said that nobody plays."""


_SCALES = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


class Some(NamedTuple):
    """Workers that a study starts."""

    workers: int
    """How many."""
    slots: int
    """Samples at a time, of each."""
    lease: float
    """Seconds after which samples of one that is gone are taken by another."""


@dataclass(frozen=True, kw_only=True)
class Help:
    """Who plays what is in the queue."""

    place: "Place"
    """Where the queue is."""
    started: Some
    """Those that the study starts."""
    cluster: "Cluster | None" = None
    """Where to start them, when not here."""


def help_of(store: str | None, started: Some, on: str | None, needs: Sequence[str], *, pack: bool) -> Help | None:
    """Who plays, by the options of the command; None when the study's own process does.

    Raises:
        UserError: They do not go together.
    """
    from m3bench.server.commands.worker import queue_place

    if store is None:
        for given, option in ((started.workers, "--workers"), (on, "--on")):
            if given:
                raise UserError(f"{option} needs a queue to take samples from: --store postgresql://USER@HOST/NAME.")
    if on is None and (needs or pack):
        raise UserError("--needs and --pack are for workers on a cluster: add --on ray, or leave them out.")
    if store is None:
        return None
    if on is None:
        return Help(place=queue_place(store), started=started)
    if on != "ray" and not on.startswith("ray://"):
        raise UserError(f"--on {on}: only Ray clusters are known: --on ray, or --on ray://HOST:PORT.")
    if not started.workers:
        raise UserError("Say how many workers the cluster is to start: --workers N.")
    cluster = _cluster(None if on == "ray" else on, needs, pack=pack)
    return Help(place=queue_place(store), started=started, cluster=cluster)


def _cluster(address: str | None, needs: Sequence[str], *, pack: bool) -> "Cluster":
    from m3bench.server.lab.studies.ray_crew import Cluster

    amounts: dict[str, float] = {}
    for need in needs:
        name, _, text = need.partition("=")
        scale = _SCALES.get(text[-1:].upper(), 1) if name == "memory" else 1
        try:
            amounts[name] = float(text if scale == 1 else text[:-1]) * scale
        except ValueError:
            amounts[name] = -1.0
        if not name or not 0 <= amounts[name] < float("inf"):
            raise UserError(f"--needs {need}: write NAME=NUMBER, such as cpu=2, memory=4G, or gpu_slot=1.")
    cpus, memory = amounts.pop("cpu", 1.0), amounts.pop("memory", None)
    return Cluster(
        address=address, cpus=cpus, memory=None if memory is None else int(memory), resources=amounts, spread=not pack
    )


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
    from m3bench.server.lab.headless.progress import progress
    from m3bench.server.lab.studies.gathering import Gathering
    from m3bench.server.lab.studies.queued import identity, put
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
        shown = held.enter_context(progress(left, parallel=help.started.slots * max(1, help.started.workers)))

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
        if counts.workers or help.started.workers:
            alone = max(alone, time.monotonic() + ALONE_SECONDS)
        elif time.monotonic() > alone:
            alone = float("inf")
            _say(f"Nobody plays: start workers with `m3bench worker --store {help.place}`, or add --workers N.")
        time.sleep(LOOK_SECONDS)


def _crew(help: Help, study: str) -> "Crew":
    from m3bench.server.lab.studies.crews import LocalCrew, NoCrew
    from m3bench.server.lab.studies.worker import Terms

    count, slots, lease = help.started
    if not count:
        return NoCrew()
    terms = Terms(place=help.place, study=study, slots=slots, lease=lease)
    if help.cluster is None:
        return LocalCrew(terms, count)
    from m3bench.server.lab.studies.ray_crew import RayCrew

    return RayCrew(terms, count, help.cluster, _say)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
