"""`m3bench run`: play many tasks with a model or with the baseline agents, and keep the results in a folder."""

import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from os import cpu_count, environ
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import typer

from m3bench.server.commands.record import Json
from m3bench.server.commands.run_options import (
    Agents,
    Batch,
    Calling,
    Calls,
    Compress,
    Drive,
    Encoder,
    Families,
    Generate,
    Hearing,
    Ids,
    Level,
    Limit,
    Messages,
    Minutes,
    Model,
    Name,
    Output,
    Pairs,
    Parallel,
    Planning,
    Price,
    Profile,
    Repeat,
    RequireIsolation,
    Resume,
    Sandbox,
    Seed,
    Set,
    Setting,
    Solver,
    Steps,
    Tokens,
    Where,
)
from m3bench.server.lab.headless.agents.registry import find_agents

if TYPE_CHECKING:
    from m3bench.server.lab.headless.agents.registry import Agent
    from m3bench.server.lab.headless.plan import Choice, ModelOptions, Plan, SampleDone
    from m3bench.server.lab.results.resultset import Sample
    from m3bench.server.scorecard.model import ScoreCard

Play: TypeAlias = "Callable[[Plan, SampleDone], None]"
"""Plays a plan; returns when nothing is left to do, raises KeyboardInterrupt when it was stopped."""

DEFAULT = Path("runs")
"""Below which results go when no folder is given."""

MODEL_PARALLEL = 4
"""Samples of a model at a time: it keeps the machine waiting, while a baseline keeps every core busy."""

REASONS = 3
"""Reasons for void samples that are shown."""


def run(
    model: Model = None,
    agent: Agents = None,
    seed: Seed = 0,
    tasks: Set = None,
    family: Families = None,
    task: Ids = None,
    setting: Setting = None,
    level: Level = None,
    limit: Limit = None,
    repeat: Repeat = 1,
    profile: Profile = "standard",
    max_calls: Calls = 200,
    sandbox: Where = Sandbox.process,
    encoder: Encoder = "minilm",
    require_isolation: RequireIsolation = False,
    output: Output = None,
    name: Name = None,
    resume: Resume = False,
    parallel: Parallel = None,
    solver: Drive = Solver.react,
    calling: Calling = None,
    hearing: Hearing = False,
    max_steps: Steps = None,
    batch: Batch = None,
    planning: Planning = None,
    compress: Compress = None,
    max_minutes: Minutes = None,
    max_messages: Messages = None,
    max_tokens: Tokens = None,
    price: Price = None,
    model_arg: Pairs = None,
    generate: Generate = None,
    json: Json = False,
) -> None:
    """Play many tasks without a client: with a model, or with the baseline agents that show what scores mean.

    Every sample is a run like any other: a seat, a sandbox, every call on record, a score card. Results go to a
    folder as they are made; --resume continues a run that was stopped.

    To start with, `m3bench run --agent all --limit 3` plays three tasks with each baseline, from the oracle, which
    plays the reference and gets 1, to the one that does nothing and gets 0. No model and no key is needed.

    The exit code is 1 when samples are void (--resume tries them again), 130 after Ctrl-C.
    """
    from m3bench.server.lab.headless.plan import Choice, ModelOptions
    from m3bench.server.serving.backend import check_backend
    from m3bench.tasks.errors import UserError

    if (model is None) == (not agent):
        raise UserError("Say who plays: --model PROVIDER/NAME, or --agent NAME (--agent all for every baseline).")
    choice = Choice(
        agent=model or "",
        name=name or "",
        kind="model" if model else "baseline",
        folder=output or DEFAULT,
        tasks=tasks,
        families=tuple(family or ()),
        ids=tuple(task or ()),
        setting=setting,
        levels=tuple(level or ()),
        limit=limit,
        profile=profile,
        repeats=repeat,
        parallel=parallel or (MODEL_PARALLEL if model else (cpu_count() or 1) + 1),
        sandbox=sandbox.value,
        encoder=encoder,
        max_calls=max_calls,
        seed=seed,
        resume=resume,
    )
    if model is not None:
        options = ModelOptions(
            model=model,
            solver=solver.value,
            calling=calling,
            hearing=hearing,
            max_steps=max_steps,
            batch=batch,
            planning=planning,
            compress=compress,
            max_minutes=max_minutes,
            max_messages=max_messages,
            max_tokens=max_tokens,
            price=price,
            arguments=_pairs("--model-arg", model_arg),
            generate=_pairs("--generate", generate),
        )
        plays = [_plan_of_model(choice, options, output)]
    else:
        agents = find_agents(agent or [])
        if name and len(agents) > 1:
            raise UserError("--name is for one set of results: name one agent, or leave it out.")
        plays = plans_of_agents(choice, agents, output)
    plans = [plan for plan, _ in plays]
    for plan in plans:
        if plan.todo:
            check_backend(plan.settings.model_copy(update={"require_isolation": require_isolation}))
    # Cores are busy with samples: threads of the encoder's sums would wait for each other.
    environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    _announce(plans)
    try:
        play_all(plays)
    except KeyboardInterrupt:
        _say(f"Stopped; what was finished is kept. To go on: {_again()}")
        raise typer.Exit(130) from None
    _report(plans, json=json)


