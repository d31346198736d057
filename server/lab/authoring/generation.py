"""Generates sets of tasks: composes pictures and recordings, plays the tasks in sandboxes, and assembles the set.

The families know what to draw and to ask; this module knows how to play. A reference that does not run never enters a
set, and no two tasks of a set have the same reference.
"""

import json
import random
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from m3bench.sandboxes.backends.base import Backend, Sandbox, SandboxSpec
from m3bench.sandboxes.world.tables import load
from m3bench.server.lab.authoring.fairness import solves, unfair_fields
from m3bench.server.lab.authoring.replay import opened, play_call, workspace_with
from m3bench.server.lab.authoring.statistics import max_shared_calls
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.errors import UserError
from m3bench.tasks.families.base import DISTRACTORS, Family, Kit, Play, Script, Unfit, frame, media, questions
from m3bench.tasks.library import MadeLibrary
from m3bench.tasks.render.art import Art
from m3bench.tasks.scene import Scene
from m3bench.tasks.task import ReferenceCall, Task, TaskSet
from m3bench.tasks.truth import TRUTHS, Truth

ATTEMPTS = 32
"""Attempts to compose a suitable task whose reference is new to the set."""
MOST_SHARED = 0.3
"""The share of calls that two tasks of a family should have in common at most; half of the attempts insist on it."""

Naming = Callable[[str], str]
"""Gives a task another name."""


@dataclass(frozen=True, kw_only=True)
class MadeTask:
    """A task with its files."""

    task: Task
    files: Mapping[str, bytes]
    """By their path in the set's folder."""


async def generate(
    families: Iterable[Family],
    *,
    seed: int,
    per_family: int,
    art: Art,
    backend: Backend,
    name: str,
    version: str,
    naming: Naming = str,
) -> MadeLibrary:
    """Make a set of tasks.

    Args:
        families: What kinds of tasks.
        seed: Another seed gives other tasks.
        per_family: How many of each.
        art: What pictures are made of.
        backend: Where the tasks are played.
        name: The set's name.
        version: The set's version.
        naming: What a task and its files are called, given its family and number, such as `fish-1`.
    """
    tasks: list[Task] = []
    files: dict[str, bytes] = {}
    kit = Kit(art, load)
    for family in families:
        seen: dict[str, Task] = {}
        for number in range(1, per_family + 1):
            made = await _new(family, seed, number, naming, kit, backend, seen)
            tasks.append(made.task)
            files |= made.files
    return MadeLibrary(TaskSet(schema=2, name=name, version=version, tasks=tuple(tasks)), files)


async def _new(
    family: Family, seed: int, number: int, naming: Naming, kit: Kit, backend: Backend, seen: dict[str, Task]
) -> MadeTask:
    goals = questions(family.name)
    goal = tuple(goals)[(seed + number) % len(goals)]
    first = random.Random(f"{family.name} {seed}").randrange(len(goals[goal]))
    for attempt in range(ATTEMPTS):
        dice = f"{family.name} {seed} {number} {attempt}"
        try:
            made = await make(
                family,
                naming(f"{family.name}-{number}"),
                kit,
                backend,
                picture=dice,
                question=dice,
                goal=goal,
                phrase=first + (number - 1) // len(goals),
            )
        except Unfit:
            continue
        way = json.dumps(made.task.references[0].model_dump(mode="json")).replace(made.task.id, "")
        insists = goal and attempt < ATTEMPTS // 2
        if insists and any(max_shared_calls([made.task, other]) > MOST_SHARED for other in seen.values()):
            continue
        if way not in seen and _is_fair(made.task, seen.values()):
            seen[way] = made.task
            return made
    raise UserError(
        f"The family {family.name} found no suitable new task in {ATTEMPTS} attempts, after {len(seen)} tasks: "
        "ask for fewer per family."
    )


