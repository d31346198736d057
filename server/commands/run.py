"""`m3bench run`: play many tasks with a model or with the baseline agents, and keep the results in a folder."""

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from json import JSONDecodeError, loads
from os import cpu_count, environ
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from m3bench.server.commands.options import ADVANCED, Json, Weather
from m3bench.server.commands.recorded import remember
from m3bench.server.commands.screen import console, print_json
from m3bench.server.lab.headless.agents.registry import AGENTS, BaselineAgent, find_agents
from m3bench.server.lab.headless.outcome import outcome, table
from m3bench.server.lab.headless.plan import ModelOptions, RunChoice, RunPlan, listed_ids, make_plan
from m3bench.server.lab.headless.progress import Progress, progress
from m3bench.server.lab.headless.providers.retries import RETRY_MINUTES
from m3bench.server.lab.results.resultset import Sample, append_sample
from m3bench.server.scorecard.model import ScoreCard
from m3bench.server.serving import interrupts
from m3bench.server.serving.backend import check_backend
from m3bench.server.settings import MAX_CALLS
from m3bench.tasks.errors import UserError, first_cause
from m3bench.tasks.json_types import JsonObject
from m3bench.tasks.lazy_modules import LazyModule, SparingModule

# They bring the protocol's library, a server and what makes tasks and pictures: help does without.
if TYPE_CHECKING:
    from m3bench.server.lab.headless import inspect_run
    from m3bench.server.lab.headless.agents import player
else:
    inspect_run = LazyModule("m3bench.server.lab.headless.inspect_run")
    player = SparingModule("m3bench.server.lab.headless.agents.player")

AgentPlan: TypeAlias = tuple[RunPlan, BaselineAgent]
"""What a baseline agent is to play."""

DEFAULT = Path("runs")
"""Below which results go when no folder is given."""

MODEL_PARALLEL = 4
"""Samples of a model at a time: it keeps the machine waiting, while a baseline keeps every core busy."""

REASONS = 3
"""Reasons for void samples that are shown."""

WHO, WHAT = "Who plays", "Which tasks, with which tools"
"""Headings of options."""


class RunSandbox(StrEnum):
    """Where tools run."""

    process = "process"
    docker = "docker"
    inprocess = "inprocess"


class Solver(StrEnum):
    """What drives a model."""

    react = "react"
    executor = "executor"
    m3_bench = "m3-bench"
    mcp_bench = "mcp-bench"
    mcpverse = "mcpverse"


@dataclass(frozen=True, kw_only=True)
class PlayerOptions:
    """Who plays."""

    model: Annotated[
        str | None,
        typer.Option(
            metavar="PROVIDER/NAME",
            help="The model to measure, as Inspect names it, such as openai/gpt-5.",
            rich_help_panel=WHO,
        ),
    ] = None
    agent: Annotated[
        list[str] | None,
        typer.Option(
            "--agent",
            metavar="NAME",
            help=f"A baseline agent: {', '.join(AGENTS)}; or all. May be repeated.",
            rich_help_panel=WHO,
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class TaskOptions:
    """Which tasks are played, and with which tools."""

    tasks: Annotated[
        Path | None,
        typer.Option(
            "--tasks", metavar="FOLDER", help="A set of tasks; by default the bundled set.", rich_help_panel=WHAT
        ),
    ] = None
    family: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only tasks of this family; may be repeated.", rich_help_panel=WHAT),
    ] = None
    task: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ID",
            help="Only this task, or with @FILE those that a file lists; may be repeated.",
            rich_help_panel=WHAT,
        ),
    ] = None
    limit: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Number of tasks, taken from the families in turn.", rich_help_panel=WHAT
        ),
    ] = None
    repeat: Annotated[int, typer.Option(min=1, metavar="N", help="Samples of each task.", rich_help_panel=WHAT)] = 1
    profile: Annotated[
        str,
        typer.Option(
            help="The tools that are shown: standard (the task's servers and up to ten others), task (its servers "
            "alone), family (those of its family), scale-N (N tools, its own among them), full, wide, compact, mini, "
            "retrieve, max-scale; mcpverse-oracle, mcpverse-standard and mcpverse-max-scale are MCPVerse's modes.",
            rich_help_panel=WHAT,
        ),
    ] = "standard"
    sandbox: Annotated[RunSandbox, typer.Option(help="Where tools run.", rich_help_panel=WHAT)] = RunSandbox.process


