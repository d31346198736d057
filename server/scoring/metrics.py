"""The metrics: pure functions from an alignment to a number in [0, 1].

Notation: M is the match set, a and b the reference and actual step of a match, S its similarity. Degenerate cases
of both profiles:

    both trajectories empty     m3: every metric is 1. open-m3-bench: recall, precision and the structure metrics
                                are 1, the argument similarities 0.
    one trajectory empty        every metric is 0.
    no matches                  every metric is 0.
    no strong match             argument_similarity (m3) and argument_similarity_strong are 0.
    no pair of matches differs  nothing is out of order: order consistency is 1 before its factor. In
    in both steps               open-m3-bench the factor is 0 when the reference has a single step.
    one active reference step   nothing is mixed: merge purity is 1 before its factor.

Sums are exact (`fsum`), so the order of calls inside a step cannot show in the last digit. A new metric is one
function here and one line in a profile.
"""

import math
from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias


class Link(NamedTuple):
    """A match as the metrics see it."""

    reference_step: int
    actual_step: int
    similarity: float


@dataclass(frozen=True, kw_only=True)
class Alignment:
    """A match set and the shape of the two trajectories."""

    links: tuple[Link, ...]
    reference_sizes: tuple[int, ...]
    """Calls per reference step."""
    actual_sizes: tuple[int, ...]
    strong: float
    """Similarity from which a match is strong."""

    @cached_property
    def reference_calls(self) -> int:
        """N_ref."""
        return sum(self.reference_sizes)

    @cached_property
    def actual_calls(self) -> int:
        """N_act."""
        return sum(self.actual_sizes)

    @cached_property
    def strong_similarities(self) -> tuple[float, ...]:
        """S of the strong matches."""
        return tuple(link.similarity for link in self.links if link.similarity >= self.strong)

    @cached_property
    def matched_by_step(self) -> Mapping[int, int]:
        """Matches per reference step, for steps that have any."""
        return Counter(link.reference_step for link in self.links)

    @cached_property
    def actual_steps_by_step(self) -> Mapping[int, frozenset[int]]:
        """The actual steps that a reference step's matches fall into, for steps that have any."""
        spread: dict[int, set[int]] = {}
        for link in self.links:
            spread.setdefault(link.reference_step, set()).add(link.actual_step)
        return {step: frozenset(actual) for step, actual in spread.items()}

    @property
    def both_empty(self) -> bool:
        """Nothing was to be done and nothing was done."""
        return self.reference_calls == 0 and self.actual_calls == 0


Metric: TypeAlias = Callable[[Alignment], float]


def recall(alignment: Alignment) -> float:
    """|M| / N_ref."""
    if alignment.both_empty:
        return 1.0
    return _ratio(len(alignment.links), alignment.reference_calls)


def precision(alignment: Alignment) -> float:
    """|M| / N_act."""
    if alignment.both_empty:
        return 1.0
    return _ratio(len(alignment.links), alignment.actual_calls)


def argument_similarity(alignment: Alignment) -> float:
    """Profile m3: mean S over strong matches, times recall."""
    if alignment.both_empty:
        return 1.0
    return _mean(alignment.strong_similarities) * recall(alignment)


def argument_similarity_all(alignment: Alignment) -> float:
    """Mean S over all matches, times recall; 0 when both trajectories are empty."""
    return _mean([link.similarity for link in alignment.links]) * recall(alignment)


def argument_similarity_strong(alignment: Alignment) -> float:
    """Mean S over strong matches, times strong matches / N_ref; 0 when both trajectories are empty."""
    strong = alignment.strong_similarities
    return _mean(strong) * _ratio(len(strong), alignment.reference_calls)


def step_coherence(alignment: Alignment) -> float:
    """1 / (actual steps a reference step falls into), mean weighted by matches, times recall.

    The public evaluator weights by a step's calls and multiplies by the share of them that matched: the same number.
    """
    if alignment.both_empty:
        return 1.0
    spread = alignment.actual_steps_by_step
    total = math.fsum(matched / len(spread[step]) for step, matched in alignment.matched_by_step.items())
    return _ratio(total, alignment.reference_calls)


def order_consistency(alignment: Alignment) -> float:
    """Profile m3: 1 − inversions / comparable pairs (1 when there are none), times recall."""
    if alignment.both_empty:
        return 1.0
    return _in_order(alignment) * recall(alignment)


def public_order_consistency(alignment: Alignment) -> float:
    """Profile open-m3-bench: the same, times matched / all cross-step reference pairs (0 when there are none)."""
    if alignment.both_empty:
        return 1.0
    matched = _cross_pairs(list(alignment.matched_by_step.values()))
    return _in_order(alignment) * _ratio(matched, _cross_pairs(alignment.reference_sizes))


def merge_purity(alignment: Alignment) -> float:
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


def order(alignment: Alignment) -> Order:
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


def _in_order(alignment: Alignment) -> float:
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
