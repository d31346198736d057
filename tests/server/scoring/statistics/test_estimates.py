"""Estimates at their edges: few tasks, no spread, lost samples, ranks of sets that are alike."""

import pytest

from m3bench.server.scoring.statistics.components import components
from m3bench.server.scoring.statistics.estimates import Interval, estimate, macro
from m3bench.server.scoring.statistics.paired import difference, sign_test
from m3bench.server.scoring.statistics.ranks import pairs_of, ranks_of
from m3bench.server.scoring.statistics.voids import bounds

FAMILIES: dict[str, str | None] = {str(n): f"f{n % 14}" for n in range(56)}


def test_two_solved_tasks_say_little() -> None:
    found = estimate({"a": 1.0, "b": 1.0}, {})
    assert found is not None
    assert found.interval is not None
    assert found.interval.high == 1.0
    assert found.interval.low < 0.1
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


def test_sets_that_cannot_be_told_apart_share_a_rank_and_their_intervals_say_so() -> None:
    good = {task: 0.6 + int(task) % 5 / 20 for task in FAMILIES}
    twin = {task: 0.6 + int(task) * 7 % 5 / 20 for task in FAMILIES}
    poor = {task: 0.1 + int(task) % 5 / 20 for task in FAMILIES}
    values = {"poor": poor, "good": good, "twin": twin}
    pairs = pairs_of(values, FAMILIES)
    ranks = ranks_of(values, FAMILIES, pairs)
    assert {name: rank.rank for name, rank in ranks.items()} == {"good": 1, "twin": 1, "poor": 3}
    assert (ranks["poor"].low, ranks["poor"].high) == (3, 3)
    assert ranks["good"].high == 2
    assert all(pair.adjusted >= pair.difference.p for pair in pairs)


def test_a_set_alone_and_sets_without_a_common_task_have_ranks_without_pairs() -> None:
    assert ranks_of({"one": {"a": 1.0}}, {}, [])["one"].rank == 1
    apart = {"one": {"a": 1.0}, "other": {"b": 1.0}}
    assert pairs_of(apart, {}) == []
    assert (ranks_of(apart, {}, [])["one"].low, ranks_of(apart, {}, [])["one"].high) == (1, 2)
    assert difference({"a": 1.0}, {"b": 1.0}, {}) is None


def test_no_difference_has_a_p_of_one() -> None:
    assert sign_test([0.0, 0.0]) == 1.0
    found = difference({"a": 0.5}, {"a": 0.5}, {})
    assert found is not None
    assert (found.p, found.interval) == (1.0, None)


def test_that_all_tasks_differ_by_the_same_is_no_proof_that_others_would() -> None:
    def between(value: float, tasks: int) -> tuple[float, float]:
        names = [str(number) for number in range(tasks)]
        found = difference(dict.fromkeys(names, max(0.0, -value)), dict.fromkeys(names, max(0.0, value)), {})
        assert found is not None
        assert found.error is None
        assert found.interval is not None
        return found.interval.low, found.interval.high

    low, high = between(-1.0, 4)
    assert low == -1.0
    assert high > 0, "as its p of 0.125 says"
    assert between(1.0, 4) == (-high, 1.0)
    assert between(0.0, 4) == (-between(0.0, 4)[1], between(0.0, 4)[1])
    assert 0.05 < between(0.0, 56)[1] < 0.1
    assert between(-1.0, 56)[1] < -0.8


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
