"""What there is to see is written down for every task whose cues say what is meant, and cannot be guessed."""

import itertools
import math

import pytest

from m3bench.server.lab.headless.agents.blind import understood
from m3bench.tasks.families.base import questions
from m3bench.tasks.library import SETS, Library
from m3bench.tasks.skills import DECISIONS, skills_of
from m3bench.tasks.truth import Amount, ThingTruth, Truth

GUESSED = 0.03
"""The share of guesses that may be right."""
SETS_WITH_PICTURES = ("m3", "snapshots", "studio", "desk")


def truths() -> list[tuple[str, str]]:
    return [
        (name, task) for name in SETS_WITH_PICTURES for task in Library(SETS / name).tasks
        if (SETS / name / "truths" / f"{task}.json").is_file()
    ]  # fmt: skip


@pytest.mark.parametrize(("name", "id"), truths())
def test_a_truth_says_what_is_meant_and_guessing_is_vain(name: str, id: str) -> None:
    library = Library(SETS / name)
    task = library.task(id)
    truth = library.truth(task)
    assert truth is not None
    assert truth.task == id
    asked = understood(task, questions(task.family))
    assert asked is not None
    planned = skills_of(task.family, asked.goal, task.skills)
    assert len(truth.cues) >= DECISIONS
    assert {cue.skill for cue in truth.cues} == set(planned)
    assert all(cue.phrase in task.question for cue in truth.cues if "back" not in cue.name and "plan" not in cue.name)
    for thing in truth.things:
        holds = [seen.holds for seen in thing.cues]
        assert thing.meant == (holds[0] and not any(holds[1:]) if thing.group else all(holds)), thing.name
    assert 1 / truth.guesses <= GUESSED


@pytest.mark.parametrize("name", SETS_WITH_PICTURES)
def test_one_cue_alone_does_not_tell_what_is_meant(name: str) -> None:
    library = Library(SETS / name)
    for task in library.tasks.values():
        if (truth := library.truth(task)) is not None:
            for number in range(len(truth.cues)):
                assert sum(thing.cues[number].holds for thing in truth.things) > len(truth.meant), task.id


def test_guesses_are_counted_as_they_can_be_made() -> None:
    things = tuple(ThingTruth(name=str(number), meant=number < 3) for number in range(7))
    assert Truth(things=things).guesses == len([*itertools.combinations(range(7), 3)])
    one = (*things[:1], *(thing.model_copy(update={"meant": False}) for thing in things[1:]))
    strokes = Amount(name="strokes", skill="counting", value=4, options=(3, 4, 5, 6, 7))
    assert Truth(things=one, amounts=(strokes,)).guesses == 7 * 5
    two = tuple(thing.model_copy(update={"group": int(thing.name == "2")}) for thing in things)
    assert Truth(things=two).guesses == math.comb(7, 2) * 5
    assert Truth(things=things, choices=40).guesses == 40


def test_a_sandbox_is_given_nothing_of_it() -> None:
    """Scenes are what a sandbox gets; a truth is no part of one."""
    library = Library()
    task = next(task for task in library.tasks.values() if library.truth(task) is not None)
    told = str([scene.to_json() for scene in library.scenes(task)])
    truth = library.truth(task)
    assert truth is not None
    assert not any(cue.phrase in told or cue.name in told for cue in truth.cues)
