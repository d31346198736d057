"""`m3bench study`: many models and agents by one plan, in one command that can be stopped and gone on with."""

import shlex
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from m3bench.server.commands.record import Json
from m3bench.tasks.errors import M3Error, UserError

if TYPE_CHECKING:
    from m3bench.server.commands.study_queue import Help
    from m3bench.server.lab.headless.plan import Plan
    from m3bench.server.lab.results.resultset import Sample
    from m3bench.server.lab.studies.cells import Cell
    from m3bench.server.lab.studies.forecast import Forecast, Spent
    from m3bench.server.lab.studies.plan_file import Caps, StudyModel, StudyPlan
    from m3bench.server.scorecard.model import ScoreCard


class CapReached(UserError):
    """The study has used what it may."""


def study(
    plan: Annotated[Path, typer.Argument(metavar="PLAN", help="File with the plan, in YAML.", show_default=False)],
    cell: Annotated[
        list[str] | None, typer.Option("--cell", metavar="NAME", help="Only this cell; may be repeated.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what there is to do and what it will take; play nothing.")
    ] = False,
    store: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="Have workers play, which take samples from this database: postgresql://USER@HOST/NAME."
        ),
    ] = None,
    workers: Annotated[
        int, typer.Option(min=0, metavar="N", help="With --store: start so many workers, here or as --on says.")
    ] = 0,
    slots: Annotated[int, typer.Option(min=1, metavar="N", help="Samples at a time of each of these workers.")] = 4,
    lease: Annotated[
        float,
        typer.Option(min=2, metavar="SECONDS", help="When one of them is gone, others take its samples after so long."),
    ] = 60.0,
    on: Annotated[
        str | None,
        typer.Option(metavar="CLUSTER", help="Start the workers on a Ray cluster: ray, or ray://HOST:PORT."),
    ] = None,
    needs: Annotated[
        list[str] | None,
        typer.Option(
            "--needs",
            metavar="NAME=N",
            help="With --on: what a worker takes of its node: cpu=1, memory=2G; repeatable.",
        ),
    ] = None,
    pack: Annotated[bool, typer.Option("--pack", help="With --on: fill a node before the next one.")] = False,
    json: Json = False,
) -> None:
    """Play every model and agent of a plan with every solver, tool profile and set.

    Each combination is a cell: a result set in a folder of its own, which any
    other command takes. The same command goes on with what was stopped, tries
    void samples again, and plays only what is new when the plan has grown. It
    stops when the budget of the plan is used up.

    With --store the samples go into a database, from which workers take them:
    `m3bench worker --store URL`, started anywhere, or --workers N for some here,
    or on a Ray cluster with --on ray. Results come to the same folders.

    The exit code is 1 when samples are void or missing, 130 after Ctrl-C.
    """
    from m3bench.server.commands.screen import print_json
    from m3bench.server.commands.study_queue import Some, help_of
    from m3bench.server.lab.headless.plan import make_plan
    from m3bench.server.lab.studies.asking import spent_asking, to_ask, with_answers
    from m3bench.server.lab.studies.capabilities import adapted
    from m3bench.server.lab.studies.cells import cells_of, choose
    from m3bench.server.lab.studies.forecast import forecast, spent
    from m3bench.server.lab.studies.plan_file import read_plan

    help = help_of(store, Some(workers, slots, lease), on, needs or (), pack=pack)
    meant = with_answers(read_plan(plan))
    if not dry_run and (unknown := to_ask(meant, cell or ())):
        _ask(meant, unknown)
        meant = with_answers(meant)
    every = [(one, make_plan(one.choice)) for one in adapted(cells_of(meant))]
    wanted = {one.name for one in choose([one for one, _ in every], cell or ())}
    chosen = [(one, made) for one, made in every if one.name in wanted]
    used = spent([made for _, made in every], spent_asking(meant))
    expected = forecast(chosen, meant.expect)
    if dry_run:
        _foretell(meant, chosen, expected, used, json=json)
        return
    _check(chosen)
    _tell_notes(chosen)
    left = sum(one.left for one in expected)
    _say(f"{meant.name}: {len(chosen)} cells, {sum(one.planned for one in expected)} samples, {left} to play")
    try:
        trouble = _play_queued(meant, chosen, used, help) if help is not None else _play(chosen, used, meant.budget)
    except KeyboardInterrupt:
        _say(f"Stopped; what was finished is kept. To go on: m3bench study {shlex.quote(str(plan))}")
        raise typer.Exit(130) from None
    outcomes = _outcomes(chosen)
    if json:
        print_json({"study": meant.name, "cells": [one.to_json() for one in outcomes], "stopped": trouble})
    else:
        _report(chosen, outcomes)
    for line in trouble:
        _say(line)
    if trouble or any(one.void or one.missing for one in outcomes):
        _say(f"Void and missing samples are played by: m3bench study {shlex.quote(str(plan))}")
        raise typer.Exit(1)


