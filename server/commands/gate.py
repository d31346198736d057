"""`m3bench tasks gate`: may a set of tasks be released? Agents play it, and what they get is held against limits."""

import sys
from dataclasses import dataclass, replace
from os import cpu_count
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from m3bench.server.commands.options import Families, Json, Sandbox
from m3bench.server.commands.run import AgentPlan, plans_of_agents, play_agents
from m3bench.server.commands.screen import console, counted, plain_table, print_json
from m3bench.server.commands.task_checks import tried
from m3bench.server.lab.headless.agents.registry import AGENTS
from m3bench.server.lab.headless.gate import EVERY_TOOL, FLOORS, PLAYED, SIBLING, GateVerdict, judge, scores_of
from m3bench.server.lab.headless.plan import RunChoice
from m3bench.server.lab.results.resultset import read_resultset
from m3bench.server.serving.backend import check_backend
from m3bench.server.settings import Settings

DEFAULT = Path("runs") / "gate"


@dataclass(frozen=True, kw_only=True)
class GateOptions:
    """Which tasks the agents play, and where."""

    family: Families = None
    limit: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Number of tasks, taken from the families in turn; by default all."),
    ] = None
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="Where the results of the agents go.")] = (
        DEFAULT
    )
    parallel: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Samples at a time; by default one per core.")
    ] = None
    sandbox: Sandbox = "process"

    def plays(self, tasks: Path | None) -> list[AgentPlan]:
        """What each agent is to play, in the order of the report."""
        choice = RunChoice(
            agent="", kind="baseline", folder=self.out, tasks=tasks, families=tuple(self.family or ()),
            limit=self.limit, parallel=self.parallel or cpu_count() or 1,
            sandbox=Settings.of(sandbox=self.sandbox).sandbox, resume=True,
        )  # fmt: skip
        others = [AGENTS[name] for name in PLAYED if name not in (*EVERY_TOOL, SIBLING)]
        plays = plans_of_agents(choice, others, self.out)
        first = plays[0][0]
        ways = max(len(first.library.task(id).references) for id in first.header.tasks)
        plays += plans_of_agents(replace(choice, repeats=ways), [AGENTS[SIBLING]], self.out / SIBLING)
        for name in EVERY_TOOL:
            plays += plans_of_agents(replace(choice, profile="full"), [AGENTS[name]], self.out / name)
        return sorted(plays, key=lambda play: PLAYED.index(play[0].header.agent))


def gate(
    options: GateOptions,
    folder: Annotated[
        Path | None, typer.Argument(metavar="[SET]", help="A set of tasks; by default the bundled set.")
    ] = None,
    json: Json = False,
) -> None:
    """Have agents of known worth play a set, to see whether it may be released.

    \b
    m3bench tasks gate my-tasks

    Perfect play must get 1. Agents that replay another task (by each of its references, of which the best counts), use
    the right tools on other things or call everything must stay below their floors and solve nothing. One that never
    looks at the picture may solve one task of eight in any family, and one in twenty of all. Agents that fall short by
    more and more must come out in that order in every family. Calls about other things must not match, as `tasks
    identity` tells. Prints a table of the agents, the tasks of each family that are solved without eyes and with
    thresholds in their place, and what does not hold. What was played is kept in the folder: the same command continues
    where it stopped.

    The exit code is 1 when something does not hold, 130 after Ctrl-C.
    """
    plays = options.plays(folder)
    library, ids = plays[0][0].library, plays[0][0].header.tasks
    check_backend(plays[0][0].settings)
    typer.echo(f"{len(ids)} tasks with each of {len(plays)} agents; results go to {options.out}", err=True)
    try:
        play_agents(plays)
    except KeyboardInterrupt:
        typer.echo("Stopped; what was played is kept, and the same command continues from there.", err=True)
        raise typer.Exit(130) from None
    chosen = [library.task(id) for id in ids]
    whole = {task.family for task in chosen} == {task.family for task in library.tasks.values()}
    found = [scores_of(read_resultset(plan.folder)) for plan, _ in plays]
    verdict = judge(chosen, found, whole=whole, identity=tried(library, chosen, plays[0][0].settings))
    if json:
        print_json({"set": library.set.name, "hash": library.hash, "tasks": len(ids), **verdict.to_json()})
    else:
        console().print(_table(verdict))
        console().print(_families(verdict))
        _explain(verdict)
    if not verdict.passed:
        raise typer.Exit(1)


def _table(verdict: GateVerdict) -> Table:
    floors = {floor.agent: floor for floor in FLOORS}
    headings = ("agent", "by effect", "at most", "solved", "highest in")
    shown = plain_table(*headings, right=("by effect", "at most", "solved"))
    for scores in verdict.scores.values():
        name, value = scores.highest
        floor = floors.get(scores.agent)
        most = "" if floor is None else f"{floor.mean:.2f}"
        highest = f"{name} {value:.3f}" if value else ""
        shown.add_row(scores.agent, f"{scores.mean:.3f}", most, str(scores.solved), highest)
    return shown


def _families(verdict: GateVerdict) -> Table:
    """How many tasks of each family those agents solve that do without a model."""
    shown = plain_table("family", "tasks", *EVERY_TOOL, right=("tasks", *EVERY_TOOL))
    agents = [verdict.scores[name] for name in EVERY_TOOL]
    for family, values in agents[0].averages.items():
        shown.add_row(family, str(len(values)), *(str(agent.solved_in.get(family, 0)) for agent in agents))
    tasks = sum(map(len, agents[0].averages.values()))
    shown.add_row("all", str(tasks), *(str(agent.solved) for agent in agents))
    return shown


def _explain(verdict: GateVerdict) -> None:
    """What does not hold, and why an exception is one."""
    for family, reason in verdict.exceptions.items():
        print(f"Exception in {family}: {reason}", file=sys.stderr)
    for problem in verdict.problems:
        print(f"✗ {problem}")
    if verdict.identity:
        print(verdict.identity.told, file=sys.stderr)
    families = len(next(iter(verdict.scores.values())).families)
    held = families - len(verdict.exceptions)
    good = (
        f"The gate holds: floors, ceiling, the need of eyes, and the order of grades in {held} of {families} families."
    )
    bad = f"The gate does not hold: {counted(len(verdict.problems), 'problem')}."
    print(good if verdict.passed else bad, file=sys.stderr)
