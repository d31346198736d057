"""Makes a set of tasks from the graph of some servers; every task is executed and proved before it enters the set."""

import json
import random
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio

from m3bench.sandboxes.backends.base import Backend, SandboxSpec
from m3bench.server.authoring.curation.material import Material, seen
from m3bench.server.authoring.curation.proof import Prover
from m3bench.server.authoring.synthesis.card import card
from m3bench.server.authoring.synthesis.graph import Graph, learn
from m3bench.server.authoring.synthesis.instance import Instance, instantiate
from m3bench.server.authoring.synthesis.lexicon import words
from m3bench.server.authoring.synthesis.plan import Plan, plans
from m3bench.server.authoring.synthesis.pools import pool
from m3bench.server.authoring.synthesis.rewording import Rewording
from m3bench.server.authoring.synthesis.trial_sandbox import TrialSandbox
from m3bench.server.authoring.synthesis.usefulness import Usefulness
from m3bench.server.authoring.synthesis.wording import answer, ask_words, question, shown, wording
from m3bench.server.authoring.verification import verify
from m3bench.server.scoring import open_encoder
from m3bench.tasks.catalog import did_you_mean, load_catalog
from m3bench.tasks.checks import AnswerNames, AnswerNumber, BackedByCall, CallMade, Check, FileOpens
from m3bench.tasks.errors import UserError
from m3bench.tasks.families.base import DISTRACTORS, Unfit, call, difficulty, media
from m3bench.tasks.library import MadeLibrary
from m3bench.tasks.render.art import Art
from m3bench.tasks.task import Reference, Task, TaskSet

FAMILY = "synthesis"
TRIES = 3
"""How often a plan is tried with other things."""
PATIENCE = 40
"""Plans that are tried for each task that is wanted."""


def usable() -> list[str]:
    """The servers about which tasks can be made."""
    return sorted({tool.partition("/")[0] for tool in words()} | {"math", "ocr"})


async def make_set(
    servers: Sequence[str],
    *,
    count: int,
    seed: int,
    art: Art,
    backend: Backend,
    name: str,
    rewording: Rewording | None = None,
    usefulness: Usefulness | None = None,
    progress: Callable[[str], None] = lambda id: None,
) -> MadeLibrary:
    """Make a set of tasks.

    Args:
        servers: Which tools may be used.
        count: How many tasks.
        seed: Another seed gives other tasks.
        art: What pictures are made of.
        backend: Where calls are made and tasks are proved.
        name: The set's name.
        rewording: Says the questions in other words; as the templates say them when left out.
        usefulness: Refuses tasks that measure nothing, and counts them; one of its own when left out.
        progress: Told the id of each task.

    Raises:
        UserError: The servers do not give so many tasks.
    """
    check_servers(servers)
    with TemporaryDirectory(prefix="m3bench-") as place:
        sandbox = await backend.open(SandboxSpec(workspace=Path(place)))
        try:
            trial = TrialSandbox(sandbox, Path(place))
            maker = _Maker(servers, seed, art, backend, trial, rewording, usefulness or Usefulness())
            tasks = [task async for task in maker.tasks(count, progress)]
        finally:
            with anyio.CancelScope(shield=True):
                await sandbox.aclose()
    if len(tasks) < count:
        raise UserError(
            f"{', '.join(servers)} give {len(tasks)} different tasks, {count} were wanted:"
            " name more servers, or fewer tasks."
        )
    return MadeLibrary(TaskSet(schema=2, name=name, version=f"seed-{seed}", tasks=tuple(tasks)), maker.files)


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
        servers: Sequence[str],
        seed: int,
        art: Art,
        backend: Backend,
        trial: TrialSandbox,
        rewording: Rewording | None,
        usefulness: Usefulness,
    ) -> None:
        self.files: dict[str, bytes] = {}
        self._servers = servers
        self._dice = random.Random(f"synthesis {seed} {' '.join(sorted(servers))}")
        self._art = art
        self._backend = backend
        self._trial = trial
        self._rewording = rewording
        self._usefulness = usefulness
        self._encoder = open_encoder()
        self._pools: dict[str, list[str]] = {}

    async def tasks(self, count: int, progress: Callable[[str], None]) -> AsyncIterator[Task]:
        """Proved and useful tasks, no two with the same reference, as many kinds as there are."""
        servers = [server for server in self._servers if server not in ("math", "ocr")]
        graph = await learn(self._trial, servers, words())
        ways: set[str] = set()
        shapes: Counter[str] = Counter()
        made = 0
        for number, plan in enumerate(islice(plans(graph, self._servers, self._dice), PATIENCE * count)):
            if made == count:
                return
            # First every kind once; the later it is, the more often a kind may come again.
            if shapes[plan.shape] > number // (8 * count):
                continue
            instance = await self._instance(plan, graph, self._dice)
            way = "" if instance is None else str([sorted(str(one) for one in step) for step in instance.reference])
            if instance is None or way in ways:
                continue
            other = await self._instance(plan, graph, random.Random(f"other things {way}"), instance.things)
            if self._usefulness.refuse(instance, other) is not None:
                continue
            task = await self._task(instance, f"{FAMILY}-{made + 1:02}")
            if task is None:
                continue
            ways.add(way)
            self._usefulness.keep(instance)
            shapes[plan.shape] += 1
            made += 1
            progress(task.id)
            yield task

    async def _instance(
        self, plan: Plan, graph: Graph, dice: random.Random, without: Sequence[str] = ()
    ) -> Instance | None:
        start = plan.start.start
        assert start is not None
        if plan.start.tool not in self._pools:
            self._pools[plan.start.tool] = await pool(start, self._trial)
        things = [thing for thing in self._pools[plan.start.tool] if thing not in without]
        for _ in range(TRIES):
            try:
                return await instantiate(plan, graph, self._trial, things, dice)
            except Unfit:
                continue
        return None

    async def _task(self, made: Instance, id: str) -> Task | None:
        """The finished task, or None when it is not proved."""
        start = made.plan.start.start
        assert start is not None
        file = f"{id}.png"
        composition = card(self._art, start.label, made.things, start.exact, self._dice)
        files = {
            f"pictures/{file}": composition.picture,
            f"scenes/{file}.json": f"{json.dumps(composition.scene.to_json(), ensure_ascii=False)}\n".encode(),
        }
        task = _framed(made, id, file, question(made, self._dice), self._dice, "ocr" in self._servers)
        if _leaks(task, made) or await self._problems(task, files):
            return None
        if self._rewording is not None:
            for text in await self._rewording.phrasings(task.question):
                other = task.model_copy(update={"question": text})
                if not _leaks(other, made) and not await self._problems(other, files):
                    task = other
                    break
        self.files |= files
        return task

    async def _problems(self, task: Task, files: dict[str, bytes]) -> list[str]:
        alone = MadeLibrary(TaskSet(schema=2, name=FAMILY, version="1", tasks=(task,)), files)
        problems = await verify(alone, self._backend)
        if problems:
            return problems
        prover = Prover(alone, self._backend, self._encoder)
        material = Material(
            run=task.id, seal=None, state="submitted", task=task, acts=(), answer=task.answer, seen=seen(alone, task)
        )
        return await prover.problems(material, task.references[0])


