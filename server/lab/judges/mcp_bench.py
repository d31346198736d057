"""The overall score of MCP-Bench: four axes with equal weight, one by rule and three from its judge's rubric.

| axis | mean of |
|---|---|
| schema understanding | valid tool names, schema compliance, execution success |
| task completion | fulfilment, grounding |
| tool usage | tool appropriateness, parameter accuracy |
| planning effectiveness | dependency awareness, parallelism |

Rates go from 0 to 1; rubric scores, which go from 1 to 10, are divided by ten. Pure arithmetic.
"""

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType

RATES = ("valid_tool_name", "schema_compliance", "execution_success")

AXES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "schema_understanding": RATES,
        "task_completion": ("fulfilment", "grounding"),
        "tool_usage": ("tool_appropriateness", "parameter_accuracy"),
        "planning_effectiveness": ("dependency_awareness", "parallelism"),
    }
)

_SCALE = 10.0
_NAMELESS = ("unknown_tool", "illegal_format")
"""Outcomes of calls that name no tool there is: what cannot be read names none."""

Values = Mapping[str, float | None]


def rates(outcomes: Mapping[str, int]) -> dict[str, float | None]:
    """The three rates of a run by the outcomes of its calls.

    Of all calls, those that name a tool there is; of these, those whose arguments fit its schema; of all calls, those
    that succeeded. None where there is no call to count: who calls nothing has shown nothing of schemas.
    """
    made = sum(outcomes.values())
    named = made - sum(outcomes.get(name, 0) for name in _NAMELESS)
    fitting = named - outcomes.get("invalid_arguments", 0)
    return {
        "valid_tool_name": named / made if made else None,
        "schema_compliance": fitting / named if named else None,
        "execution_success": outcomes.get("success", 0) / made if made else None,
    }


def scaled(scores: Values) -> dict[str, float | None]:
    """Rubric scores on a scale up to 1."""
    return {name: None if score is None else score / _SCALE for name, score in scores.items()}


def axes(values: Values) -> dict[str, float | None]:
    """The four axes and their mean, `overall`; None where a part of one is missing."""
    found = {axis: _mean([values.get(part) for part in parts]) for axis, parts in AXES.items()}
    return {**found, "overall": _mean(list(found.values()))}


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if len(known) == len(values) else None
