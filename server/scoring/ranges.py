"""The range of every metric over all readings of a record, without going through them one by one.

Which calls match does not depend on steps, so a reading only says which matched calls share a step. Where calls depend
on a plan, a boundary more can only lower step coherence and order consistency and only raise merge purity, so their
ends lie at the readings with the fewest and with the most boundaries. Where they depend on the reference's steps, that
holds for coherence and purity; the other ends are found by dynamic programming, for the share of inverted pairs with
Dinkelbach's method, each together with a reading that attains it, and the metrics' own functions give the number for
that reading. Where this would take too long, where the average is pulled both ways, or where calls of several
conversations interleave, few readings are gone through one by one; of many, a bound that none of them passes is
given, and `exact` is false.
"""

import math
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from m3bench.server.scoring.alignment import CallAlignment
from m3bench.server.scoring.profiles import AVERAGED, PROFILES, STRUCTURE, Profile
from m3bench.server.scoring.trajectory_score import TrajectoryScore
from m3bench.tasks.readings import Readings

ENUMERATED = 8
"""Up to this many open boundaries, readings are gone through one by one where there would be a bound only."""
MOST_PARTIAL = 20_000
"""Partial readings that a search looks at before it gives up."""

FALLING, RISING = ("step_coherence", "order_consistency"), "merge_purity"
"""Metrics that a boundary more can only lower, and only raise, where calls depend on a plan."""

Range = tuple[float, float]
Begins = Sequence[Sequence[int]]
"""Where steps begin, as places in each conversation."""


@dataclass(frozen=True, kw_only=True)
class Ranges:
    """Lowest and highest value of each metric."""

    values: Mapping[str, Range]
    exact: bool = True
    """Whether some reading attains each of them; otherwise no reading passes them."""

    @property
    def average(self) -> Range:
        """Of the average; 0 where there is none."""
        return self.values.get("average", (0.0, 0.0))


def score_ranges(scores: Sequence[TrajectoryScore], readings: Readings, order: Sequence[int]) -> Ranges:
    """The ranges of a run against the best of its references, which may be another one in another reading.

    Args:
        scores: The run against each reference, in the reading that is scored.
        readings: All readings of its record.
        order: Which call stands at each place of the flattened trajectory of that reading.
    """
    each = [reference_ranges(score, readings, order) for score in scores]
    least = max(ranges.average[0] for ranges in each)
    rivals = [number for number, ranges in enumerate(each) if ranges.average[1] >= least]
    if len(rivals) == 1:
        return each[rivals[0]]
    if not readings.open:
        return max((each[number] for number in rivals), key=lambda ranges: ranges.average)
    if readings.open <= ENUMERATED:
        return _enumerated([_ReadScore.of(scores[number], readings, order) for number in rivals])
    values = _hull([each[number].values for number in rivals])
    return Ranges(values={**values, "average": (least, values["average"][1])}, exact=False)


def reference_ranges(score: TrajectoryScore, readings: Readings, order: Sequence[int]) -> Ranges:
    """The ranges of a run against one reference."""
    constant = {name: (value, value) for name, value in score.metrics.items() if value is not None}
    if not readings.open or not score.matches or any(score.metrics.get(name) is None for name in STRUCTURE):
        return Ranges(values=constant)
    read = _ReadScore.of(score, readings, order)
    ends = _ends_by_plan if read.profile.dependence == "plan" else _ends_by_steps
    return ends(read, constant)


def values_in(score: TrajectoryScore, steps: Mapping[int, int], order: Sequence[int]) -> dict[str, float]:
    """The metrics of a score with each call in another step.

    Args:
        score: The score.
        steps: The step of each call.
        order: Which call stands at each place of the flattened trajectory that was scored.
    """
    moved = replace(score.alignment, actual_steps=tuple(steps[call] for call in order))
    return PROFILES[score.profile].measure(moved).known


