"""Many tasks in one number."""

from dataclasses import replace

import pytest

from m3bench.server.scoring.aggregate import METRICS, Row, by_family, by_task, intervals, mean, micro


def row(name: str, value: float | None, reference: int, actual: int, matched: int, family: str = "f") -> Row:
    values = dict.fromkeys((*METRICS, "average"), value)
    if value is not None:
        values |= {
            "recall": matched / reference if reference else 0.0,
            "precision": matched / actual if actual else 0.0,
        }
    return Row(id=name, family=family, metrics=values, reference_calls=reference, actual_calls=actual, matched=matched)


ROWS = [row("a", 0.5, 4, 2, 2), row("b", 1.0, 1, 1, 1), row("c", 0.0, 5, 0, 0, family="g")]


def test_recall_and_precision_are_sums_over_sums_and_the_rest_weighted_by_reference_calls() -> None:
    found = micro(ROWS)
    assert found["recall"] == pytest.approx(3 / 10)
    assert found["precision"] == pytest.approx(3 / 3)
    assert found["merge_purity"] == pytest.approx((0.5 * 4 + 1.0 * 1) / 10)
    assert found["average"] == pytest.approx((0.3 + 1.0 + 4 * 0.3) / 6)


def test_the_mean_counts_every_task_the_same() -> None:
    assert mean(ROWS)["merge_purity"] == pytest.approx(0.5)


def test_a_failed_metric_takes_no_part() -> None:
    failed = Row(
        id="d",
        family=None,
        metrics={"recall": 1.0, "precision": 1.0, "merge_purity": None},
        reference_calls=100,
        actual_calls=1,
        matched=1,
    )
    found = micro([*ROWS, failed])
    assert found["merge_purity"] == pytest.approx(0.3)
    assert found["recall"] == pytest.approx(4 / 110)
    assert micro([failed])["merge_purity"] is None
    assert micro([failed])["average"] is None


def test_no_tasks_and_no_calls_are_told_apart() -> None:
    assert set(micro([]).values()) == {None}
    assert micro([row("a", 0.0, 3, 0, 0)])["precision"] == 0.0
    empty = Row(
        id="e",
        family=None,
        metrics=dict.fromkeys((*METRICS, "average"), 1.0),
        reference_calls=0,
        actual_calls=0,
        matched=0,
    )
    assert set(micro([empty]).values()) == {1.0}


def test_families_keep_their_order() -> None:
    assert {name: [r.id for r in rows] for name, rows in by_family(ROWS).items()} == {"f": ["a", "b"], "g": ["c"]}


def test_intervals_hold_the_estimate_and_come_out_the_same_again() -> None:
    rows = [row(str(n), n % 5 / 4, 1 + n % 7, 1 + n % 3, min(1 + n % 7, 1 + n % 3)) for n in range(60)]
    first, estimate = intervals(rows), micro(rows)
    assert first == intervals(rows)
    assert set(first) == {*METRICS, "average"}
    for name, interval in first.items():
        value = estimate[name]
        assert value is not None
        assert 0.0 <= interval.low < value < interval.high <= 1.0


def test_one_task_has_no_interval() -> None:
    assert intervals(ROWS[:1]) == {}


def test_an_agent_that_calls_nothing_has_an_interval_that_begins_at_zero() -> None:
    few, many = ([row(str(number), 0.0, 3, 0, 0) for number in range(count)] for count in (4, 200))
    assert intervals(few)["average"].low == intervals(many)["average"].low == 0.0
    assert intervals(few)["average"].high > 0.1
    assert intervals(many)["average"].high < 0.03


@pytest.mark.parametrize("profile", ["m3", "effect"])
def test_identical_repeats_are_not_more_tasks(profile: str) -> None:
    rows = [
        replace(row(str(n), n % 5 / 4, 1 + n % 7, 1 + n % 3, 1, family=f"f{n % 9}"), profile=profile) for n in range(60)
    ]
    often = [*rows, *(replace(one, id=f"{one.id}#{repeat}") for one in rows for repeat in range(2, 7))]
    for name, interval in intervals(often).items():
        assert interval.low == pytest.approx(intervals(rows)[name].low)
        assert interval.high == pytest.approx(intervals(rows)[name].high)


def test_a_task_that_was_tried_more_often_counts_no_more() -> None:
    rows = [row("a", 1.0, 2, 2, 2), row("b", 0.0, 2, 2, 0), row("b#2", 0.0, 2, 2, 0), row("b#3", 0.6, 2, 2, 0)]
    assert mean(rows)["merge_purity"] == pytest.approx(0.6)


def test_a_name_with_a_number_is_a_task_of_its_own_unless_it_repeats_one() -> None:
    assert list(by_task([row("q#1", 1.0, 1, 1, 1), row("q#2", 1.0, 1, 1, 1)])) == ["q#1", "q#2"]
    assert list(by_task([row("q", 1.0, 1, 1, 1), row("q#2", 1.0, 1, 1, 1)])) == ["q"]
