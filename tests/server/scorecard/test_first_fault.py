"""What went wrong first: one sentence that the card's own data bear out."""

from typing import Any

import pytest

from m3bench.server.scorecard.first_fault import first_fault
from m3bench.server.scorecard.markdown import markdown
from m3bench.server.scorecard.model import CheckResult, Conduct, Instead, Recovery, ScoreCard
from tests.server.scorecard.cards import Steps, scored_card

REFERENCE: Steps = [[("a/find", {"x": "red apples"})], [("a/price", {"id": 3})], [("a/ship", {"to": "Oslo"})]]
WRONG = (CheckResult(check="price", passed=False, reason="it is 4", given="5", right="4"),)

EMPTY = (CheckResult(check="currency", passed=False, reason="nothing was given"),)


def card_of(steps: Steps, **fields: Any) -> ScoreCard:
    return scored_card(steps, REFERENCE, **{"success": False, "checks": WRONG, **fields})


def test_a_run_that_was_solved_has_none() -> None:
    assert first_fault(card_of(REFERENCE, success=True)) == ""
    assert first_fault(card_of(REFERENCE, success=None, checks=())) == ""


def test_who_did_nothing_is_told_so() -> None:
    assert first_fault(card_of([])) == "No tool was called, and a wrong value was handed in for 'price'."
    assert first_fault(card_of([], checks=EMPTY)) == "No tool was called, and nothing was handed in."


def test_the_first_missing_call_is_named_and_not_the_last() -> None:
    told = first_fault(card_of([REFERENCE[0], REFERENCE[2]]))
    assert told == "a/price(id=3) was never called, nor anything that tells or does the same."


def test_a_run_that_ends_too_soon_is_told_how_far_it_came() -> None:
    told = first_fault(card_of([REFERENCE[0]], checks=EMPTY))
    assert told == (
        "The run stopped too soon: 1 of 3 needed calls was made, and next should have come a/price(id=3). "
        "Nothing was handed in."
    )
    told = first_fault(card_of([[("a/other", {})]]))
    assert told == (
        'Nothing that was needed was called: a/find(x="red apples") should have come first. '
        "1 call that was not needed was made: a/other."
    )


def test_a_limit_that_was_reached_comes_before_what_is_missing_because_of_it() -> None:
    told = first_fault(card_of([REFERENCE[0]], excluded={"limit": 2}))
    assert told.startswith(
        "The run reached a limit on its calls or its time, and 2 calls after that were refused. By then 1 of 3 needed"
    )


@pytest.mark.parametrize(
    ("tool", "outcome", "says"),
    [
        ("a/price", "invalid_arguments", "was refused for wrong arguments; a/price(id=3), which was needed, never got"),
        (
            "a__price_now",
            "unknown_tool",
            "failed, for there is no such tool; a/price(id=3), which was needed, was never",
        ),
        ("a/other", "not_found", "a/price(id=3) was never called"),
    ],
)
def test_a_call_that_failed_is_told_with_how(tool: str, outcome: str, says: str) -> None:
    card = card_of([REFERENCE[0], [(tool, {"id": "x"})], REFERENCE[2]])
    steps = list(card.alignment.actual_steps)
    steps[1] = (steps[1][0].model_copy(update={"outcome": outcome}),)
    matches = tuple(match for match in card.alignment.matches if match.actual != 1)
    missed = {"actual_steps": tuple(steps), "matches": matches, "missed": (1,), "extra": (1,)}
    told = first_fault(card.model_copy(update={"alignment": card.alignment.model_copy(update=missed)}))
    assert says in told


def test_what_was_called_in_its_place_is_named_with_its_step() -> None:
    card = card_of([REFERENCE[0], [("a/price", {"id": 4})]])
    near = Instead(reference=1, actual=1, note="another one: 3 wanted, 4 asked")
    alignment = card.alignment.model_copy(
        update={"instead": (near,), "matches": card.alignment.matches[:1], "missed": (1, 2), "extra": (1,)}
    )
    told = first_fault(card.model_copy(update={"alignment": alignment}))
    assert told == "Step 2 called a/price(id=4) where a/price(id=3) was needed: another one: 3 wanted, 4 asked."


def test_a_call_that_came_before_what_it_needs_is_told_so() -> None:
    card = card_of([[("a/price", {"id": 3})], [REFERENCE[0][0]]])
    steps = list(card.alignment.actual_steps)
    steps[0] = (steps[0][0].model_copy(update={"outcome": "not_found"}),)
    matches = tuple(match for match in card.alignment.matches if match.reference == 0)
    alignment = card.alignment.model_copy(
        update={"actual_steps": tuple(steps), "matches": matches, "missed": (1, 2), "extra": (0,),
                "needs": ((), (0,), ())}
    )  # fmt: skip
    assert first_fault(card.model_copy(update={"alignment": alignment})) == (
        "In step 1, a/price(id=3) did not find what it was asked for; it came too early, for "
        'a/find(x="red apples"), which it needs, was called in step 2 only.'
    )


