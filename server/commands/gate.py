"""`m3bench tasks gate`: may a set of tasks be released? Agents play it, and what they get is held against limits."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.table import Table

    from m3bench.server.lab.headless.gate import Verdict

DEFAULT = Path("runs") / "gate"


def gate(
    folder: Annotated[
        Path | None, typer.Argument(metavar="[SET]", help="Folder with a set of tasks; the bundled set when left out.")
    ] = None,
    family: Annotated[list[str] | None, typer.Option(help="Only these families; may be repeated.")] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Number of tasks, taken from the families in turn; all when left out.")
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where the results of the agents go.")
    ] = DEFAULT,
    parallel: Annotated[int | None, typer.Option(min=1, help="Samples at a time; one per core when left out.")] = None,
    sandbox: Annotated[str, typer.Option(help="Where tools run: process, docker or inprocess.")] = "process",
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Play a set with agents whose worth is known, and see whether scores tell them apart.

    Perfect play must get 1. Agents that replay another task (in every way there is, of which the best counts), use the
    right tools on other things or call everything must stay below their floors and solve nothing. One that never looks
    at the picture may solve one task of eight in any family, and one in twenty of all. Agents that fall short by more
    and more must come out in that order in every family. What was played is kept in the folder: the same command goes
    on where it was stopped.

    The exit code is 1 when something does not hold, 130 after Ctrl-C.
    """
    from dataclasses import replace
    from os import cpu_count

    from m3bench.server.commands.run import plans_of_agents, play_all
    from m3bench.server.commands.screen import console, print_json
    from m3bench.server.lab.headless.agents.registry import AGENTS
    from m3bench.server.lab.headless.gate import BLIND, PLAYED, SIBLING, judge, scores_of
    from m3bench.server.lab.headless.plan import Choice
    from m3bench.server.lab.results.resultset import read_resultset
    from m3bench.server.serving.backend import check_backend
    from m3bench.server.settings import Settings

    choice = Choice(
        agent="", kind="baseline", folder=output, tasks=folder, families=tuple(family or ()), limit=limit,
        parallel=parallel or cpu_count() or 1, sandbox=Settings.of(sandbox=sandbox).sandbox, resume=True,
    )  # fmt: skip
    others = [AGENTS[name] for name in PLAYED if name not in (BLIND, SIBLING)]
    plays = plans_of_agents(choice, others, output)
    library, ids = plays[0][0].library, plays[0][0].header.tasks
    ways = max(len(library.task(id).references) for id in ids)
    # Whoever does not look may ask any tool about the picture, not only those that the task needs.
    plays += plans_of_agents(replace(choice, repeats=ways), [AGENTS[SIBLING]], output / SIBLING)
    plays += plans_of_agents(replace(choice, profile="full"), [AGENTS[BLIND]], output / BLIND)
    plays.sort(key=lambda play: PLAYED.index(play[0].header.agent))
    check_backend(plays[0][0].settings)
    typer.echo(f"{len(ids)} tasks with each of {len(plays)} agents; results go to {output}", err=True)
    try:
        play_all(plays)
    except KeyboardInterrupt:
        typer.echo("Stopped; what was played is kept, and the same command goes on from there.", err=True)
        raise typer.Exit(130) from None
    chosen = [library.task(id) for id in ids]
    whole = {task.family for task in chosen} == {task.family for task in library.tasks.values()}
    verdict = judge(chosen, [scores_of(read_resultset(plan.folder)) for plan, _ in plays], whole=whole)
    if json:
        print_json({"set": library.set.name, "hash": library.hash, "tasks": len(ids), **verdict.to_json()})
    else:
        console().print(_table(verdict))
        _explain(verdict)
    if not verdict.passed:
        raise typer.Exit(1)


def _table(verdict: "Verdict") -> "Table":
    from rich.table import Table

    from m3bench.server.lab.headless.gate import FLOORS

    floors = {floor.agent: floor for floor in FLOORS}
    shown = Table(box=None, pad_edge=False)
    shown.add_column("agent")
    for heading in ("by effect", "at most", "solved"):
        shown.add_column(heading, justify="right")
    shown.add_column("highest in")
    for one in verdict.scores.values():
        name, value = one.highest
        floor = floors.get(one.agent)
        most = "" if floor is None else f"{floor.mean:.2f}"
        shown.add_row(one.agent, f"{one.mean:.3f}", most, str(one.solved), f"{name} {value:.3f}" if value else "")
    return shown


def _explain(verdict: "Verdict") -> None:
    """What does not hold, and why an exception is one."""
    for family, reason in verdict.exceptions.items():
        print(f"Exception in {family}: {reason}", file=sys.stderr)
    for problem in verdict.problems:
        print(f"✗ {problem}")
    families = len(next(iter(verdict.scores.values())).families)
    held = families - len(verdict.exceptions)
    good = (
        f"The gate holds: floors, ceiling, the need of eyes, and the order of grades in {held} of {families} families."
    )
    bad = f"The gate does not hold: {len(verdict.problems)} problem{'s' if len(verdict.problems) != 1 else ''}."
    print(good if verdict.passed else bad, file=sys.stderr)
