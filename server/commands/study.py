"""`m3bench lab study`: many models and agents by one plan, in one command that can be stopped and continued.

The study's own process plays the samples; with --store they go into a queue, workers play them, and results come back.
"""

import shlex
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, nullcontext
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from m3bench.server.commands.options import Json
from m3bench.server.commands.recorded import remember
from m3bench.server.commands.run import play_cells
from m3bench.server.commands.screen import console, plain_table, print_json, say
from m3bench.server.commands.worker import queue_place
from m3bench.server.lab.headless.forked_servers import forked_servers
from m3bench.server.lab.headless.inspect_run import ProviderGoneError, find_model, run_model
from m3bench.server.lab.headless.inspect_seat import server_environment
from m3bench.server.lab.headless.outcome import AgentOutcome, outcome
from m3bench.server.lab.headless.outcome import table as outcome_table
from m3bench.server.lab.headless.plan import RunPlan, make_plan
from m3bench.server.lab.headless.progress import Progress, duration, progress
from m3bench.server.lab.results.resultset import Sample, append_sample
from m3bench.server.lab.studies.abilities import adapted, ask_models, not_known, spent_asking, to_ask, with_answers
from m3bench.server.lab.studies.cells import Cell, cells_of, choose
from m3bench.server.lab.studies.forecast import Forecast, Resolution, Spent, forecast, resolution, spent
from m3bench.server.lab.studies.plan_file import Caps, StudyModel, StudyPlan, read_plan
from m3bench.server.lab.studies.study_queue import Gathering, identity, put
from m3bench.server.lab.studies.worker import LEASE_SECONDS, Terms
from m3bench.server.lab.studies.worker_pools import Cluster, LocalWorkers, NoWorkers, RayWorkers, WorkerPool
from m3bench.server.scorecard.model import ScoreCard
from m3bench.server.serving import interrupts
from m3bench.server.serving.backend import check_backend
from m3bench.server.store.layout import database
from m3bench.server.store.location import RecordLocation
from m3bench.server.store.postgres.queue import Queue
from m3bench.tasks.errors import M3Error, UserError
from m3bench.tasks.lazy_modules import LazyModule

# It plays on a server in this process, and brings what makes tasks and pictures: help does without.
if TYPE_CHECKING:
    from m3bench.server.lab.headless.agents import player
else:
    player = LazyModule("m3bench.server.lab.headless.agents.player")

LOOK_SECONDS = 0.5
"""Between two looks for results."""

ALONE_SECONDS = 15.0
"""After which it is said that nobody plays."""

_SCALES = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}

Cells = Sequence[tuple[Cell, RunPlan]]
"""The cells of a study, each with what is left to play of it."""


class CapReached(UserError):
    """The study has used what it may."""


@dataclass(frozen=True, kw_only=True)
class WorkerOptions:
    """Who plays, when it is not the study's own process."""

    store: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Have workers play samples from this database: postgresql://USER@HOST/NAME."),
    ] = None
    workers: Annotated[
        int, typer.Option(min=0, metavar="N", help="With --store: start this many workers, here or as --on says.")
    ] = 0
    slots: Annotated[int, typer.Option(min=1, metavar="N", help="Samples at a time for each of these workers.")] = 4
    lease: Annotated[
        float,
        typer.Option(min=2, metavar="SECONDS", help="How long after one of them is gone others take over its samples."),
    ] = LEASE_SECONDS
    on: Annotated[
        str | None,
        typer.Option(metavar="CLUSTER", help="Start the workers on a Ray cluster: ray, or ray://HOST:PORT."),
    ] = None
    needs: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=N",
            help="With --on: what a worker needs of its node: cpu=1, memory=2G; may be repeated.",
        ),
    ] = None
    pack: Annotated[bool, typer.Option("--pack", help="With --on: fill a node before the next one.")] = False