def test_of_several_that_came_too_late_the_one_about_the_same_file_is_named() -> None:
    make, write = ("x/create", {"path": "./a.xlsx"}), ("x/write", {"path": "./a.xlsx", "row": 1})
    reference: Steps = [[("p/blur", {"picture": "./b.png"}), make], [write]]
    card = scored_card([[write], *reference[:1]], reference, success=False, checks=WRONG)
    steps = list(card.alignment.actual_steps)
    steps[0] = (steps[0][0].model_copy(update={"outcome": "not_found"}),)
    matches = tuple(match for match in card.alignment.matches if match.reference != 2)
    alignment = card.alignment.model_copy(
        update={"actual_steps": tuple(steps), "matches": matches, "missed": (2,), "extra": (0,),
                "needs": ((), (), (0, 1))}
    )  # fmt: skip
    told = first_fault(card.model_copy(update={"alignment": alignment}))
    assert 'it came too early, for x/create(path="./a.xlsx"), which it needs' in told


def test_calls_that_led_nowhere_are_named_beside_what_is_missing() -> None:
    told = first_fault(card_of([REFERENCE[0], *[[("a/other", {"id": 9})]] * 3]))
    assert "next should have come a/price(id=3). 3 calls that were not needed were made: 3 × a/other." in told


def test_a_wrong_call_comes_before_a_missing_one_on_which_nothing_depends() -> None:
    card = card_of([[("a/price", {"id": 4})], REFERENCE[2]])
    near = Instead(reference=1, actual=0, note="another one: 3 wanted, 4 asked")
    changed = {
        "instead": (near,), "missed": (0, 1), "extra": (0,), "needs": ((), (), ()),
        "matches": tuple(match for match in card.alignment.matches if match.reference == 2),
    }  # fmt: skip
    told = first_fault(card.model_copy(update={"alignment": card.alignment.model_copy(update=changed)}))
    assert told.startswith("Step 1 called a/price(id=4) where a/price(id=3) was needed")
    depends = {**changed, "needs": ((), (0,), ())}
    told = first_fault(card.model_copy(update={"alignment": card.alignment.model_copy(update=depends)}))
    assert told.startswith('a/find(x="red apples") was never called')


def test_the_very_call_that_led_nowhere_is_not_called_missing() -> None:
    card = card_of(REFERENCE)
    changed = {"missed": (1,), "extra": (1,), "matches": (card.alignment.matches[0], card.alignment.matches[2])}
    told = first_fault(card.model_copy(update={"alignment": card.alignment.model_copy(update=changed)}))
    assert told.startswith("a/price(id=3) in step 2 did not lead to what was needed.")


def test_arguments_that_are_too_large_are_told_with_their_size() -> None:
    card = card_of([REFERENCE[0], [("a/price", {"id": "9" * 9_600_000})]])
    steps = list(card.alignment.actual_steps)
    steps[1] = (steps[1][0].model_copy(update={"outcome": "invalid_arguments"}),)
    changed = {"actual_steps": tuple(steps), "matches": card.alignment.matches[:1], "missed": (1, 2), "extra": (1,)}
    told = first_fault(card.model_copy(update={"alignment": card.alignment.model_copy(update=changed)}))
    assert "was refused for its arguments, which take 9.6 MB; a/price(id=3), which was needed, never got" in told


def test_two_values_in_each_others_fields_are_told_so_where_the_right_ones_may_be_told() -> None:
    sugar = CheckResult(check="sugar", passed=False, reason="-", given="345.3", right="66.82 g")
    energy = CheckResult(check="energy", passed=False, reason="-", given="66.82", right="345.3 kcal")
    told = first_fault(card_of(REFERENCE, checks=(sugar, energy)))
    assert told == (
        "Every call that was needed was made, but wrong values were handed in for 'sugar' and 'energy' (each holds "
        "what belongs in the other: 'sugar' and 'energy')."
    )
    hidden = [check.model_copy(update={"right": ""}) for check in (sugar, energy)]
    assert "each holds" not in first_fault(card_of(REFERENCE, checks=tuple(hidden)))


def test_prose_without_fields_is_not_called_nothing() -> None:
    told = first_fault(card_of(REFERENCE, checks=EMPTY), prose=True)
    assert told == (
        "Every call that was needed was made, but only prose was handed in, from which none of the fields that were "
        "asked for could be read."
    )


def test_weather_that_was_not_weathered_is_told_first() -> None:
    met = Conduct(recovery=Recovery(faults={"error": 2}, met=2, survived=0, calls=2, hurried=0))
    told = first_fault(card_of([REFERENCE[0], REFERENCE[2]], conduct=met))
    assert told == (
        "2 calls met a passing fault, made on purpose, and were not made again until they worked. "
        "a/price(id=3) was never answered, nor anything that tells or does the same."
    )


def test_when_every_call_was_right_it_is_the_answer() -> None:
    assert (
        first_fault(card_of(REFERENCE))
        == "Every call that was needed was made, but a wrong value was handed in for 'price'."
    )
    assert (
        first_fault(card_of(REFERENCE, checks=EMPTY))
        == "Every call that was needed was made, but nothing was handed in."
    )
    told = first_fault(card_of(REFERENCE, checks=(*WRONG, *EMPTY)))
    assert told == (
        "Every call that was needed was made, but a wrong value was handed in for 'price' and 'currency' was left "
        "empty."
    )


def test_what_was_done_besides_may_have_undone_it() -> None:
    told = first_fault(card_of([*REFERENCE, [("a/delete", {"id": 3})]]))
    assert told.endswith("1 call that was not needed was made, too, the last in step 4: a/delete(id=3).")


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
