"""Makes a set of tasks from errands; every task is executed and proved before it enters the set.

What the question leaves out is on the task's picture, a simple card: a sheet on a table with a heading and a line for
each thing, large enough to be read by eye or by a tool. The scene records what is written on it.
"""

import json
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio

from m3bench.sandboxes.backends.base import Backend, SandboxSpec
from m3bench.server.lab.authoring.fairness import solves
from m3bench.server.lab.authoring.planning import play_plans
from m3bench.server.lab.authoring.synthesis.errand import SynthesisErrand, errands, usable
from m3bench.server.lab.authoring.synthesis.instance import Instance, instantiate
from m3bench.server.lab.authoring.synthesis.lexicon import Persona
from m3bench.server.lab.authoring.synthesis.trial_sandbox import TrialSandbox, pool
from m3bench.server.lab.authoring.synthesis.usefulness import Usefulness
from m3bench.server.lab.authoring.synthesis.wording import Rewording, answer, fields, question, wording
from m3bench.server.lab.authoring.verification import verify
from m3bench.tasks.catalog import did_you_mean, load_catalog
from m3bench.tasks.errors import UserError
from m3bench.tasks.families.base import DISTRACTORS, Composition, Unfit, call, difficulty, media
from m3bench.tasks.folding import fold
from m3bench.tasks.library import MadeLibrary
from m3bench.tasks.plan import Plan
from m3bench.tasks.render.art import Art
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.shapes import rect
from m3bench.tasks.task import Reference, Task, TaskSet

WIDTH, HEIGHT = 1200, 860
_TABLES = ("#b08968", "#8d99ae", "#6b705c", "#a3b18a", "#c9ada7", "#7f9172")
_SHEETS = ("#fffdf6", "#fdf6e3", "#f8fbff", "#fff9ef")
_INKS = ("#1d2a44", "#232323", "#3b1f2b", "#12372a")
_BANDS = ("#e07a5f", "#3d5a80", "#81b29a", "#f2cc8f", "#6d597a", "#457b9d")
_TITLES = ("To look up", "Notes", "Please check", "For later", "Remember", "Errands")


def card(art: Art, label: str, things: Sequence[str], exact: bool, dice: random.Random) -> Composition:
    """Draw a card.

    Args:
        art: What it is drawn with.
        label: What kind of things they are.
        things: One line each.
        exact: They are codes, in which every sign counts.
        dice: For colours and lettering.
    """
    canvas = Canvas(art, WIDTH, HEIGHT, dice.choice(_TABLES))
    table = dice.choice(("#00000014", "#ffffff18"))
    for number in range(9):
        canvas.draw(rect(0, 40 + number * 96 + dice.uniform(-6, 6), WIDTH, 3, table))
    left, top = 120 + dice.uniform(-24, 24), 90 + dice.uniform(-16, 16)
    wide, tall = WIDTH - 240, HEIGHT - 190
    ink, band = dice.choice(_INKS), dice.choice(_BANDS)
    canvas.draw(rect(left + 10, top + 14, wide, tall, "#00000038", 10))
    canvas.draw(rect(left, top, wide, tall, dice.choice(_SHEETS), 10))
    canvas.draw(rect(left, top, wide, 96, band, 10), rect(left, top + 60, wide, 36, band))
    canvas.text(dice.choice(_TITLES), left + 48, top + 66, 46, face="round", fill="#ffffff")
    canvas.text(label, left + 56, top + 170, 34, face="sans", fill=ink)
    face = "mono bold" if exact else dice.choice(("sans bold", "serif bold", "serif"))
    gap = min(130.0, (tall - 240) / len(things))
    for number, thing in enumerate(things):
        line = top + 268 + number * gap
        canvas.draw(rect(left + 56, line + 26, wide - 112, 2, "#00000022"))
        canvas.text(thing, left + 64, line, 52, face=face, fill=ink, width=wide - 136)
    canvas.light(dice, 0.6)
    return Composition.of(canvas, things=tuple(things))


FAMILY = "synthesis"
TRIES = 8
"""How often an errand is tried with other things."""
PHRASINGS = 4
"""How often other words are tried for a task that sounds like another one."""
PATIENCE = 60
"""Errands that are tried for each task that is wanted."""
LEAST_CHAIN = 3
"""Steps of a chain."""
LEAST_SERVERS = 3
MOST_NARROW = 0.3
"""Share of tasks that may need fewer servers than that, where more are allowed."""