@dataclass(frozen=True, kw_only=True)
class WorkForce:
    """Who plays what is in the queue."""

    place: RecordLocation
    """Where the queue is."""
    workers: int
    """How many workers the study starts."""
    slots: int
    """Samples at a time, of each."""
    lease: float
    """Seconds after which samples of one that is gone are taken by another."""
    cluster: Cluster | None = None
    """Where to start them, when not here."""

    @classmethod
    def of(cls, options: WorkerOptions) -> "WorkForce | None":
        """Who plays, by the options of the command; None when the study's own process does.

        Raises:
            UserError: They do not go together.
        """
        on, needs = options.on, options.needs or ()
        if options.store is None:
            for given, option in ((options.workers, "--workers"), (on, "--on")):
                if given:
                    raise UserError(
                        f"{option} needs a queue to take samples from: --store postgresql://USER@HOST/NAME."
                    )
        if on is None and (needs or options.pack):
            raise UserError("--needs and --pack are for workers on a cluster: add --on ray, or leave them out.")
        if options.store is None:
            return None
        if on is not None and on != "ray" and not on.startswith("ray://"):
            raise UserError(f"--on cannot be {on}: choose ray, or ray://HOST:PORT.")
        if on is not None and not options.workers:
            raise UserError("Say how many workers the cluster is to start: --workers N.")
        cluster = None if on is None else _cluster(None if on == "ray" else on, needs, pack=options.pack)
        return cls(
            place=queue_place(options.store),
            workers=options.workers,
            slots=options.slots,
            lease=options.lease,
            cluster=cluster,
        )

    def pool(self, study: str) -> WorkerPool:
        """The workers of a study, not started yet."""
        if not self.workers:
            return NoWorkers()
        terms = Terms(place=self.place, study=study, slots=self.slots, lease=self.lease)
        if self.cluster is None:
            return LocalWorkers(terms, self.workers)
        return RayWorkers(terms, self.workers, self.cluster, say)


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """What of a plan is to be played now."""

    plan: StudyPlan
    cells: Cells
    used: Spent
    """What the study has used so far."""
    expected: Sequence[Forecast]


def study(
    plan: Annotated[Path, typer.Argument(metavar="PLAN", help="File with the plan, in YAML.", show_default=False)],
    options: WorkerOptions,
    cell: Annotated[
        list[str] | None, typer.Option("--cell", metavar="NAME", help="Only this cell; may be repeated.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what there is to do and what it will take; play nothing.")
    ] = False,
    json: Json = False,
) -> None:
    """Play every model and agent of a plan on every set of tasks.

    \b
    m3bench lab study plan.yaml --dry-run        # what it will take
    m3bench lab study plan.yaml                  # play, or continue

    Each combination of model or agent, solver, tool profile and set is a cell: a result set in a folder of its own,
    which any other command takes. The same command continues what was stopped, tries void samples again, and plays
    only what is new when the plan has grown. It stops when the budget of the plan is used up. Prints a table of the
    cells.

    With --store the samples go into a database, from which workers take them: `m3bench lab worker --store URL`, started
    anywhere, or --workers N for some here, or on a Ray cluster with --on ray. Results come to the same folders.

    The exit code is 1 when samples are void or missing, 130 after Ctrl-C.
    """
    force = WorkForce.of(options)
    chosen = _choose(plan, cell or (), ask=not dry_run)
    if dry_run:
        _foretell(chosen, json=json)
        return
    meant, cells = chosen.plan, chosen.cells
    _check(cells)
    _tell_notes(cells)
    planned, left = (sum(getattr(part, name) for part in chosen.expected) for name in ("planned", "left"))
    say(f"{meant.name}: {len(cells)} cells, {planned} samples, {left} to play")
    remember(played.folder for _, played in cells)
    again = f"m3bench lab study {shlex.quote(str(plan))}"
    try:
        trouble = _play_queued(chosen, force) if force is not None else _play(cells, chosen.used, meant.budget)
    except KeyboardInterrupt:
        say(f"Stopped; what was finished is kept. To continue: {again}")
        raise typer.Exit(130) from None
    outcomes = [outcome(played.folder) for _, played in cells if database(played.settings.data).exists()]
    if json:
        print_json({"study": meant.name, "cells": [result.to_json() for result in outcomes], "stopped": trouble})
    else:
        _report(cells, outcomes)
    for line in trouble:
        say(line)
    if trouble or any(result.void or result.missing for result in outcomes):
        say(_left(_choose(plan, cell or (), ask=False).expected))
        say(f"Void and missing samples are played by: {again}")
        raise typer.Exit(1)


