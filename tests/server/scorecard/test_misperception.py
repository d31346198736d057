"""What was got wrong about a picture, held against what is to be seen there; nothing where the fault is elsewhere."""

from typing import Any

import pytest

from m3bench.server.scorecard.markdown import markdown
from m3bench.server.scorecard.misperception import perception_of
from m3bench.server.scorecard.model import CheckResult, Instead, Perception
from m3bench.tasks.truth import Amount, CueTruth, Measure, SeenCue, ThingTruth, Truth
from tests.server.scorecard.cards import Steps, scored_card

REFERENCE: Steps = [[("a/find", {"x": "red apple"}), ("a/find", {"x": "pear"})], [("a/weigh", {"x": "pear", "n": 360})]]
WRONG = (CheckResult(check="best", passed=False, reason="it is the pear", given="plum", right="pear"),)
LOST = (CheckResult(check="total", passed=False, reason="it is 4", given="5", right="4"),)


def truth_of(measure: Measure = "state", **fields: Any) -> Truth:
    """Two of four fruits are meant: those with a lit lamp that stand behind a box, or whatever the second cue is."""
    cues = (
        CueTruth(name="lamp", skill="state", phrase="a lit lamp"),
        CueTruth(name="second", skill="counting" if measure == "count" else "dial", phrase="the cue", measure=measure),
    )
    shown = {"red apple": (True, True), "pear": (True, True), "plum": (True, False), "apple": (False, False)}
    things = tuple(
        ThingTruth(
            name=name,
            words=("9780132350884",) if name == "pear" else (),
            cues=tuple(SeenCue(value="yes" if holds else "no", holds=holds) for holds in held),
            meant=all(held),
        )
        for name, held in shown.items()
    )
    return Truth(cues=cues, things=things, **fields)


def seen(steps: Steps, truth: Truth | None = None, given: dict[str, Any] | None = None, **fields: Any) -> Perception:
    card = scored_card(steps, REFERENCE, **{"success": False, "checks": WRONG, **fields})
    found = perception_of(card, truth or truth_of(), {name: [value] for name, value in (given or {}).items()})
    assert found is not None
    return found


def replaced(one: str, other: Any) -> Steps:
    return [
        [(tool, {**given, "x": other if given["x"] == one else given["x"]}) for tool, given in step]
        for step in REFERENCE
    ]


def test_a_run_that_was_solved_did_everything_right() -> None:
    assert seen(REFERENCE, success=True) == Perception(skills=("state", "dial"), right=("state", "dial"))


def test_nothing_is_said_without_a_truth_or_of_a_run_that_is_not_judged() -> None:
    assert perception_of(scored_card(REFERENCE, REFERENCE, success=False), Truth(), {}) is None
    assert perception_of(scored_card(REFERENCE, REFERENCE, success=None), truth_of(), {}) is None


@pytest.mark.parametrize(
    ("measure", "found"),
    [("state", "wrong thing"), ("count", "miscounted"), ("reading", "misread"), ("relation", "wrong relation")],
)
def test_another_thing_of_the_picture_tells_which_cue_was_misjudged(measure: Measure, found: str) -> None:
    said = seen(replaced("pear", "plum"), truth_of(measure))
    assert (said.found, said.right) == (found, ("state",))
    assert said.wrong == ("counting" if measure == "count" else "dial")
    assert said.evidence == (
        "Step 1 calls a/find about plum, which is not meant: asked for was the cue, and there it is no."
    )


def test_a_thing_for_which_no_cue_holds_tells_no_skill() -> None:
    said = seen(replaced("pear", "apple"))
    assert (said.found, said.wrong, said.right) == ("wrong thing", "", ())


def test_a_longer_name_is_not_taken_for_the_shorter_one_in_it() -> None:
    """`red apple` is meant and `apple` is another thing of the picture."""
    assert seen(REFERENCE, checks=LOST).found is None


def test_nobody_looked() -> None:
    assert seen([], sight="unseen").found == "not looked"


def test_what_no_picture_shows_is_made_up_and_what_nearly_is_there_was_misread() -> None:
    near = Instead(reference=1, actual=1, note="another thing")

    def about(words: str) -> Perception:
        card = scored_card(replaced("pear", words), REFERENCE, success=False, checks=WRONG)
        alignment = card.alignment.model_copy(update={"instead": (near,), "missed": (1,)})
        found = perception_of(card.model_copy(update={"alignment": alignment}), truth_of(), {})
        assert found is not None
        return found

    assert about("bicycle").found == "made up"
    assert about("9780132350848").found == "misread"
    assert about("978-0-13-235088-4").found is None, "the right number, written another way"


def test_an_amount_that_is_read_otherwise_is_miscounted_or_misread() -> None:
    amounts = [
        (Amount(name="pears", skill="counting", value=4, options=(3, 4, 5)), "miscounted"),
        (Amount(name="the scale", skill="dial", value=4, within=0.2), "misread"),
    ]
    for amount, found in amounts:
        said = seen(REFERENCE, truth_of(amounts=(amount,)), {"total": 5}, checks=LOST)
        assert (said.found, said.wrong) == (found, amount.skill)
    assert seen(REFERENCE, truth_of(amounts=(amounts[1][0],)), {"total": "4.1"}, checks=LOST).found is None


def test_the_right_calls_and_another_thing_in_the_end() -> None:
    said = seen(REFERENCE, given={"best": "plum"})
    assert (said.found, said.right) == ("right seen, wrong used", ("state", "dial"))
    assert said.evidence == "The calls were about the right things, and 'best' names plum in place of pear."


def test_what_went_wrong_elsewhere_is_no_fault_of_the_eyes() -> None:
    """Calls left out, wrong sums, things looked up beside the right ones."""
    assert seen(REFERENCE[:1], checks=LOST, given={"total": 5}).found is None
    assert seen(REFERENCE, checks=LOST, given={"total": 5}).found is None
    assert seen([*REFERENCE, [("a/find", {"x": "plum"})]], checks=LOST, given={"total": 5}).found is None


def test_a_card_says_it() -> None:
    card = scored_card(replaced("pear", "plum"), REFERENCE, success=False, checks=WRONG)
    text = markdown(card.model_copy(update={"perception": perception_of(card, truth_of("count"), {})}))
    assert "**In the picture:** miscounted (counting). Step 1 calls a/find about plum, which is not meant" in text
    assert "In the picture" not in markdown(card)
