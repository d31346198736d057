"""What a family of tasks is: it composes pictures or a recording from a seed, then solves its own task by playing it.

The arguments of a reference come from what the earlier calls really answered, because the generator makes those
calls as it goes. `tasks` imports none of our other packages, so the world and the way to make calls are passed in. The
picture and the question have separate random numbers: the question never depends on the picture, so the words alone do
not say what to do.

Words and tables of a family are in `tasks/data/families/NAME.toml`, which is read when it is needed. `questions` has
the ways to ask, by goal: what somebody may want to know of one of the family's pictures. Goals differ in the plan that
reaches them; a family with one goal lists its questions alone. A file may
instead say that its tasks are asked in the words of a goal of another family (`like`, `goal`): its own goals are then
`cases`, which no question tells apart. `tables` is whatever else the family chooses from. Line
breaks in a question are for the reader of the file: any run of white space becomes one space.
"""

import io
import random
import tomllib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Annotated, ClassVar, Generic, Literal, Protocol, TypeAlias, TypeVar

from PIL import Image
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter

from m3bench.tasks.answers.fields import Field as AnswerField
from m3bench.tasks.answers.fields import right_lines
from m3bench.tasks.checks import Check
from m3bench.tasks.foreign_files import READABLE
from m3bench.tasks.json_types import Record
from m3bench.tasks.outcome import without_gap
from m3bench.tasks.render.art import Art
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.cues.cue import Cue
from m3bench.tasks.render.cues.selection import Selection, Thing, cues_for
from m3bench.tasks.render.phone import Snapshot, snapshot
from m3bench.tasks.scene import Box, Scene, stacked
from m3bench.tasks.skills import skill_plan
from m3bench.tasks.task import MEDIA, Reference, ReferenceCall, Task
from m3bench.tasks.tolerance import Tolerance
from m3bench.tasks.trap import Reason, StrayOrder
from m3bench.tasks.truth import Amount, Truth

FOLDER = files("m3bench.tasks") / "data" / "families"

Question = Annotated[str, AfterValidator(lambda text: " ".join(text.split()))]
_OneGoal: TypeAlias = Annotated[tuple[Question, ...], Field(min_length=10)]
_Goals: TypeAlias = Annotated[dict[str, Annotated[tuple[Question, ...], Field(min_length=4)]], Field(min_length=2)]