def _left(expected: Sequence[Forecast]) -> str:
    """What it will take to continue, in words."""
    samples, tokens, seconds = (sum(getattr(part, name) for part in expected) for name in ("left", "tokens", "seconds"))
    cost = _cost_of(expected)
    price = "at a cost that is not known" if cost is None else f"${cost:.2f}"
    return f"Left to play: {samples} samples, about {tokens:,} tokens, {price}, {duration(seconds)}."


def _cost_of(expected: Sequence[Forecast]) -> float | None:
    """Dollars of all cells; None when the price of one is not known."""
    costs = [part.cost for part in expected if part.left]
    return None if None in costs else sum(cost for cost in costs if cost is not None)


def _choose(plan: Path, names: Sequence[str], *, ask: bool) -> Chosen:
    """The cells of a plan, or those of these names; models are asked what they can do where it is not known."""
    meant = with_answers(read_plan(plan))
    if ask and (unknown := to_ask(meant, names)):
        _ask(meant, unknown)
        meant = with_answers(meant)
    every = [(cell, make_plan(cell.choice)) for cell in adapted(cells_of(meant))]
    wanted = {cell.name for cell in choose([cell for cell, _ in every], names)}
    cells = [(cell, made) for cell, made in every if cell.name in wanted]
    used = spent([made for _, made in every], spent_asking(meant))
    return Chosen(plan=meant, cells=cells, used=used, expected=forecast(cells, meant.expect))


def _ask(meant: StudyPlan, models: Sequence[StudyModel]) -> None:
    """Ask models what they can do; a plan that makes no sense costs nothing."""
    _check([(cell, make_plan(cell.choice)) for cell in adapted(cells_of(meant))])
    interrupts.run(ask_models, meant, models, say)


def _check(chosen: Cells) -> None:
    """Find what would keep a cell from being played, before the first sample of any costs something."""
    for cell, plan in chosen:
        if plan.todo:
            check_backend(plan.settings)
            if cell.options is not None:
                find_model(cell.options)


def _servers(chosen: Cells) -> AbstractContextManager[None]:
    """What starts the servers of all models' samples, when there are some to play."""
    if not any(plan.todo and cell.options is not None for cell, plan in chosen):
        return nullcontext()
    return forked_servers(server_environment())


def _play(chosen: Cells, used: Spent, caps: Caps) -> list[str]:
    """Play what is left of every cell, with one count over all; what stopped any of them, in words."""
    places = max((plan.parallel for _, plan in chosen), default=1)
    left = sum(len(plan.todo) for _, plan in chosen)
    with _servers(chosen), progress(left, parallel=places) as shown:
        playing = _Playing(shown, used, caps)
        try:
            play_cells(
                [
                    player.AgentCell(
                        plan=plan,
                        agent=cell.agent,
                        done=partial(playing.done, cell, plan),
                        around=partial(playing.around, cell, plan),
                    )
                    for cell, plan in chosen
                    if cell.agent is not None
                ]
            )
            for cell, plan in chosen:
                if cell.options is not None and not playing.is_gone(cell, plan):
                    with playing.around(cell, plan):
                        if plan.todo:
                            run_model(plan, cell.options, partial(playing.done, cell, plan))
        except CapReached as error:
            playing.trouble.append(str(error))
    return playing.trouble


