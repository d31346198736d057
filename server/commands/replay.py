"""`m3bench tools replay`: does a trajectory file run?"""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from m3bench.server.commands.options import Json, Sandbox
from m3bench.server.commands.screen import console, print_json, progress
from m3bench.server.lab.authoring.replay import ReplayTally, play
from m3bench.server.serving import interrupts
from m3bench.server.serving.backend import backend_of
from m3bench.server.settings import Settings
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.errors import UserError
from m3bench.tasks.trajectory import Step, Trajectory
from m3bench.tasks.trajectory_files import TaskFile, read_tasks


def replay(
    file: Annotated[Path, typer.Argument(help="A trajectory file, ours or in the public Open-M3-Bench form.")],
    task: Annotated[str | None, typer.Option(metavar="ID", help="Only this task.")] = None,
    server: Annotated[str | None, typer.Option(metavar="NAME", help="Only calls to this server.")] = None,
    json: Json = False,
    sandbox: Sandbox = "process",
    keep_going: Annotated[bool, typer.Option("--keep-going", help="Leave out tasks that cannot be read.")] = False,
) -> None:
    """Play a trajectory file through fresh sandboxes.

    \b
    m3bench tasks export -o public
    m3bench tools replay public/references.json --task movies-1

    Prints how many calls of each tool came to which outcome, and the first failures. The exit code is 1 when a call
    did not succeed.
    """
    found = read_tasks(file, keep_going=keep_going)
    if task is not None and task not in found.tasks:
        raise UserError(f"{file} has no task {task!r}.")
    tally = interrupts.run(_play, found, task, server, sandbox)
    if json:
        print_json(tally.to_json())
    else:
        _show(tally)
    if tally.failures:
        raise typer.Exit(1)


async def _play(found: TaskFile, only: str | None, server: str | None, sandbox: str) -> ReplayTally:
    tally = ReplayTally()
    backend = backend_of(Settings.of(sandbox=sandbox))
    chosen = [task for task in found.tasks.values() if only in (None, task.id)]
    async with backend:
        for task in progress(chosen, len(chosen), "Playing"):
            for trajectory in task.trajectories:
                async for played in play(
                    task.id, _of(trajectory, server), backend=backend, catalog=load_catalog().ready
                ):
                    tally.add(played)
    return tally


def _of(trajectory: Trajectory, server: str | None) -> Trajectory:
    """The part of a trajectory that calls a server."""
    if server is None:
        return trajectory
    steps = (tuple(call for call in step.calls if call.server == server) for step in trajectory.steps)
    return Trajectory(steps=tuple(Step(calls=calls) for calls in steps if calls))


def _show(tally: ReplayTally) -> None:
    screen = console()
    table = Table(box=None, pad_edge=False)
    outcomes = sorted(tally.outcomes)
    table.add_column("tool")
    for outcome in outcomes:
        table.add_column(outcome.replace("_", " "), justify="right")
    for tool, counts in sorted(tally.by_tool.items()):
        table.add_row(tool, *(str(counts[outcome] or "") for outcome in outcomes))
    table.add_row("all", *(str(tally.outcomes[outcome]) for outcome in outcomes))
    screen.print(table)
    for played in tally.failures[:20]:
        screen.print(f"{played.task}, step {played.step}: {played.call.tool}: {played.outcome}: {played.text[:160]}")
    if len(tally.failures) > 20:
        screen.print(f"… and {len(tally.failures) - 20} more; --json lists them all")
