"""The document of a result set: sums that can be redone, intervals that hold, runs worth a look."""

import json

import pytest

from m3bench.server.results.reports.summary import set_document, summary, wilson
from m3bench.server.scoring.aggregate import micro
from tests.server.results.reports.made_sets import made_set


def test_counts_and_sums_are_those_of_the_runs() -> None:
    results = made_set("one", 40)
    document = set_document(results)
    assert document["counts"] == {"planned": 40, "scored": 40, "void": 0, "missing": 0}
    assert document["summary"]["metrics"] == micro(results.rows)
    assert document["summary"]["solved"] == sum(run["success"] for run in document["runs"])
    assert document["usage"]["calls"] == sum(run["calls"] for run in document["runs"])
    assert document["usage"]["cost"] == pytest.approx(0.4)
    assert sum(family["runs"] for family in document["families"].values()) == 40


def test_intervals_hold_the_value() -> None:
    found = summary(made_set("one", 60).results)
    low, high = found["intervals"]["average"]
    assert low <= found["metrics"]["average"] <= high
    low, high = found["success_interval"]
    assert low <= found["success"] <= high


@pytest.mark.parametrize(("passed", "of"), [(0, 5), (5, 5), (1, 2)])
def test_the_interval_of_a_share_has_a_width_even_at_its_ends(passed: int, of: int) -> None:
    interval = wilson(passed, of)
    assert interval is not None
    assert 0 <= interval[0] < interval[1] <= 1
    assert wilson(0, 0) is None


def test_the_weakest_runs_come_first_and_solved_ones_last() -> None:
    document = set_document(made_set("one", 40, skill=0.7))
    runs = {run["run"]: run for run in document["runs"]}
    worst = [(runs[id]["success"], runs[id]["metrics"]["average"]) for id in document["worst"]]
    assert worst == sorted(worst)


def test_repeats_tell_noise_and_pass_rates() -> None:
    document = set_document(made_set("one", 40, repeats=4, skill=0.8))
    repeats = document["repeats"]
    assert repeats["most"] == 4
    assert repeats["pass_hat"]["4"] <= repeats["pass_at"]["1"] <= repeats["pass_at"]["4"]
    assert repeats["average_sd"] > 0
    assert any("range from" in one["why"] for one in document["informative"])


def test_faults_add_up_what_they_cost() -> None:
    document = set_document(made_set("one", 40))
    unsolved = sum(not run["success"] for run in document["runs"])
    assert document["faults"] == {"missed": {"runs": unsolved, "points": pytest.approx(0.1 * unsolved)}}


def test_the_same_set_gives_the_same_document() -> None:
    one, other = (json.dumps(set_document(made_set("one", 30))) for _ in range(2))
    assert one == other