@dataclass(frozen=True, kw_only=True)
class SynthesisRequest:
    """Which set is to be made: the same request always gives the same set."""

    servers: Sequence[str]
    """Which tools may be used."""
    count: int
    """How many tasks."""
    seed: int
    """Another seed gives other tasks."""
    name: str
    """The set's name."""


async def make_set(
    request: SynthesisRequest,
    *,
    art: Art,
    backend: Backend,
    rewording: Rewording | None = None,
    usefulness: Usefulness | None = None,
    progress: Callable[[str], None] = lambda id: None,
) -> MadeLibrary:
    """Make a set of tasks.

    Args:
        request: Which set.
        art: What pictures are made of.
        backend: Where calls are made and tasks are proved.
        rewording: Says the questions in other words; as the grammar says them when left out.
        usefulness: Refuses tasks that measure nothing, and counts them; one of its own when left out.
        progress: Told the id of each task.

    Raises:
        UserError: The servers do not give so many tasks.
    """
    check_servers(request.servers)
    with TemporaryDirectory(prefix="m3bench-") as place:
        sandbox = await backend.open(SandboxSpec(workspace=Path(place)))
        try:
            trial = TrialSandbox(sandbox, Path(place))
            maker = _Maker(request, art, backend, trial, rewording, usefulness or Usefulness())
            tasks = [task async for task in maker.tasks(request.count, progress)]
        finally:
            with anyio.CancelScope(shield=True):
                await sandbox.aclose()
    if len(tasks) < request.count:
        raise UserError(
            f"{', '.join(request.servers)} give {len(tasks)} different tasks, {request.count} were wanted:"
            " name more servers, or fewer tasks."
        )
    made = TaskSet(schema=2, name=request.name, version=f"seed-{request.seed}", tasks=tuple(tasks))
    return MadeLibrary(made, maker.files, maker.plans)


def check_servers(servers: Sequence[str]) -> None:
    """Raise when a server is unknown or nobody has words for it."""
    known = load_catalog().by_name
    for name in servers:
        if name not in known:
            raise UserError(f"There is no server {name!r}.{did_you_mean(name, known)} m3bench servers lists them.")
    mute = sorted(set(servers) - set(usable()))
    if mute:
        raise UserError(f"No task can be made about {mute[0]} yet: choose from {', '.join(usable())}.")


class _Maker:
    """Makes one task after another."""

    def __init__(
        self,
        request: SynthesisRequest,
        art: Art,
        backend: Backend,
        trial: TrialSandbox,
        rewording: Rewording | None,
        usefulness: Usefulness,
    ) -> None:
        self.files: dict[str, bytes] = {}
        self.plans: dict[str, tuple[Plan, ...]] = {}
        self._servers = request.servers
        self._dice = random.Random(f"synthesis {request.seed} {' '.join(sorted(request.servers))}")
        self._art = art
        self._backend = backend
        self._trial = trial
        self._rewording = rewording
        self._usefulness = usefulness
        self._pools: dict[str, list[str]] = {}
        self._made: list[Task] = []

    async def tasks(self, count: int, progress: Callable[[str], None]) -> AsyncIterator[Task]:
        """Proved and useful tasks, no two alike, as different ones as there are."""
        told: Counter[str] = Counter()
        narrow = 0
        for number, errand in enumerate(islice(errands(self._servers, self._dice), PATIENCE * count)):
            if len(self._made) == count:
                return
            # First every kind once; the further it goes, the more often a kind may come again.
            if told[errand.main] > number // (4 * count) or not _askers(errand):
                continue
            made = await self._instance(errand, self._dice)
            if made is None or (errand.motif == "chain" and len(made.steps) < LEAST_CHAIN):
                continue
            is_narrow = len(_servers(made)) < LEAST_SERVERS <= len(self._servers)
            if is_narrow and narrow >= MOST_NARROW * count:
                continue
            other = await self._instance(errand, random.Random(f"other things {made.things}"), made.things)
            if self._usefulness.refuse(made, other) is not None:
                continue
            task = await self._task(made, f"{FAMILY}-{len(self._made) + 1:02}")
            if task is None:
                continue
            self._usefulness.keep(made, task)
            self._made.append(task)
            told[errand.main] += 1
            narrow += is_narrow
            progress(task.id)
            yield task

    async def _instance(
        self, errand: SynthesisErrand, dice: random.Random, without: Sequence[str] = ()
    ) -> Instance | None:
        kind = errand.kind
        if kind.name not in self._pools:
            self._pools[kind.name] = await pool(kind, self._trial)
        things = [thing for thing in self._pools[kind.name] if thing not in without]
        for _ in range(TRIES):
            try:
                return await instantiate(errand, self._trial, things, dice)
            except Unfit:
                continue
        return None

    async def _task(self, made: Instance, id: str) -> Task | None:
        """The finished task, or None when it cannot be worded or is not proved."""
        kind, file = made.errand.kind, f"{id}.png"
        persona = self._dice.choice(_askers(made.errand))
        composition = card(self._art, kind.label, made.things, kind.exact, self._dice)
        files = {
            f"pictures/{file}": composition.picture,
            f"scenes/{file}.json": f"{json.dumps(composition.scene.to_json(), ensure_ascii=False)}\n".encode(),
        }
        asked = self._words(made, persona)
        if asked is None:
            return None
        task = _framed(made, id, file, asked, persona.role, self._dice, self._servers)
        if any(solves(task, other) or solves(other, task) for other in self._made):
            return None
        plans = await self._proof(task, files)
        if plans is None:
            return None
        if self._rewording is not None:
            for text in await self._rewording.phrasings(task.question):
                other = task.model_copy(update={"question": text})
                if _leaks(text, made) or self._usefulness.refuse_words(text) is not None:
                    continue
                if (proof := await self._proof(other, files)) is not None:
                    task, plans = other, proof
                    break
        if await self._usefulness.refuse_rated(task) is not None:
            return None
        self.files |= files
        self.plans |= plans
        return task

    def _words(self, made: Instance, persona: Persona) -> str | None:
        """A question in words that no other task has."""
        for _ in range(PHRASINGS):
            asked = question(made, persona, self._dice)
            if not _leaks(asked, made) and self._usefulness.refuse_words(asked) is None:
                return asked
        return None

    async def _proof(self, task: Task, files: dict[str, bytes]) -> dict[str, tuple[Plan, ...]] | None:
        """The plans of a task's references, when they run, solve it and score 1; None otherwise."""
        made = TaskSet(schema=2, name=FAMILY, version="1", tasks=(task,))
        plans = await play_plans(MadeLibrary(made, files), self._backend, in_order=True)
        return None if await verify(MadeLibrary(made, files, plans), self._backend) else plans


