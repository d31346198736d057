"""Cues tell what is meant: two hold for it, at most one for anything else, and each looks different every time."""

import itertools
import random

import pytest

from m3bench.tasks.families.base import Kit
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.cues.cue import Spot
from m3bench.tasks.render.cues.selection import CUES, Thing, amount, below, by_skill, choose, cues_for
from m3bench.tasks.render.outline import Outline
from m3bench.tasks.skills import skill_plan

COUNT = 10


def things() -> list[Thing]:
    corners = [(60.0 + 240 * (number % 5), 40.0 + 300 * (number // 5)) for number in range(COUNT)]
    boxes = [(x, y, x + 140, y + 160) for x, y in corners]
    return [Thing(name=f"thing {number}", box=box, spots=below(box, 80)) for number, box in enumerate(boxes)]


def test_every_skill_has_cues_and_no_two_cues_are_said_alike() -> None:
    assert by_skill().keys() == skill_plan().skills.keys()
    assert len({cue.phrase for cue in CUES}) == len({cue.name for cue in CUES}) == len(CUES)


@pytest.mark.parametrize("cue", [cue for cue in CUES if cue.draw], ids=lambda cue: cue.name)
def test_a_value_either_holds_or_does_not_and_no_two_drawings_are_alike(cue) -> None:
    assert not set(cue.holds) & set(cue.fails)
    value = str(cue.holds[0]).split(" > ")[0] if cue.changes else cue.holds[0]
    assert "".join(cue.draw(random.Random(1), value)) != "".join(cue.draw(random.Random(2), value))


def test_cues_of_a_style_are_the_same_for_every_picture_and_of_the_skills_that_were_asked_for() -> None:
    for one, other in itertools.combinations(sorted(by_skill()), 2):
        cues = cues_for((one, other), "a")
        assert cues == cues_for((one, other), "a")
        assert [cue.skill for cue in cues] == [one, other]
        assert len({cue.name.split()[0] for cue in cues}) == 2
    assert len({cues_for(("state", "dial"), str(style)) for style in range(20)}) > 8


@pytest.mark.parametrize("second", [(), (4, 7)])
def test_both_cues_hold_for_what_is_meant_and_for_nothing_else(second: tuple[int, ...]) -> None:
    for seed in range(40):
        rng = random.Random(seed)
        selection = choose(rng, cues_for(("counting", "surface"), str(seed)), COUNT, (1, 3, 9), second)
        canvases = selection.draw(Canvas(Outline(), 1300, 700), rng, things())
        assert len(canvases) == 1
        both = [
            [value in cue.holds for cue, value in zip(selection.cues, values, strict=True)]
            for values in selection.values
        ]
        assert [number for number, holds in enumerate(both) if all(holds)] == [1, 3, 9]
        assert [number for number, holds in enumerate(both) if holds == [True, False]] == sorted(second) or not second
        assert sum(holds == [False, True] for holds in both) >= 2, "one cue alone is not enough"


def test_what_changes_or_has_a_sheet_of_its_own_is_shown_in_a_second_picture() -> None:
    for skill, count in (("change", 2), ("way", 2), ("viewpoint", 2), ("dial", 1)):
        rng = random.Random(skill)
        selection = choose(rng, cues_for(("state", skill), skill), COUNT, (0, 5))
        assert len(selection.draw(Canvas(Outline(), 1300, 700), rng, things())) == count


def test_a_goal_decides_the_skills_of_its_cues() -> None:
    kit = Kit(Outline(), lambda table: (), goal="cinema", style="3")
    assert tuple(cue.skill for cue in kit.cues("movies")) == skill_plan().plan["movies"]["cinema"]
    assert amount("pencils").skill == "counting"
    assert below((0, 0, 100, 100), 50)[0] == Spot(x=24.0, foot=130.0, size=50)
