"""Searches all readings of a record for the one that is best or worst for a metric: dynamic programming.

A reading is a row of `segments`. Merge purity and the counts behind order consistency are sums over them; step
coherence needs to know in how many of them the reference steps still under way have been seen. Every search returns
where steps begin in a reading that attains what it looked for.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

from m3bench.server.scoring.segments import Begins, Matched, Segment, Segments

MOST = 20_000
"""Partial readings that a search looks at before it gives up."""


class TooManyError(Exception):
    """A search would take too long."""


class _Point(NamedTuple):
    """A partial reading: what it has cost, the counts of order so far, and how it came about."""

    cost: float
    pairs: int
    inverted: int
    cuts: "tuple[int, object] | None"


Cost = Callable[[Segment], float]


@dataclass
class Search:
    """Searches over one set of matched calls."""

    matched: Matched
    _segments: Segments = field(init=False)

    def __post_init__(self) -> None:
        self._segments = Segments(self.matched)

    @property
    def finest(self) -> Begins:
        """Every possible boundary."""
        return self.matched.begins([at for at, possible in enumerate(self.matched.divisible) if possible])

    @property
    def coarsest(self) -> Begins:
        """The boundaries that every reading has: perhaps no reading, but none is more coherent."""
        return self.matched.begins(self._forced)

    def least_pure(self) -> Begins:
        """The reading whose steps mix reference steps the most."""
        return self.coarsest if self._forced_suffice else self._reading(lambda segment: -segment.mixed)

    def most_coherent(self) -> Begins:
        """The reading that tears reference steps the least."""
        return self.coarsest if self._forced_suffice else self._reading(lambda segment: 0.0, coherence=-1.0)

    @cached_property
    def _forced(self) -> list[int]:
        """Where every reading divides the matched calls."""
        possible = [at for at, divisible in enumerate(self.matched.divisible) if divisible]
        forced = set()
        for at, floor in enumerate(self.matched.floor):
            starts = possible[bisect_left(possible, floor) : bisect_right(possible, at)]
            forced |= set(starts) if len(starts) == 1 else set()
        return sorted(forced)

    @cached_property
    def _forced_suffice(self) -> bool:
        """Whether these boundaries alone are a reading."""
        forced = self._forced
        return all(bisect_left(forced, floor) < bisect_right(forced, at) for at, floor in enumerate(self.matched.floor))

    def order_readings(self) -> tuple[Begins, Begins]:
        """The readings with the lowest and the highest share of pairs in order."""
        if not self._whole.inverted:
            return self.finest, self.finest
        return self._order(0, lowest=True)[0], self._order(0, lowest=False)[0]

    def order_bounds(self) -> tuple[float, float]:
        """Bounds of that share when conversations interleave: pairs across them may stand either way round."""
        pairs, least, most = self._across()
        low, high = self._order(pairs, most, lowest=True)[1], self._order(pairs, least, lowest=False)[1]
        return 1.0 - float(low), 1.0 - float(high)

    def average(self, reference_calls: int, recall: float, order: float, *, highest: bool) -> Begins:
        """The reading with the highest or lowest sum of the three metrics.

        Args:
            reference_calls: N_ref.
            recall: What merge purity is multiplied by.
            order: What the share of pairs in order is multiplied by.
            highest: Which end.
        """
        sign = 1.0 if highest else -1.0
        active = len(set(self.matched.steps))
        scale = recall / (math.fsum(self.matched.masses) * math.log(active)) if active > 1 else 0.0
        return self._reading(
            lambda segment: sign * scale * segment.mixed, coherence=-sign / reference_calls, order=sign * order
        )

    def _order(self, pairs: int, inverted: int = 0, *, lowest: bool) -> tuple[Begins, Fraction]:
        """Dinkelbach's method: the share of inverted pairs, bettered by a linear search until nothing betters it."""
        whole = self._whole
        pairs, inverted = pairs + whole.pairs, inverted + whole.inverted
        sign = -1 if lowest else 1
        # Fewest inversions first: where a reading has none it is the best, also when it has no pairs at all.
        begins = self._cuts(self._linear(sign, Fraction(0)))
        while True:
            inside = self._inside(begins)
            left, wrong = pairs - inside.pairs, inverted - inside.inverted
            share = Fraction(wrong, left) if left else Fraction(0)
            better = self._cuts(self._linear(sign, share))
            then = self._inside(better)
            gain = sign * (share.denominator * (inverted - then.inverted) - share.numerator * (pairs - then.pairs))
            if gain >= 0:
                return self.matched.begins(begins), share
            begins = better

    @staticmethod
    def _linear(sign: int, share: Fraction) -> Cost:
        up, down = share.numerator, share.denominator
        return lambda segment: sign * (up * segment.pairs - down * segment.inverted)

    @cached_property
    def _whole(self) -> Segment:
        """All pairs within conversations."""
        pairs = inverted = 0
        starts = [at for at in range(len(self.matched.where)) if self._opens(at)]
        for start, end in zip(starts, [*starts[1:], len(self.matched.where)], strict=True):
            segment = self._segments.at(start, end - 1)
            pairs, inverted = pairs + segment.pairs, inverted + segment.inverted
        return Segment(0.0, pairs, inverted)

    def _opens(self, at: int) -> bool:
        """Whether a matched call is the first of its conversation."""
        where = self.matched.where
        return at == 0 or where[at][0] != where[at - 1][0]

    def _inside(self, cuts: Sequence[int]) -> Segment:
        ends = [*cuts[1:], len(self.matched.where)]
        found = [self._segments.at(start, end - 1) for start, end in zip(cuts, ends, strict=True)]
        return Segment(0.0, sum(one.pairs for one in found), sum(one.inverted for one in found))

    def _across(self) -> tuple[int, int, int]:
        """Pairs of matches in two conversations, how many are inverted in every reading, and in some perhaps."""
        pairs = least = most = 0
        spans = [self._span(at) for at in range(len(self.matched.where))]
        for at, (number, _) in enumerate(self.matched.where):
            for other in range(at):
                if self.matched.where[other][0] == number or self.matched.steps[at] == self.matched.steps[other]:
                    continue
                first, then = (at, other) if self.matched.steps[at] < self.matched.steps[other] else (other, at)
                pairs += 1
                least += spans[then][1] < spans[first][0]
                most += not spans[first][1] < spans[then][0]
        return pairs, least, most

    def _span(self, at: int) -> tuple[int, int]:
        """The first and the last call with which the step of a matched call can begin."""
        number, place = self.matched.where[at]
        conversation = self.matched.readings.conversations[number]
        starts = [start for start in conversation.possible if conversation.floor[place] <= start <= place]
        return conversation.calls[starts[0]], conversation.calls[starts[-1]]

    def _reading(self, cost: Cost, coherence: float = 0.0, order: float = 0.0) -> Begins:
        return self.matched.begins(self._cuts(cost, coherence, order))

    def _cuts(self, cost: Cost, coherence: float = 0.0, order: float = 0.0) -> list[int]:
        """Where the reading with the lowest cost divides the matched calls; the first one, 0, is always among them.

        Args:
            cost: Of a segment.
            coherence: Cost of each match, divided by the number of segments its reference step falls into.
            order: Cost of the share of inverted pairs.
        """
        matched, whole = self.matched, self._whole
        order = order if whole.inverted else 0.0
        total = len(matched.where)
        weight = {step: coherence * matched.steps.count(step) for step in set(matched.steps)} if coherence else {}
        ways: list[dict[tuple[tuple[int, int], ...], list[_Point]]] = [{} for _ in range(total + 1)]
        ways[0] = {(): [_Point(0.0, 0, 0, None)]}
        seen = 0
        for end in range(1, total + 1):
            if end < total and not matched.divisible[end]:
                continue
            for start in self._starts(end - 1):
                segment = self._segments.at(start, end - 1)
                price = cost(segment)
                for torn, points in ways[start].items():
                    after, extra = _count(torn, segment.steps, weight, matched.last_of, end) if weight else (torn, 0.0)
                    into = ways[end].setdefault(after, [])
                    for point in points:
                        seen += 1
                        if seen > MOST * (1 if weight or order else 1000):
                            raise TooManyError
                        counts = (point.pairs + segment.pairs, point.inverted + segment.inverted) if order else (0, 0)
                        _keep(into, _Point(point.cost + price + extra, *counts, (start, point.cuts)), order)
        points = [point for found in ways[total].values() for point in found]
        best = min(points, key=lambda point: point.cost + order * _share(whole, point))
        cuts: list[int] = []
        chain = best.cuts
        while chain is not None:
            cuts.append(chain[0])
            chain = chain[1]  # type: ignore[assignment]
        return cuts[::-1]

    def _starts(self, last: int) -> Iterator[int]:
        """Where a segment that ends with a matched call may begin."""
        for start in range(last, self.matched.floor[last] - 1, -1):
            if self.matched.divisible[start]:
                yield start