def _plan_of_model(choice: "Choice", options: "ModelOptions", output: Path | None) -> "tuple[Plan, Play]":
    """What a model is to play; what is wrong with the model is raised before anything is written."""
    from m3bench.server.lab.headless.plan import make_plan

    folder = output or DEFAULT / options.model.replace("/", "-")
    plan = make_plan(replace(choice, folder=folder, solver=options.solver, options=options.recorded()))
    if plan.todo:
        from m3bench.server.lab.headless.inspect_run import find_model

        find_model(options)
    return plan, with_model(options)


def plans_of_agents(choice: "Choice", agents: "Sequence[Agent]", output: Path | None) -> "list[tuple[Plan, Play]]":
    """What each baseline agent is to play; several get a folder each."""
    from m3bench.server.lab.headless.plan import make_plan

    plays = []
    for agent in agents:
        folder = output if output is not None and len(agents) == 1 else (output or DEFAULT) / agent.name
        plays.append((make_plan(replace(choice, agent=agent.name, folder=folder)), with_agent(agent)))
    return plays


def _pairs(option: str, given: "Sequence[str] | None") -> dict[str, Any]:
    """What was given as NAME=VALUE; a value that is JSON is taken as such."""
    from json import JSONDecodeError, loads

    from m3bench.tasks.errors import UserError

    pairs: dict[str, Any] = {}
    for text in given or ():
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise UserError(f"{option} takes NAME=VALUE, such as temperature=0, not {text!r}.")
        try:
            pairs[name] = loads(value)
        except JSONDecodeError:
            pairs[name] = value
    return pairs


def with_model(options: "ModelOptions") -> Play:
    """What lets a model play a plan."""

    def play(plan: "Plan", done: "SampleDone") -> None:
        from m3bench.server.lab.headless.inspect_run import run_model

        run_model(plan, options, done)

    return play


def with_agent(agent: "Agent") -> Play:
    """What lets a baseline agent play a plan."""

    def play(plan: "Plan", done: "SampleDone") -> None:
        from m3bench.server.lab.headless.agents.player import play_plan
        from m3bench.server.serving import interrupts
        from m3bench.tasks.errors import first_cause

        try:
            interrupts.run(play_plan, plan, agent, done)
        except BaseExceptionGroup as group:
            # What task groups wrap is still one thing that went wrong.
            raise first_cause(group) from group

    return play


def play_all(plays: "Sequence[tuple[Plan, Play]]") -> None:
    """Play every plan, one after the other, with one count over all."""
    from m3bench.server.lab.headless.progress import progress
    from m3bench.server.lab.results.resultset import append_sample

    places = max((plan.parallel for plan, _ in plays), default=1)
    with progress(sum(len(plan.todo) for plan, _ in plays), parallel=places) as shown:
        for plan, play in plays:

            def done(sample: "Sample", card: "ScoreCard | None", plan: "Plan" = plan) -> None:
                append_sample(plan.folder, sample)
                shown.tell(plan.header.agent, sample, card)

            with plan.begin():
                if plan.todo:
                    play(plan, done)


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


def _announce(plans: "Sequence[Plan]") -> None:
    """Say what is about to happen."""
    first = plans[0]
    there = sum(plan.total - len(plan.todo) for plan in plans)
    names = ", ".join(plan.header.agent for plan in plans)
    parts = [f"{names}: {_count(len(first.header.tasks), 'task')}, profile {first.header.profile}"]
    parts += [f"{_count(there, 'sample')} {'is' if there == 1 else 'are'} there already"] if there else []
    parts += [f"{_count(first.unsolvable, 'task')} left out, for want of tools"] if first.unsolvable else []
    _say("; ".join(parts))


def _report(plans: "Sequence[Plan]", *, json: bool) -> None:
    """The end of a run: the numbers, where they lie, and which command shows more."""
    from m3bench.server.commands.screen import console, print_json
    from m3bench.server.lab.headless.outcome import outcome, table

    outcomes = [outcome(plan.folder) for plan in plans]
    if json:
        print_json({"results": [one.to_json() for one in outcomes]})
    else:
        console().print(table(outcomes))
        folders = " ".join(shlex.quote(str(plan.folder)) for plan in plans)
        _say(f"Results: {folders}")
        if shown := [one.folder for one in outcomes if one.scored]:
            _say(f"Look closer: m3bench report {shlex.quote(str(shown[0]))}")
            _say(f"Side by side: m3bench leaderboard {folders}")
    reasons = dict.fromkeys(f"{one.agent}: {reason}" for one in outcomes for reason in one.reasons)
    for reason in list(reasons)[:REASONS]:
        _say(f"void: {reason}")
    if any(one.void or one.missing for one in outcomes):
        _say(f"Void samples are tried again by: {_again()}")
        raise typer.Exit(1)


def _again() -> str:
    """The command that goes on with this run."""
    given = [argument for argument in sys.argv[1:] if argument != "--resume"]
    return shlex.join(["m3bench", *given, "--resume"])


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
