"""A number between 0 and 1 with its standard error and interval.

Both come from the posterior of a logistic-normal model with families as clusters (`logistic`), from 0 to 1 and for
any number of families. With few of them little can be said about others: below `FEW_FAMILIES` tables say so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb, fsum
from typing import Literal

LEVEL = 0.95
FEW_FAMILIES = 8
"""With fewer clusters there is no test, and the interval rests on how families usually differ."""

Scope = Literal["families", "tasks"]
Kind = Literal["solved", "average"]

DISPERSION: dict[Kind, float] = {"solved": 1.0, "average": 0.25}
"""How much a number varies between tasks of a family, as a part of what being solved or not would; where the data say
more, they count."""


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
    families: int
    """How many families; a task without one counts as one."""

    @property
    def caution(self) -> str | None:
        """What the interval does not cover; None where there are enough families, or where there is no interval."""
        return None if self.interval is None else caution(self.families)

    def to_json(self) -> dict[str, object]:
        """A dict that `json.dumps` takes."""
        return {
            "value": self.value,
            "error": self.error,
            "interval": self.interval and self.interval.to_json(),
            "tasks": self.tasks,
            "clusters": self.clusters,
            "cluster": self.kind,
            "caution": self.caution,
        }


def caution(families: int) -> str | None:
    """What an interval over so few families does not cover; None where there are enough."""
    if families >= FEW_FAMILIES:
        return None
    if families == 1:
        return (
            f"All tasks are of one family: the interval is about tasks like these. Others take {FEW_FAMILIES} families."
        )
    return (
        f"The tasks are of {families} families: the interval does not cover families unlike these. "
        f"That takes at least {FEW_FAMILIES}."
    )


def estimate(
    values: Mapping[str, float],
    families: Mapping[str, str | None],
    *,
    of: Kind = "average",
    scope: Scope = "families",
    level: float = LEVEL,
) -> Estimate | None:
    """The mean over tasks of a number that each task has; None when there is no task.

    Args:
        values: By task.
        families: By task; a task without one is a family of its own.
        of: What the number is: whether a task was solved (or how often), or an average.
        scope: What another draw would change: families and tasks, or the tasks within these families.
        level: Of the interval.
    """
    if not values:
        return None
    if len(values) == 1:
        (only,) = values.values()
        return Estimate(value=float(only), error=None, interval=None, tasks=1, clusters=1, kind="task", families=1)
    # numpy takes longer to load than a server takes to start.
    import numpy as np

    from m3bench.server.scoring.statistics import clusters, logistic

    numbers = np.array(list(values.values()), dtype=float)
    found = clusters.clusters_of([families.get(task) for task in values])
    mean = float(numbers.mean())
    usual = DISPERSION[of]
    if scope == "tasks":
        strata = clusters.strata_of([families.get(task) for task in values])
        part = logistic.dispersion(numbers, strata, usual, overall=True)
        known = logistic.over_draws(mean, len(numbers) / part, level)
    else:
        part = logistic.dispersion(numbers, found.place, usual)
        sizes = found.sums(np.ones(len(numbers)))
        known = logistic.over_families((found.sums(numbers) / sizes).tolist(), sizes.tolist(), part, level)
    return Estimate(
        value=mean,
        error=known.deviation,
        # Families of unequal size may weigh differently in the mean over tasks.
        interval=Interval(low=min(mean, known.low), high=max(mean, known.high)),
        tasks=len(numbers),
        clusters=found.count,
        kind=found.kind,
        families=found.families,
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


# What void samples could have done to a number


def bounds(samples: Mapping[str, Sequence[float]], lost: Mapping[str, int]) -> Interval | None:
    """The mean over tasks with every lost sample at 0, and with every one at 1.

    Args:
        samples: For each task, the values of its repeats, from 0 to 1.
        lost: For each task, how many more there were to be.

    Returns:
        The bounds, or None when there is neither a sample nor a lost one.
    """
    ends = []
    for value in (0.0, 1.0):
        tasks = {
            task: [*samples.get(task, ()), *[value] * lost.get(task, 0)] for task in dict.fromkeys([*samples, *lost])
        }
        ends.append(mean_of([sum(values) / len(values) for values in tasks.values() if values]))
    low, high = ends
    return None if low is None or high is None else Interval(low=low, high=high)


# Repeated attempts: pass@k asks whether at least one of k passes, pass^k whether all do. Both are the unbiased
# estimates from n ≥ k attempts of which c passed; the gap between the two is an agent's unreliability.


def pass_at_k(passed: Sequence[bool], k: int) -> float:
    """The chance that at least one of k attempts at a task passes, given whether each of n ≥ k attempts did."""
    n, c = _counts(passed, k)
    return 1 - comb(n - c, k) / comb(n, k)


def pass_hat_k(passed: Sequence[bool], k: int) -> float:
    """The chance that all of k attempts at a task pass; arguments as in `pass_at_k`."""
    n, c = _counts(passed, k)
    return comb(c, k) / comb(n, k)


def _counts(passed: Sequence[bool], k: int) -> tuple[int, int]:
    if not 1 <= k <= len(passed):
        raise ValueError("k must be at least 1 and at most the number of attempts")
    return len(passed), sum(passed)


def alpha(units: Sequence[Sequence[float]]) -> float | None:
    """Krippendorff's α for interval data.

    1 − observed / expected disagreement, where disagreement is the mean squared difference of two values: observed
    inside units, each pair weighted 1 / (values of the unit − 1), expected over all values. A unit with fewer than two
    values takes no part. 1 is agreement, 0 is chance, less is systematic disagreement. None when no unit has two
    values, or when all values are the same, so that there is nothing to agree about.

    Args:
        units: The values that people or judges gave for each thing they judged.
    """
    paired = [unit for unit in units if len(unit) >= 2]
    everything = [value for unit in paired for value in unit]
    if not everything or min(everything) == max(everything):
        return None
    observed = fsum(_differences(unit) / (len(unit) - 1) for unit in paired) / len(everything)
    expected = _differences(everything) / (len(everything) * (len(everything) - 1))
    return 1 - observed / expected


def _differences(values: Sequence[float]) -> float:
    """The sum of squared differences over all ordered pairs."""
    mean = fsum(values) / len(values)
    return 2 * len(values) * fsum((value - mean) ** 2 for value in values)