def _framed(made: Instance, id: str, file: str, asked: str, dice: random.Random, reading: bool) -> Task:
    steps = made.reference
    reference = Reference(steps=tuple(steps))
    references: tuple[Reference, ...] = (reference,)
    servers = {one.tool.partition("/")[0] for step in steps for one in step}
    if reading:
        look = call("ocr/perform_ocr", {"input_data": media(file)}, free=("language", "config"))
        references = (
            Reference(steps=((look,), *steps)),
            reference.model_copy(update={"note": "the card read by eye"}),
        )
        servers.add("ocr")
    others = sorted({tool.server for tool in load_catalog().ready.tools} - servers)
    return Task(
        id=id,
        family=FAMILY,
        question=asked,
        wording=wording(made),
        pictures=(file,),
        servers=tuple(sorted(servers)),
        distractors=tuple(sorted(dice.sample(others, min(DISTRACTORS, len(others))))),
        references=references,
        checks=tuple(checks(made)),
        answer=answer(made),
        difficulty=difficulty(references[0].steps),
    )


def checks(made: Instance) -> Iterator[Check]:
    """What tells that a task was solved: the values that were asked for, and that they were looked up."""
    for one in made.answers:
        if isinstance(one.value, str):
            yield AnswerNames(all_of=(spellings(one.value),))
        else:
            yield AnswerNumber(value=one.value, tolerance=one.ask.tolerance, what=ask_words(one.ask))
    named = [name for name in made.chosen.values() if name and not name.isdigit() and len(name) <= 120]
    if made.plan.choice is not None or made.plan.start.picks:
        yield from (AnswerNames(all_of=(spellings(name),)) for name in dict.fromkeys(named))
    if made.joined is not None:
        yield AnswerNumber(value=round(made.joined, 1), tolerance=0.6, what="the kilometres by road")
    if made.result is not None:
        yield AnswerNumber(value=round(made.result, 4), tolerance=0.006, what="the result")
    if made.files:
        yield FileOpens(pattern=words()["paper_search/download_arxiv"].file, count=made.files)
    backing = [shown(answer.value) for answer in made.answers if isinstance(answer.value, str)] or named
    if backing:
        yield BackedByCall(any_of=tuple(dict.fromkeys(backing)))
    for tool, times in Counter(one.tool for one in made.reference[-1]).items():
        yield CallMade(tool=tool, times=times)
    if len(made.reference) > 1:
        (tool, times), *_ = Counter(one.tool for one in made.reference[0]).most_common(1)
        yield CallMade(tool=tool, times=times)


def spellings(value: str) -> tuple[str, ...]:
    """A text as people may write it: without brackets around it, without the last sign, a number with other gaps."""
    found = [value, value.strip("()"), value.rstrip(".!?")]
    digits = re.findall(r"\d+", value)
    if len(digits) >= 2 and re.fullmatch(r"[\d\s()+-]{7,}", value):
        found += [gap.join(digits) for gap in ("-", " ", "", ".")]
    return tuple(dict.fromkeys(found))


def _leaks(task: Task, made: Instance) -> bool:
    """Whether the question says what is on the card or what the answer is."""
    text = task.question.casefold()
    secrets = [*made.things, *made.chosen.values(), *(shown(answer.value) for answer in made.answers)]
    return any(len(secret) > 2 and secret.casefold() in text for secret in secrets)
