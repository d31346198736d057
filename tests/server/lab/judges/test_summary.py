"""Votes in numbers, on fixed votes."""

from collections.abc import Mapping
from typing import Any, cast

import pytest

from m3bench.server.lab.judges.judgements import JudgeUsage, RunJudgement, Try, Vote
from m3bench.server.lab.judges.questions import CRITERIA, NAMES, RUBRICS, SHUFFLES, Name
from m3bench.server.lab.judges.summary import judged, overall
from m3bench.server.lab.reports.standings import PUBLISHED
from m3bench.server.scoring.aggregate import Row

PANEL = ("a", "b", "c", "d")

METRICS = {
    "recall": 0.5, "precision": 1.0, "argument_similarity": 0.4, "step_coherence": 0.5, "order_consistency": 0.5,
    "merge_purity": 0.5,
}  # fmt: skip


def row(**changes: float | None) -> Row:
    return Row(id="t", family="f", metrics={**METRICS, **changes}, reference_calls=2, actual_calls=1, matched=1)


def vote(ask: Name, model: str, score: float | None, shuffle: int | None = None, why: str = "refused") -> Vote:
    names = CRITERIA if ask in RUBRICS else ("score",)
    scores = None if score is None else dict.fromkeys(names, score)
    tries = (Try(reply="", seconds=1, usage=JudgeUsage(input_tokens=10, output_tokens=1)),)
    missing = why if score is None else ""
    return Vote(ask=ask, shuffle=shuffle, model=model, prompt="p", scores=scores, missing=missing, tries=tries)


def judgement(*votes: Vote, panel: tuple[str, ...] = PANEL, run: str = "r") -> RunJudgement:
    panels = {name: panel for name in NAMES if any(vote.ask == name for vote in votes)}
    return RunJudgement(run=run, task="t", seal=None, wording=1, panels=panels, votes=votes)


def test_completion_is_scaled_and_the_middle_two_of_four_are_averaged() -> None:
    votes = [vote("completion", name, score) for name, score in zip(PANEL, (2, 9, 5, 7), strict=True)]
    found = judged(judgement(*votes), None).to_json()["completion"]
    assert found == {
        "value": pytest.approx(0.6),
        "judges": {"a": 0.2, "b": 0.9, "c": 0.5, "d": 0.7},
        "rule": "4 judges: mean of the middle two",
        "span": pytest.approx(0.7),
        "deviation": pytest.approx(0.2586, abs=1e-4),
        "variation": pytest.approx(0.2586 / 0.575, abs=1e-4),
    }


def test_a_missing_judge_shrinks_the_ensemble_and_is_reported() -> None:
    votes = [vote("grounding", name, score) for name, score in zip(PANEL, (0.2, None, 0.5, 0.9), strict=True)]
    found = judged(judgement(*votes), None).to_json()
    assert found["grounding"]["value"] == 0.5
    assert found["grounding"]["rule"] == "3 judges: median"
    assert found["grounding"]["judges"] == {"a": 0.2, "b": None, "c": 0.5, "d": 0.9}
    assert found["missing"] == [{"ask": "grounding", "shuffle": None, "judge": "b", "why": "refused"}]


def test_a_judge_without_a_vote_was_not_asked_yet() -> None:
    found = judged(judgement(vote("completion", "a", 5)), None)
    assert {line["why"] for line in found.missing} == {"not asked yet"}
    assert [line["judge"] for line in found.missing] == ["b", "c", "d"]


def test_votes_of_judges_outside_the_panel_do_not_count() -> None:
    votes = [vote("completion", "a", 4), vote("completion", "stranger", 10)]
    assert judged(judgement(*votes, panel=("a",)), None).panels["completion"].value == 0.4


def test_a_rubric_is_averaged_over_its_orders_before_judges_are_combined() -> None:
    scores = {"a": (1, 2, 3, 4, 5), "b": (6, 6, 6, 6, None), "c": (None,) * 5}
    votes = [
        vote("rubric", model, score, shuffle) for model, given in scores.items() for shuffle, score in enumerate(given)
    ]
    found = judged(judgement(*votes, panel=("a", "b", "c")), None).to_json()
    assert set(found["rubric"]["criteria"]) == set(CRITERIA)
    assert found["rubric"]["criteria"]["parallelism"]["judges"] == {"a": 3, "b": 6, "c": None}
    assert found["rubric"]["criteria"]["parallelism"]["value"] == 4.5
    assert found["rubric"]["value"] == 4.5
    assert [line["judge"] for line in cast("list[dict[str, str]]", found["missing"])].count("c") == SHUFFLES


def average(found: RunJudgement, metrics: Row | None) -> float | None:
    return judged(found, metrics).average("average_published")


def test_the_published_average_is_the_mean_of_seven_and_needs_all_of_them() -> None:
    whole = judgement(vote("m3-grounding", "a", 0.1), panel=("a",))
    assert average(whole, row()) == pytest.approx((0.5 + 1 + 0.4 + 0.5 * 3 + 0.1) / 7)
    assert average(whole, row(recall=None)) is None
    assert average(whole, None) is None
    assert average(judgement(vote("completion", "a", 5), panel=("a",)), row()) is None
    assert average(judgement(vote("m3-grounding", "a", None), panel=("a",)), row()) is None


def test_our_own_question_about_grounding_gives_an_average_of_its_own() -> None:
    both = judgement(vote("m3-grounding", "a", 0.1), vote("grounding", "a", 0.8), panel=("a",))
    found = judged(both, row()).to_json()
    assert found["average_published"] == pytest.approx(3.5 / 7)
    assert found["average_grounded"] == pytest.approx(4.2 / 7)
    ours = judged(judgement(vote("grounding", "a", 0.8), panel=("a",)), row()).to_json()
    assert (ours["average_published"], ours["average_grounded"]) == (None, pytest.approx(4.2 / 7))


