"""The set `desk`: whoever does not ask, does not listen or does not keep to the rules solves next to nothing of it."""

import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import anyio
import pytest

from m3bench.sandboxes.backends.inprocess import InProcessBackend
from m3bench.sandboxes.world.tables import load
from m3bench.server.lab.authoring.generation import stage
from m3bench.tasks.answers.fields import judge, right_fields
from m3bench.tasks.answers.reading import read
from m3bench.tasks.checks import Evidence
from m3bench.tasks.desk import Desk, State, reply
from m3bench.tasks.families import errands
from m3bench.tasks.families.base import Composition, Kit, Play, Script, Solution, Unfit, questions
from m3bench.tasks.families.registry import DESK as FAMILIES
from m3bench.tasks.library import DESK, Library
from m3bench.tasks.render.outline import Outline
from m3bench.tasks.task import ReferenceCall

LIBRARY = Library(DESK)
MEMBERS = {family: [task for task in LIBRARY.tasks.values() if task.family == family] for family in FAMILIES}
INSTANCES = 6
every_family = pytest.mark.parametrize("family", FAMILIES)


@every_family
def test_pictures_are_small(family):
    assert all(len(LIBRARY.picture(task.pictures[0])) <= 250_000 for task in MEMBERS[family])


@every_family
def test_no_question_says_what_the_person_is_to_be_asked(family):
    for task in MEMBERS[family]:
        (scene,) = LIBRARY.scenes(task)
        assert scene.desk is not None
        said = {text for fact in scene.desk.facts for text in (fact.value, fact.said, fact.later, fact.change) if text}
        assert not [text for text in said if text.casefold() in task.question.casefold()]


class Cheat:
    """Plays through real tools, but for what a cheat makes up in their place."""

    def __init__(self, play: Play) -> None:
        self.play = play

    async def __call__(self, calls: Sequence[ReferenceCall]) -> list[str]:
        texts = await self.play(calls)
        return [self.heard(call, text) for call, text in zip(calls, texts, strict=True)]

    def heard(self, call: ReferenceCall, text: str) -> str:
        return text


class NeverAsks(Cheat):
    """Knows how such people talk, and makes up what this one would say."""

    def __init__(self, play: Play, guess: Desk) -> None:
        super().__init__(play)
        self._guess, self._state = guess, State()

    def heard(self, call: ReferenceCall, text: str) -> str:
        if call.tool != "desk/ask_user":
            return text
        said, self._state = reply(self._guess, self._state, call.arguments["question"])
        return said


class StopsListening(Cheat):
    """Asks, and takes the first answer for the last."""

    def __init__(self, play: Play) -> None:
        super().__init__(play)
        self._asked = 0

    def heard(self, call: ReferenceCall, text: str) -> str:
        self._asked += call.tool == "desk/ask_user"
        return "Yes, that is what I told you." if call.tool == "desk/ask_user" and self._asked == 3 else text


def made(family: str, number: int, attempt: int) -> Composition:
    """What is on a picture that nobody draws: whoever plays knows what is circled."""
    return FAMILIES[family].compose(random.Random(f"cheat {family} {number} {attempt}"), Kit(Outline(), load))


async def solution(family: str, goal: str, composition: Composition, number: int, cheat: str) -> Solution:
    async with staged(family, composition) as play:
        if cheat == "never asks":
            guess = made(family, number, -2).scene.desk
            assert guess is not None
            play = NeverAsks(play, guess)
        elif cheat == "stops listening":
            play = StopsListening(play)
        return await FAMILIES[family].solve(
            random.Random(f"asked {number}"), composition, "./media/x.png", Script(play, goal)
        )


@asynccontextmanager
async def staged(family: str, composition: Composition) -> AsyncIterator[Play]:
    scenes = (composition.scene,)
    async with stage(InProcessBackend(), "x", FAMILIES[family].servers, {}, scenes) as play:
        yield play


def solves(given: Solution, wanted: Solution) -> bool:
    handed_in = read(wanted.fields, "", right_fields(given.fields))
    return all(one.passed for one in judge(wanted.fields, handed_in, Evidence(answer="", workspace=Path("nowhere"))))


def played(family: str, cheat: str, monkeypatch: pytest.MonkeyPatch, count: int = INSTANCES) -> list[bool]:
    """Whether a cheat solves new instances of a family, one goal after the other."""
    goals = tuple(questions(family))

    async def one(number: int) -> bool:
        goal = goals[number % len(goals)]
        for attempt in range(64):
            try:
                composition = made(family, number, attempt)
                right = await solution(family, goal, composition, number, "")
            except Unfit:
                continue
            with monkeypatch.context() as patched:
                if cheat == "ignores the rules":
                    module = import_module(type(FAMILIES[family]).__module__)
                    free = {
                        name: replace(one, allowed=lambda looked, rule: True) for name, one in module._ERRANDS.items()
                    }
                    patched.setattr(module, "_ERRANDS", free)
                patched.setattr(errands, "need", lambda condition, why: None)
                try:
                    return solves(await solution(family, goal, composition, number, cheat), right)
                except (Unfit, LookupError, AssertionError):
                    return False
        raise AssertionError(f"{family} has no task for {goal}")

    async def main() -> list[bool]:
        return [await one(number) for number in range(count)]

    return anyio.run(main)


@pytest.mark.sample(1)
@every_family
@pytest.mark.parametrize("cheat", ["never asks", "stops listening", "ignores the rules"])
def test_a_cheat_solves_nothing(family, cheat, monkeypatch):
    """Whoever makes answers up may be lucky once."""
    assert sum(played(family, cheat, monkeypatch)) <= (cheat == "never asks")


@pytest.mark.all_sample(3)
@pytest.mark.seeds
@every_family
@pytest.mark.parametrize("cheat", ["never asks", "stops listening", "ignores the rules"])
def test_a_cheat_solves_one_in_ten_of_many_at_most(family, cheat, monkeypatch):
    found = played(family, cheat, monkeypatch, 20)
    assert sum(found) <= 2


@pytest.mark.sample(1)
@every_family
def test_whoever_plays_fair_solves_everything(family, monkeypatch):
    assert all(played(family, "", monkeypatch))