def _framed(
    made: Instance, id: str, file: str, asked: str, role: str, dice: random.Random, servers: Sequence[str]
) -> Task:
    steps = tuple(tuple(step) for step in made.steps)
    ways = [Reference(steps=steps)] if "math" in servers else []
    mental = tuple(tuple(made_call for made_call in step if not made_call.tool.startswith("math/")) for step in steps)
    mental = tuple(step for step in mental if step)
    if mental != steps or not ways:
        ways.append(Reference(steps=mental, note="worked out without a tool" if ways else ""))
    if "ocr" in servers:
        look = call("ocr/perform_ocr", {"input_data": media(file)}, free=("language", "config"))
        ways += [Reference(steps=((look,), *way.steps), note="the card read with a tool") for way in ways[:1]]
    used = {made_call.tool.partition("/")[0] for way in ways for step in way.steps for made_call in step}
    others = sorted({tool.server for tool in load_catalog().ready.tools} - used)
    return Task(
        id=id,
        family=FAMILY,
        role=role,
        question=asked,
        wording=wording(made),
        pictures=(file,),
        servers=tuple(sorted(used)),
        distractors=tuple(sorted(dice.sample(others, min(DISTRACTORS, len(others))))),
        references=tuple(ways),
        fields=fields(made),
        answer=answer(made),
        difficulty=difficulty(ways[0].steps),
    )


def _askers(errand: SynthesisErrand) -> list[Persona]:
    """Who would ask that; nobody when nobody has any business with all of it."""
    wanted = [*errand.wants, *errand.either, *(chief for chief in (errand.joined, errand.decider) if chief is not None)]
    parts = {part for want in wanted for part in want.key.split("/")}
    role = errand.joined.ask.role if errand.joined is not None and errand.together == "buys" else ""
    return [
        persona
        for persona in errand.kind.personas
        if (persona.many or errand.count == 1) and parts.isdisjoint(persona.avoid) and role in ("", persona.role)
    ]


def _servers(made: Instance) -> set[str]:
    """The servers that every solution needs: what is computed can be computed without a tool."""
    return {made_call.tool.partition("/")[0] for step in made.steps for made_call in step} - {"math"}


def _leaks(asked: str, made: Instance) -> bool:
    """Whether a question says what is on the card or what the answer is."""
    text = fold(asked)
    secrets = [*made.things, *(str(answer.value) for answer in made.answers if isinstance(answer.value, str))]
    return any(len(secret) > 2 and fold(secret) in text for secret in secrets)
