"""MCP-Bench's judge held beside the paper's rubric, and its overall score redone for rows of its own leaderboard."""

import re
from itertools import pairwise

import pytest

from m3bench.server.lab.judges.cases import Case
from m3bench.server.lab.judges.mcp_bench import (
    AXES,
    BANDS,
    CRITERIA,
    DEFECTS,
    JUDGED,
    RATES,
    RULES,
    axes,
    criteria,
    headings,
    rates,
    scaled,
    shuffled,
)
from m3bench.server.lab.judges.prompts import prompt
from m3bench.server.lab.judges.questions import SHUFFLES, questions_of
from tests.server.lab.judges.doubles import question, sections

PARTS = (*RATES, *CRITERIA)


@pytest.mark.parametrize(
    ("overall", "parts"),
    [
        (0.428, (0.961, 0.894, 0.909, 0.261, 0.295, 0.352, 0.310, 0.221, 0.141)),
        (0.495, (0.996, 0.850, 0.909, 0.293, 0.444, 0.515, 0.427, 0.267, 0.173)),
        (0.508, (0.960, 0.931, 0.878, 0.339, 0.419, 0.504, 0.428, 0.315, 0.212)),
    ],
    ids=["llama-3-1-8b-instruct", "llama-3-2-90b-vision-instruct", "nova-micro-v1"],
)
def test_rows_of_the_public_leaderboard_come_out_as_published(overall: float, parts: tuple[float, ...]) -> None:
    assert axes(dict(zip(PARTS, parts, strict=True)))["overall"] == pytest.approx(overall, abs=0.0006)


def test_the_axes_take_every_part_once() -> None:
    assert sorted(part for axis in AXES.values() for part in axis) == sorted(PARTS)


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ({"success": 4}, (1.0, 1.0, 1.0)),
        ({"success": 1, "illegal_format": 1, "unknown_tool": 2}, (0.25, 1.0, 0.25)),
        ({"success": 2, "invalid_arguments": 1, "not_found": 1, "gap": 1}, (1.0, 0.8, 0.4)),
        ({"unknown_tool": 3}, (0.0, 0.0, 0.0)),
        ({}, (None, None, None)),
    ],
)
def test_rates_follow_from_the_outcomes_of_calls(outcomes: dict[str, int], expected: tuple[float | None, ...]) -> None:
    assert rates(outcomes) == dict(zip(RATES, expected, strict=True))


def test_an_axis_without_one_of_its_parts_has_no_value() -> None:
    found = axes({**dict.fromkeys(PARTS, 0.5), "parallelism": None})
    assert (found["tool_usage"], found["planning_effectiveness"], found["overall"]) == (0.5, None, None)
    assert scaled({"grounding": 7.0, "parallelism": None}) == {"grounding": 0.7, "parallelism": None}


def numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", text)))


def test_shares_and_scores_are_those_of_the_papers_rubric() -> None:
    assert sorted(BANDS) == sorted(CRITERIA) == sorted(part for axis in JUDGED for part in AXES[axis])
    for name in set(BANDS) - {"parallelism"}:
        assert {numbers(score): numbers(share) for score, share in BANDS[name].items()} == {
            (1, 3): (10, 30), (4, 6): (40, 60), (7, 8): (70, 80), (9, 10): (90, 100),
        }  # fmt: skip
    assert {numbers(score): numbers(share) for score, share in BANDS["parallelism"].items()} == {
        (1, 3): (70, 30), (4, 6): (40, 60, 40, 60), (7, 8): (20, 30, 70, 80), (9, 10): (10, 90, 100),
    }  # fmt: skip
    # The public prompt lets the lowest scores begin at 0, below the scale of 1 to 10 that it names.
    assert [(numbers(share), numbers(score)) for share, score in DEFECTS.items()] == [
        ((10,), (9, 10)), ((10, 30), (7, 9)), ((30, 50), (5, 7)), ((50, 70), (3, 5)), ((70,), (1, 3)),
    ]  # fmt: skip
    for words in ("Begin at 4 to 5", "Most work earns 4 to 6", "in doubt, it is a defect", "one error in five"):
        assert words in RULES


@pytest.mark.parametrize("seed", map(str, range(10)))
def test_axes_are_shuffled_and_the_criteria_within_them(seed: str) -> None:
    found = shuffled(seed, SHUFFLES)
    assert len(set(found)) == len(found) == SHUFFLES == 5
    for order in found:
        assert sorted(order) == sorted(CRITERIA)
        for at in range(0, 6, 2):
            assert any(set(order[at : at + 2]) == set(AXES[axis]) for axis in JUDGED), "an axis stays together"
        assert list(headings(order)) == list(order[::2])
    every = [shuffled(str(number), SHUFFLES) for number in range(60)]
    assert {order[0] for orders in every for order in orders} == set(CRITERIA)
    bands = {tuple(numbers(text)) for order in found for text in criteria(order).values()}
    assert len(bands) > 2, "the bands of a criterion are shuffled as well"


def test_the_judge_reads_what_the_papers_judge_reads(cases: list[Case]) -> None:
    case = cases[1]
    for ask in questions_of(["mcp-bench"], case.task.id):
        made = prompt(ask, case.material, case.run.id)
        parts = sections(made.system, made.user)
        assert {"request", "exact request", "dependency analysis", "execution", "available tools", "answer"} <= set(
            parts
        )
        assert parts["execution"] == "Rounds: 1. Calls: 1. Successful: 1. Failed: 0."
        listed = parts["available tools"].splitlines()
        assert len([line for line in listed if line.startswith("- ")]) == 232
        assert any(line.startswith("- median: ") for line in listed)
        asked = question(made.system, made.user)
        places = [asked.index(f"{heading}:") for heading in ask.headings.values()]
        assert all(before < after for before, after in pairwise(places))
        assert RULES in asked