class TableRow(BaseModel):
    """A row of a table, for families whose tables hold more than words."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    questions: _OneGoal | _Goals | None = None
    like: str = ""
    goal: str = ""
    cases: tuple[str, ...] = ()
    tables: dict[str, object] = {}


def questions(family: str) -> dict[str, tuple[str, ...]]:
    """The ways to ask by goal, each in its own words; `{placeholders}` are filled from `Solution.given`."""
    file = _read(family)
    if file.questions is None:
        # Neighbouring cases are twins, and are asked in the same words.
        like = questions(file.like)[file.goal]
        first = {case: number // 2 % len(like) for number, case in enumerate(file.cases)}
        return {case: (*like[number:], *like[:number]) for case, number in first.items()}
    return file.questions if isinstance(file.questions, dict) else {"": file.questions}


def tables(family: str) -> Mapping[str, object]:
    """What else the family chooses from, by name; its class declares what each table holds."""
    return _read(family).tables


@cache
def _read(family: str) -> _File:
    return _File.model_validate(tomllib.loads((FOLDER / f"{family}.toml").read_text(encoding="utf-8")))


T = TypeVar("T")

World: TypeAlias = Callable[[str], Sequence[Record]]
"""The records of a table of the world."""

DISTRACTORS = 10
_TILT = 0.6
"""How far the phone is held askew over pictures whose edges have cues."""

UNAIDED = "heard or seen without a tool"
"""Notes the reference of a client that hears and watches by itself."""


@dataclass(frozen=True)
class Kit:
    """What a family composes from."""

    art: Art
    world: World
    goal: str = ""
    """What will be asked: a name from the family's file, where the picture is for one goal alone."""
    style: str = ""
    """Chooses the cues, with the goal: the same for tasks whose questions are alike."""

    def cues(self, family: str, without: Sequence[str] = ()) -> tuple[Cue, ...]:
        """The cues that say what is meant, one of each skill that the family's goal rests on.

        Args:
            family: Its name.
            without: First words of cues that would be mixed up with what else is in the picture.
        """
        goal = self.goal or next(iter(questions(family)))
        return cues_for(skill_plan().plan[family][goal], f"{family} {goal} {self.style}", without)


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
    facts: Record
    """What the family needs to solve and check; never shown to a client."""
    recording: Recording | None = None
    """What is heard or seen in place of the picture, which is empty then."""
    truth: Truth | None = None
    """What there is to see, for the server's side alone."""
    words: Mapping[str, str] = field(default_factory=dict)
    """What some placeholders of the question stand for: those that the goal and the style decide, and no picture."""
    snapshots: tuple[Snapshot, ...] = ()
    """Several pictures in place of the one, which is empty then; the scene has what is in all of them."""

    @classmethod
    def of(cls, canvas: Canvas, **facts: object) -> "Composition":
        """What was put on a canvas."""
        picture = canvas.png()
        return cls(picture=picture, scene=canvas.scene(picture), facts=facts)

    @classmethod
    def recorded(cls, recording: Recording, **facts: object) -> "Composition":
        """A recording; no detector knows anything of it."""
        nothing = Scene(sha256="", width=0, height=0, thumbnail=b"")
        return cls(picture=b"", scene=nothing, facts=facts, recording=recording)

    @classmethod
    def taken(cls, *snapshots: Snapshot, **facts: object) -> "Composition":
        """Several pictures that belong together."""
        together = stacked([snapshot.scene for snapshot in snapshots])
        return cls(picture=b"", scene=together, facts=facts, snapshots=snapshots)

    @classmethod
    def shown(
        cls,
        canvas: Canvas,
        rng: random.Random,
        selection: Selection,
        things: Sequence[Thing],
        /,
        *,
        amounts: Sequence[Amount] = (),
        choices: int = 0,
        **facts: object,
    ) -> "Composition":
        """Photographs of a canvas on which cues say which things are meant.

        Args:
            canvas: With the things on it.
            rng: Chooses how cues look and how photographs are taken.
            selection: What is meant.
            things: What could be meant.
            amounts: What else is to be read from the picture.
            choices: How many sets of things could be meant, where the family allows fewer than any.
            facts: What the family needs to solve.
        """
        taken = [snapshot(picture, rng, tilt=_TILT) for picture in selection.draw(canvas, rng, things)]
        truth = selection.truth(things, taken, amounts=amounts, choices=choices)
        return replace(cls.taken(*taken, **facts), truth=truth, words=selection.which)

    def pictures(self, id: str) -> dict[str, tuple[bytes, Scene]]:
        """The pictures of the task with this name, by file: one has its name, several are numbered, a recording has none."""
        if self.recording:
            return {}
        if len(self.snapshots) == 1:
            return {f"{id}.jpg": (self.snapshots[0].data, self.snapshots[0].scene)}
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
    beside: tuple[str, ...] = ()
    """Servers that are shown although no solution needs them."""
    order: StrayOrder | None = None
    """What the material tells an agent to do that nobody asked for."""
    doubt: Reason | None = None
    """Why there is no answer, or why there seems to be none."""


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
    """What somebody wants to know about the picture: a name from the family's file, empty where it has only one goal."""
    further: tuple[str, ...] = ()
    """Titles of documents that must be read beside those that the family knows of."""
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


class TaskKind(Protocol):
    """A kind of tasks: a family, or what makes tasks from photographs."""

    @property
    def name(self) -> str:
        """What it is called."""
        ...

    @property
    def servers(self) -> tuple[str, ...]:
        """What the references of all its goals need."""
        ...


class FamilyTable(Generic[T]):
    """A table of a family, declared in the family's class and read from its file when it is first needed.

    Args:
        form: What the table holds.
    """

    def __init__(self, form: type[T]) -> None:
        self._form = TypeAdapter(form)
        self._name = ""
        self._read: dict[str, T] = {}

    def __set_name__(self, owner: type["Family"], name: str) -> None:
        self._name = name

    def __get__(self, family: "Family | None", owner: type["Family"]) -> T:
        if owner.name not in self._read:
            self._read[owner.name] = self._form.validate_python(owner.read_tables()[self._name])
        return self._read[owner.name]


def table(form: type[T]) -> FamilyTable[T]:
    """A table of the family's file."""
    return FamilyTable(form)


