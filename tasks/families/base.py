"""What a family of tasks is: it composes pictures or a recording from a seed, then solves its own task by playing it.

The arguments of a reference come from what the earlier calls really answered, because the generator makes those
calls as it goes. `tasks` imports none of our other packages, so the world and the way to make calls are passed in. The
picture and the question have separate random numbers: the question never depends on the picture, so the words alone do
not say what to do.
"""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from m3bench.tasks.answers.fields import Field as AnswerField
from m3bench.tasks.answers.fields import right_lines
from m3bench.tasks.checks import Check
from m3bench.tasks.outcome import without_gap
from m3bench.tasks.render.art import Art
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.phone import Snapshot
from m3bench.tasks.scene import Scene, stacked
from m3bench.tasks.task import MEDIA, Reference, ReferenceCall, Task
from m3bench.tasks.tolerance import Tolerance

World: TypeAlias = Callable[[str], Sequence[Mapping[str, Any]]]
"""The records of a table of the world."""

DISTRACTORS = 10

UNAIDED = "heard or seen without a tool"
"""Notes the reference of a client that hears and watches by itself."""


@dataclass(frozen=True)
class Kit:
    """What a family composes from."""

    art: Art
    world: World


class Recording(Protocol):
    """Sound or film that is described and made when somebody wants its file."""

    @property
    def suffix(self) -> str:
        """What the name of its file ends with."""
        ...

    def file(self) -> bytes:
        """The file; the same bytes every time."""
        ...

    def made_with(self) -> dict[str, str]:
        """The versions of the programs that make the file: with others its bytes may be others."""
        ...


@dataclass(frozen=True, kw_only=True)
class Composition:
    """A picture, several, or a recording, and what is known of it."""

    picture: bytes
    scene: Scene
    facts: Mapping[str, Any]
    """What the family needs to solve and check; never shown to a client."""
    recording: Recording | None = None
    """What is heard or seen in place of the picture, which is empty then."""
    snapshots: tuple[Snapshot, ...] = ()
    """Several pictures in place of the one, which is empty then; the scene has what is in all of them."""

    @classmethod
    def of(cls, canvas: Canvas, **facts: Any) -> "Composition":
        """What was put on a canvas."""
        picture = canvas.png()
        return cls(picture=picture, scene=canvas.scene(picture), facts=facts)

    @classmethod
    def recorded(cls, recording: Recording, **facts: Any) -> "Composition":
        """A recording; no detector knows anything of it."""
        nothing = Scene(sha256="", width=0, height=0, thumbnail=b"")
        return cls(picture=b"", scene=nothing, facts=facts, recording=recording)

    @classmethod
    def taken(cls, *snapshots: Snapshot, **facts: Any) -> "Composition":
        """Several pictures that belong together."""
        together = stacked([one.scene for one in snapshots])
        return cls(picture=b"", scene=together, facts=facts, snapshots=snapshots)

    def pictures(self, id: str) -> dict[str, tuple[bytes, Scene]]:
        """The pictures of the task with this name, by file: one has its name, several are numbered, a recording has none."""
        if self.recording:
            return {}
        if self.snapshots:
            return {f"{id}-{number}.jpg": (one.data, one.scene) for number, one in enumerate(self.snapshots, 1)}
        return {f"{id}.png": (self.picture, self.scene)}


@dataclass(frozen=True, kw_only=True)
class Solution:
    """A task without its frame."""

    wording: str
    """The task in concrete words."""
    answer: str
    """What a client that played the reference would say to a person."""
    fields: tuple[AnswerField, ...] = ()
    """What is to be handed in, each with its right value; the answer gets a line for each."""
    checks: tuple[Check, ...] = ()
    """How a family without fields is judged."""
    given: Mapping[str, str] = field(default_factory=dict)
    """What the question's placeholders stand for; depends only on the question's random numbers."""
    alternatives: tuple[Reference, ...] = ()
    """Other solutions that are equally valid."""


class Unfit(Exception):
    """A composition does not make a good task, for example because a word in it cannot be read; another is tried."""


def need(condition: bool, why: str) -> None:
    """Raise `Unfit` unless a condition holds that a good task needs."""
    if not condition:
        raise Unfit(why)