class _Playing:
    """What holds over all cells of a study: what it has used, and what went wrong."""

    def __init__(self, shown: Progress, used: Spent, caps: Caps) -> None:
        self.trouble: list[str] = []
        self._shown = shown
        self._used = used
        self._caps = caps
        self._gone: dict[str, str] = {}
        """The cells in which providers and models were found to be gone."""

    def done(self, cell: Cell, plan: RunPlan, sample: Sample, card: ScoreCard | None) -> None:
        """Keep a sample that is over; raises `CapReached` when there may be no other."""
        append_sample(plan.folder, sample)
        self._shown.tell(cell.name, sample, card)
        self._used = self._used.and_(sample)
        _hold(self._used, self._caps)

    @contextmanager
    def around(self, cell: Cell, plan: RunPlan) -> Iterator[None]:
        """While a cell is played; what goes wrong in it keeps no other from being played."""
        try:
            if plan.todo:
                _hold(self._used, self._caps)
            with plan.begin():
                yield
        except CapReached:
            raise
        except ProviderGoneError as error:
            # What others answer can still be played.
            self._gone.setdefault(_names(cell)[0 if error.provider else 1], cell.name)
            self.trouble.append(f"{cell.name}: {error}")
        except M3Error as error:
            self.trouble.append(f"{cell.name}: {error}")

    def is_gone(self, cell: Cell, plan: RunPlan) -> bool:
        """Whether a cell cannot be played because its provider or model is gone."""
        lost = next((name for name in _names(cell) if name in self._gone), None) if plan.todo else None
        if lost is not None:
            self.trouble.append(f"{cell.name}: not played, because {lost} is gone: see {self._gone[lost]}")
        return lost is not None


def _names(cell: Cell) -> tuple[str, ...]:
    """The provider of a cell's model and the model itself; nothing for a baseline."""
    return () if cell.model is None else (cell.model.provider, cell.model.model)


def _play_queued(chosen: Chosen, force: WorkForce) -> list[str]:
    """Have what is left of every cell played by workers; what stopped them, in words."""
    used = chosen.used

    def spend(sample: Sample | None) -> None:
        nonlocal used
        used = used if sample is None else used.and_(sample)
        _hold(used, chosen.plan.budget)

    try:
        return _queue(chosen.plan, chosen.cells, force, spend)
    except CapReached as error:
        return [str(error)]


def _queue(meant: StudyPlan, cells: Cells, force: WorkForce, spend: Callable[[Sample | None], None]) -> list[str]:
    """Put samples into the queue and gather the results; what went wrong, in words.

    Args:
        meant: The study.
        cells: Its cells.
        force: Who plays.
        spend: Is told of every sample, and before the first; raises what ends the study.
    """
    left = sum(len(plan.todo) for _, plan in cells)
    with ExitStack() as held:
        queue = held.enter_context(closing(Queue(force.place, say)))
        for _, plan in cells:
            held.enter_context(plan.begin())
        if not left:
            return []
        spend(None)
        study = identity(meant)
        put(queue, study, meant, cells)
        say(f"In the queue as {study}.")
        shown = held.enter_context(progress(left, parallel=force.slots * max(1, force.workers)))

        def told(cell: Cell, sample: Sample, card: ScoreCard | None) -> None:
            shown.tell(cell.name, sample, card)
            spend(sample)

        gathering = Gathering(queue, study, cells, told)
        pool = force.pool(study)
        held.callback(pool.close)
        try:
            pool.start()
            return _wait(gathering, queue, study, pool, force)
        except UserError:
            queue.withdraw(study, [cell.name for cell, _ in cells])
            raise


def _wait(gathering: Gathering, queue: Queue, study: str, pool: WorkerPool, force: WorkForce) -> list[str]:
    """Gather until everything is done, or nobody is left to do it."""
    said: dict[str, str] = {}
    alone = time.monotonic() + ALONE_SECONDS
    while True:
        gone = pool.gone()
        counts = gathering.gather()
        if not counts.waiting and not counts.leased:
            return []
        for cell, why in queue.troubles(study).items():
            if said.get(cell) != why:
                said[cell] = why
                say(f"{cell}: {why}")
        if gone is not None:
            return [gone]
        if counts.workers or force.workers:
            alone = max(alone, time.monotonic() + ALONE_SECONDS)
        elif time.monotonic() > alone:
            alone = float("inf")
            say(
                f"No worker is playing: start some with `m3bench lab worker --store {force.place}`, or add --workers N."
            )
        time.sleep(LOOK_SECONDS)


def _cluster(address: str | None, needs: Sequence[str], *, pack: bool) -> Cluster:
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


def _tell_notes(cells: Cells) -> None:
    """How cells are played other than planned, and why."""
    for cell, _ in cells:
        for note in cell.notes:
            say(f"{cell.name}: {note}")