def _ask(meant: "StudyPlan", models: "Sequence[StudyModel]") -> None:
    """Ask models what they can do; a plan that makes no sense costs nothing."""
    from m3bench.server.lab.headless.plan import make_plan
    from m3bench.server.lab.studies.asking import ask_models
    from m3bench.server.lab.studies.capabilities import adapted
    from m3bench.server.lab.studies.cells import cells_of
    from m3bench.server.serving import interrupts

    _check([(one, make_plan(one.choice)) for one in adapted(cells_of(meant))])
    interrupts.run(ask_models, meant, models, _say)


def _check(chosen: "Sequence[tuple[Cell, Plan]]") -> None:
    """Find what would keep a cell from being played, before the first sample of any costs something."""
    from m3bench.server.serving.backend import check_backend

    for cell, plan in chosen:
        if plan.todo:
            check_backend(plan.settings)
            if cell.options is not None:
                from m3bench.server.lab.headless.inspect_run import find_model

                find_model(cell.options)


def _servers(chosen: "Sequence[tuple[Cell, Plan]]") -> AbstractContextManager[None]:
    """What starts the servers of all models' samples, when there are some to play."""
    if not any(plan.todo and cell.options is not None for cell, plan in chosen):
        return nullcontext()
    from m3bench.server.lab.headless.forked_servers import forked_servers
    from m3bench.server.lab.headless.inspect_seat import server_environment

    return forked_servers(server_environment())


def _play(chosen: "Sequence[tuple[Cell, Plan]]", used: "Spent", caps: "Caps") -> list[str]:
    """Play what is left of every cell, with one count over all; what stopped any of them, in words."""
    from m3bench.server.commands.run import with_agent, with_model
    from m3bench.server.lab.headless.progress import progress
    from m3bench.server.lab.results.resultset import append_sample

    trouble: list[str] = []
    places = max((plan.parallel for _, plan in chosen), default=1)
    left = sum(len(plan.todo) for _, plan in chosen)
    with _servers(chosen), progress(left, parallel=places) as shown:
        for cell, plan in chosen:

            def done(sample: "Sample", card: "ScoreCard | None", cell: "Cell" = cell, plan: "Plan" = plan) -> None:
                nonlocal used
                append_sample(plan.folder, sample)
                shown.tell(cell.name, sample, card)
                used = used.and_(sample)
                _hold(used, caps)

            try:
                if plan.todo:
                    _hold(used, caps)
                with plan.begin():
                    if plan.todo and cell.agent is not None:
                        with_agent(cell.agent)(plan, done)
                    elif plan.todo and cell.options is not None:
                        with_model(cell.options)(plan, done)
            except CapReached as error:
                return [*trouble, str(error)]
            except M3Error as error:
                # The others can still be played.
                trouble.append(f"{cell.name}: {error}")
    return trouble


def _play_queued(meant: "StudyPlan", chosen: "Sequence[tuple[Cell, Plan]]", used: "Spent", help: "Help") -> list[str]:
    """Have what is left of every cell played by workers; what stopped them, in words."""
    from m3bench.server.commands.study_queue import play_queued

    def spent(sample: "Sample | None") -> None:
        nonlocal used
        used = used if sample is None else used.and_(sample)
        _hold(used, meant.budget)

    try:
        return play_queued(meant, chosen, help, spent)
    except CapReached as error:
        return [str(error)]


def _tell_notes(chosen: "Sequence[tuple[Cell, Plan]]") -> None:
    """How cells are played other than planned, and why."""
    for cell, _ in chosen:
        for note in cell.notes:
            _say(f"{cell.name}: {note}")


