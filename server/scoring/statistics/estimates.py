"""A number between 0 and 1 with its standard error and interval.

The standard error is the spread of the number over a clustered bootstrap. The interval is Wilson's score interval with
the number of independent tasks that this standard error amounts to, and with Student's t for the normal: it stays
between 0 and 1, holds at both ends, and keeps its level with few clusters.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from m3bench.server.scoring.statistics import clusters
from m3bench.server.scoring.statistics.clusters import RESAMPLES, SEED, Scope

LEVEL = 0.95
_NONE = 1e-12
"""Below this a spread is rounding."""


@dataclass(frozen=True, kw_only=True)
class Interval:
    """Where a number would fall for another draw."""

    low: float
    high: float

    def to_json(self) -> list[float]:
        """Both ends."""
        return [self.low, self.high]


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A number and how sure it is."""

    value: float
    error: float | None
    """Standard error; None when there is one task."""
    interval: Interval | None
    tasks: int
    clusters: int
    kind: Literal["family", "task"]
    """What the clusters are."""

    def to_json(self) -> dict[str, object]:
        """A dict that `json.dumps` takes."""
        return {
            "value": self.value,
            "error": self.error,
            "interval": self.interval and self.interval.to_json(),
            "tasks": self.tasks,
            "clusters": self.clusters,
            "cluster": self.kind,
        }


def critical(freedom: int, level: float = LEVEL) -> float:
    """Student's t that leaves (1 − level) / 2 above it."""
    from scipy.special import stdtrit

    return float(stdtrit(max(1, freedom), (1 + level) / 2))


def score_interval(value: float, error: float, tasks: int, freedom: int, level: float = LEVEL) -> Interval:
    """The score interval of a number between 0 and 1 with a standard error.

    Where there was no spread at all, which is no proof that there is none, every task counts as one draw.
    """
    value = min(1.0, max(0.0, value))
    spread = value * (1 - value)
    worth = spread / error**2 if error > _NONE and spread > _NONE else float(tasks)
    square = critical(freedom, level) ** 2
    middle = (value + square / (2 * worth)) / (1 + square / worth)
    half = (square * (spread / worth + square / (4 * worth * worth))) ** 0.5 / (1 + square / worth)
    # Rounding must not put the value outside.
    return Interval(low=min(value, max(0.0, middle - half)), high=max(value, min(1.0, middle + half)))


def estimate(
    values: Mapping[str, float],
    families: Mapping[str, str | None],
    *,
    scope: Scope = "families",
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Estimate | None:
    """The mean over tasks of a number that each task has; None when there is no task.

    Args:
        values: By task.
        families: By task.
        scope: What another draw would change: families and tasks, or the tasks within these families.
        level: Of the interval.
        resamples: How often clusters are drawn.
        seed: Of the draws.
    """
    import numpy as np

    if not values:
        return None
    numbers = np.array(list(values.values()), dtype=float)
    names = [families.get(task) for task in values]
    mean, count = float(numbers.mean()), len(numbers)
    found = clusters.clusters_of(names)
    if count < 2:
        return Estimate(value=mean, error=None, interval=None, tasks=count, clusters=count, kind="task")
    if scope == "tasks":
        strata = clusters.strata_of(names)
        weights = clusters.draw_within(strata, resamples, seed)
        error = float(((weights @ numbers) / weights.sum(axis=1)).std())
        freedom = max(1, count - len(set(strata)))
    else:
        error, freedom = found.error(found.means(numbers, resamples, seed)), found.freedom
    return Estimate(
        value=mean,
        error=error,
        interval=score_interval(mean, error, count, freedom, level),
        tasks=count,
        clusters=found.count,
        kind=found.kind,
    )


def macro(values: Mapping[str, float], families: Mapping[str, str | None]) -> float | None:
    """The mean over families of their means: every family counts the same, however many tasks it has."""
    parts: dict[str, list[float]] = {}
    for task, value in values.items():
        parts.setdefault(families.get(task) or "", []).append(value)
    return mean_of([mean for part in parts.values() if (mean := mean_of(part)) is not None])


def mean_of(values: Sequence[float]) -> float | None:
    """The mean, None of nothing."""
    return sum(values) / len(values) if values else None
