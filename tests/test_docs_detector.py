"""The page on tasks shows how well the detector copes with copies, as it was measured, and it still does."""

import json
import os
from pathlib import Path

import pytest

from bench.detector import MOST_APART, apart, measure, sample, table
from m3bench.tasks.library import Library

HERE = Path(__file__).parent.parent
LIBRARY = Library()


@pytest.mark.slow
def test_the_table_of_the_page_comes_from_the_counts_that_were_measured_and_no_copy_is_far_from_another() -> None:
    measured = json.loads((HERE / "bench" / "detector.json").read_text())
    assert table(measured) in (HERE / "docs" / "tasks.md").read_text(), (
        "python bench/detector.py --show bench/detector.json prints what belongs there"
    )
    assert len({counts["pictures"] for counts in measured.values()}) == 1
    assert apart(measured) <= MOST_APART


@pytest.mark.slow
def test_a_copy_turned_upside_down_is_known_though_its_thumbnail_can_be_straightened_in_more_ways() -> None:
    found = measure(LIBRARY, [LIBRARY.tasks["museum-1"], LIBRARY.tasks["routine-5"]])
    assert apart(found) <= MOST_APART, table(found)


@pytest.mark.night
@pytest.mark.slow
def test_no_kind_of_copy_is_far_from_another_over_the_set() -> None:
    """Fourteen pictures, and all of them with M3BENCH_FULL=1, which takes half an hour."""
    found = measure(LIBRARY, sample(LIBRARY.set.tasks, 0 if os.environ.get("M3BENCH_FULL") else 14))
    assert apart(found) <= MOST_APART, table(found)
