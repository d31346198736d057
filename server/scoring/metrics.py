"""The metrics: pure functions from an alignment to a number in [0, 1].

Recall and precision are the same in every profile. The paper and profile `effect` measure arguments and structure
differently; which function a profile reports under which name is in `profiles`. A new metric is one function here and
one line there.

The paper's. Notation: M is the match set, a and b the reference and actual step of a match, S its similarity.
Degenerate cases of both of its profiles:

    both trajectories empty     m3: every metric is 1. open-m3-bench: recall, precision and the structure metrics
                                are 1, the argument similarities 0.
    one trajectory empty        every metric is 0.
    no matches                  every metric is 0.
    no strong match             argument_similarity (m3) and argument_similarity_strong are 0.
    no pair of matches differs  nothing is out of order: order consistency is 1 before its factor. In
    in both steps               open-m3-bench the factor is 0 when the reference has a single step.
    one active reference step   nothing is mixed: merge purity is 1 before its factor.

By effect. Notation: M are the reference calls that were answered, N_ref those that count, s(r) the actual step of the
first call that answers r, E the pairs of M in which the second needs the first, directly or through others, and was
answered by another call, D*(M) the longest chain in M of calls that need or wait for one another: no schedule has
fewer steps. Structure and arguments are shown as they are and enter the average multiplied by recall, so that doing
little well earns little. Degenerate cases:

    nothing counts           every reference call was not needed: undefined, no metric has a value.
    no answers               every metric is 0; with no calls on either side, 1.
    no pairs in E            nothing can be out of order or mixed: order and purity are 1.
    fewer steps than D*(M)   one call answered several, or was sent before one that it needs: coherence is 1.

Sums are exact (`fsum`), so the order of calls inside a step cannot show in the last digit.
"""

import math
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from m3bench.server.scoring.alignment import CallAlignment

Metric: TypeAlias = Callable[[CallAlignment], float]


def recall(alignment: CallAlignment) -> float:
    """|M| / N_ref; by effect, calls that were not needed do not count."""
    if alignment.both_empty:
        return 1.0
    return _ratio(len(alignment.matches), alignment.wanted)


def precision(alignment: CallAlignment) -> float:
    """The share of the actual calls that answer something; |M| / N_act where one call answers one."""
    if alignment.both_empty:
        return 1.0
    return _ratio(len(alignment.answering), alignment.actual_calls)


def argument_similarity(alignment: CallAlignment) -> float:
    """Profile m3: mean S over strong matches, times recall."""
    if alignment.both_empty:
        return 1.0
    return _mean(alignment.strong_similarities) * recall(alignment)


def argument_similarity_all(alignment: CallAlignment) -> float:
    """Mean S over all matches, times recall; 0 when both trajectories are empty."""
    return _mean([match.similarity for match in alignment.matches.values()]) * recall(alignment)


def argument_similarity_strong(alignment: CallAlignment) -> float:
    """Mean S over strong matches, times strong matches / N_ref; 0 when both trajectories are empty."""
    strong = alignment.strong_similarities
    return _mean(strong) * _ratio(len(strong), alignment.reference_calls)


def step_coherence(alignment: CallAlignment) -> float:
    """1 / (actual steps a reference step falls into), mean weighted by matches, times recall.

    The public evaluator weights by a step's calls and multiplies by the share of them that matched: the same number.
    """
    if alignment.both_empty:
        return 1.0
    spread = alignment.actual_steps_by_step
    total = math.fsum(matched / len(spread[step]) for step, matched in alignment.matched_by_step.items())
    return _ratio(total, alignment.reference_calls)


def order_consistency(alignment: CallAlignment) -> float:
    """Profile m3: 1 − inversions / comparable pairs (1 when there are none), times recall."""
    if alignment.both_empty:
        return 1.0
    return _in_order(alignment) * recall(alignment)


def public_order_consistency(alignment: CallAlignment) -> float:
    """Profile open-m3-bench: the same, times matched / all cross-step reference pairs (0 when there are none)."""
    if alignment.both_empty:
        return 1.0
    matched = _cross_pairs(list(alignment.matched_by_step.values()))
    return _in_order(alignment) * _ratio(matched, _cross_pairs(alignment.reference_sizes))