@pytest.mark.parametrize("published", PUBLISHED, ids=lambda published: published["name"])
def test_the_published_average_is_that_of_the_papers_table(published: Mapping[str, Any]) -> None:
    metrics = {name: published[name] for name in METRICS}
    judge = judgement(vote("m3-grounding", "a", published["information_grounding"]), panel=("a",))
    expected = published["average_published"]
    if published["name"] == "Gemini-2.5-Flash-Lite":
        # The one row of the table that is the mean of eight columns, task completion among them.
        expected = (8 * expected - published["task_completion"]) / 7
    assert average(judge, row(**metrics)) == pytest.approx(expected, abs=0.0011)


def test_over_runs_values_are_means_and_agreement_is_over_runs_and_judges() -> None:
    # The table of the hand-computed α: (1, 2) (3, 3) (5, 4) on a scale of ten.
    table = ((1, 2), (3, 3), (5, 4))
    votes = [[vote("completion", model, score) for model, score in zip("ab", pair, strict=True)] for pair in table]
    entries = [judged(judgement(*pair, panel=("a", "b"), run=str(n)), row()) for n, pair in enumerate(votes)]
    found = overall(entries)
    assert found["completion"] == {
        "value": pytest.approx(0.3),
        "runs": 3,
        "rules": {"2 judges: mean": 3},
        "span": pytest.approx(0.2 / 3),
        "deviation": pytest.approx(0.1 / 3),
        "variation": pytest.approx((0.05 / 0.15 + 0 + 0.05 / 0.45) / 3),
        "alpha": pytest.approx(5 / 6),
    }
    assert found["runs"] == 3
    assert found["average_published"] == found["average_grounded"] == {"value": None, "runs": 0, "average": None}
    assert found["usage"] == {"input_tokens": 60, "output_tokens": 6, "cost": None}
    assert "grounding" not in found


def test_the_published_average_over_runs_takes_those_that_have_all_seven() -> None:
    with_grounding = judged(judgement(vote("m3-grounding", "a", 0.1), panel=("a",)), row())
    without = judged(judgement(vote("m3-grounding", "a", None), panel=("a",), run="s"), row(recall=1.0))
    found = overall([with_grounding, without])
    assert found["average_published"]["runs"] == 1
    assert found["average_published"]["value"] == with_grounding.average("average_published")
    assert found["average_published"]["average"] == pytest.approx(3.4 / 6)
    assert found["missing"] == 1


def test_a_cost_is_said_where_a_price_is_known() -> None:
    assert JudgeUsage(cost=None) + JudgeUsage(cost=0.5) == JudgeUsage(cost=0.5)
    assert (JudgeUsage() + JudgeUsage(input_tokens=1)).cost is None


def test_orders_of_a_rubric_that_differ_are_told_apart_from_judges_that_differ() -> None:
    said = {"a": (4, 6, 4, 6, 5), "b": (9, 9, 9, 9, 9)}
    votes = [vote("mcp-bench", model, score, order) for model, all in said.items() for order, score in enumerate(all)]
    found = overall([judged(judgement(*votes, panel=("a", "b")), row())])["mcp-bench.fulfilment"]
    # a: mean 5, deviation √0.8; b: no deviation. Between the judges: 5 and 9, mean 7, deviation 2.
    assert found["order_variation"] == pytest.approx((0.8**0.5 / 5 + 0) / 2)
    assert found["variation"] == pytest.approx(2 / 7)


def test_the_score_of_mcp_bench_needs_its_rubric_and_the_outcomes_of_calls() -> None:
    votes = [vote("mcp-bench", "a", score, order) for order, score in enumerate((4, 6, 4, 6, 5))]
    outcomes = {"success": 6, "unknown_tool": 2, "invalid_arguments": 1, "not_found": 1}
    found = judged(judgement(*votes, panel=("a",)), row(), outcomes).to_json()
    rates = (8 / 10, 7 / 8, 6 / 10)
    assert found["mcp_bench"]["schema_understanding"] == pytest.approx(sum(rates) / 3)
    assert found["mcp_bench"]["overall"] == pytest.approx((sum(rates) / 3 + 3 * 0.5) / 4)
    assert judged(judgement(*votes, panel=("a",)), row()).to_json()["mcp_bench"]["overall"] is None
    assert "mcp_bench" not in judged(judgement(vote("rubric", "a", 5, 0), panel=("a",)), row(), outcomes).to_json()
    two = overall([judged(judgement(*votes, panel=("a",)), row(), each) for each in (outcomes, {"success": 1})])
    assert two["mcp_bench"]["valid_tool_name"] == pytest.approx(0.9)
    assert two["mcp_bench"]["overall"] == pytest.approx(((0.9 + 7.5 / 8 + 0.8) / 3 + 3 * 0.5) / 4)


def test_a_run_without_calls_is_left_out_of_the_rates_of_mcp_bench_and_none_with_calls_gives_zero() -> None:
    votes = [vote("mcp-bench", "a", 5, order) for order in range(5)]
    idle, busy = ({"success": 0}, {"success": 3, "unknown_tool": 1})
    some = overall([judged(judgement(*votes, panel=("a",)), row(), each) for each in (idle, busy)])["mcp_bench"]
    assert (some["valid_tool_name"], some["schema_compliance"], some["execution_success"]) == (0.75, 1.0, 0.75)
    none = overall([judged(judgement(*votes, panel=("a",)), row(), idle)])["mcp_bench"]
    assert (none["schema_understanding"], none["overall"]) == (0.0, pytest.approx(3 * 0.5 / 4))
    assert overall([judged(judgement(*votes, panel=("a",)), row())])["mcp_bench"]["schema_understanding"] is None