def _hull(found: Sequence[Mapping[str, Range]]) -> dict[str, Range]:
    """The ranges that hold all of these."""
    names = [name for name in found[0] if all(name in values for values in found)]
    return {
        name: (min(values[name][0] for values in found), max(values[name][1] for values in found)) for name in names
    }


@dataclass(frozen=True)
class _ReadScore:
    """A run against one reference, to be measured in any reading."""

    alignment: CallAlignment
    profile: Profile
    readings: Readings
    order: Sequence[int]

    @classmethod
    def of(cls, score: TrajectoryScore, readings: Readings, order: Sequence[int]) -> "_ReadScore":
        return cls(score.alignment, PROFILES[score.profile], readings, order)

    def at(self, begins: Begins) -> dict[str, float]:
        """The metrics when steps begin at these places."""
        step = {call: number for number, calls in enumerate(self.readings.steps(begins)) for call in calls}
        moved = replace(self.alignment, actual_steps=tuple(step[call] for call in self.order))
        return self.profile.measure(moved).known

    def bound(self, values: Mapping[str, Range]) -> Range:
        """What the average cannot pass, given the ranges of the metrics."""
        low, high = (self.profile.mean({name: values[name][end] for name in AVERAGED}) for end in (0, 1))
        return low, high


def _enumerated(rivals: Sequence[_ReadScore]) -> Ranges:
    """The metrics of the best reference in every reading."""
    found = []
    for begins in rivals[0].readings.every():
        each = [rival.at(begins) for rival in rivals]
        found.append(max(each, key=lambda values: values.get("average", -1.0)))
    return Ranges(values=_hull([{name: (value, value) for name, value in values.items()} for values in found]))


def _ends_by_plan(read: _ReadScore, constant: Mapping[str, Range]) -> Ranges:
    """The ranges where calls depend on a plan: all three metrics move one way with every boundary."""
    conversations = read.readings.conversations
    fewest = [tuple(sorted(conversation.forced)) for conversation in conversations]
    coarse, fine = read.at(fewest), read.at([conversation.possible for conversation in conversations])
    attained = all(
        conversation.reading(()) == begins for conversation, begins in zip(conversations, fewest, strict=True)
    )
    values = {
        **constant,
        **{name: (fine[name], coarse[name]) for name in FALLING},
        RISING: (coarse[RISING], fine[RISING]),
    }
    crossing = _crossing(read)
    if crossing:
        low, high = values["order_consistency"]
        values["order_consistency"] = max(0.0, low - crossing), min(1.0, high + crossing)
    both_ways = len({*values[RISING]}) > 1 and any(len({*values[name]}) > 1 for name in FALLING)
    if (both_ways or crossing or not attained) and read.readings.open <= ENUMERATED:
        return _enumerated([read])
    values["average"] = read.bound(values)
    return Ranges(values=values, exact=attained and not both_ways and not crossing)


def _crossing(read: _ReadScore) -> float:
    """The share of the dependences between calls of two conversations: their steps may stand either way round."""
    number_of = {call: number for number, chat in enumerate(read.readings.conversations) for call in chat.calls}
    chats = {
        place: {number_of[read.order[index]] for index in match.actual}
        for place, match in read.alignment.matches.items()
    }
    found = read.alignment.dependences
    across = sum(len(chats[need] | chats[place]) > 1 for need, place in found)
    return across / len(found) if found else 0.0


def _ends_by_steps(read: _ReadScore, constant: Mapping[str, Range]) -> Ranges:
    """The ranges where calls depend on the reference's steps."""
    search = _Partitions.of(read)
    if search.crossing and read.readings.open <= ENUMERATED:
        return _enumerated([read])
    exact = not search.crossing
    finest = read.at(search.finest)
    try:
        together = read.at(search.most_coherent())["step_coherence"]
    except _TooManyError:
        together, exact = read.at(search.coarsest)["step_coherence"], False
    mixed = read.at(search.least_pure())["merge_purity"]
    # What the share of pairs in order is multiplied by: the metric where nothing is out of order.
    in_order = tuple(_in_order(read.alignment))
    factor = read.profile.measure(replace(read.alignment, actual_steps=in_order)).known.get("order_consistency", 0.0)
    if search.crossing:
        low, high = search.order_bounds()
        ordered = low * factor, high * factor
    else:
        worst, best = (read.at(begins)["order_consistency"] for begins in search.order_readings())
        ordered = worst, best
    values = {
        **constant,
        "step_coherence": (finest["step_coherence"], together),
        "merge_purity": (mixed, finest["merge_purity"]),
        "order_consistency": ordered,
    }
    if "average" in constant:
        attained = None if search.crossing else _attained_average(read, search, factor)
        values["average"] = attained or read.bound(values)
        exact = exact and attained is not None
    return Ranges(values=values, exact=exact)