def _count(
    torn: tuple[tuple[int, int], ...],
    inside: tuple[int, ...],
    weight: Mapping[int, float],
    last_of: Mapping[int, int],
    end: int,
) -> tuple[tuple[tuple[int, int], ...], float]:
    """In how many segments the reference steps under way were seen, and the price of those that are complete."""
    counts = dict(torn)
    for step in inside:
        counts[step] = counts.get(step, 0) + 1
    done = [step for step in inside if last_of[step] < end]
    price = math.fsum(weight[step] / counts.pop(step) for step in done)
    return tuple(sorted(counts.items())), price


def _keep(points: list[_Point], new: _Point, order: float) -> None:
    """Keep what may still become the best: cheaper, or better placed for the share of inverted pairs."""
    if not order:
        if not points:
            points.append(new)
        elif new.cost < points[0].cost:
            points[0] = new
        return
    sign = 1 if order > 0 else -1

    def beats(one: _Point, other: _Point) -> bool:
        return (
            one.cost <= other.cost
            and sign * one.inverted >= sign * other.inverted
            and sign * one.pairs <= sign * other.pairs
        )

    if any(beats(point, new) for point in points):
        return
    points[:] = [point for point in points if not beats(new, point)]
    points.append(new)


def _share(whole: Segment, point: _Point) -> float:
    """Inverted pairs among those that stand in different steps."""
    left = whole.pairs - point.pairs
    return (whole.inverted - point.inverted) / left if left else 0.0
