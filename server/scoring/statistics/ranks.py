"""Ranks of result sets on the same tasks, with intervals and with ties.

A rank is one more than the number of sets that are clearly better: those whose paired difference is significant after
Holm's rule over all pairs. Its interval is that of the place in the order of means over a bootstrap that draws the
same clusters for every set.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from m3bench.server.scoring.statistics import clusters
from m3bench.server.scoring.statistics.clusters import RESAMPLES, SEED
from m3bench.server.scoring.statistics.estimates import LEVEL
from m3bench.server.scoring.statistics.paired import Difference, difference, holm

ALPHA = 0.05
Values = Mapping[str, Mapping[str, float]]
"""By set, then by task."""


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two sets compared."""

    first: str
    second: str
    difference: Difference
    adjusted: float
    """p after Holm's rule over all pairs."""

    @property
    def clear(self) -> bool:
        """Whether chance is ruled out at 5 %, all pairs considered."""
        return self.adjusted <= ALPHA


@dataclass(frozen=True, kw_only=True)
class Rank:
    """A place among sets."""

    rank: int
    low: int
    high: int


def pairs_of(values: Values, families: Mapping[str, str | None]) -> list[Pair]:
    """Every two sets over the tasks both have, judged together."""
    found: list[tuple[str, str, Difference]] = []
    for first, second in combinations(values, 2):
        compared = difference(values[first], values[second], families)
        if compared is not None:
            found.append((first, second, compared))
    adjusted = holm([one.p for _, _, one in found])
    return [
        Pair(first=first, second=second, difference=one, adjusted=p)
        for (first, second, one), p in zip(found, adjusted, strict=True)
    ]


def ranks_of(values: Values, families: Mapping[str, str | None], pairs: Sequence[Pair]) -> dict[str, Rank]:
    """The rank of every set, and between which places it would fall for another draw."""
    lows, highs = _places(values, families)
    found = {}
    for name in values:
        ahead = sum(
            pair.clear and (pair.difference.value > 0) == (pair.second != name) and pair.difference.value != 0
            for pair in pairs
            if name in (pair.first, pair.second)
        )
        rank = 1 + ahead
        found[name] = Rank(rank=rank, low=min(rank, lows[name]), high=max(rank, highs[name]))
    return found


def _places(
    values: Values, families: Mapping[str, str | None], level: float = LEVEL
) -> tuple[dict[str, int], dict[str, int]]:
    import numpy as np

    names = list(values)
    common = [task for task in values[names[0]] if all(task in values[name] for name in names)] if names else []
    if len(common) < 2:
        return dict.fromkeys(names, 1), dict.fromkeys(names, len(names))
    table = np.array([[values[name][task] for name in names] for task in common])
    found = clusters.clusters_of([families.get(task) for task in common])
    counts = clusters.draw(found.count, RESAMPLES, SEED)
    sizes = counts @ found.sums(np.ones(len(common)))
    means = np.round((counts @ found.sums(table)) / sizes[:, None], 12)
    above = (means[:, None, :] > means[:, :, None]).sum(axis=2) + 1
    lows = np.quantile(above, (1 - level) / 2, axis=0, method="inverted_cdf")
    highs = np.quantile(above, (1 + level) / 2, axis=0, method="inverted_cdf")
    return (
        {name: int(low) for name, low in zip(names, lows, strict=True)},
        {name: int(high) for name, high in zip(names, highs, strict=True)},
    )
