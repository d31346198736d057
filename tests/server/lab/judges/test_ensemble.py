"""Many judges in one number, on fixed votes."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from m3bench.server.lab.judges.summary import combine, deviation, rule, span
from m3bench.server.scoring.statistics.estimates import alpha

NONE = math.nan
"""A judge that gave no value."""


@pytest.mark.parametrize(
    ("values", "combined"),
    [
        ([0.2, 0.9, 0.5, 0.7], 0.6),
        ([0.0, 1.0, 1.0, 1.0], 1.0),
        ([1.0, 1.0, 0.0, 0.0], 0.5),
        ([0.4, 0.4, 0.4, 0.4], 0.4),
        ([0.1, 0.9, 0.4], 0.4),
        ([0.25, 0.75], 0.5),
        ([0.3], 0.3),
        ([0.0, 0.1, 0.2, 0.6, 1.0], 0.3),
        ([], None),
    ],
    ids=["middle two of four", "tie above", "two ties", "all equal", "median", "mean", "alone", "five", "none"],
)
def test_highest_and_lowest_are_dropped_as_far_as_there_are_enough(values: list[float], combined: float | None) -> None:
    assert combine(values) == (None if combined is None else pytest.approx(combined))
    assert combine(values[::-1]) == combine(values)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_the_combined_value_lies_between_lowest_and_highest(values: list[float]) -> None:
    combined = combine(values)
    assert combined is not None
    assert min(values) - 1e-12 <= combined <= max(values) + 1e-12


def test_the_rule_that_was_used_is_said() -> None:
    assert [rule(count) for count in range(6)] == [
        "no judge",
        "1 judge: its own value",
        "2 judges: mean",
        "3 judges: median",
        "4 judges: mean of the middle two",
        "5 judges: highest and lowest dropped, mean of the rest",
    ]


def test_spread_is_highest_minus_lowest_and_the_deviation_of_a_population() -> None:
    assert span([0.2, 0.8, 0.5]) == pytest.approx(0.6)
    assert deviation([2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]) == 2
    assert (span([0.5]), deviation([0.5]), span([]), deviation([])) == (None, None, None, None)


def test_alpha_of_a_small_table_is_as_computed_by_hand() -> None:
    # Two judges, three runs: (1, 2) (3, 3) (5, 4). n = 6.
    # Observed: (2·1 + 2·0 + 2·1) / (2 − 1) / 6 = 2/3.
    # Expected: the values 1 2 3 3 5 4 have mean 3 and squares 4+1+0+0+4+1 = 10, so all ordered pairs sum to
    # 2·6·10 = 120, and 120 / (6·5) = 4. α = 1 − (2/3)/4 = 5/6.
    assert alpha([(1, 2), (3, 3), (5, 4)]) == pytest.approx(5 / 6)


def test_alpha_is_that_of_the_published_example() -> None:
    # Four observers, twelve units, missing values: Krippendorff gives 0.849 for interval data.
    rows = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NONE, NONE, NONE],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NONE, 3],
        [NONE, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NONE],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NONE],
    ]
    units = [[value for value in unit if not math.isnan(value)] for unit in zip(*rows, strict=True)]
    assert alpha(units) == pytest.approx(0.849, abs=0.0005)


def test_alpha_is_one_for_agreement_and_below_zero_for_contradiction() -> None:
    assert alpha([(1, 1), (2, 2)]) == 1
    contrary = alpha([(0, 1), (1, 0)])
    assert contrary is not None
    assert contrary < 0


@pytest.mark.parametrize("units", [[], [(1,), (2,)], [(3, 3), (3, 3)]], ids=["nothing", "one judge", "no variation"])
def test_there_is_no_alpha_where_there_is_nothing_to_agree_about(units: list[tuple[float, ...]]) -> None:
    assert alpha(units) is None