def merge_purity(alignment: CallAlignment) -> float:
    """1 − H(reference step | actual step) / ln(active reference steps), masses Σ S, times recall."""
    if alignment.both_empty:
        return 1.0
    active = len(alignment.matched_by_step)
    if active <= 1:
        return recall(alignment)
    masses: dict[int, dict[int, list[float]]] = {}
    for link in alignment.links:
        masses.setdefault(link.actual_step, {}).setdefault(link.reference_step, []).append(link.similarity)
    columns = [[math.fsum(similarities) for similarities in column.values()] for column in masses.values()]
    total = math.fsum(mass for column in columns for mass in column)
    entropy = math.fsum(_entropy(column) * (math.fsum(column) / total) for column in columns)
    return min(1.0, max(0.0, 1.0 - entropy / math.log(active))) * recall(alignment)


class Order(NamedTuple):
    """How the matches are ordered: pairs of matches that differ in both steps, and those of them turned round."""

    comparable: int
    inverted: int


def order(alignment: CallAlignment) -> Order:
    """Count comparable and inverted pairs of matches, in n log n."""
    comparable = inverted = 0
    earlier: list[int] = []
    by_step: dict[int, list[int]] = {}
    for link in alignment.links:
        by_step.setdefault(link.reference_step, []).append(link.actual_step)
    for _, actual in sorted(by_step.items()):
        for step in actual:
            before = bisect_left(earlier, step)
            after = len(earlier) - bisect_right(earlier, step)
            comparable += before + after
            inverted += after
        for step in actual:
            insort(earlier, step)
    return Order(comparable, inverted)


def effect_precision(alignment: CallAlignment) -> float:
    """The share of the actual calls that answer something; few slips count once, in recall."""
    if alignment.both_empty:
        return 1.0
    return _ratio(len(alignment.answering), alignment.counted_calls)


def effect_argument_similarity(alignment: CallAlignment) -> float:
    """Mean over M of how much of what was wanted was given."""
    return _of_answers(alignment, lambda: _mean([match.similarity for match in alignment.matches.values()]))


def effect_step_coherence(alignment: CallAlignment) -> float:
    """D*(M) / (actual steps that hold an answer), at most 1."""
    return _of_answers(alignment, lambda: min(1.0, fewest_steps(alignment) / taken_steps(alignment)))


def effect_order_consistency(alignment: CallAlignment) -> float:
    """The share of E with s(r) ≤ s(r')."""
    return _of_answers(alignment, lambda: _share([first <= then for first, then in alignment.dependent_steps]))


def effect_merge_purity(alignment: CallAlignment) -> float:
    """The share of E with s(r) ≠ s(r')."""
    return _of_answers(alignment, lambda: _share([first != then for first, then in alignment.dependent_steps]))


def fewest_steps(alignment: CallAlignment) -> int:
    """D*(M): the steps that the best schedule takes for the calls that were answered."""
    return alignment.plan.fewest_steps(alignment.matches) if alignment.plan is not None else 0


def taken_steps(alignment: CallAlignment) -> int:
    """The actual steps that hold an answer."""
    return len({alignment.actual_steps[index] for index in alignment.answering})


def mean_of_six(values: Mapping[str, float]) -> float:
    """The paper's average without the judge's part."""
    return sum(values.values()) / len(values)


def mean_by_recall(values: Mapping[str, float]) -> float:
    """The mean of the six with structure and arguments multiplied by recall."""
    factor = values["recall"]
    return math.fsum(v if name in ("recall", "precision") else v * factor for name, v in values.items()) / len(values)


def _of_answers(alignment: CallAlignment, value: Callable[[], float]) -> float:
    """A value that only answers can have."""
    return value() if alignment.matches else float(alignment.both_empty)


def _share(holds: Sequence[bool]) -> float:
    return sum(holds) / len(holds) if holds else 1.0


def _in_order(alignment: CallAlignment) -> float:
    comparable, inverted = order(alignment)
    return 1.0 - inverted / comparable if comparable else 1.0


def _cross_pairs(sizes: Sequence[int]) -> int:
    """Pairs of calls from different steps."""
    return (sum(sizes) ** 2 - sum(size * size for size in sizes)) // 2


def _entropy(masses: Sequence[float]) -> float:
    total = math.fsum(masses)
    return -math.fsum(mass / total * math.log(mass / total) for mass in masses)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else 0.0


def _ratio(numerator: float, denominator: float) -> float:
    return numerator / denominator if denominator else 0.0