def _in_order(alignment: CallAlignment) -> Iterator[int]:
    """The steps of the actual calls, were each in the step of the reference call that it answers."""
    step_of = {match.actual[0]: alignment.reference_steps[place] for place, match in alignment.matches.items()}
    for index, step in enumerate(alignment.actual_steps):
        yield step_of.get(index, step)


def _attained_average(read: _ReadScore, search: "_Partitions", order_factor: float) -> Range | None:
    """The lowest and highest average that some reading has; None when the search takes too long."""
    count = read.alignment.reference_calls
    recall = len(read.alignment.matches) / count
    try:
        low, high = (search.average(count, recall, order_factor, highest=highest) for highest in (False, True))
    except _TooManyError:
        return None
    return read.at(low)["average"], read.at(high)["average"]


class _TooManyError(Exception):
    """A search would take too long."""


class _Segment(NamedTuple):
    """What matched calls that share a step are worth together."""

    mixed: float
    """Mass times entropy."""
    pairs: int
    """Pairs of calls from different reference steps."""
    inverted: int
    """Those of them that came the wrong way round."""
    steps: tuple[int, ...] = ()
    """The reference steps they belong to."""


class _Partial(NamedTuple):
    """A partial reading: what it has cost, the counts of order so far, and how it came about."""

    cost: float
    pairs: int
    inverted: int
    cuts: "_Cuts | None"


class _Cuts(NamedTuple):
    last: int
    before: "_Cuts | None"


_Cost = Callable[[_Segment], float]
_Torn = tuple[tuple[int, int], ...]
"""In how many segments the reference steps that are still under way have been seen."""


