"""Ranks of result sets on the same tasks: which places the data allow.

Inference for ranks after Mogstad, Romano, Shaikh and Wilhelm: a set is behind all that are clearly better and ahead of
all that are clearly worse, and the places between are its rank. A difference is clear when it is more standard errors
than chance would give in 95 of 100 records to the largest among those that count. By default these are the differences
of one set to all others, so that each rank by itself holds at 95 %; `joint` takes all pairs, so that all ranks hold
together. How large chance makes them is seen from turning the signs of clusters (a wild bootstrap, studentised anew
each time). Sets that are `APART` standard errors apart never share a place, however many others are listed.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, sqrt

import numpy as np

from m3bench.server.scoring.statistics.clusters import Floats, clusters_of
from m3bench.server.scoring.statistics.estimates import FEW_FAMILIES, LEVEL
from m3bench.server.scoring.statistics.paired import Difference, difference, differences_of, unseen
from m3bench.server.scoring.statistics.power import detectable

APART = 6.0
_SAME = 1e-9
_TURNS = 999
_SEED = 0
_PORTION = 200_000
"""How many products are added up at a time: of more, the library spreads them over cores, which wait for each other."""
Values = Mapping[str, Mapping[str, float]]
"""By set, then by task."""


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two sets compared."""

    first: str
    second: str
    difference: Difference
    clear: bool
    """Whether the difference is more than chance gives, among all that are looked at."""

    @property
    def order(self) -> tuple[str, str]:
        """The better set and the worse one."""
        return (self.second, self.first) if self.difference.value > 0 else (self.first, self.second)


@dataclass(frozen=True, kw_only=True)
class Rank:
    """Which places among the sets the data allow."""

    low: int
    high: int


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """Sets compared with each other."""

    pairs: tuple[Pair, ...]
    ranks: Mapping[str, Rank]
    """Empty where the design cannot tell sets apart."""
    threshold: float | None
    """How many standard errors a clear difference has at least; None where there are no ranks."""
    families: int
    tasks: int
    """What every two sets share at least."""

    @property
    def caution(self) -> str | None:
        """Why the sets cannot be told apart and what it would take; None where some can."""
        if not self.pairs or any(pair.clear for pair in self.pairs):
            return None
        if self.threshold is None:
            needed = ceil(FEW_FAMILIES * max(1, self.tasks / max(1, self.families)))
            noun = "family" if self.families == 1 else "families"
            return (
                f"There are no ranks: the sets share {self.families} {noun}, and fewer than {FEW_FAMILIES} cannot tell "
                f"any two apart. With as many tasks in each, {FEW_FAMILIES} families are {needed} tasks."
            )
        told = "No two sets can be told apart by this record"
        widest = max(self.pairs, key=lambda pair: _studentised(pair.difference)).difference
        if widest.error is None or not widest.value:
            return f"{told}: they hardly differ."
        least = detectable(widest.error, widest.freedom, threshold=self.threshold)
        needed = ceil(self.tasks * max(1.0, least / abs(widest.value)) ** 2)
        return f"{told}. A difference like the clearest one, {abs(widest.value):.3f}, would take some {needed} tasks."


def rank(values: Values, families: Mapping[str, str | None], *, joint: bool = False, level: float = LEVEL) -> Ranking:
    """Compare every two sets over the tasks both have, and rank them.

    Args:
        values: By set and task.
        families: By task.
        joint: Whether all ranks hold together at the level, and not each by itself.
        level: The chance that a rank is right.
    """
    names = list(values)
    tasks = list(dict.fromkeys(task for known in values.values() for task in known))
    compared = list(_compared(values, names, tasks, families))
    fewest = min((found.families for _, _, found in compared), default=0)
    shared = min((found.tasks for _, _, found in compared), default=0)
    if len(names) < 2 or fewest < FEW_FAMILIES:
        ranks = {name: Rank(low=1, high=1) for name in names} if len(names) == 1 else {}
        pairs = tuple(Pair(first=one, second=two, difference=found, clear=False) for one, two, found in compared)
        return Ranking(pairs=pairs, ranks=ranks, threshold=None, families=fewest, tasks=shared)
    chance = _chance(values, names, tasks, families, joint=joint, level=level)
    pairs = tuple(
        Pair(
            first=one,
            second=two,
            difference=found,
            clear=_studentised(found) >= chance.threshold or (one, two) in chance.apart,
        )
        for one, two, found in compared
    )
    ranks = _places(names, pairs, chance.apart)
    return Ranking(pairs=pairs, ranks=ranks, threshold=chance.threshold, families=fewest, tasks=shared)


