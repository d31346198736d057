"""Thresholds from people's labels: the one that agrees with most, and no more certain than the labels allow."""

import random

import pytest

from m3bench.server.scoring import open_encoder
from m3bench.server.scoring.matching.text import M3_TEXT, PUBLIC_TEXT
from m3bench.server.scoring.signatures import unknown
from m3bench.server.scoring.thresholds import agreement, find_text_matching, fit, similarity_of
from m3bench.tasks.errors import UserError
from m3bench.tasks.trajectory import Call


def test_labels_that_a_threshold_parts_are_parted_in_the_middle() -> None:
    found = fit([0.9, 0.2, 0.7, 0.4], [True, False, True, False])
    assert found.best.threshold == pytest.approx(0.55)
    assert found.equal == (0.4, 0.7)
    assert (found.best.accuracy, found.best.precision, found.best.recall) == (1.0, 1.0, 1.0)
    assert found.interval[0] <= 0.55 <= found.interval[1]


def test_of_thresholds_that_agree_equally_the_widest_range_counts() -> None:
    """One error is made at 0.15 and between 0.3 and 0.8, none of them can be spared."""
    found = fit([0.1, 0.2, 0.3, 0.8], [False, True, False, True])
    assert found.best.threshold == pytest.approx(0.55)
    assert found.best.accuracy == 0.75


def test_every_threshold_that_could_be_chosen_agrees_no_better() -> None:
    dice = random.Random(3)
    values = [round(dice.random(), 2) for _ in range(60)]
    same = [dice.random() < value for value in values]
    found = fit(values, same)
    others = [agreement(values, same, step / 200).accuracy for step in range(-1, 202)]
    assert found.best.accuracy == pytest.approx(max(others))
    low, high = found.equal
    assert agreement(values, same, (low + high) / 2).accuracy == found.best.accuracy


def test_labels_by_chance_promise_nothing_for_new_pairs() -> None:
    dice = random.Random(7)
    values = [dice.random() for _ in range(40)]
    same = [dice.random() < 0.5 for _ in range(40)]
    found = fit(values, same)
    assert found.best.accuracy > 0.5, "some threshold always fits what it was fitted to"
    assert found.held_out < found.best.accuracy
    assert found.interval[1] - found.interval[0] > 0.3, "and nobody knows which"


def test_more_labels_make_a_threshold_surer_and_the_same_labels_give_the_same_fit() -> None:
    def labelled(count: int) -> tuple[list[float], list[bool]]:
        dice = random.Random(11)
        values = [dice.random() for _ in range(count)]
        return values, [value + dice.gauss(0, 0.15) > 0.6 for value in values]

    few, many = fit(*labelled(30)), fit(*labelled(600))
    assert many.interval[1] - many.interval[0] < few.interval[1] - few.interval[0]
    assert 0.5 < many.best.threshold < 0.7
    assert fit(*labelled(30)) == few


@pytest.mark.parametrize("same", [True, False])
def test_labels_of_one_kind_fit_nothing(same: bool) -> None:
    with pytest.raises(UserError, match="label both"):
        fit([0.1, 0.9], [same, same])


def test_similarity_is_that_of_the_profile() -> None:
    def call(**arguments: int | str) -> Call:
        return Call(tool="math/sum", arguments=arguments)

    pairs = [(call(a=1), call(a=1)), (call(a=1), call(a="red bicycle"))]
    for matching in (M3_TEXT, PUBLIC_TEXT):
        equal, other = similarity_of(pairs, open_encoder(), matching, unknown)
        assert equal == 1.0
        assert -1.0 <= other < 0.95
    assert similarity_of([], open_encoder(), M3_TEXT, unknown) == []


def test_only_profiles_that_compare_texts_have_thresholds() -> None:
    assert find_text_matching("m3") is M3_TEXT
    with pytest.raises(UserError, match="Unknown profile 'effect': there are m3 and open-m3-bench"):
        find_text_matching("effect")