@dataclass(frozen=True, kw_only=True)
class _Partitions:
    """The partitions of the matched calls into segments that some reading makes, searched by dynamic programming.

    Only matched calls matter, in order of arrival, conversation after conversation, and between two of them only
    whether any boundary lies there. Merge purity and the counts behind order consistency are sums over segments; step
    coherence needs to know in how many of them the reference steps under way have been seen. Every search returns
    where steps begin in a reading that attains what it looked for.
    """

    readings: Readings
    where: tuple[tuple[int, int], ...]
    """Conversation and place of each matched call."""
    steps: tuple[int, ...]
    """Reference step of each."""
    masses: tuple[float, ...]
    divisible: tuple[bool, ...]
    """Whether a boundary is possible between each and the one before it."""
    floor: tuple[int, ...]
    """The first matched call that may share a step with each; never falls."""
    _rows: dict[int, list[_Segment]] = field(default_factory=dict, init=False)
    """Segments by where they begin, computed once."""

    @classmethod
    def of(cls, read: _ReadScore) -> "_Partitions":
        """Leave out the calls that match nothing."""
        alignment = read.alignment
        calls = {
            read.order[match.actual[0]]: (alignment.reference_steps[place], match.similarity)
            for place, match in alignment.matches.items()
        }
        where: list[tuple[int, int]] = []
        divisible: list[bool] = []
        floor: list[int] = []
        for number, conversation in enumerate(read.readings.conversations):
            first = len(where)
            matched = [place for place, call in enumerate(conversation.calls) if call in calls]
            where += [(number, place) for place in matched]
            divisible += [True, *(_has(conversation.possible, *gap) for gap in pairwise(matched))]
            divisible = divisible[: len(where)]
            here = [first] * len(matched)
            for place, lowest in enumerate(conversation.floor):
                # The call at this place and what lies before `lowest` are divided by one of these:
                starts = [start for start in conversation.possible if lowest <= start <= place] if lowest else []
                before = [bisect_left(matched, start) for start in starts]
                if starts and before[0] > 0 and before[-1] < len(matched):
                    here[before[-1]] = max(here[before[-1]], first + before[0])
            for place in range(1, len(here)):
                here[place] = max(here[place], here[place - 1])
            floor += here
        flat = [calls[read.readings.conversations[number].calls[place]] for number, place in where]
        return cls(
            readings=read.readings, where=tuple(where), steps=tuple(step for step, _ in flat),
            masses=tuple(mass for _, mass in flat), divisible=tuple(divisible), floor=tuple(floor),
        )  # fmt: skip

    @cached_property
    def crossing(self) -> bool:
        """Whether matched calls come from several conversations, whose steps interleave."""
        return len({number for number, _ in self.where}) > 1

    @property
    def finest(self) -> Begins:
        """Every possible boundary."""
        return self._begins([at for at, possible in enumerate(self.divisible) if possible])

    @property
    def coarsest(self) -> Begins:
        """The boundaries that every reading has: perhaps no reading, but none is more coherent."""
        return self._begins(self._forced)

    def least_pure(self) -> Begins:
        """The reading whose steps mix reference steps the most."""
        return self.coarsest if self._forced_suffice else self._begins(self._cheapest(lambda segment: -segment.mixed))

    def most_coherent(self) -> Begins:
        """The reading that tears reference steps the least."""
        return self.coarsest if self._forced_suffice else self._begins(self._cheapest(lambda _: 0.0, coherence=-1.0))

    def average(self, reference_calls: int, recall: float, order: float, *, highest: bool) -> Begins:
        """The reading with the highest or lowest sum of the three metrics.

        Args:
            reference_calls: N_ref.
            recall: What merge purity is multiplied by.
            order: What the share of pairs in order is multiplied by.
            highest: Which end.
        """
        sign = 1.0 if highest else -1.0
        active = len(set(self.steps))
        scale = recall / (math.fsum(self.masses) * math.log(active)) if active > 1 else 0.0
        return self._begins(
            self._cheapest(
                lambda segment: sign * scale * segment.mixed, coherence=-sign / reference_calls, order=sign * order
            )
        )

    def order_readings(self) -> tuple[Begins, Begins]:
        """The readings with the lowest and the highest share of pairs in order."""
        if not self._whole.inverted:
            return self.finest, self.finest
        return self._dinkelbach(0, lowest=True)[0], self._dinkelbach(0, lowest=False)[0]

    def order_bounds(self) -> Range:
        """Bounds of that share when conversations interleave: pairs across them may stand either way round."""
        pairs, least, most = self._across()
        low = self._dinkelbach(pairs, most, lowest=True)[1]
        high = self._dinkelbach(pairs, least, lowest=False)[1]
        return 1.0 - float(low), 1.0 - float(high)

    def _dinkelbach(self, pairs: int, inverted: int = 0, *, lowest: bool) -> tuple[Begins, Fraction]:
        """Dinkelbach's method: the share of inverted pairs, bettered by a linear search until nothing betters it."""
        whole = self._whole
        pairs, inverted = pairs + whole.pairs, inverted + whole.inverted
        sign = -1 if lowest else 1

        def linear(share: Fraction) -> list[int]:
            up, down = share.numerator, share.denominator
            return self._cheapest(lambda segment: sign * (up * segment.pairs - down * segment.inverted))

        # Fewest inversions first: where a reading has none it is the best, also when it has no pairs at all.
        cuts = linear(Fraction(0))
        while True:
            inside = self._inside(cuts)
            left, wrong = pairs - inside.pairs, inverted - inside.inverted
            share = Fraction(wrong, left) if left else Fraction(0)
            better = linear(share)
            then = self._inside(better)
            gain = sign * (share.denominator * (inverted - then.inverted) - share.numerator * (pairs - then.pairs))
            if gain >= 0:
                return self._begins(cuts), share
            cuts = better

    def _begins(self, cuts: Sequence[int]) -> Begins:
        """The reading that divides the matched calls before these, and the others wherever it can."""
        chosen = frozenset(cuts)
        found: list[tuple[int, ...]] = []
        for number, conversation in enumerate(self.readings.conversations):
            mine = [(at, place) for at, (other, place) in enumerate(self.where) if other == number]
            places = [place for _, place in mine]
            begins = []
            for start in conversation.possible:
                after = bisect_left(places, start)
                if after in (0, len(places)) or mine[after][0] in chosen:
                    begins.append(start)
            found.append(tuple(begins))
        return tuple(found)

    @cached_property
    def _forced(self) -> list[int]:
        """Where every reading divides the matched calls."""
        possible = [at for at, divisible in enumerate(self.divisible) if divisible]
        forced = set()
        for at, floor in enumerate(self.floor):
            starts = possible[bisect_left(possible, floor) : bisect_right(possible, at)]
            forced |= set(starts) if len(starts) == 1 else set()
        return sorted(forced)

    @cached_property
    def _forced_suffice(self) -> bool:
        """Whether just these boundaries are a reading."""
        forced = self._forced
        return all(bisect_left(forced, floor) < bisect_right(forced, at) for at, floor in enumerate(self.floor))

    @cached_property
    def _whole(self) -> _Segment:
        """All pairs within conversations."""
        return self._inside([at for at in range(len(self.where)) if self._opens(at)])

    def _opens(self, at: int) -> bool:
        """Whether a matched call is the first of its conversation."""
        return at == 0 or self.where[at][0] != self.where[at - 1][0]

    def _inside(self, cuts: Sequence[int]) -> _Segment:
        """The pairs within the segments between these cuts."""
        ends = [*cuts[1:], len(self.where)]
        found = [self._segment(start, end - 1) for start, end in zip(cuts, ends, strict=True)]
        return _Segment(0.0, sum(part.pairs for part in found), sum(part.inverted for part in found))

    def _across(self) -> tuple[int, int, int]:
        """Pairs of matches in two conversations, how many are inverted in every reading, and in some perhaps."""
        pairs = least = most = 0
        spans = [self._span(at) for at in range(len(self.where))]
        for at, (number, _) in enumerate(self.where):
            for other in range(at):
                if self.where[other][0] == number or self.steps[at] == self.steps[other]:
                    continue
                first, then = (at, other) if self.steps[at] < self.steps[other] else (other, at)
                pairs += 1
                least += spans[then][1] < spans[first][0]
                most += not spans[first][1] < spans[then][0]
        return pairs, least, most

    def _span(self, at: int) -> tuple[int, int]:
        """The first and the last call with which the step of a matched call can begin."""
        number, place = self.where[at]
        conversation = self.readings.conversations[number]
        starts = [start for start in conversation.possible if conversation.floor[place] <= start <= place]
        return conversation.calls[starts[0]], conversation.calls[starts[-1]]

    def _cheapest(self, cost: _Cost, coherence: float = 0.0, order: float = 0.0) -> list[int]:
        """Where the reading with the lowest cost divides the matched calls; the first one, 0, is always among them.

        Args:
            cost: Of a segment.
            coherence: Cost of each match, divided by the number of segments its reference step falls into.
            order: Cost of the share of inverted pairs.
        """
        order = order if self._whole.inverted else 0.0
        total = len(self.where)
        weight = {step: coherence * self.steps.count(step) for step in set(self.steps)} if coherence else {}
        last_of = {step: place for place, step in enumerate(self.steps)}
        table: list[dict[_Torn, list[_Partial]]] = [{} for _ in range(total + 1)]
        table[0] = {(): [_Partial(0.0, 0, 0, None)]}
        seen = 0
        for end in range(1, total + 1):
            if end < total and not self.divisible[end]:
                continue
            for start in self._starts(end - 1):
                segment = self._segment(start, end - 1)
                price = cost(segment)
                for torn, points in table[start].items():
                    after, extra = _count(torn, segment.steps, weight, last_of, end) if weight else (torn, 0.0)
                    into = table[end].setdefault(after, [])
                    for point in points:
                        seen += 1
                        if seen > MOST_PARTIAL * (1 if weight or order else 1000):
                            raise _TooManyError
                        counts = (point.pairs + segment.pairs, point.inverted + segment.inverted) if order else (0, 0)
                        _keep(into, _Partial(point.cost + price + extra, *counts, _Cuts(start, point.cuts)), order)
        points = [point for found in table[total].values() for point in found]
        best = min(points, key=lambda point: point.cost + order * _inverted_share(self._whole, point))
        cuts: list[int] = []
        chain = best.cuts
        while chain is not None:
            cuts.append(chain.last)
            chain = chain.before
        return cuts[::-1]

    def _starts(self, last: int) -> Iterator[int]:
        """Where a segment that ends with a matched call may begin."""
        for start in range(last, self.floor[last] - 1, -1):
            if self.divisible[start]:
                yield start

    def _segment(self, start: int, last: int) -> _Segment:
        """The segment from one matched call to another."""
        row = self._rows.setdefault(start, [])
        if len(row) <= last - start:
            longest = max(last, bisect_right(self.floor, start) - 1)
            self._rows[start] = row = list(self._row(start, longest))
        return row[last - start]

    def _row(self, start: int, last: int) -> Iterator[_Segment]:
        """The segments that begin at a place, up to one that ends at another."""
        masses: dict[int, float] = {}
        before: list[int] = []
        pairs = inverted = 0
        terms = total = 0.0
        steps: tuple[int, ...] = ()
        for step, mass in zip(self.steps[start : last + 1], self.masses[start : last + 1], strict=True):
            known = masses.get(step, 0.0)
            steps = steps if step in masses else (*steps, step)
            masses[step] = known + mass
            terms += _entropy_term(known + mass) - _entropy_term(known)
            total += mass
            after = len(before) - bisect_right(before, step)
            inverted += after
            pairs += after + bisect_left(before, step)
            insort(before, step)
            yield _Segment(_entropy_term(total) - terms, pairs, inverted, steps)


