"""The matched calls of a run as rows of segments: what the readings of its record come down to for the metrics.

Only matched calls matter, in order of arrival, and between two of them only whether any boundary lies there. A reading
is then a row of segments, each worth what its calls are worth together. `search` looks for the best and worst rows.
"""

import math
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from m3bench.tasks.readings import Readings

Begins = tuple[tuple[int, ...], ...]
"""Where steps begin, as places in each conversation."""


class Segment(NamedTuple):
    """What a run of matched calls in one step is worth."""

    mixed: float
    """Mass times entropy."""
    pairs: int
    """Pairs of calls from different reference steps."""
    inverted: int
    """Those of them that came the wrong way round."""
    steps: tuple[int, ...] = ()
    """The reference steps they belong to."""


@dataclass(frozen=True, kw_only=True)
class Matched:
    """The matched calls, conversation after conversation, with the evidence on them alone."""

    readings: Readings
    where: tuple[tuple[int, int], ...]
    """Conversation and place of each."""
    steps: tuple[int, ...]
    """Reference step of each."""
    masses: tuple[float, ...]
    divisible: tuple[bool, ...]
    """Whether a boundary is possible between each and the one before it."""
    floor: tuple[int, ...]
    """The first matched call that may share a step with each; never falls."""

    @classmethod
    def of(cls, readings: Readings, calls: Mapping[int, tuple[int, float]]) -> "Matched":
        """Leave out the calls that match nothing.

        Args:
            readings: All readings.
            calls: Reference step and similarity of each matched call.
        """
        where: list[tuple[int, int]] = []
        divisible: list[bool] = []
        floor: list[int] = []
        for number, conversation in enumerate(readings.conversations):
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
        flat = [calls[readings.conversations[number].calls[place]] for number, place in where]
        return cls(
            readings=readings, where=tuple(where), steps=tuple(step for step, _ in flat),
            masses=tuple(mass for _, mass in flat), divisible=tuple(divisible), floor=tuple(floor),
        )  # fmt: skip

    @cached_property
    def crossing(self) -> bool:
        """Whether matched calls come from several conversations, whose steps interleave."""
        return len({number for number, _ in self.where}) > 1

    @cached_property
    def last_of(self) -> Mapping[int, int]:
        """The last matched call of each reference step."""
        return {step: place for place, step in enumerate(self.steps)}

    def begins(self, cuts: Sequence[int]) -> Begins:
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


def _has(possible: Sequence[int], before: int, after: int) -> bool:
    """Whether a step may begin after one place and up to another."""
    return bisect_right(possible, before) < bisect_right(possible, after)


@dataclass
class Segments:
    """What each segment is worth, computed once."""

    matched: Matched
    _rows: dict[int, list[Segment]] = field(default_factory=dict, init=False)

    def at(self, start: int, last: int) -> Segment:
        """The segment from one matched call to another."""
        row = self._rows.setdefault(start, [])
        if len(row) <= last - start:
            longest = max(last, bisect_right(self.matched.floor, start) - 1)
            self._rows[start] = row = list(self._row(start, longest))
        return row[last - start]

    def _row(self, start: int, last: int) -> Iterator[Segment]:
        """The segments that begin at a place, up to one that ends at another."""
        masses: dict[int, float] = {}
        before: list[int] = []
        pairs = inverted = 0
        terms = total = 0.0
        steps: tuple[int, ...] = ()
        for step, mass in zip(self.matched.steps[start : last + 1], self.matched.masses[start : last + 1], strict=True):
            known = masses.get(step, 0.0)
            steps = steps if step in masses else (*steps, step)
            masses[step] = known + mass
            terms += _term(known + mass) - _term(known)
            total += mass
            after = len(before) - bisect_right(before, step)
            inverted += after
            pairs += after + bisect_left(before, step)
            insort(before, step)
            yield Segment(_term(total) - terms, pairs, inverted, steps)


def _term(mass: float) -> float:
    return mass * math.log(mass) if mass > 0 else 0.0
