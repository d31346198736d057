"""What went wrong first: one sentence that the card's own data bear out."""

from typing import Any

import pytest

from m3bench.server.scorecard.first_fault import first_fault
from m3bench.server.scorecard.markdown import markdown
from m3bench.server.scorecard.model import CheckResult, Instead, ScoreCard
from tests.server.scorecard.cards import Steps, scored_card

REFERENCE: Steps = [[("a/find", {"x": "red apples"})], [("a/price", {"id": 3})], [("a/ship", {"to": "Oslo"})]]
WRONG = (CheckResult(check="price", passed=False, reason="it is 4", given="5", right="4"),)


def card_of(steps: Steps, **fields: Any) -> ScoreCard:
    return scored_card(steps, REFERENCE, **{"success": False, "checks": WRONG, **fields})


def test_a_run_that_was_solved_has_none() -> None:
    assert first_fault(card_of(REFERENCE, success=True)) == ""
    assert first_fault(card_of(REFERENCE, success=None, checks=())) == ""


def test_who_did_nothing_is_told_so() -> None:
    assert first_fault(card_of([])) == "No tool was called, and price is not right."


def test_the_first_missing_call_is_named_and_not_the_last() -> None:
    told = first_fault(card_of([REFERENCE[0]]))
    assert told == "No call gave what a/price(id=3) gives."


def test_what_was_called_in_its_place_is_named_with_its_step() -> None:
    card = card_of([REFERENCE[0], [("a/price", {"id": 4})]])
    near = Instead(reference=1, actual=1, note="another one: 3 wanted, 4 asked")
    alignment = card.alignment.model_copy(
        update={"instead": (near,), "matches": card.alignment.matches[:1], "missed": (1, 2), "extra": (1,)}
    )
    told = first_fault(card.model_copy(update={"alignment": alignment}))
    assert told == "Step 2 called a/price(id=4), where a/price(id=3) was needed: another one: 3 wanted, 4 asked."


def test_when_every_call_was_right_it_is_the_answer() -> None:
    told = first_fault(card_of(REFERENCE))
    assert (
        told == "Every call that was needed was made, but the answer does not say what they found: price is not right."
    )
    empty = (CheckResult(check="price", passed=False, reason="nothing was given"),)
    assert first_fault(card_of(REFERENCE, checks=empty)).endswith("and then nothing was handed in.")


@pytest.mark.parametrize("count", [1, 40])
def test_it_stays_one_short_sentence(count: int) -> None:
    checks = tuple(CheckResult(check=f"field_{number}\n# x", passed=False) for number in range(count))
    told = first_fault(scored_card([], [[("a/b" * 500, {"x" * 500: "y" * 5000})]], success=False, checks=checks))
    assert len(told) < 400
    assert "\n" not in told


def test_a_person_reads_it_before_any_number() -> None:
    card = card_of([REFERENCE[0]])
    text = markdown(card.model_copy(update={"first_fault": first_fault(card)}))
    places = [text.index(part) for part in ("**not solved**", "**What was handed in**", "right is `4`",
                                            "What went wrong first", "| recall |", "| step |")]  # fmt: skip
    assert places == sorted(places)


def test_a_value_that_the_record_does_not_tell_is_shown_as_its_range() -> None:
    card = card_of(REFERENCE, ranges={"merge_purity": (0.0, 1.0)})
    (row,) = (line for line in markdown(card).split("\n") if line.startswith("| merge purity"))
    assert "| 0.00–1.00 |" in row
    assert "1.000" not in row
