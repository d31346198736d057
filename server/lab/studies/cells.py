"""The cells of a study: every combination of who plays, solver, tool profile and set, each a result set of its own.

A cell is named after what it is and kept in a folder of that name, so that a plan that grows finds again what is
there. Nothing is played here: a cell knows the `RunChoice` that `headless.plan` makes its samples of.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from os import cpu_count
from pathlib import Path

from m3bench.server.lab.headless.agents.registry import BaselineAgent, find_agents
from m3bench.server.lab.headless.plan import ModelOptions, RunChoice
from m3bench.server.lab.studies.plan_file import StudyModel, StudyPlan, StudySet
from m3bench.tasks.errors import UserError

MODEL_PARALLEL = 4
"""Samples of a model at a time, unless the plan says otherwise."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One combination."""

    name: str
    choice: RunChoice
    agent: BaselineAgent | None = None
    """Who plays, when it is a baseline."""
    options: ModelOptions | None = None
    """How it is driven, when it is a model."""
    model: StudyModel | None = None
    """The model as the plan has it."""
    notes: tuple[str, ...] = ()
    """How it is played other than planned, and why."""

    @property
    def group(self) -> tuple[str, ...]:
        """Cells of one group can be compared: the same set and profile, and for models the same solver and sight."""
        options = self.choice.options
        driven = (self.choice.solver, str(options.get("calling")), str(options.get("sight")))
        return (str(self.choice.tasks), self.choice.profile, *driven)


def cells_of(plan: StudyPlan) -> list[Cell]:
    """Every cell of a plan, in the order in which they are played.

    Raises:
        UserError: There is no such agent, or two cells would have one name.
    """
    assert plan.folder is not None
    agents = find_agents(list(plan.agents)) if plan.agents else []
    found = [_baseline(plan, *combination) for combination in product(agents, plan.profiles, plan.sets)]
    for model, solver, profile, tasks in product(plan.models, plan.solvers, plan.profiles, plan.sets):
        found.append(_model(plan, model, solver, profile, tasks))
    # Some file systems take a name in other letters for the same.
    names = [cell.name.casefold() for cell in found]
    if twice := [cell.name for cell in found if names.count(cell.name.casefold()) > 1]:
        raise UserError(
            f"Two cells of this study would be called {twice[0]!r}: give their models or sets a `name`, "
            "or take out what is named twice."
        )
    return found


def choose(cells: Sequence[Cell], wanted: Sequence[str]) -> list[Cell]:
    """The cells of these names; all of them when none is given.

    Raises:
        UserError: There is no such cell.
    """
    known = {cell.name: cell for cell in cells}
    for name in wanted:
        if name not in known:
            raise UserError(f"There is no cell {name!r} in this study: choose from {', '.join(known)}.")
    return [cell for cell in cells if not wanted or cell.name in wanted]


def _baseline(plan: StudyPlan, agent: BaselineAgent, profile: str, tasks: StudySet) -> Cell:
    name = _name(agent.name, "", profile, tasks)
    parallel = plan.parallel or (cpu_count() or 1) + 1
    return Cell(name=name, choice=_choice(plan, name, agent.name, profile, tasks, parallel), agent=agent)


def _model(plan: StudyPlan, model: StudyModel, solver: str, profile: str, tasks: StudySet) -> Cell:
    limits = plan.limits
    options = ModelOptions(
        model=model.model,
        solver=solver,
        calling=limits.calling if solver != "react" or limits.calling == "text" else None,
        max_steps=limits.max_steps,
        batch=limits.batch if solver != "react" else None,
        max_minutes=limits.max_minutes,
        max_messages=limits.max_messages,
        max_tokens=limits.max_tokens,
        retry_minutes=plan.retry_minutes,
        price=model.price,
        arguments=model.arguments,
        generate=model.generate,
    )
    name = _name(model.name or model.model, solver, profile, tasks)
    parallel = min(plan.parallel or MODEL_PARALLEL, plan.providers.get(model.provider, 10**6))
    choice = _choice(plan, name, model.model, profile, tasks, parallel, options)
    return Cell(name=name, choice=choice, options=options, model=model)


def _choice(
    plan: StudyPlan,
    name: str,
    agent: str,
    profile: str,
    tasks: StudySet,
    parallel: int,
    options: ModelOptions | None = None,
) -> RunChoice:
    assert plan.folder is not None
    return RunChoice(
        agent=agent,
        name=name,
        kind="baseline" if options is None else "model",
        folder=plan.folder / name,
        tasks=tasks.tasks,
        families=tasks.families,
        ids=tasks.ids,
        limit=tasks.limit,
        profile=profile,
        repeats=plan.repeats,
        parallel=max(1, parallel),
        sandbox=plan.sandbox,
        max_calls=plan.limits.max_calls,
        weather=plan.weather,
        seed=plan.seed,
        resume=True,
        solver="" if options is None else options.solver,
        options={} if options is None else options.recorded(),
    )


def _name(who: str, solver: str, profile: str, tasks: StudySet) -> str:
    parts = (Path(who).stem if who.endswith(".json") else who, solver, profile, tasks.name)
    return ".".join(re.sub(r"[^\w-]+", "-", part).strip("-") for part in parts if part)
