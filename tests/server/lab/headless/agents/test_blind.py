"""The agent without eyes is as strong as what tools tell: names, numbers and places are found, the rest is a guess."""

import random

import pytest

from m3bench.sandboxes.world.tables import load
from m3bench.server.lab.headless.agents.blind import understood
from m3bench.server.lab.headless.agents.composition_search import Chooser, likely_compositions
from m3bench.server.lab.headless.agents.evidence import PictureEvidence, put_together
from m3bench.tasks.families.base import Composition, Kit, questions
from m3bench.tasks.families.registry import FAMILIES
from m3bench.tasks.families.tool_answers import Found
from m3bench.tasks.library import Library
from m3bench.tasks.render.outline import Outline

KIT = Kit(Outline(), load)


def told(family: str, seed: str) -> PictureEvidence:
    """What perfect tools would tell of a picture."""
    scene = FAMILIES[family].compose(random.Random(seed), KIT).scene
    return PictureEvidence(
        readings=("\n".join(text.text for text in scene.texts),),
        objects=tuple(Found(item.label, tuple(map(round, item.box))) for item in scene.objects),  # type: ignore[arg-type]
    )


@pytest.mark.all_sample(1)
@pytest.mark.slow
@pytest.mark.parametrize(("family", "fact"), [("museum", "seen"), ("vision_research", "titles")])
def test_what_tools_tell_is_found_out(family: str, fact: str) -> None:
    def shown(guess: Composition) -> list[str]:
        """In any order."""
        return sorted(map(str, guess.facts[fact]))

    guesses = likely_compositions(FAMILIES[family], KIT, told(family, "told"), random.Random(1))
    assert shown(FAMILIES[family].compose(random.Random("told"), KIT)) in map(shown, guesses)


@pytest.mark.slow
def test_what_no_tool_tells_stays_a_guess() -> None:
    guesses = [
        likely_compositions(FAMILIES["stock_growth"], KIT, PictureEvidence(), random.Random(n))[0] for n in range(3)
    ]
    assert len({guess.facts["red"][0] for guess in guesses}) > 1


@pytest.mark.all_sample(1)
@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("family", "fact"),
    [
        ("movies", "films"),
        ("heatmap", "cities"),
        ("crypto_purchase", "meant"),
        ("fruit_cal", "fruits"),
        pytest.param("museum", "red", marks=pytest.mark.night),
        pytest.param("research_station", "red", marks=pytest.mark.night),
        ("vision_research", "red"),
    ],
)
def test_no_tool_tells_what_is_circled(family: str, fact: str) -> None:
    """Every word is read without an error and every thing detected, and which ones are meant is still not known."""
    known = 0
    for seed in ("a", "b", "c"):
        meant = FAMILIES[family].compose(random.Random(seed), KIT).facts[fact]
        best, *_ = likely_compositions(FAMILIES[family], KIT, told(family, seed), random.Random(1))
        known += sorted(map(str, best.facts[fact])) == sorted(map(str, meant))
    assert known == 0


def test_every_question_of_the_set_is_understood() -> None:
    assert [task.id for task in Library().set.tasks if understood(task, questions(task.family)) is None] == []


def test_a_letter_that_was_misread_does_not_hide_a_name() -> None:
    evidence = PictureEvidence(readings=("Yosernite Nationl Park",), codes=("9780306406157",))
    assert evidence.weight("National Park") > evidence.weight("National Gallery")
    assert evidence.weight("9780306406157") > 0
    assert evidence.weight("Joshua Tree") == 0


def test_earlier_decisions_stand_while_one_is_made_anew() -> None:
    things = ["apple", "pear", "plum", "fig"]
    first = Chooser(PictureEvidence(hints=("pear",)), random.Random(3))
    drawn = (first.choice(things), first.sample(things, 2), first.randint(1, 6), first.random())
    again = Chooser(PictureEvidence(), random.Random(4), first.trace)
    assert (again.choice(things), again.sample(things, 2), again.randint(1, 6), again.random()) == drawn
    other = Chooser(PictureEvidence(hints=("6",)), random.Random(5), first.trace, changed=2)
    assert (other.choice(things), other.sample(things, 2)) == drawn[:2]
    assert other.randint(1, 6) == 6
    assert other.random() == drawn[3]


def test_what_tools_tell_of_several_pictures_is_put_together_picture_by_picture() -> None:
    one = PictureEvidence(readings=("upper", "UPPER"), codes=("1",), objects=(Found("box", (0, 0, 10, 10)),))
    other = PictureEvidence(readings=("lower",), objects=(Found("box", (0, 0, 10, 10)),))
    both = put_together([one, other])
    assert both.readings == ("upper\nlower", "UPPER\n")
    assert both.codes == ("1",)
    assert both.objects[0].box != both.objects[1].box
    assert put_together([]) == PictureEvidence()
