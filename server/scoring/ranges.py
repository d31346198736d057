"""The range of every metric over all readings of a record, without going through them one by one.

Which calls match does not depend on steps, so a reading only says which matched calls share a step. With a boundary
more, step coherence can only fall and merge purity only rise: the reading with all boundaries gives the lowest
coherence and the highest purity. The other ends are found by `search`, each together with a reading that attains it,
and the metrics' own functions give the number for that reading. Where a search would take too long, or calls of
several conversations are interleaved, a bound that no reading passes takes its place, and `exact` is false.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from m3bench.server.scoring.metrics import Link
from m3bench.server.scoring.profiles import AVERAGED, PROFILES
from m3bench.server.scoring.scorer import measure
from m3bench.server.scoring.search import Search, TooManyError
from m3bench.server.scoring.segments import Matched
from m3bench.server.scoring.trajectory_score import TrajectoryScore
from m3bench.tasks.readings import Readings

STRUCTURE = ("step_coherence", "order_consistency", "merge_purity")
"""The metrics that depend on how calls were put into steps."""

ENUMERATED = 8
"""Up to this many open boundaries, readings are gone through one by one where searching would give a bound only."""

Range = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class Ranges:
    """Lowest and highest value of each metric."""

    values: Mapping[str, Range]
    exact: bool = True
    """Whether some reading attains each of them; otherwise no reading passes them."""


def best_of(cards: Sequence[TrajectoryScore], readings: Readings, order: Sequence[int]) -> Ranges:
    """The ranges of a run against the best of its references, which may be another one in another reading.

    Args:
        cards: The run against each reference, in the reading that is scored.
        readings: All readings of its record.
        order: Which call stands at each place of the flattened trajectory of that reading.
    """
    each = [ranges(card, readings, order) for card in cards]
    averages = [one.values.get("average", (0.0, 0.0)) for one in each]
    least = max(low for low, _ in averages)
    rivals = [number for number, (_, high) in enumerate(averages) if high >= least]
    if len(rivals) == 1:
        return each[rivals[0]]
    if readings.open <= ENUMERATED:
        return _one_by_one([cards[number] for number in rivals], readings, order)
    values = hull([each[number].values for number in rivals])
    return Ranges(values={**values, "average": (least, values["average"][1])}, exact=False)


def _one_by_one(cards: Sequence[TrajectoryScore], readings: Readings, order: Sequence[int]) -> Ranges:
    """The metrics of the best reference in every reading."""
    found = []
    for begins in readings.every():
        place = places(readings, begins)
        each = [measured(card, place, order) for card in cards]
        found.append(max(each, key=lambda values: values.get("average", -1.0)))
    return Ranges(values=hull([{name: (value, value) for name, value in one.items()} for one in found]))


def hull(found: Sequence[Mapping[str, Range]]) -> dict[str, Range]:
    """The ranges that hold all of these."""
    names = [name for name in found[0] if all(name in one for one in found)]
    return {name: (min(one[name][0] for one in found), max(one[name][1] for one in found)) for name in names}


def places(readings: Readings, begins: Sequence[Sequence[int]]) -> dict[int, int]:
    """The step of each call in a reading."""
    return {call: number for number, step in enumerate(readings.steps(begins)) for call in step}


def measured(card: TrajectoryScore, place: Mapping[int, int], order: Sequence[int]) -> dict[str, float]:
    """The metrics with the calls in these steps."""
    links = tuple(
        Link(match.reference.step, place[order[match.actual.index]], match.similarity) for match in card.matches
    )
    values, _ = measure(replace(card.alignment, links=links), PROFILES[card.profile])
    return {name: value for name, value in values.items() if value is not None}


def ranges(card: TrajectoryScore, readings: Readings, order: Sequence[int]) -> Ranges:
    """The ranges of a run against one reference."""
    constant = {name: (value, value) for name, value in card.metrics.items() if value is not None}
    if not readings.open or not card.matches or any(card.metrics.get(name) is None for name in STRUCTURE):
        return Ranges(values=constant)
    calls = {order[match.actual.index]: (match.reference.step, match.similarity) for match in card.matches}
    matched = Matched.of(readings, calls)
    if matched.crossing and readings.open <= ENUMERATED:
        return _one_by_one([card], readings, order)
    return _Ends(card, readings, order, Search(matched)).found(constant)


@dataclass(frozen=True)
class _Ends:
    """Looks for the ends of the ranges."""

    card: TrajectoryScore
    readings: Readings
    order: Sequence[int]
    search: Search

    def found(self, constant: Mapping[str, Range]) -> Ranges:
        exact = not self.search.matched.crossing
        finest = self._at(self.search.finest)
        try:
            together = self._at(self.search.most_coherent())["step_coherence"]
        except TooManyError:
            together, exact = self._at(self.search.coarsest)["step_coherence"], False
        mixed = self._at(self.search.least_pure())["merge_purity"]
        values = {
            **constant,
            "step_coherence": (finest["step_coherence"], together),
            "merge_purity": (mixed, finest["merge_purity"]),
            "order_consistency": self._order(),
        }
        if "average" in constant:
            values["average"], attained = self._average(values)
            exact = exact and attained
        return Ranges(values=values, exact=exact)

    def _at(self, begins: Sequence[Sequence[int]]) -> dict[str, float]:
        """The metrics in one reading."""
        return measured(self.card, places(self.readings, begins), self.order)

    def _order(self) -> Range:
        if self.search.matched.crossing:
            low, high = self.search.order_bounds()
            factor = self._order_factor()
            return low * factor, high * factor
        low_reading, high_reading = self.search.order_readings()
        return self._at(low_reading)["order_consistency"], self._at(high_reading)["order_consistency"]

    def _order_factor(self) -> float:
        """What the share of pairs in order is multiplied by: the metric where nothing is out of order."""
        links = tuple(link._replace(actual_step=link.reference_step) for link in self.card.alignment.links)
        values, _ = measure(replace(self.card.alignment, links=links), PROFILES[self.card.profile])
        return values["order_consistency"] or 0.0

    def _average(self, values: Mapping[str, Range]) -> tuple[Range, bool]:
        if not self.search.matched.crossing:
            try:
                factor = self._order_factor()
                recall = len(self.card.matches) / self.card.alignment.reference_calls
                low, high = (
                    self.search.average(self.card.alignment.reference_calls, recall, factor, highest=highest)
                    for highest in (False, True)
                )
                return (self._at(low)["average"], self._at(high)["average"]), True
            except TooManyError:
                pass
        low_sum, high_sum = (sum(values[name][end] for name in AVERAGED) for end in (0, 1))
        return (low_sum / len(AVERAGED), high_sum / len(AVERAGED)), False