@dataclass(frozen=True, kw_only=True)
class ResultOptions:
    """Where the results go."""

    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FOLDER", help="Where the results go; by default runs/AGENT."),
    ] = None
    name: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="What tables call the results; by default the model or agent."),
    ] = None
    resume: Annotated[bool, typer.Option("--resume", help="Continue results that were interrupted.")] = False
    parallel: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Samples at a time; by default what suits the machine.")
    ] = None


@dataclass(frozen=True, kw_only=True)
class ConditionOptions:
    """Conditions of a run that are rarely changed."""

    seed: Annotated[
        int, typer.Option(help="Seed of whatever is random in a baseline agent.", rich_help_panel=ADVANCED)
    ] = 0
    setting: Annotated[
        str | None,
        typer.Option(
            metavar="single|multi",
            help="Only tasks that need one server, or several, as MCP-Bench distinguishes them.",
            rich_help_panel=ADVANCED,
        ),
    ] = None
    level: Annotated[
        list[str] | None,
        typer.Option(
            metavar="L1|L2|L3",
            help="Only tasks of this MCPVerse level: up to 2 calls to one server, up to 5 calls, more. May be "
            "repeated.",
            rich_help_panel=ADVANCED,
        ),
    ] = None
    max_calls: Annotated[
        int, typer.Option(min=1, metavar="N", help="Calls a sample may make.", rich_help_panel=ADVANCED)
    ] = MAX_CALLS
    weather: Weather = "fair"
    encoder: Annotated[
        str,
        typer.Option(
            envvar="M3BENCH_ENCODER",
            help="What compares arguments: minilm, or sentence-transformers[:MODEL].",
            rich_help_panel=ADVANCED,
        ),
    ] = "minilm"
    require_isolation: Annotated[
        bool,
        typer.Option(
            "--require-isolation",
            help="Do not start where sandboxes lack a guard; `m3bench doctor` says which.",
            rich_help_panel=ADVANCED,
        ),
    ] = False


@dataclass(frozen=True, kw_only=True)
class DrivingOptions:
    """How a model is driven; baseline agents need none of this."""

    solver: Annotated[
        Solver,
        typer.Option(
            help="What drives the model; m3-bench and mcp-bench are those papers' loops, mcpverse shows the "
            "five servers that are nearest to what the model asks for.",
            rich_help_panel=ADVANCED,
        ),
    ] = Solver.react
    calling: Annotated[
        str | None,
        typer.Option(metavar="native|text", help="How the model calls tools.", rich_help_panel=ADVANCED),
    ] = None
    hearing: Annotated[
        bool,
        typer.Option(
            "--hearing",
            help="Send the model sound and film; otherwise it is told where tools find them.",
            rich_help_panel=ADVANCED,
        ),
    ] = False
    max_steps: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Turns a sample of a model may take.", rich_help_panel=ADVANCED),
    ] = None
    batch: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Calls in one step; not for react.", rich_help_panel=ADVANCED),
    ] = None
    planning: Annotated[
        str | None,
        typer.Option(
            metavar="rounds|one-shot",
            help="For mcp-bench: plan round by round, or all calls at once.",
            rich_help_panel=ADVANCED,
        ),
    ] = None
    compress: Annotated[
        int | None,
        typer.Option(
            min=100,
            metavar="N",
            help="For mcp-bench: characters above which a result is shortened.",
            rich_help_panel=ADVANCED,
        ),
    ] = None
    max_minutes: Annotated[
        float | None,
        typer.Option(min=0.01, metavar="N", help="Minutes a sample of a model may take.", rich_help_panel=ADVANCED),
    ] = None
    max_messages: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Messages in a sample's conversation.", rich_help_panel=ADVANCED),
    ] = None
    max_tokens: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Tokens a sample may use.", rich_help_panel=ADVANCED),
    ] = None
    retry_minutes: Annotated[
        float,
        typer.Option(
            min=0,
            metavar="N",
            help="Minutes for which requests that the provider could not take are retried. What fails for good, "
            "such as a bad key or an empty account, is not retried.",
            rich_help_panel=ADVANCED,
        ),
    ] = RETRY_MINUTES
    price: Annotated[
        str | None,
        typer.Option(
            metavar="IN,OUT",
            help="Dollars per million tokens read and written; a third number is for cached ones.",
            rich_help_panel=ADVANCED,
        ),
    ] = None
    model_arg: Annotated[
        list[str] | None,
        typer.Option(
            "--model-arg",
            "-M",
            metavar="NAME=VALUE",
            help="An argument for the model's provider, as Inspect takes it; may be repeated.",
            rich_help_panel=ADVANCED,
        ),
    ] = None
    generate: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="How the model generates, such as temperature=0; may be repeated.",
            rich_help_panel=ADVANCED,
        ),
    ] = None

    def for_model(self, model: str) -> ModelOptions:
        """How this model is driven."""
        return ModelOptions(
            model=model,
            solver=self.solver.value,
            calling=self.calling,
            hearing=self.hearing,
            max_steps=self.max_steps,
            batch=self.batch,
            planning=self.planning,
            compress=self.compress,
            max_minutes=self.max_minutes,
            max_messages=self.max_messages,
            max_tokens=self.max_tokens,
            retry_minutes=self.retry_minutes,
            price=self.price,
            arguments=_pairs("--model-arg", self.model_arg),
            generate=_pairs("--generate", self.generate),
        )


