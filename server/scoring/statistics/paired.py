"""Two result sets on the same tasks: how far apart they are, and whether chance could have done that.

The difference of each task is taken first, so what makes a task hard for both cancels out. The interval is the
difference with Student's t and the standard error of a clustered bootstrap. The test turns the sign of whole clusters
round: were both sets made by one agent, either sign would be as likely. Many pairs are judged together by Holm's rule.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import comb
from typing import TYPE_CHECKING, Literal

from m3bench.server.scoring.statistics import clusters
from m3bench.server.scoring.statistics.clusters import RESAMPLES, SEED
from m3bench.server.scoring.statistics.estimates import LEVEL, Interval, critical, score_interval

if TYPE_CHECKING:
    from m3bench.server.scoring.statistics.clusters import Floats

FLIPS = 9999
"""Random turns of signs, where there are too many to try them all."""
_ALL_FLIPS = 12
"""Up to so many clusters every turn is tried."""
_SAME = 1e-12


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A paired difference, second minus first."""

    value: float
    error: float | None
    """None for fewer than two tasks, and where all of them are alike or differ by all there is."""
    interval: Interval | None
    """None for fewer than two tasks."""
    p: float
    """Of the permutation test, two-sided."""
    tasks: int
    clusters: int
    kind: Literal["family", "task"]
    better: int
    """Tasks where the second is higher."""
    worse: int

    @property
    def freedom(self) -> int:
        """Degrees of freedom of the standard error."""
        return self.clusters - 1


def difference(
    first: Mapping[str, float],
    second: Mapping[str, float],
    families: Mapping[str, str | None],
    *,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Difference | None:
    """Compare the mean over tasks of a number that each task has in both sets; None when they share no task."""
    import numpy as np

    common = [task for task in first if task in second]
    if not common:
        return None
    steps = np.array([second[task] - first[task] for task in common])
    found = clusters.clusters_of([families.get(task) for task in common])
    value, error, interval = float(steps.mean()), None, None
    if len(common) > 1:
        error = found.error(found.means(steps, resamples, seed))
        half = critical(found.freedom, level) * error
        interval = Interval(low=max(-1.0, value - half), high=min(1.0, value + half))
        if steps.max() - steps.min() < _SAME and min(abs(value - end) for end in (-1, 0, 1)) < _SAME:
            # That all tasks are alike, or differ by all there is, is no proof that every task would.
            error, unseen = None, score_interval(0.0, 0.0, len(common), found.freedom, level).high
            interval = Interval(low=value - unseen * (1 + value), high=value + unseen * (1 - value))
    return Difference(
        value=value,
        error=error,
        interval=interval,
        p=sign_test([float(part) for part in found.sums(steps)], seed=seed),
        tasks=len(common),
        clusters=found.count,
        kind=found.kind,
        better=int((steps > _SAME).sum()),
        worse=int((steps < -_SAME).sum()),
    )


def sign_test(sums: Sequence[float], flips: int = FLIPS, seed: int = SEED) -> float:
    """The two-sided p of a permutation test that turns the signs of clusters round.

    All turns are tried for up to twelve clusters that differ, otherwise `flips` random ones and the one observed.
    """
    import numpy as np

    parts = np.array([part for part in sums if abs(part) > _SAME])
    if not len(parts):
        return 1.0
    observed = abs(parts.sum()) - _SAME * len(parts)
    if len(parts) <= _ALL_FLIPS:
        signs = 1 - 2 * ((np.arange(2 ** len(parts))[:, None] >> np.arange(len(parts))) & 1)
        return float((np.abs(signs @ parts) >= observed).mean())
    turned = np.abs(_signs(len(parts), flips, seed) @ parts)
    return float((1 + (turned >= observed).sum()) / (1 + flips))


@lru_cache(maxsize=8)
def _signs(count: int, flips: int, seed: int) -> "Floats":
    import numpy as np

    signs = (np.random.default_rng(seed).integers(0, 2, (flips, count)) * 2 - 1).astype(np.float64)
    signs.flags.writeable = False
    return signs


def mcnemar(first: Mapping[str, bool], second: Mapping[str, bool]) -> float:
    """McNemar's exact test over the tasks both have, two-sided: one attempt at each, no clusters."""
    gained = sum(second[task] and not first[task] for task in first if task in second)
    lost = sum(first[task] and not second[task] for task in first if task in second)
    changed = gained + lost
    tail: float = sum(comb(changed, k) for k in range(min(gained, lost) + 1)) / 2**changed
    return min(1.0, 2 * tail)


def holm(values: Sequence[float]) -> list[float]:
    """p-values adjusted by Holm's step-down rule, in the order given: the chance of one false alarm among all."""
    order = sorted(range(len(values)), key=lambda place: values[place])
    adjusted = [0.0] * len(values)
    highest = 0.0
    for rank, place in enumerate(order):
        highest = max(highest, min(1.0, (len(values) - rank) * values[place]))
        adjusted[place] = highest
    return adjusted
