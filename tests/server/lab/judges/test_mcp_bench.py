"""The overall score of MCP-Bench, redone for rows of its own leaderboard."""

import pytest

from m3bench.server.lab.judges.mcp_bench import AXES, RATES, axes, rates, scaled
from m3bench.server.lab.judges.questions import CRITERIA

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
        ({"unknown_tool": 3}, (0.0, None, 0.0)),
        ({}, (None, None, None)),
    ],
)
def test_rates_follow_from_the_outcomes_of_calls(outcomes: dict[str, int], expected: tuple[float | None, ...]) -> None:
    assert rates(outcomes) == dict(zip(RATES, expected, strict=True))


def test_an_axis_without_one_of_its_parts_has_no_value() -> None:
    found = axes({**dict.fromkeys(PARTS, 0.5), "parallelism": None})
    assert (found["tool_usage"], found["planning_effectiveness"], found["overall"]) == (0.5, None, None)
    assert scaled({"grounding": 7.0, "parallelism": None}) == {"grounding": 0.7, "parallelism": None}