def run(
    who: PlayerOptions,
    which: TaskOptions,
    results: ResultOptions,
    conditions: ConditionOptions,
    driving: DrivingOptions,
    json: Json = False,
) -> None:
    """Play many tasks without a client: with a model, or with baseline agents.

    Every sample is a run like any other: a seat, a sandbox, a record of every call, a score card. Results go to a
    folder as they are made; --resume continues a run that was stopped.

    \b
    m3bench run --agent all --limit 3        # needs no model and no key
    m3bench run --model openai/gpt-5 --limit 20
    m3bench run --agent oracle --family movies -o results

    The baselines show what scores mean: `oracle` plays the reference and gets 1, `null` does nothing and gets 0.
    Prints a table of the results and where they are; `m3bench report` and `m3bench leaderboard` show more.

    The exit code is 1 when samples are void (--resume tries them again), 130 after Ctrl-C.
    """
    if (who.model is None) == (not who.agent):
        raise UserError("Say who plays: --model PROVIDER/NAME, or --agent NAME (--agent all for every baseline).")
    choice = _choice(who, which, results, conditions)
    if who.model is not None:
        options = driving.for_model(who.model)
        plans = [_plan_of_model(choice, options, results.out)]
        play = partial(play_model, plans[0], options)
    else:
        agents = find_agents(who.agent or [])
        if results.name and len(agents) > 1:
            raise UserError("--name is for one set of results: name one agent, or leave it out.")
        plays = plans_of_agents(choice, agents, results.out)
        plans = [plan for plan, _ in plays]
        play = partial(play_agents, plays)
    for plan in plans:
        if plan.todo:
            update = {"require_isolation": conditions.require_isolation}
            check_backend(plan.settings.model_copy(update=update))
    # Cores are busy with samples: threads of the encoder's sums would wait for each other.
    environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    _announce(plans)
    remember(plan.folder for plan in plans)
    try:
        play()
    except KeyboardInterrupt:
        _say(f"Stopped; what was finished is kept. To continue: {_again()}")
        raise typer.Exit(130) from None
    _report(plans, json=json)


def _choice(who: PlayerOptions, which: TaskOptions, results: ResultOptions, conditions: ConditionOptions) -> RunChoice:
    """What was chosen, before an agent and its folder are known."""
    usual = MODEL_PARALLEL if who.model else (cpu_count() or 1) + 1
    return RunChoice(
        agent=who.model or "",
        name=results.name or "",
        kind="model" if who.model else "baseline",
        folder=results.out or DEFAULT,
        tasks=which.tasks,
        families=tuple(which.family or ()),
        ids=listed_ids(which.task or ()),
        setting=conditions.setting,
        levels=tuple(conditions.level or ()),
        limit=which.limit,
        profile=which.profile,
        repeats=which.repeat,
        parallel=results.parallel or usual,
        sandbox=which.sandbox.value,
        encoder=conditions.encoder,
        max_calls=conditions.max_calls,
        weather=conditions.weather,
        seed=conditions.seed,
        resume=results.resume,
    )


