"""Estimates at their edges: few tasks, no spread, lost samples, ranks of sets that are alike."""

from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from m3bench.server.scoring.statistics.components import components
from m3bench.server.scoring.statistics.estimates import Interval, bounds, estimate, macro
from m3bench.server.scoring.statistics.paired import difference, sign_test
from m3bench.server.scoring.statistics.ranks import Rank, rank

FAMILIES: dict[str, str | None] = {str(n): f"f{n % 14}" for n in range(56)}


def test_two_solved_tasks_say_little() -> None:
    found = estimate({"a": 1.0, "b": 1.0}, {}, of="solved")
    assert found is not None
    assert found.interval is not None
    assert found.interval.high == 1.0
    assert found.interval.low < 0.5
    assert estimate({"a": 1.0}, {}).interval is None
    assert estimate({}, {}) is None


def test_a_family_with_many_tasks_counts_once_in_the_macro_average() -> None:
    values = {"a1": 1.0, "a2": 1.0, "a3": 1.0, "b1": 0.0}
    assert macro(values, {"a1": "a", "a2": "a", "a3": "a", "b1": "b"}) == 0.5
    assert macro({}, {}) is None


def test_lost_samples_move_the_number_between_all_failed_and_all_solved() -> None:
    assert bounds({"a": [1.0, 1.0], "b": [0.0]}, {"b": 1, "c": 2}) == Interval(low=1 / 3, high=(1 + 0.5 + 1) / 3)
    assert bounds({"a": [0.5]}, {}) == Interval(low=0.5, high=0.5)
    assert bounds({}, {}) is None


def test_sets_that_cannot_be_told_apart_share_places_and_a_poor_one_has_the_last() -> None:
    good = {task: 0.6 + int(task) % 5 / 20 for task in FAMILIES}
    twin = {task: 0.6 + int(task) * 7 % 5 / 20 for task in FAMILIES}
    poor = {task: 0.1 + int(task) % 5 / 20 for task in FAMILIES}
    found = rank({"poor": poor, "good": good, "twin": twin}, FAMILIES)
    assert {name: (place.low, place.high) for name, place in found.ranks.items()} == {
        "good": (1, 2),
        "twin": (1, 2),
        "poor": (3, 3),
    }
    assert found.caution is None
    assert {(pair.first, pair.second) for pair in found.pairs if pair.clear} == {("poor", "good"), ("poor", "twin")}


def test_a_set_alone_is_first_and_sets_without_a_common_task_have_no_ranks() -> None:
    assert rank({"one": {"a": 1.0}}, {}).ranks["one"] == Rank(low=1, high=1)
    apart = rank({"one": {"a": 1.0}, "other": {"b": 1.0}}, {})
    assert (apart.pairs, apart.ranks, apart.threshold) == ((), {}, None)
    assert difference({"a": 1.0}, {"b": 1.0}, {}) is None


@pytest.mark.parametrize("sets", [2, 5, 33, 100])
def test_the_perfect_and_the_idle_are_apart_however_many_others_there_are(sets: int) -> None:
    """Eight families are enough: what is listed beside two sets does not make them alike."""
    tasks = [f"{family}-{task}" for family in range(8) for task in range(2)]
    families: dict[str, str | None] = {task: task.partition("-")[0] for task in tasks}
    values = {"perfect": dict.fromkeys(tasks, 1.0), "idle": dict.fromkeys(tasks, 0.0)}
    random = np.random.default_rng(1)
    for number in range(sets - 2):
        values[f"set {number}"] = dict(zip(tasks, (random.random(16) < 0.5).astype(float).tolist(), strict=True))
    ranks = rank(values, families).ranks
    assert ranks["perfect"].high < ranks["idle"].low


@given(st.integers(0, 10**6), st.integers(2, 12), st.integers(8, 20))
def test_sets_that_are_six_standard_errors_apart_share_no_place(seed: int, sets: int, families: int) -> None:
    random = np.random.default_rng(seed)
    tasks = [f"{family}-{task}" for family in range(families) for task in range(3)]
    hard, skill = random.normal(0, 1, len(tasks)), random.normal(0, 1.5, sets)
    played = random.random((sets, len(tasks))) < 1 / (1 + np.exp(hard - skill[:, None]))
    values = {
        str(number): dict(zip(tasks, row.astype(float).tolist(), strict=True)) for number, row in enumerate(played)
    }
    found = rank(values, {task: task.partition("-")[0] for task in tasks})
    for pair in found.pairs:
        steps = [values[pair.second][task] - values[pair.first][task] for task in tasks]
        means = np.array(steps).reshape(families, 3).mean(axis=1)
        # The plain standard error over families, which is below that of the test.
        if abs(means.mean()) >= 6 * means.std(ddof=1) / families**0.5 + 1e-9:
            better, worse = (pair.second, pair.first) if means.mean() > 0 else (pair.first, pair.second)
            assert found.ranks[better].high < found.ranks[worse].low
    assert all(1 <= place.low <= place.high <= sets for place in found.ranks.values())


def test_where_nothing_can_be_told_apart_it_is_said_with_what_it_would_take() -> None:
    few = {f"{family}-{task}": f"f{family}" for family in range(5) for task in range(4)}
    found = rank({"all": dict.fromkeys(few, 1.0), "none": dict.fromkeys(few, 0.0)}, few)
    assert found.ranks == {}
    assert found.caution is not None
    assert "share 5 families" in found.caution
    assert "32 tasks" in found.caution
    alike = {task: float(int(task) % 3 == 0) for task in FAMILIES}
    other = {task: float(int(task) % 3 == (0 if int(task) % 8 else 1)) for task in FAMILIES}
    found = rank({"a": alike, "b": other}, FAMILIES)
    assert {place.high for place in found.ranks.values()} == {2}
    assert found.caution is not None
    assert "would take some" in found.caution