def _is_fair(task: Task, others: Iterable[Task]) -> bool:
    """Whether a task has one clear answer, and not that of another one."""
    return not (task.fields and any(unfair_fields(task))) and not any(
        solves(task, other) or solves(other, task) for other in others
    )


async def make(
    family: Family, id: str, kit: Kit, backend: Backend, *, picture: str, question: str, goal: str, phrase: int
) -> MadeTask:
    """One task.

    Args:
        family: Its kind.
        id: Its name.
        kit: What it is composed from.
        backend: Where it is played.
        picture: Seed of the picture.
        question: Seed of what the question says beside the picture.
        goal: Which of the family's goals.
        phrase: Which of the goal's phrasings.
    """
    kit = replace(kit, goal=goal, style=str(phrase))
    composition = family.compose(random.Random(f"picture {picture}"), kit)
    recording, pictures = composition.recording, composition.pictures(id)
    sound = {f"{id}{recording.suffix}": recording.file()} if recording else {}
    shown = {file: data for file, (data, _) in pictures.items()}
    scenes = tuple(scene for _, scene in pictures.values())
    first, *_ = (*shown, *sound)
    async with stage(backend, id, family.servers, {**shown, **sound}, scenes) as play:
        script = Script(play, goal)
        solution = await family.solve(random.Random(f"question {question}"), composition, media(first), script)
    phrasings = questions(family.name)[goal]
    solution = replace(solution, given={**composition.words, **solution.given})
    distractors = beside(family.servers, f"{family.name} {goal} {phrase}")
    asked = phrasings[phrase % len(phrasings)]
    task = frame(family, id, tuple(shown), asked, solution, script, distractors, tuple(sound))
    files = {f"pictures/{file}": data for file, data in shown.items()}
    files |= {f"scenes/{file}.json": scene_file(scene) for file, (_, scene) in pictures.items()}
    if composition.truth is not None:
        files[f"{TRUTHS}/{id}.json"] = truth_file(composition.truth.model_copy(update={"task": id}))
    files |= {f"recordings/{file}": data for file, data in sound.items()}
    if recording:
        files |= {f"recordings/{tool}.version": f"{one}\n".encode() for tool, one in recording.made_with().items()}
    return MadeTask(task=task, files=files)


@asynccontextmanager
async def stage(
    backend: Backend, id: str, servers: tuple[str, ...], pictures: Mapping[str, bytes], scenes: tuple[Scene, ...]
) -> AsyncIterator[Play]:
    """Where a task is played while it is made: a sandbox with its pictures."""
    with workspace_with(pictures.items()) as workspace:
        async with opened(backend, SandboxSpec(workspace=workspace, servers=servers, scenes=scenes)) as sandbox:
            yield _Player(sandbox, id)


def beside(servers: Iterable[str], dice: str) -> list[str]:
    """Servers that are shown beside those that a task needs."""
    others = sorted({tool.server for tool in load_catalog().ready.tools} - set(servers))
    return sorted(random.Random(f"distractors {dice}").sample(others, min(DISTRACTORS, len(others))))


def scene_file(scene: Scene) -> bytes:
    """A scene as it lies in a set."""
    return f"{json.dumps(scene.to_json(), ensure_ascii=False)}\n".encode()


def truth_file(truth: Truth) -> bytes:
    """What is to be seen in a task, as it lies in a set."""
    return f"{truth.model_dump_json(exclude_defaults=True)}\n".encode()


class _Player:
    """Makes calls that must succeed."""

    def __init__(self, sandbox: Sandbox, task: str) -> None:
        self._sandbox = sandbox
        self._task = task

    async def __call__(self, calls: Sequence[ReferenceCall]) -> list[str]:
        texts = []
        for call in calls:
            outcome, _, text = await play_call(call.tool, call.arguments, self._sandbox, load_catalog())
            if outcome != "success":
                raise UserError(f"The reference of {self._task} does not run: {call.tool} {call.arguments}: {text}")
            texts.append(text)
        return texts
