"""Proves a set of tasks: references run, in any order of a step's calls, respect the schemas, and score 1."""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

from m3bench.sandboxes.backends.base import Backend, SandboxSpec
from m3bench.sandboxes.backends.process import ProcessBackend
from m3bench.server.replay import play
from m3bench.server.scoring import Encoder, open_encoder, score
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.library import Library
from m3bench.tasks.task import MEDIA, Reference, Task
from m3bench.tasks.trajectory import Step, Trajectory


async def verify(library: Library) -> list[str]:
    """What is wrong with a set; empty when nothing is."""
    problems: list[str] = []
    encoder = open_encoder()
    async with ProcessBackend() as backend:
        for task in library.tasks.values():
            problems += [f"{task.id}: {problem}" for problem in _lint(task)]
            for reference in task.references:
                problems += [
                    f"{task.id}: {problem}" async for problem in _run(library, task, reference, backend, encoder)
                ]
    return problems


def _lint(task: Task) -> list[str]:
    found = []
    names = {
        word
        for tool in load_catalog().tools
        for word in (tool.name, tool.exposed, tool.qualified)
        if "_" in word or "-" in word
    }
    leaked = sorted(name for name in names if name in task.question)
    if leaked:
        found.append(f"the question names {leaked[0]}")
    if len(task.checks) < 3:
        found.append(f"{len(task.checks)} checks, at least 3 are wanted")
    missing = {tool.partition("/")[0] for tool in task.tools} - set(task.servers)
    if missing:
        found.append(f"references use {', '.join(sorted(missing))}, which the task does not name")
    return found


async def _run(
    library: Library, task: Task, reference: Reference, backend: Backend, encoder: Encoder
) -> AsyncIterator[str]:
    def furnish(workspace: Path) -> SandboxSpec:
        (workspace / MEDIA).mkdir()
        for name in task.pictures:
            shutil.copyfile(library.folder / "pictures" / name, workspace / MEDIA / name)
        return SandboxSpec(workspace=workspace, servers=task.servers, scenes=library.scenes(task))

    catalog = load_catalog().ready
    texts: dict[str, list[str]] = {}
    for order in ("forward", "reversed"):
        trajectory = reference.trajectory if order == "forward" else _reversed(reference.trajectory)
        answers = []
        async for played in play(task.id, trajectory, backend=backend, catalog=catalog, furnish=furnish):
            if not played.succeeded:
                yield f"step {played.step}, {played.call.tool}: {played.outcome}: {played.text[:200]}"
            answers.append(f"{played.step} {played.call.tool} {played.call.arguments} {played.text}")
        texts[order] = sorted(answers)
    if texts["forward"] != texts["reversed"]:
        yield "the calls of a step depend on their order"
    card = score(reference.trajectory, [reference.trajectory], encoder=encoder)
    if any(value != 1 for value in card.metrics.values()):
        yield f"the reference scores {card.average} against itself"


def _reversed(trajectory: Trajectory) -> Trajectory:
    return Trajectory(steps=tuple(Step(calls=tuple(reversed(step.calls))) for step in trajectory.steps))