def test_all_ranks_together_need_larger_differences_than_each_by_itself() -> None:
    random = np.random.default_rng(3)
    values = {str(number): {task: float(random.random()) for task in FAMILIES} for number in range(12)}
    single, joint = rank(values, FAMILIES).threshold, rank(values, FAMILIES, joint=True).threshold
    assert single is not None
    assert joint is not None
    assert 2.0 < single < joint <= 6.0


def test_no_difference_has_a_p_of_one_and_too_few_families_have_none() -> None:
    assert sign_test([0.0, 0.0]) == 1.0
    found = difference({"a": 0.5}, {"a": 0.5}, {})
    assert found is not None
    assert (found.p, found.interval) == (None, None)
    few = {f"{family}-{task}": f"f{family}" for family in range(7) for task in range(8)}
    found = difference(dict.fromkeys(few, 0.0), dict.fromkeys(few, 1.0), few)
    assert found is not None
    assert found.p is None
    assert found.caution is not None
    assert "7 families" in found.caution


def test_that_all_tasks_differ_by_the_same_is_no_proof_that_others_would() -> None:
    def between(value: float, tasks: int) -> tuple[float, float]:
        names = [str(number) for number in range(tasks)]
        found = difference(dict.fromkeys(names, max(0.0, -value)), dict.fromkeys(names, max(0.0, value)), {})
        assert found is not None
        assert found.interval is not None
        return found.interval.low, found.interval.high

    low, high = between(-1.0, 4)
    assert low == -1.0
    assert high > 0, "four tasks say little"
    assert between(1.0, 4) == (-high, 1.0)
    assert between(0.0, 56)[0] == -between(0.0, 56)[1]
    assert 0.03 < between(0.0, 56)[1] < 0.1
    assert between(-1.0, 56)[1] < -0.9


@pytest.mark.parametrize("of", ["solved", "average"])
def test_one_task_more_or_less_moves_an_interval_a_little_at_both_ends(of: Literal["solved", "average"]) -> None:
    """Nothing jumps where nothing varies, and what is near 1 mirrors what is near 0."""
    last = None
    for solved in (0, 1, 2, 3):
        values = {task: float(int(task) < solved) for task in FAMILIES}
        found = estimate(values, FAMILIES, of=of)
        mirror = estimate({task: 1 - value for task, value in values.items()}, FAMILIES, of=of)
        assert found is not None
        assert mirror is not None
        assert found.interval is not None
        assert mirror.interval is not None
        assert mirror.interval.low == pytest.approx(1 - found.interval.high, abs=1e-6)
        if last is not None:
            assert 0 < found.interval.high - last < 0.1
        last = found.interval.high


def test_an_average_is_not_bound_like_a_count() -> None:
    near, full = (estimate(dict.fromkeys(FAMILIES, value), FAMILIES) for value in (0.98, 1.0))
    count = estimate(dict.fromkeys(FAMILIES, 1.0), FAMILIES, of="solved")
    assert near is not None
    assert full is not None
    assert count is not None
    assert near.interval is not None
    assert full.interval is not None
    assert count.interval is not None
    assert full.interval.low > 0.95
    assert count.interval.low < full.interval.low
    assert near.interval.low < full.interval.low


def test_few_families_are_said_with_what_the_interval_does_not_cover() -> None:
    few = {f"{family}-{task}": f"f{family}" for family in range(3) for task in range(8)}
    found = estimate(dict.fromkeys(few, 0.5), few)
    assert found is not None
    assert found.caution == (
        "The tasks are of 3 families: the interval does not cover families unlike these. That takes at least 8."
    )
    alone = estimate(dict.fromkeys(few, 0.5), dict.fromkeys(few, "only"))
    assert alone is not None
    assert alone.caution is not None
    assert (alone.clusters, "one family" in alone.caution) == (24, True)
    enough = estimate(dict.fromkeys(FAMILIES, 0.5), FAMILIES)
    assert enough is not None
    assert enough.caution is None


def test_without_repeats_their_part_of_the_variance_is_not_known() -> None:
    one = components({"a": [0.0], "b": [1.0], "c": [0.0], "d": [1.0]}, {"a": "x", "b": "x", "c": "y", "d": "y"})
    assert one is not None
    assert one.repeat is None
    assert one.shares() == {"family": 0.0, "task": 1.0, "repeat": None}
    alone = components({"a": [0.0, 0.0], "b": [1.0, 1.0]}, {"a": "x", "b": "y"})
    assert alone is not None
    assert (alone.family, alone.task, alone.repeat) == (0.0, 0.5, 0.0)
    assert components({"a": [1.0]}, {}) is None
    flat = components({"a": [1.0, 1.0], "b": [1.0, 1.0]}, {})
    assert flat is not None
    assert flat.shares()["task"] is None


@pytest.mark.parametrize("repeats", [1, 6])
def test_identical_repeats_leave_every_number_as_it_was(repeats: int) -> None:
    samples = {task: [float(int(task) % 3 == 0)] * repeats for task in FAMILIES}
    found = estimate({task: sum(values) / repeats for task, values in samples.items()}, FAMILIES)
    assert found is not None
    assert found.interval is not None
    assert (round(found.interval.low, 4), round(found.interval.high, 4)) == (
        round(once().low, 4),
        round(once().high, 4),
    )


def once() -> Interval:
    found = estimate({task: float(int(task) % 3 == 0) for task in FAMILIES}, FAMILIES)
    assert found is not None
    assert found.interval is not None
    return found.interval
