"""MCP-Bench's judge and its overall score: four axes with equal weight, one by rule and three from a strict rubric.

| axis | mean of |
|---|---|
| schema understanding | valid tool names, schema compliance, execution success |
| task completion | fulfilment, grounding |
| tool usage | tool appropriateness, parameter accuracy |
| planning effectiveness | dependency awareness, parallelism |

Rates go from 0 to 1; rubric scores, which go from 1 to 10, are divided by ten.

The judge scores shares and not impressions: for each criterion the share of what was done without a flaw, and so the
share of defects, gives the score. The bands and shares are the paper's, the words are ours. In each of the five prompts
the judged axes come in another order, and the two criteria within each axis as well.
"""

import math
import random
from collections.abc import Mapping, Sequence
from itertools import permutations, product
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

JUDGED: tuple[str, ...] = tuple(axis for axis in AXES if axis != "schema_understanding")
"""The axes that the judge scores."""

_SHARES = {"1 to 3": "10 to 30 %", "4 to 6": "40 to 60 %", "7 to 8": "70 to 80 %", "9 to 10": "90 to 100 %"}

BANDS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(
            ("fulfilment", "grounding", "tool_appropriateness", "parameter_accuracy", "dependency_awareness"), _SHARES
        ),
        "parallelism": {
            "1 to 3": "more than 70 % of the calls superfluous, or less than 30 % of what could run together did",
            "4 to 6": "40 to 60 % superfluous, or 40 to 60 % together",
            "7 to 8": "20 to 30 % superfluous, and 70 to 80 % together",
            "9 to 10": "less than 10 % superfluous, and 90 to 100 % together",
        },
    }
)
"""By criterion: which share earns which scores."""

DEFECTS: Mapping[str, str] = MappingProxyType(
    {
        "up to 10 %": "9 to 10",
        "10 to 30 %": "7 to 9",
        "30 to 50 %": "5 to 7",
        "50 to 70 %": "3 to 5",
        "above 70 %": "1 to 3",
    }
)
"""Which share of defects leaves which scores."""

CRITERIA: Mapping[str, str] = MappingProxyType(
    {
        "fulfilment": "Which share of what the exact request asks for was done without a flaw?",
        "grounding": "Which share of the answer's claims does a result of a call fully support?",
        "tool_appropriateness": "Which share of the tools called was the very one for its part of the work?",
        "parameter_accuracy": "Which share of the calls had complete and exact arguments?",
        "dependency_awareness": "Which share of the chains, in which one call needs another's result, was carried out "
        "without a flaw?",
        "parallelism": "How many calls were superfluous, and which share of what could run together did?",
    }
)
"""What each criterion asks."""

RULES = (
    "How to score: for each criterion, count the occasions (things asked for, claims, calls, arguments, calls that "
    "need another's result, calls that could be made together) and the defects among them. The share of defects gives "
    f"the score: {'; '.join(f'{share}: {score}' for share, score in DEFECTS.items())}. Shares decide, not numbers: one "
    "error in five calls and four in twenty earn the same. Only what has no flaw counts as done: the best tool, "
    "complete and exact arguments, nothing repeated or superfluous, failures made good, nothing one after another that "
    "could run together, no padding in the answer. Where one of these is missing, or you are in doubt, it is a defect. "
    "Begin at 4 to 5 and go higher on strong evidence alone; before you go above 7, look for flaws once more. Most "
    "work earns 4 to 6, and 8 or more is rare. More servers are not better. The form of an answer matters only where "
    "the request asks for one. Hold completion and tools against the exact request, and planning against the share of "
    "dependencies that was respected: another way than the one analysed is as good."
)
"""How strict the judge is."""


def shuffled(seed: str, count: int) -> tuple[tuple[str, ...], ...]:
    """Orders of the criteria: the judged axes are permuted, and the criteria within each; no order comes twice."""
    every = [
        tuple(name for axis in chosen for name in axis)
        for axes_ in permutations(JUDGED)
        for chosen in product(*(permutations(AXES[axis]) for axis in axes_))
    ]
    return tuple(random.Random(f"m3bench mcp-bench {seed}").sample(every, count))


def criteria(order: Sequence[str]) -> dict[str, str]:
    """The criteria in an order, each with its bands, which are shuffled as well."""
    dice = random.Random(" ".join(order))
    found = {}
    for name in order:
        bands = list(BANDS[name].items())
        dice.shuffle(bands)
        found[name] = f"{CRITERIA[name]} {'; '.join(f'{score}: {share}' for score, share in bands)}."
    return found


def headings(order: Sequence[str]) -> dict[str, str]:
    """By the first criterion of an axis in an order, the axis."""
    found = {next(name for name in order if name in AXES[axis]): axis.replace("_", " ") for axis in JUDGED}
    return {name: found[name].capitalize() for name in order if name in found}


_SCALE = 10.0
_NAMELESS = ("unknown_tool", "illegal_format")
"""Outcomes of calls that name no tool there is: what cannot be read names none."""

Values = Mapping[str, float | None]


def rates(outcomes: Mapping[str, int]) -> dict[str, float | None]:
    """The three rates of a run by the outcomes of its calls.

    Of all calls, those that name a tool there is; of these, those whose arguments fit its schema, 0 when none names a
    tool; of all calls, those that succeeded. None for a run without calls: it is left out of means over runs.
    """
    made = sum(outcomes.values())
    named = made - sum(outcomes.get(name, 0) for name in _NAMELESS)
    fitting = named - outcomes.get("invalid_arguments", 0)
    return {
        "valid_tool_name": named / made if made else None,
        "schema_compliance": (fitting / named if named else 0.0) if made else None,
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