def _plan_of_model(choice: RunChoice, options: ModelOptions, out: Path | None) -> RunPlan:
    """What a model is to play; what is wrong with the model is raised before anything is written."""
    folder = out or DEFAULT / options.model.replace("/", "-")
    plan = make_plan(replace(choice, folder=folder, solver=options.solver, options=options.recorded()))
    if plan.todo:
        inspect_run.find_model(options)
    return plan


def plans_of_agents(choice: RunChoice, agents: Sequence[BaselineAgent], out: Path | None) -> list[AgentPlan]:
    """What each baseline agent is to play; several get a folder each."""
    plays = []
    for agent in agents:
        folder = out if out is not None and len(agents) == 1 else (out or DEFAULT) / agent.name
        plays.append((make_plan(replace(choice, agent=agent.name, folder=folder)), agent))
    return plays


def _pairs(option: str, given: Sequence[str] | None) -> JsonObject:
    """What was given as NAME=VALUE; a value that is JSON is taken as such."""
    pairs: JsonObject = {}
    for text in given or ():
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise UserError(f"{option} takes NAME=VALUE, such as temperature=0, not {text!r}.")
        try:
            pairs[name] = loads(value)
        except JSONDecodeError:
            pairs[name] = value
    return pairs


def play_agents(plays: Sequence[AgentPlan]) -> None:
    """Have agents play their plans, one after the other, with one count over all."""
    places = max((plan.parallel for plan, _ in plays), default=1)
    with progress(sum(len(plan.todo) for plan, _ in plays), parallel=places) as shown:
        cells = [
            player.AgentCell(plan=plan, agent=agent, done=partial(_done, shown, plan), around=plan.begin)
            for plan, agent in plays
        ]
        play_cells(cells)


def play_cells(cells: Sequence["player.AgentCell"]) -> None:
    """Have agents play; what goes wrong is raised as itself, as far as no cell keeps it."""
    try:
        interrupts.run(player.play_cells, cells)
    except BaseExceptionGroup as group:
        raise first_cause(group) from group


def play_model(plan: RunPlan, options: ModelOptions) -> None:
    """Have a model play its plan."""
    with progress(len(plan.todo), parallel=plan.parallel) as shown, plan.begin():
        if plan.todo:
            inspect_run.run_model(plan, options, partial(_done, shown, plan))


def _done(shown: Progress, plan: RunPlan, sample: Sample, card: ScoreCard | None) -> None:
    append_sample(plan.folder, sample)
    shown.tell(plan.header.agent, sample, card)


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


def _announce(plans: Sequence[RunPlan]) -> None:
    """Say what is about to happen."""
    first = plans[0]
    there = sum(plan.total - len(plan.todo) for plan in plans)
    names = ", ".join(plan.header.agent for plan in plans)
    parts = [f"{names}: {_count(len(first.header.tasks), 'task')}, profile {first.header.profile}"]
    parts += [f"{_count(there, 'sample')} {'is' if there == 1 else 'are'} there already"] if there else []
    parts += [f"{_count(first.unsolvable, 'task')} left out for lack of tools"] if first.unsolvable else []
    _say("; ".join(parts))


def _report(plans: Sequence[RunPlan], *, json: bool) -> None:
    """The end of a run: the numbers, where they lie, and which command shows more."""
    outcomes = [outcome(plan.folder) for plan in plans]
    if json:
        print_json({"results": [result.to_json() for result in outcomes]})
    else:
        console().print(table(outcomes))
        folders = " ".join(shlex.quote(str(plan.folder)) for plan in plans)
        _say(f"Results: {folders}")
        if shown := [result.folder for result in outcomes if result.scored]:
            _say(f"Look closer: m3bench report {shlex.quote(str(shown[0]))}")
            _say(f"Side by side: m3bench leaderboard {folders}")
    reasons = dict.fromkeys(f"{result.agent}: {reason}" for result in outcomes for reason in result.reasons)
    for reason in list(reasons)[:REASONS]:
        _say(f"void: {reason}")
    if any(result.void or result.missing for result in outcomes):
        _say(f"Void samples are tried again by: {_again()}")
        raise typer.Exit(1)


def _again() -> str:
    """The command that continues this run."""
    given = [argument for argument in sys.argv[1:] if argument != "--resume"]
    return shlex.join(["m3bench", *given, "--resume"])


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