def _hold(used: "Spent", caps: "Caps") -> None:
    if caps.cost is not None and used.cost >= caps.cost:
        raise CapReached(f"Stopped: ${used.cost:.2f} of ${caps.cost:.2f} are spent. Raise budget.cost to go on.")
    if caps.tokens is not None and used.tokens >= caps.tokens:
        raise CapReached(f"Stopped: {used.tokens} of {caps.tokens} tokens are used. Raise budget.tokens to go on.")


def _foretell(
    meant: "StudyPlan",
    chosen: "Sequence[tuple[Cell, Plan]]",
    expected: "Sequence[Forecast]",
    used: "Spent",
    *,
    json: bool,
) -> None:
    """What there is to do, and what it will take."""
    from rich.table import Table

    from m3bench.server.commands.screen import console, print_json
    from m3bench.server.lab.headless.progress import duration
    from m3bench.server.lab.studies.asking import to_ask
    from m3bench.server.lab.studies.capabilities import not_known
    from m3bench.server.lab.studies.forecast import detectable_difference

    costs = [one.cost for one in expected]
    total: dict[str, Any] = {
        "planned": sum(one.planned for one in expected),
        "left": sum(one.left for one in expected),
        "tokens": sum(one.tokens for one in expected),
        "cost": None if None in costs else sum(cost for cost in costs if cost is not None),
        "seconds": sum(one.seconds for one in expected),
    }
    least = {
        cell.name: detectable_difference(plan, {id: plan.library.task(id).family for id in plan.header.tasks})
        for cell, plan in chosen
    }
    if json:
        notes = {cell.name: list(cell.notes) for cell, _ in chosen}
        cells = [{**one.to_json(), "detectable": least[one.cell], "notes": notes[one.cell]} for one in expected]
        print_json({"study": meant.name, "folder": str(meant.folder), "cells": cells, "total": total,
                    "spent": {"tokens": used.tokens, "cost": used.cost}})  # fmt: skip
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("cell", "samples", "to play", "tokens", "cost", "time", "detectable", ""):
        table.add_column(heading, justify="left" if heading in ("cell", "") else "right")
    for one in expected:
        cost = "–" if one.cost is None else f"${one.cost:.2f}"
        basis = "" if not one.left else "measured" if one.measured else "assumed"
        table.add_row(one.cell, str(one.planned), str(one.left), f"{one.tokens:,}", cost, duration(one.seconds),
                      f"{least[one.cell]:.2f}" if least[one.cell] <= 1 else "none", basis)  # fmt: skip
    cost = "–" if total["cost"] is None else f"${total['cost']:.2f}"
    table.add_row("all", str(total["planned"]), str(total["left"]), f"{total['tokens']:,}", cost,
                  duration(total["seconds"]), "", "")  # fmt: skip
    console().print(table)
    _tell_notes(chosen)
    asked = to_ask(meant)
    for model in meant.models:
        if unknown := not_known(model):
            then = "asked before its first sample" if model in asked else "played as planned; see `can` in the plan"
            _say(f"Not known of {model.model}: {', '.join(unknown)}. It is {then}.")
    _say("Detectable: a true difference in solved between two cells that is found four times out of five.")
    for name, cap in (("cost", meant.budget.cost), ("tokens", meant.budget.tokens)):
        there = used.cost if name == "cost" else used.tokens
        if cap is not None and total[name] is not None and there + total[name] > cap:
            _say(f"The budget will not do: {name} {there + total[name]:.2f} expected in all, {cap} allowed.")


def _outcomes(chosen: "Sequence[tuple[Cell, Plan]]") -> list[Any]:
    from m3bench.server.lab.headless.outcome import outcome
    from m3bench.server.store.layout import database

    return [outcome(plan.folder) for _, plan in chosen if database(plan.settings.data).exists()]


def _report(chosen: "Sequence[tuple[Cell, Plan]]", outcomes: Sequence[Any]) -> None:
    """The numbers of every cell, and which of them can stand side by side."""
    from m3bench.server.commands.screen import console
    from m3bench.server.lab.headless.outcome import table

    console().print(table(outcomes))
    groups: dict[tuple[str, ...], list[str]] = {}
    scored = {one.folder for one in outcomes if one.scored}
    for cell, plan in chosen:
        if plan.folder in scored:
            groups.setdefault(cell.group, []).append(shlex.quote(str(plan.folder)))
    for folders in groups.values():
        _say(f"Side by side: m3bench leaderboard {' '.join(folders)}")
    if scored:
        _say(f"For a paper: m3bench paper {shlex.quote(str(chosen[0][1].folder.parent))}")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
