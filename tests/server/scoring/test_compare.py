"""Two result sets side by side."""

from dataclasses import replace

import pytest

from m3bench.server.scoring.aggregate import METRICS, Row
from m3bench.server.scoring.compare import compare


def row(name: str, value: float | None, reference: int, actual: int, matched: int, family: str = "f") -> Row:
    values = dict.fromkeys((*METRICS, "average"), value)
    if value is not None:
        values |= {
            "recall": matched / reference if reference else 0.0,
            "precision": matched / actual if actual else 0.0,
        }
    return Row(id=name, family=family, metrics=values, reference_calls=reference, actual_calls=actual, matched=matched)


ROWS = [row("a", 0.5, 4, 2, 2), row("b", 1.0, 1, 1, 1), row("c", 0.0, 5, 0, 0, family="g")]


def test_a_set_equals_itself() -> None:
    found = compare(ROWS, ROWS)
    assert found.tasks == 3
    for change in found.changes:
        assert change.difference == 0.0
        assert change.counts == (0, 0, 3)
        assert not change.clear


def test_a_constant_gain_is_clear_however_hard_the_tasks() -> None:
    before = [row(str(n), 0.1 + n % 8 / 10, 2, 2, 1, family=f"f{n % 10}") for n in range(40)]
    after = [row(str(n), 0.2 + n % 8 / 10, 2, 2, 1, family=f"f{n % 10}") for n in range(40)]
    change = next(change for change in compare(before, after).changes if change.metric == "merge_purity")
    assert change.difference == pytest.approx(0.1)
    assert change.interval is not None
    assert 0.08 < change.interval.low < 0.1 < change.interval.high < 0.12
    assert (change.clear, change.counts) == (True, (40, 0, 0))


def test_few_families_have_a_caution_in_place_of_a_test() -> None:
    before = [row(str(n), 0.0, 2, 2, 1, family=f"f{n % 7}") for n in range(56)]
    after = [replace(found, metrics=dict.fromkeys(found.metrics, 1.0)) for found in before]
    found = compare(before, after)
    assert found.caution is not None
    assert "7 families" in found.caution
    assert {(change.clear, change.detectable) for change in found.changes} == {(False, None)}


def test_tasks_of_one_set_only_are_listed_not_compared() -> None:
    found = compare(ROWS[:2], ROWS[1:])
    assert (found.tasks, found.only_first, found.only_second) == (1, ("a",), ("c",))
    assert all(change.interval is None for change in found.changes)


def test_repeats_of_a_task_are_one_task_and_identical_ones_change_nothing() -> None:
    before = [row(f"{n}", n % 5 / 4, 2, 2, 1, family=f"f{n % 7}") for n in range(40)]
    after = [row(f"{n}", (n * n) % 7 / 6, 2, 2, 1, family=f"f{n % 7}") for n in range(40)]
    again = [replace(one, id=f"{one.id}#{repeat}") for one in after for repeat in range(2, 7)]
    once, often = compare(before, after), compare(before, [*after, *again])
    assert [change.paired for change in once.changes] == [change.paired for change in often.changes]
    assert often.tasks == 40
    assert often.only_second == ()


def test_solved_comes_first_and_has_the_exact_test_when_every_task_was_tried_once() -> None:
    solved = ({"a": [False], "b": [False]}, {"a": [True], "b": [True]})
    found = compare(ROWS, ROWS, solved=solved)
    assert (found.changes[0].metric, found.changes[0].difference) == ("solved", 1.0)
    assert found.mcnemar == 0.5
    assert compare(ROWS, ROWS, solved=({"a": [False, True]}, {"a": [True]})).mcnemar is None