def _compared(
    values: Values, names: list[str], tasks: list[str], families: Mapping[str, str | None]
) -> Iterator[tuple[str, str, Difference]]:
    """Every two sets that share a task."""
    # Sets with the same tasks share their clusters, and a set its column with all others.
    same = {name: np.array([*values[name].values()]) for name in names if [*values[name]] == tasks}
    clusters = clusters_of([families.get(task) for task in tasks])
    for number, first in enumerate(names):
        others = [name for name in names[number + 1 :] if first in same and name in same]
        if others and tasks:
            steps = np.stack([same[name] for name in others], axis=1) - same[first][:, None]
            known = dict(zip(others, differences_of(steps, clusters), strict=True))
        else:
            known = {}
        for second in names[number + 1 :]:
            if second in known:
                yield first, second, known[second]
            elif (found := difference(values[first], values[second], families)) is not None:
                yield first, second, found


def _studentised(found: Difference) -> float:
    return abs(found.value) / found.error if found.error else 0.0


@dataclass(frozen=True, kw_only=True)
class _Chance:
    """What chance can do, and what it cannot."""

    threshold: float
    """How many standard errors the largest difference has by chance, in `level` of all records; at most `APART`."""
    apart: frozenset[tuple[str, str]]
    """Pairs that are `APART` standard errors apart, even by a standard error without the two tasks that are added."""


def _chance(
    values: Values, names: list[str], tasks: list[str], families: Mapping[str, str | None], *, joint: bool, level: float
) -> _Chance:
    table = np.array([[values[name].get(task, np.nan) for name in names] for task in tasks])
    found = clusters_of([families.get(task) for task in tasks])
    signs = _signs(found.count)
    largest = np.zeros((len(signs), len(names)))
    size = max(1, _PORTION // (found.count * len(names)))
    portions = [slice(start, start + size) for start in range(0, len(signs), size)]
    apart: set[tuple[str, str]] = set()
    for number in range(len(names) - 1):
        steps = table[:, [number]] - table[:, number + 1 :]
        known = ~np.isnan(steps)
        steps = np.where(known, steps, 0.0)
        sums, sizes = found.sums(steps), found.sums(known.astype(float))
        residuals = sums - sizes * (sums.sum(axis=0) / np.maximum(1, sizes.sum(axis=0)))
        differing = (abs(steps) > _SAME).sum(axis=0).astype(np.float64)
        own = (residuals**2).sum(axis=0)
        far = abs(sums.sum(axis=0)) >= (APART - _SAME) * np.sqrt(own * found.count / (found.count - 1)) + _SAME
        apart |= {(names[number], names[number + 1 + other]) for other in np.flatnonzero(far).tolist()}
        spread = own + unseen((steps**2).sum(axis=0), differing)
        # Turning signs leaves the squares as they are, so the largest part of them is the most standard errors.
        parts = residuals / np.sqrt(spread)
        for rows in portions:
            drawn = abs(signs[rows] @ parts)
            largest[rows, number] = np.maximum(largest[rows, number], drawn.max(axis=1))
            largest[rows, number + 1 :] = np.maximum(largest[rows, number + 1 :], drawn)
    most = largest.max(axis=1)[:, None] if joint else largest
    threshold = _in_standard_errors(float(np.quantile(most, level, method="higher", axis=0).max()), found.count)
    return _Chance(threshold=min(APART, threshold), apart=frozenset(apart))


def _in_standard_errors(part: float, clusters: int) -> float:
    """A sum over clusters, given as a part of the root of their squares, in standard errors of its own."""
    left = max(1 - part**2 / clusters, 1e-12)
    return part / sqrt(left * clusters / (clusters - 1))


def _places(names: list[str], pairs: tuple[Pair, ...], apart: frozenset[tuple[str, str]]) -> dict[str, Rank]:
    behind, ahead = dict.fromkeys(names, 0), dict.fromkeys(names, 0)
    score = dict.fromkeys(names, 0.0)
    for pair in pairs:
        better, worse = pair.order
        if pair.clear:
            behind[worse] += 1
            ahead[better] += 1
        score[pair.second] += pair.difference.value
        score[pair.first] -= pair.difference.value
    low = {name: 1 + behind[name] for name in names}
    high = {name: len(names) - ahead[name] for name in names}
    ascending = sorted(score.values())
    for pair in pairs:
        if (pair.first, pair.second) in apart:
            better, worse = pair.order
            # Whoever is above the middle between the two is a candidate for the places before it, and nobody else.
            middle = (score[better] + score[worse]) / 2
            before = len(ascending) - bisect_right(ascending, middle)
            high[better] = min(high[better], before)
            low[worse] = max(low[worse], before + 1)
    return {name: Rank(low=low[name], high=max(low[name], high[name])) for name in names}


@lru_cache(maxsize=4)
def _signs(count: int) -> Floats:
    signs = (np.random.default_rng(_SEED).integers(0, 2, (_TURNS, count)) * 2 - 1).astype(np.float64)
    signs.flags.writeable = False
    return signs
