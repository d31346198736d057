"""Facts are found however they are spelled, and not where they only seem to be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from m3bench.tasks.facts import Held, facts_of, is_distinctive, within
from m3bench.tasks.folding import fold


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Sensō-ji", "senso‑ji"),
        ("O’Hare  Airport", "o'hare airport"),
        ("São Paulo", "SAO PAULO"),
        ("Atlantic_cod", "Atlantic cod"),
    ],
)
def test_spellings_of_one_text_fold_to_the_same(one, other):
    assert fold(one) == fold(other)


@pytest.mark.parametrize(
    ("text", "fact", "held"),
    [
        ("The price is $1,234.50 today", 1234.5, True),
        ("It is 12345 m", 1234.0, False),
        ('{"rating": 8.1}', 8.1, True),
        ("A film called Joker (2019)", "joker", True),
        ("Jokers of the past", "joker", False),
        ("", "joker", False),
    ],
)
def test_a_text_holds_what_stands_in_it_as_such(text, fact, held):
    assert Held(text).holds(fact) is held


def test_facts_of_arguments_are_whole_texts_and_numbers():
    assert list(facts_of({"q": "Joker", "at": {"lat": 40.5}, "flag": True})) == ["joker", 40.5]


def test_only_what_can_hardly_be_there_by_chance_is_distinctive():
    assert [is_distinctive(fact) for fact in ("usa", "gadus morhua", 8.1, 139.79666)] == [False, True, False, True]


@given(st.text())
def test_folding_twice_changes_nothing(text):
    assert fold(fold(text)) == fold(text)


@given(st.text(min_size=1), st.text(), st.text())
def test_a_value_between_spaces_is_within(value, before, after):
    folded = fold(value)
    if folded:
        assert within(folded, f"{fold(before)} {folded} {fold(after)}")
