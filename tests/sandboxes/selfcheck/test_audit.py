"""The audit of the world: enough questions, fair comparisons, and floors below which the world must not fall."""

from dataclasses import replace

import anyio
import pytest

from m3bench.sandboxes.selfcheck.audit import ask, counted, questions, shares

FACTS = [question for question in questions() if question.kind == "fact"]
SEARCHES = [question for question in questions() if question.kind == "search"]


def test_there_are_many_questions_and_none_twice() -> None:
    assert len(FACTS) >= 600
    assert len(SEARCHES) >= 400
    assert len({(question.tool, str(question.arguments), question.kind) for question in questions()}) == len(
        questions()
    )


@pytest.mark.parametrize(
    ("how", "detail", "expected", "right", "wrong"),
    [
        ("words", "", "radium|polonium & 1867", "Curie, born 1867, found Radium.", "Curie found radium."),
        ("number", "Energy", "89±5", "- Energy: 91.20 kcal", "- Energy: 120 kcal"),
        ("number", "elevation", "-430±5", '"elevation": -431.5', '"elevation": 431.5'),
        ("position", "10", "48.86,2.35", '"lat": 48.85, "lng": 2.36', '"lat": 49.85, "lng": 2.36'),
        ("first", "20", "World War II", "- World War II\n- Rome", "- Rock dove, also known\n- World War II"),
    ],
)
def test_an_answer_is_compared_as_the_heading_says(
    how: str, detail: str, expected: str, right: str, wrong: str
) -> None:
    question = replace(FACTS[0], how=how, detail=detail, expected=expected)
    assert question.holds(right)
    assert not question.holds(wrong)
    assert not question.holds("")


def test_another_thing_is_wrong_and_what_is_not_held_is_a_gap() -> None:
    paris = next(question for question in FACTS if question.asked == "Paris, France")
    asked = [paris, replace(paris, expected="0,0"), replace(paris, arguments={"address": "Quokkaville Heights"})]
    assert [finding.verdict for finding in anyio.run(ask, asked)] == ["true", "wrong", "gap"]


def test_a_price_or_picture_that_says_it_is_drawn_is_a_gap_and_a_known_one_must_be_true() -> None:
    known = next(question for question in FACTS if question.asked == "1995-06-16")
    drawn = replace(known, asked="2001-01-01", arguments={"date": "2001-01-01"})
    price = next(question for question in FACTS if question.asked.startswith("ticker=AAPL start_date=2025-04-08"))
    other = replace(price, arguments={**price.arguments, "start_date": "2025-04-15", "end_date": "2025-04-16"})
    asked = [known, replace(known, expected="Pluto"), drawn, price, replace(price, expected="1±1"), other]
    found = [finding.verdict for finding in anyio.run(ask, asked)]
    assert found == ["true", "wrong", "gap", "true", "wrong", "gap"]


@pytest.mark.slow
def test_the_world_does_not_fall_below_its_floors() -> None:
    total = counted(anyio.run(ask, questions()))["all"]
    facts, searches = shares(total["fact"]), shares(total["search"])
    assert facts["true"] >= 0.96
    assert facts["wrong"] <= 0.005
    assert searches["true"] >= 0.92
    assert searches["wrong"] <= 0.005
    assert searches["gap"] <= 0.08