class Play(Protocol):
    """Makes the calls of a step in a sandbox and returns their texts."""

    async def __call__(self, calls: Sequence[ReferenceCall]) -> list[str]:
        """Every call must succeed."""
        ...


@dataclass
class Script:
    """Plays steps and remembers them: the reference in the making."""

    play: Play
    goal: str = ""
    """What somebody wants to know of the picture: a name from the family's file, empty where it has one goal alone."""
    steps: list[tuple[ReferenceCall, ...]] = field(default_factory=list)

    async def step(self, *calls: ReferenceCall) -> list[str]:
        """Make the calls of a step."""
        texts = [without_gap(text) for text in await self.play(calls)]
        self.steps.append(calls)
        return texts

    def varied(self, note: str, changes: Mapping[int, Iterable[ReferenceCall]]) -> Reference:
        """A variant: this reference with some steps, by index, replaced; an empty step is left out."""
        steps = [tuple(changes.get(index, step)) for index, step in enumerate(self.steps)]
        return Reference(note=note, steps=tuple(step for step in steps if step))


class Kind(Protocol):
    """A kind of tasks: a family, or what makes tasks from photographs."""

    @property
    def name(self) -> str:
        """What it is called."""
        ...

    @property
    def servers(self) -> tuple[str, ...]:
        """What the references of all its goals need."""
        ...


class Family(Kind, Protocol):
    """A generator of tasks of one kind; how it asks is in `tasks/data/families/NAME.toml`."""

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Draw the picture of a task."""
        ...

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Play the task, whose (first) picture is at `path`, to the script's goal; `rng` is for what the question adds."""
        ...


def call(
    tool: str,
    arguments: dict[str, Any],
    *,
    free: Iterable[str] = (),
    near: Mapping[str, float] | None = None,
    either: Mapping[str, Sequence[Any]] | None = None,
    words: Mapping[str, Sequence[str]] | None = None,
) -> ReferenceCall:
    """A call of a reference.

    Args:
        tool: Canonical name.
        arguments: What the reference gives.
        free: Arguments that a client may choose freely, such as a file name.
        near: Arguments that may differ by this much.
        either: Arguments for which these values are equally valid; `None` means left out.
        words: Arguments whose text must have these words and may have others.
    """
    tolerances = {name: Tolerance(free=True) for name in free}
    tolerances |= {name: Tolerance(within=span) for name, span in (near or {}).items()}
    tolerances |= {name: Tolerance(one_of=tuple(values)) for name, values in (either or {}).items()}
    tolerances |= {name: Tolerance(words=tuple(values)) for name, values in (words or {}).items()}
    return ReferenceCall(tool=tool, arguments=arguments, tolerances=tolerances)


def frame(
    kind: Kind,
    id: str,
    pictures: Sequence[str],
    question: str,
    solution: Solution,
    script: Script,
    distractors: Sequence[str],
    recordings: Sequence[str] = (),
) -> Task:
    """The finished task; the placeholders of its question are filled from the solution."""
    ways = [Reference(steps=tuple(script.steps)), *solution.alternatives]
    if recordings:
        # Nobody is asked for a tool to look at a picture, and to hear and to watch is no other thing.
        ways.sort(key=lambda way: way.note != UNAIDED)
    used = {call.tool.partition("/")[0] for way in ways for step in way.steps for call in step}
    return Task(
        id=id,
        family=kind.name,
        question=question.format(**solution.given),
        wording=solution.wording,
        pictures=tuple(pictures),
        recordings=tuple(recordings),
        servers=tuple(server for server in kind.servers if server in used),
        distractors=tuple(distractors),
        references=tuple(ways),
        fields=solution.fields,
        checks=solution.checks,
        answer="\n\n".join(part for part in (solution.answer, right_lines(solution.fields)) if part),
        difficulty=difficulty(script.steps),
    )


def difficulty(steps: Sequence[Sequence[ReferenceCall]]) -> Literal["easy", "medium", "hard"]:
    """How hard a solution is, by its steps and calls."""
    calls = sum(len(step) for step in steps)
    if len(steps) >= 5 or calls >= 12:
        return "hard"
    return "medium" if len(steps) > 3 or calls > 9 else "easy"


def media(file: str) -> str:
    """The path of a picture or a recording as clients name it."""
    return f"./{MEDIA}/{file}"
