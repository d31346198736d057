"""Two result sets on the same tasks: how far apart they are, and whether chance could have done that.

The difference of each task is taken first, so what makes a task hard for both cancels out. The standard error is
robust to clusters, and the interval is the difference with Student's t. That little or nothing differs is no proof that
other tasks would not: two more tasks, turned one each way, count with the spread, as Agresti and Caffo do for shares.
The test turns the sign of whole clusters round: were both sets made by one agent, either sign would be as likely.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import comb
from typing import Literal

import numpy as np

from m3bench.server.scoring.statistics.clusters import Clusters, Floats, clusters_of, critical
from m3bench.server.scoring.statistics.estimates import FEW_FAMILIES, LEVEL, Interval, caution

_SAME = 1e-12
_LATTICE = 4000
"""Sums of clusters are rounded to so many parts of their total, so that every turn of signs can be counted."""
_UNITS = (1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60)
_UNSEEN_SIZE = 0.25
"""How many tasks that differ by all there is are assumed, to know how large a difference usually is."""


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A paired difference, second minus first."""

    value: float
    error: float | None
    """None for fewer than two tasks."""
    interval: Interval | None
    """None for fewer than two tasks."""
    tasks: int
    clusters: int
    kind: Literal["family", "task"]
    families: int
    better: int
    """Tasks where the second is higher."""
    worse: int
    sums: Floats = field(compare=False, repr=False)
    """Of the differences of each cluster."""

    @cached_property
    def p(self) -> float | None:
        """Of the permutation test, two-sided; None with too few families for a test."""
        # A board has thousands of pairs, and shows the p of few.
        return sign_test(self.sums.tolist()) if self.families >= FEW_FAMILIES else None

    @property
    def freedom(self) -> int:
        """Degrees of freedom of the standard error."""
        return self.clusters - 1

    @property
    def caution(self) -> str | None:
        """What the interval does not cover; None where there are enough families."""
        return caution(self.families)


def difference(
    first: Mapping[str, float],
    second: Mapping[str, float],
    families: Mapping[str, str | None],
    *,
    level: float = LEVEL,
) -> Difference | None:
    """Compare the mean over tasks of a number that each task has in both sets; None when they share no task."""
    common = [task for task in first if task in second]
    if not common:
        return None
    steps = np.array([second[task] - first[task] for task in common])
    return differences_of(steps[:, None], clusters_of([families.get(task) for task in common]), level=level)[0]


def differences_of(steps: Floats, found: Clusters, *, level: float = LEVEL) -> list[Difference]:
    """Many comparisons over the same tasks, at least one: the differences of tasks are [task, comparison]."""
    values, sums = steps.mean(axis=0), found.sums(steps)
    errors: list[float | None] = [None] * len(values)
    if len(steps) > 1 and found.count > 1:
        errors = [*standard_errors(steps, found).tolist()]
    half = critical(found.freedom, level)
    better, worse = (steps > _SAME).sum(axis=0).tolist(), (steps < -_SAME).sum(axis=0).tolist()
    return [
        Difference(
            value=value,
            error=error,
            interval=None
            if error is None
            else Interval(low=max(-1.0, value - half * error), high=min(1.0, value + half * error)),
            tasks=len(steps),
            clusters=found.count,
            kind=found.kind,
            families=found.families,
            better=better[number],
            worse=worse[number],
            sums=sums[:, number],
        )
        for number, (value, error) in enumerate(zip(values.tolist(), errors, strict=True))
    ]


def standard_errors(steps: Floats, clusters: Clusters) -> Floats:
    """Of the means of differences by task, [task, comparison]: cluster-robust, with the spread of two more tasks."""
    sizes = clusters.sums(np.ones(len(steps)))
    residuals = clusters.sums(steps) - sizes[:, None] * steps.mean(axis=0)
    differing = (abs(steps) > _SAME).sum(axis=0).astype(np.float64)
    spread = (residuals**2).sum(axis=0) + unseen((steps**2).sum(axis=0), differing)
    found: Floats = np.sqrt(spread * clusters.count / (clusters.count - 1)) / len(steps)
    return found


def unseen(squares: Floats, differing: Floats) -> Floats:
    """The squares that two more tasks would add, given those of the tasks that differ and their number."""
    return 2 * (squares + _UNSEEN_SIZE) / (differing + _UNSEEN_SIZE)


def sign_test(sums: Sequence[float]) -> float:
    """The exact two-sided p of a permutation test that turns the signs of clusters round.

    All turns are counted, by dynamic programming over the sums they give. Where sums must be rounded to a lattice, what
    rounding leaves open counts against a difference.
    """
    parts = np.array([abs(part) for part in sums if abs(part) > _SAME])
    if not len(parts):
        return 1.0
    # Differences of solved tasks are fractions with small denominators, and need no rounding.
    scaled = np.multiply.outer(_UNITS, parts)
    rounded = np.round(scaled)
    whole = (abs(scaled - rounded) <= 1e-9 + 1e-5 * rounded).all(axis=1)
    scale = _UNITS[int(whole.argmax())] if whole.any() else _LATTICE / parts.sum()
    steps = np.round(parts * scale).astype(int)
    total = int(steps.sum())
    rounding = float(abs(parts * scale - steps).sum())
    least = int(np.ceil(abs(sum(sums)) * scale - rounding - 1e-6))
    if least <= 0:
        return 1.0
    # What is turned round adds up to x, and all to total - 2x: count the ways to each x that leaves as much or more.
    most = (total - least) // 2
    ways = np.zeros(most + 1)
    ways[0], reached = 1.0, 0
    for step in sorted(steps[(steps > 0) & (steps <= most)].tolist()):
        reached = min(most, reached + step)
        ways[step : reached + 1] += ways[: reached + 1 - step]
    return min(1.0, 2 * float(ways.sum()) * 0.5 ** int((steps > 0).sum()))


def mcnemar(first: Mapping[str, bool], second: Mapping[str, bool]) -> float:
    """McNemar's exact test over the tasks both have, two-sided: one attempt at each, no clusters."""
    gained = sum(second[task] and not first[task] for task in first if task in second)
    lost = sum(first[task] and not second[task] for task in first if task in second)
    changed = gained + lost
    tail: float = sum(comb(changed, k) for k in range(min(gained, lost) + 1)) / 2**changed
    return min(1.0, 2 * tail)
