"""The set `snapshots`: whoever lacks one of the pictures, or has no eyes and perfect tools, solves next to nothing."""

import io
import itertools
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import anyio
import pytest
from PIL import Image

from m3bench.sandboxes.backends.inprocess import InProcessBackend
from m3bench.sandboxes.world.tables import load
from m3bench.server.lab.authoring.generation import stage
from m3bench.server.lab.headless.agents.blind import understood
from m3bench.server.lab.headless.agents.composition_search import likely_compositions
from m3bench.server.lab.headless.agents.evidence import PictureEvidence as Told
from m3bench.tasks.answers.fields import Field, judge, right_fields
from m3bench.tasks.answers.reading import read
from m3bench.tasks.checks import Evidence
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, Unfit, questions
from m3bench.tasks.families.registry import SNAPSHOTS as FAMILIES
from m3bench.tasks.families.tool_answers import Found
from m3bench.tasks.library import SNAPSHOTS, Library
from m3bench.tasks.render.outline import Outline

LIBRARY = Library(SNAPSHOTS)
MEMBERS = {family: [task for task in LIBRARY.tasks.values() if task.family == family] for family in FAMILIES}
KIT = Kit(Outline(), load)
every_family = pytest.mark.parametrize("family", FAMILIES)


def test_every_task_has_two_or_three_photographs_of_its_own_and_all_are_small() -> None:
    files = [LIBRARY.picture(name) for task in LIBRARY.tasks.values() for name in task.pictures]
    assert all(2 <= len(task.pictures) <= 3 for task in LIBRARY.tasks.values())
    assert len({sha256(data).digest() for data in files}) == len(files)
    assert sum(map(len, files)) <= 25_000_000
    for data in files:
        with Image.open(io.BytesIO(data)) as image:
            assert image.format == "JPEG"
            assert max(image.size) <= 1600


@every_family
def test_every_question_is_one_of_the_familys(family: str) -> None:
    assert all(understood(task, questions(family)) for task in MEMBERS[family])


class Dice(random.Random):
    """Random numbers that are others from some throw on.

    Args:
        seed: Of the throws.
        turn: The number of throws after which they are others.
        other: Seed of the others.
    """

    def __init__(self, seed: str, turn: int = 1 << 60, other: int = 0) -> None:
        super().__init__(seed)
        self.throws, self._turn = 0, turn
        self._others = random.Random(f"{seed} {other}")

    def random(self) -> float:
        return self._others.random() if self._turned() else super().random()

    def getrandbits(self, k: int) -> int:
        return self._others.getrandbits(k) if self._turned() else super().getrandbits(k)

    def _turned(self) -> bool:
        self.throws += 1
        return self.throws > self._turn


def after_the_first(family: str, seed: str) -> int:
    """After how many throws the first photograph is taken, so that others change only what comes later."""
    dice = Dice(seed)
    first = FAMILIES[family].compose(dice, KIT).snapshots[0]
    low, high = 0, dice.throws
    while low < high:
        middle = (low + high) // 2
        same = [FAMILIES[family].compose(Dice(seed, middle, one), KIT).snapshots[0] == first for one in range(4)]
        low, high = (low, middle) if all(same) else (middle + 1, high)
    return low


@dataclass(frozen=True)
class Fresh:
    """A task that nobody draws, and how it is solved."""

    composition: Composition
    solution: Solution
    steps: list[list[str]]


async def fresh(family: str, goal: str, dice: random.Random) -> Fresh | None:
    composition = FAMILIES[family].compose(dice, KIT)
    try:
        async with stage(InProcessBackend(), "x", FAMILIES[family].servers, {}, ()) as play:
            script = Script(play, goal)
            solution = await FAMILIES[family].solve(random.Random("asked"), composition, "./media/x-1.jpg", script)
    except Unfit:
        return None
    return Fresh(composition, solution, [[repr(call) for call in step] for step in script.steps])


def pairs(family: str, count: int) -> Iterator[tuple[Fresh, Fresh]]:
    """Tasks with the same question and the same first photograph, and other ones after it."""
    goals = tuple(questions(family))
    found = 0
    for number in itertools.count():
        assert number < 20 * count, f"{family} has too few tasks"
        goal, seed = goals[found % len(goals)], f"pairs {family} {number}"
        one = anyio.run(fresh, family, goal, Dice(seed))
        if one is None:
            continue
        turn = after_the_first(family, seed)
        others = (anyio.run(fresh, family, goal, Dice(seed, turn, other)) for other in range(20))
        other = next((other for other in others if other), None)
        if other is not None and other.solution.given == one.solution.given:
            yield one, other
            found += 1
        if found == count:
            return


def judged(fields: tuple[Field, ...], given: tuple[Field, ...]) -> bool:
    handed_in = read(fields, "", right_fields(given))
    return all(one.passed for one in judge(fields, handed_in, Evidence(answer="", workspace=Path("nowhere"))))


@pytest.mark.slow
@pytest.mark.sample(2)
@every_family
def test_who_has_only_the_first_photograph_cannot_know(family: str) -> None:
    for one, other in pairs(family, 3):
        assert one.composition.snapshots[0] == other.composition.snapshots[0]
        assert one.composition.snapshots[1] != other.composition.snapshots[1]
        assert one.steps != other.steps
        assert not judged(one.solution.fields, other.solution.fields)


@pytest.mark.all_sample(2)
@pytest.mark.seeds
@every_family
def test_who_makes_up_the_other_photographs_solves_one_of_eight_at_most(family: str) -> None:
    assert sum(judged(one.solution.fields, other.solution.fields) for one, other in pairs(family, 8)) <= 1


@pytest.mark.slow
@every_family
def test_tools_that_read_and_detect_without_a_mistake_do_not_tell_what_is_meant(family: str) -> None:
    seen = FAMILIES[family].compose(random.Random("told"), KIT)
    told = Told(
        readings=("\n".join(text.text for text in seen.scene.texts),),
        objects=tuple(Found(item.label, tuple(map(round, item.box))) for item in seen.scene.objects),  # type: ignore[arg-type]
    )
    best, *_ = likely_compositions(FAMILIES[family], KIT, told, random.Random(1))
    assert best.facts["meant"] != seen.facts["meant"]


@every_family
def test_no_scene_names_what_is_meant(family: str) -> None:
    """The detector tells a kind, and never one of the names that an answer may have."""
    for task in MEMBERS[family]:
        named = {str(name).casefold() for field in task.fields for name in _texts(field.value.given())}
        labels = {item.label for scene in LIBRARY.scenes(task) for item in scene.objects}
        assert not named & labels, task.id


def _texts(given: object) -> list[object]:
    return given if isinstance(given, list) else [given]


@every_family
def test_goals_take_turns(family: str) -> None:
    asked = Counter(found.goal for task in MEMBERS[family] if (found := understood(task, questions(family))))
    assert set(asked) == set(questions(family))
