"""The document of a result set: sums that can be redone, intervals that hold, runs worth a look."""

import json
from dataclasses import replace
from typing import Any

import pytest

from m3bench.server.lab.reports.summary import SampleCounts, _explained, set_document, summary
from m3bench.server.lab.results.resultset import Sample
from m3bench.server.scoring.aggregate import micro
from tests.server.lab.reports.made_sets import made_set


def test_counts_and_sums_are_those_of_the_runs() -> None:
    results = made_set("one", 40)
    document = set_document(results)
    assert document.counts == SampleCounts(planned=40, scored=40, void=0, missing=0)
    assert document.summary.metrics == micro(results.rows)
    assert document.summary.solved == sum(run.success is True for run in document.runs)
    assert document.usage.calls == sum(run.calls for run in document.runs)
    assert document.usage.cost == pytest.approx(0.4)
    assert sum(family.runs for family in document.families.values()) == 40


def test_intervals_hold_the_value() -> None:
    found = summary(made_set("one", 60).results)
    average, interval = found.metrics["average"], found.intervals["average"]
    assert average is not None
    assert interval.low <= average <= interval.high
    assert found.success is not None
    assert found.success_interval is not None
    assert found.success_interval.low <= found.success <= found.success_interval.high


def test_a_set_in_which_everything_was_solved_is_not_sure_of_it() -> None:
    found = summary(made_set("one", 5, skill=1.0).results)
    assert found.success == 1.0
    assert found.success_interval is not None
    assert found.success_interval.low < 0.7
    assert found.success_interval.high == 1.0


def test_an_average_outside_the_range_of_its_runs_is_explained() -> None:
    document = set_document(made_set("one", 40))
    assert document.summary.range is not None
    low, high = document.summary.range
    average = document.summary.metrics["average"]
    assert document.summary.note == ""
    assert average is not None
    assert low <= average <= high
    pooled = _explained(0.9, [0.2, 0.4])
    assert "pools the calls" in pooled
    assert "0.200 to 0.400; the mean over runs is 0.300" in pooled


def test_how_sure_a_set_is_has_all_its_parts() -> None:
    results = made_set("one", 120, repeats=2, skill=0.6)
    lost = Sample(task=results.header.tasks[0], repeat=3, state="void", reason="lost", fault="provider")
    found: Any = set_document(replace(results, void=(lost,))).uncertainty.solved.to_json()
    assert found["cluster"] == "family"
    assert found["interval"][0] < found["value"] < found["interval"][1]
    assert found["with_voids"][0] < found["with_voids"][1]
    assert found["micro"] == pytest.approx(found["value"])
    assert sum(found["variance"]["shares"].values()) == pytest.approx(1)
    assert 0 < found["detectable"] < 1


def test_the_weakest_runs_come_first_and_solved_ones_last() -> None:
    document = set_document(made_set("one", 40, skill=0.7))
    runs = {run.run: run for run in document.runs}
    worst = [(runs[id].success, runs[id].metrics["average"]) for id in document.worst]
    assert worst == sorted(worst)


def test_repeats_tell_noise_and_pass_rates() -> None:
    document = set_document(made_set("one", 40, repeats=4, skill=0.8))
    repeats = document.repeats
    assert repeats.most == 4
    rates = [rate for rate in (repeats.pass_hat[4], repeats.pass_at[1], repeats.pass_at[4]) if rate is not None]
    assert len(rates) == 3
    assert [rate.value for rate in rates] == sorted(rate.value for rate in rates)
    assert all(rate.interval and rate.interval.low <= rate.value <= rate.interval.high for rate in rates)
    assert repeats.average_sd is not None
    assert repeats.average_sd > 0
    assert any("range from" in one.why for one in document.informative)


def test_faults_add_up_what_they_cost() -> None:
    document = set_document(made_set("one", 40))
    unsolved = sum(not run.success for run in document.runs)
    assert document.faults.keys() == {"missed"}
    assert document.faults["missed"].runs == unsolved
    assert document.faults["missed"].points == pytest.approx(0.1 * unsolved)


def test_the_same_set_gives_the_same_document() -> None:
    one, other = (json.dumps(set_document(made_set("one", 30)).to_json()) for _ in range(2))
    assert one == other
