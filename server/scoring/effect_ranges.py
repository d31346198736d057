"""The range of every metric of profile `effect` over all readings of a record.

Which calls answer what does not depend on steps, and neither do the dependences. With a boundary more, step coherence
and order can only fall and merge purity only rise, so their ends lie at the readings with the fewest and with the
most boundaries. Where the average is pulled both ways, few readings are gone through one by one; of many, a bound
that none of them passes is given, and `exact` is false. So it is where calls of several conversations interleave.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from m3bench.server.scoring.answers import Answers
from m3bench.server.scoring.effect_metrics import average, dependences, measure
from m3bench.server.scoring.profiles import AVERAGED
from m3bench.server.scoring.ranges import ENUMERATED, Range, Ranges, hull, places
from m3bench.tasks.readings import Readings

FALLING = ("step_coherence", "order_consistency")
"""Metrics that a boundary more can only lower."""
RISING = "merge_purity"
"""The metric that a boundary more can only raise."""


def best_of(found: Sequence[Answers], readings: Readings, order: Sequence[int]) -> Ranges:
    """The ranges of a run against the best of its references, which may be another one in another reading.

    Args:
        found: How each reference was answered, in the reading that is scored.
        readings: All readings of the record.
        order: Which call stands at each place of the flattened trajectory of that reading.
    """
    each = [_Ends(one, readings, order).ranges() for one in found]
    averages = [one.values.get("average", (0.0, 0.0)) for one in each]
    least = max(low for low, _ in averages)
    rivals = [number for number, (_, high) in enumerate(averages) if high >= least]
    if len(rivals) == 1:
        return each[rivals[0]]
    if 0 < readings.open <= ENUMERATED:
        return _one_by_one([_Ends(found[number], readings, order) for number in rivals])
    if not readings.open:
        return max((each[number] for number in rivals), key=lambda one: one.values.get("average", (0.0, 0.0)))
    values = hull([each[number].values for number in rivals])
    return Ranges(values={**values, "average": (least, values["average"][1])}, exact=False)


@dataclass(frozen=True)
class _Ends:
    """One reference, and the ends of its ranges."""

    found: Answers
    readings: Readings
    order: Sequence[int]

    def at(self, begins: Sequence[Sequence[int]]) -> dict[str, float]:
        """The metrics when steps begin at these places."""
        step = places(self.readings, begins)
        moved = replace(self.found, steps=tuple(step[call] for call in self.order))
        return {name: value for name, value in measure(moved).items() if value is not None}

    def ranges(self) -> Ranges:
        """The ranges against this reference."""
        scored = {name: value for name, value in measure(self.found).items() if value is not None}
        constant = {name: (value, value) for name, value in scored.items()}
        if not self.readings.open or not self.found.answers or not scored:
            return Ranges(values=constant)
        conversations = self.readings.conversations
        fewest = [tuple(sorted(one.forced)) for one in conversations]
        coarse, fine = self.at(fewest), self.at([one.possible for one in conversations])
        attained = all(one.reading(()) == begins for one, begins in zip(conversations, fewest, strict=True))
        values = {
            **constant,
            **{name: (fine[name], coarse[name]) for name in FALLING},
            RISING: (coarse[RISING], fine[RISING]),
        }
        crossing = self._crossing()
        if crossing:
            low, high = values["order_consistency"]
            values["order_consistency"] = max(0.0, low - crossing), min(1.0, high + crossing)
        both_ways = len({*values[RISING]}) > 1 and any(len({*values[name]}) > 1 for name in FALLING)
        if (both_ways or crossing or not attained) and self.readings.open <= ENUMERATED:
            return _one_by_one([self])
        values["average"] = self._average(values)
        return Ranges(values=values, exact=attained and not both_ways and not crossing)

    def _average(self, values: dict[str, Range]) -> Range:
        low, high = (average({name: values[name][end] for name in AVERAGED}) for end in (0, 1))
        return low, high

    def _crossing(self) -> float:
        """The share of the dependences between calls of two conversations: their steps may stand either way round."""
        of_call = {call: number for number, one in enumerate(self.readings.conversations) for call in one.calls}
        homes = {
            place: {of_call[self.order[index]] for index in answer.actual}
            for place, answer in self.found.answers.items()
        }
        found = dependences(self.found)
        across = sum(len(homes[need] | homes[place]) > 1 for need, place in found)
        return across / len(found) if found else 0.0


def _one_by_one(ends: Sequence[_Ends]) -> Ranges:
    """The metrics of the best reference in every reading."""
    found = []
    for begins in ends[0].readings.every():
        each = [one.at(begins) for one in ends]
        found.append(max(each, key=lambda values: values.get("average", -1.0)))
    return Ranges(values=hull([{name: (value, value) for name, value in one.items()} for one in found]))
