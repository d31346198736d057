"""The metrics of profile `effect`: how much was done, with how much waste, and in how good an order.

Notation: M are the reference calls that were answered, N_ref those that count, s(r) the actual step of the first call
that answers r, E the pairs of M in which the second needs the first, directly or through others, and was answered by
another call, D*(M) the longest chain in M of calls that need or wait for one another: no schedule has fewer steps.
Degenerate cases:

    nothing counts           every reference call was not needed: undefined, no metric has a value.
    no answers               every metric is 0; with no calls on either side, 1.
    no pairs in E            nothing can be out of order or mixed: order and purity are 1.
    fewer steps than D*(M)   one call answered several, or was sent before one that it needs: coherence is 1.

Structure and arguments are shown as they are and enter the average multiplied by recall, so that doing little well
earns little.
"""

import math
from collections.abc import Sequence

from m3bench.server.scoring.answers import Answers
from m3bench.server.scoring.profiles import AVERAGED

AS_THEY_ARE = ("recall", "precision")
"""Metrics that enter the average without a factor."""


def measure(found: Answers) -> dict[str, float | None]:
    """Every metric and their average."""
    if found.plan.calls and not found.wanted:
        return dict.fromkeys((*AVERAGED, "average"))
    if not found.answers:
        nothing_to_do = not found.plan.calls and not found.steps
        return dict.fromkeys((*AVERAGED, "average"), 1.0 if nothing_to_do else 0.0)
    ordered = pairs(found)
    values: dict[str, float] = {
        "recall": len(found.answers) / found.wanted,
        "precision": len(found.needed) / len(found.steps),
        "argument_similarity": math.fsum(answer.similarity for answer in found.answers.values()) / len(found.answers),
        "step_coherence": min(1.0, planned_steps(found) / taken_steps(found)),
        "order_consistency": _share([before <= after for before, after in ordered]),
        "merge_purity": _share([before != after for before, after in ordered]),
    }
    return {**values, "average": average(values)}


def average(values: dict[str, float]) -> float:
    """The mean of the six metrics, with structure and arguments multiplied by recall."""
    recall = values["recall"]
    return math.fsum(value if name in AS_THEY_ARE else value * recall for name, value in values.items()) / len(values)


def planned_steps(found: Answers) -> int:
    """D*(M): the steps that the best schedule takes for the calls that were answered."""
    return found.plan.fewest_steps(found.answers)


def taken_steps(found: Answers) -> int:
    """The actual steps that hold an answer."""
    return len({found.steps[index] for index in found.needed})


def pairs(found: Answers) -> list[tuple[int, int]]:
    """The actual steps of every two answered calls of which the second needs the first."""
    first = {place: min(found.steps[index] for index in answer.actual) for place, answer in found.answers.items()}
    return [(first[need], first[place]) for need, place in dependences(found)]


def dependences(found: Answers) -> list[tuple[int, int]]:
    """Every two answered reference calls of which the second needs the first and was answered by another call."""
    return [
        (need, place)
        for place, answer in found.answers.items()
        for need in sorted(found.plan.needs[place])
        if need in found.answers and found.answers[need].actual != answer.actual
    ]


def _share(holds: Sequence[bool]) -> float:
    return sum(holds) / len(holds) if holds else 1.0