def _has(possible: Sequence[int], before: int, after: int) -> bool:
    """Whether a step may begin after one place and up to another."""
    return bisect_right(possible, before) < bisect_right(possible, after)


def _entropy_term(mass: float) -> float:
    return mass * math.log(mass) if mass > 0 else 0.0


def _count(
    torn: _Torn, inside: tuple[int, ...], weight: Mapping[int, float], last_of: Mapping[int, int], end: int
) -> tuple[_Torn, float]:
    """In how many segments the reference steps under way were seen, and the price of those that are complete."""
    counts = dict(torn)
    for step in inside:
        counts[step] = counts.get(step, 0) + 1
    done = [step for step in inside if last_of[step] < end]
    price = math.fsum(weight[step] / counts.pop(step) for step in done)
    return tuple(sorted(counts.items())), price


def _keep(points: list[_Partial], new: _Partial, order: float) -> None:
    """Keep what may still become the best: cheaper, or better placed for the share of inverted pairs."""
    if not order:
        if not points:
            points.append(new)
        elif new.cost < points[0].cost:
            points[0] = new
        return
    sign = 1 if order > 0 else -1

    def beats(one: _Partial, other: _Partial) -> bool:
        return (
            one.cost <= other.cost
            and sign * one.inverted >= sign * other.inverted
            and sign * one.pairs <= sign * other.pairs
        )

    if any(beats(point, new) for point in points):
        return
    points[:] = [point for point in points if not beats(new, point)]
    points.append(new)


def _inverted_share(whole: _Segment, point: _Partial) -> float:
    """Inverted pairs among those that stand in different steps."""
    left = whole.pairs - point.pairs
    return (whole.inverted - point.inverted) / left if left else 0.0