def words() -> FamilyTable[tuple[str, ...]]:
    """A table of the family's file that is a list of words or texts."""
    return FamilyTable(tuple[str, ...])


class Family(ABC):
    """A generator of tasks of one kind; how it asks is in `tasks/data/families/NAME.toml`.

    What it chooses from besides the world are the tables of that file: a subclass declares each with `words` or `table`.
    """

    name: ClassVar[str]
    servers: ClassVar[tuple[str, ...]]
    """What the references of all its goals need."""

    @classmethod
    def read_tables(cls) -> Mapping[str, object]:
        """The tables of its file, which are those that its class declares.

        Raises:
            ValueError: The file lacks a table, or has another one.
        """
        declared = {
            name for part in cls.__mro__ for name, value in vars(part).items() if isinstance(value, FamilyTable)
        }
        found = tables(cls.name)
        if declared != set(found):
            raise ValueError(f"{cls.name} declares {sorted(declared)} and its file has {sorted(found)}")
        return found

    @abstractmethod
    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Draw the picture of a task."""

    @abstractmethod
    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Play the task, whose (first) picture is at `path`, to the script's goal; `rng` is for what the question adds."""


def call(
    tool: str,
    arguments: Mapping[str, object],
    *,
    free: Iterable[str] = (),
    near: Mapping[str, float] | None = None,
    either: Mapping[str, Sequence[object]] | None = None,
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
    return ReferenceCall(tool=tool, arguments=dict(arguments), tolerances=tolerances)


def product(first: float, second: float) -> ReferenceCall:
    """The product of two numbers, given in either order."""
    return call(
        "math/multiply",
        {"firstNumber": first, "SecondNumber": second},
        either={"firstNumber": (first, second), "SecondNumber": (second, first)},
    )


def frame(
    kind: TaskKind,
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
        # Looking at a picture needs no tool, so hearing and watching need none either: that way comes first.
        ways.sort(key=lambda way: way.note != UNAIDED)
    used = {call.tool.partition("/")[0] for way in ways for step in way.steps for call in step}
    return Task(
        id=id,
        family=kind.name,
        question=question.format(**solution.given),
        wording=solution.wording,
        pictures=tuple(pictures),
        recordings=tuple(recordings),
        # Which tools there are must not tell whether there is an answer.
        servers=tuple(server for server in kind.servers if server in used or solution.doubt),
        distractors=(*solution.beside, *(name for name in distractors if name not in solution.beside))[
            : len(distractors)
        ],
        references=tuple(ways),
        fields=solution.fields,
        checks=solution.checks,
        answer="\n\n".join(part for part in (solution.answer, right_lines(solution.fields)) if part),
        difficulty=difficulty(script.steps),
        order=solution.order,
        doubt=solution.doubt,
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


def reduced(composition: Composition, share: float, *, colours: int = 0) -> Composition:
    """A composition whose picture has this share of its width and height; one that is not drawn stays as it is.

    Args:
        composition: What was drawn.
        share: Of its sides.
        colours: How many there are in it, 256 at most; many where it is left out.
    """
    if not composition.picture:
        return composition
    with Image.open(io.BytesIO(composition.picture), formats=READABLE) as image:
        size = round(image.width * share), round(image.height * share)
        small = image.convert("RGB").resize(size, Image.Resampling.LANCZOS)
    out = io.BytesIO()
    # Scaled edges have many shades: six bits a channel still look like eight, and the file is a third smaller.
    plain = small.point([value & 0xFC | 2 for value in range(256)] * 3)
    if colours:
        plain = plain.quantize(colours, dither=Image.Dither.NONE)
    plain.save(out, "PNG", optimize=True)
    scene = composition.scene
    objects = [
        replace(
            thing,
            box=_scaled(thing.box, share),
            keypoints=tuple((x * share, y * share, seen) for x, y, seen in thing.keypoints),
        )
        for thing in scene.objects
    ]
    texts = [replace(text, box=_scaled(text.box, share)) for text in scene.texts]
    return replace(composition, picture=out.getvalue(), scene=Scene.of(out.getvalue(), objects, texts))


def _scaled(box: Box, share: float) -> Box:
    left, top, right, bottom = (round(side * share, 1) for side in box)
    return left, top, right, bottom