def _hold(used: Spent, caps: Caps) -> None:
    if caps.cost is not None and used.cost >= caps.cost:
        raise CapReached(f"Stopped: ${used.cost:.2f} of ${caps.cost:.2f} are spent. Raise budget.cost to continue.")
    if caps.tokens is not None and used.tokens >= caps.tokens:
        raise CapReached(f"Stopped: {used.tokens} of {caps.tokens} tokens are used. Raise budget.tokens to continue.")


def _foretell(chosen: Chosen, *, json: bool) -> None:
    """What there is to do, and what it will take."""
    expected, used = chosen.expected, chosen.used
    cost = _cost_of(expected)
    tokens = sum(part.tokens for part in expected)
    found = {
        cell.name: resolution(plan, {id: plan.library.task(id).family for id in plan.header.tasks})
        for cell, plan in chosen.cells
    }
    if json:
        notes = {cell.name: list(cell.notes) for cell, _ in chosen.cells}
        cells = [{**part.to_json(), **asdict(found[part.cell]), "notes": notes[part.cell]} for part in expected]
        total = {
            "planned": sum(part.planned for part in expected), "left": sum(part.left for part in expected),
            "tokens": tokens, "cost": cost, "seconds": sum(part.seconds for part in expected),
        }  # fmt: skip
        print_json({"study": chosen.plan.name, "folder": str(chosen.plan.folder), "cells": cells, "total": total,
                    "spent": {"tokens": used.tokens, "cost": used.cost}})  # fmt: skip
        return
    _show_forecast(expected, cost, found)
    _tell_notes(chosen.cells)
    asked = to_ask(chosen.plan)
    for model in chosen.plan.models:
        if unknown := not_known(model):
            then = "asked before its first sample" if model in asked else "played as planned; see `can` in the plan"
            say(f"Not known of {model.model}: {', '.join(unknown)}. It is {then}.")
    say("Detectable: a true difference in solved between two cells that is found four times out of five.")
    for part in expected:
        if (caution := found[part.cell].caution) is not None:
            say(f"{part.cell}: {caution}")
    caps = chosen.plan.budget
    for name, cap, there, more in (("cost", caps.cost, used.cost, cost), ("tokens", caps.tokens, used.tokens, tokens)):
        if cap is not None and more is not None and there + more > cap:
            say(f"The budget is too small: {name} {there + more:.2f} expected in all, {cap} allowed.")


def _show_forecast(expected: Sequence[Forecast], cost: float | None, found: Mapping[str, Resolution]) -> None:
    headings = ("cell", "samples", "to play", "tokens", "cost", "time", "detectable", "")
    table = plain_table(*headings, right=headings[1:-1])
    for part in expected:
        basis = "" if not part.left else "measured" if part.measured else "assumed"
        least = found[part.cell].detectable
        table.add_row(part.cell, str(part.planned), str(part.left), f"{part.tokens:,}", _dollars(part.cost),
                      duration(part.seconds), "none" if least is None else f"{least:.2f}", basis)  # fmt: skip
    planned, left, tokens = (sum(getattr(part, name) for part in expected) for name in ("planned", "left", "tokens"))
    seconds = duration(sum(part.seconds for part in expected))
    table.add_row("all", str(planned), str(left), f"{tokens:,}", _dollars(cost), seconds, "", "")
    console().print(table)


def _dollars(amount: float | None) -> str:
    return "–" if amount is None else f"${amount:.2f}"


def _report(cells: Cells, outcomes: Sequence[AgentOutcome]) -> None:
    """The numbers of every cell, and which of them can stand side by side."""
    console().print(outcome_table(outcomes))
    groups: dict[tuple[str, ...], list[str]] = {}
    scored = {result.folder for result in outcomes if result.scored}
    for cell, plan in cells:
        if plan.folder in scored:
            groups.setdefault(cell.group, []).append(shlex.quote(str(plan.folder)))
    for folders in groups.values():
        say(f"Side by side: m3bench leaderboard {' '.join(folders)}")
    if scored:
        say(f"For a paper: m3bench lab paper {shlex.quote(str(cells[0][1].folder.parent))}")
