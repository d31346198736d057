"""Many tasks in one number, with an interval.

By effect every task counts the same: each metric and the average are plain means over tasks. The micro aggregate, for
the other profiles, is the published one: recall and precision are sums over sums, the rest are means weighted by
reference calls; `average` is the mean of the six aggregated metrics. A metric that failed on a task takes no part
there. Intervals come from a seeded bootstrap over tasks. Every metric is a sum of numerators over a sum of
denominators, which is what makes both cheap.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from m3bench.server.scoring.answers import NAME as EFFECT
from m3bench.server.scoring.profiles import AVERAGED, COUNTED, M3
from m3bench.server.scoring.trajectory_score import TrajectoryScore

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

METRICS = (
    "recall",
    "precision",
    "argument_similarity",
    "argument_similarity_all",
    "argument_similarity_strong",
    "step_coherence",
    "order_consistency",
    "merge_purity",
)

RESAMPLES = 1000
LEVEL = 0.95
SEED = 0
_RESAMPLES_AT_ONCE = 50

Values: TypeAlias = dict[str, float | None]


@dataclass(frozen=True, kw_only=True)
class Row:
    """What aggregation needs of one scored task."""

    id: str
    family: str | None
    metrics: Mapping[str, float | None]
    reference_calls: int
    actual_calls: int
    matched: int
    profile: str = M3.name
    """The scoring profile, which says how rows are put together."""

    @classmethod
    def from_score(cls, task: str, family: str | None, score: TrajectoryScore) -> "Row":
        """The row of a scored trajectory."""
        return cls(
            id=task,
            family=family,
            metrics=score.metrics,
            reference_calls=score.alignment.reference_calls - (len(score.answers.dropped) if score.answers else 0),
            actual_calls=score.alignment.actual_calls,
            matched=len(score.matches),
            profile=score.profile,
        )


@dataclass(frozen=True, kw_only=True)
class Interval:
    """Where a number would fall for another draw of tasks."""

    low: float
    high: float


def overall(rows: Sequence[Row]) -> Values:
    """Each metric and `average` over all tasks, as the profile of the rows has it."""
    return mean(rows) if _by_task(rows) else micro(rows)


def micro(rows: Sequence[Row]) -> Values:
    """Each metric and `average` over all tasks; `None` where no task has a value.

    When no task has a reference call, and none was to have any, each metric is the plain mean.
    """
    if rows and not any(row.reference_calls for row in rows):
        return mean(rows)
    sums = {
        name: [sum(column) for column in zip(*(_terms(row, name) for row in rows), strict=True)] for name in METRICS
    }
    values: Values = {
        name: parts[0] / parts[1] if parts and parts[1] else _nothing(name, rows) for name, parts in sums.items()
    }
    return values | {"average": _average(values)}


def mean(rows: Sequence[Row]) -> Values:
    """Each metric and `average` as the plain mean over tasks that have a value: every task counts the same."""
    values: Values = {}
    for name in (*METRICS, "average"):
        known = [value for row in rows if (value := row.metrics.get(name)) is not None]
        values[name] = sum(known) / len(known) if known else None
    return values


def by_family(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Rows by family, families in order of appearance; tasks without one come under an empty name."""
    families: dict[str, list[Row]] = {}
    for row in rows:
        families.setdefault(row.family or "", []).append(row)
    return families


def intervals(
    rows: Sequence[Row], *, level: float = LEVEL, resamples: int = RESAMPLES, seed: int = SEED
) -> dict[str, Interval]:
    """Percentile intervals of the aggregate, bootstrapped over tasks; none for fewer than two tasks."""
    if len(rows) < 2:
        return {}
    return percentiles(bootstrap([rows], lambda values: values[0], resamples, seed), level)


def bootstrap(
    samples: Sequence[Sequence[Row]],
    combine: "Callable[[list[Floats]], Floats]",
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> "Floats":
    """Aggregates of resampled tasks, [resamples, metrics and average].

    Args:
        samples: One or more result sets over the same tasks in the same order, resampled together.
        combine: Makes one table of the aggregates of the sets; a paired difference, for example.
        resamples: How often.
        seed: Of the random draws.
    """
    import numpy as np

    count = len(samples[0])
    names = (*METRICS, "average")
    plain = [_by_task(rows) for rows in samples]
    terms = [
        np.array([[_terms(row, name, plain=every) for name in names] for row in rows], float)
        for rows, every in zip(samples, plain, strict=True)
    ]
    known = [np.array([[row.metrics.get(name) is not None for name in names] for row in rows]) for rows in samples]
    averaged = [METRICS.index(name) for name in AVERAGED]
    random = np.random.default_rng(seed)
    tables = []
    for start in range(0, resamples, _RESAMPLES_AT_ONCE):
        size = min(_RESAMPLES_AT_ONCE, resamples - start)
        drawn = random.integers(0, count, (size, count))
        weights = np.stack([np.bincount(line, minlength=count) for line in drawn]).astype(float)
        values = []
        for term, there, every in zip(terms, known, plain, strict=True):
            below = weights @ term[:, :, 1]
            with np.errstate(invalid="ignore"):
                # Zero tasks with a value in a draw make it NaN, and percentiles leave it out.
                ratios = (weights @ term[:, :, 0]) / below
            # Nothing was called in tasks that do have a value: that is 0, as in the aggregate.
            ratios[(below == 0) & (weights @ there > 0)] = 0.0
            if not every:
                ratios[:, -1] = ratios[:, averaged].mean(axis=1)
            values.append(ratios)
        tables.append(combine(values))
    return np.concatenate(tables)


def percentiles(table: "Floats", level: float = LEVEL) -> dict[str, Interval]:
    """The middle of each column of a bootstrap table; metrics without any value are left out."""
    import numpy as np

    found = {}
    for name, column in zip((*METRICS, "average"), table.T, strict=True):
        known = column[~np.isnan(column)]
        if len(known):
            low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
            found[name] = Interval(low=float(low), high=float(high))
    return found


def _by_task(rows: Sequence[Row]) -> bool:
    """Whether every task counts the same: rows by effect are not pooled, nor is what they are mixed with."""
    return any(row.profile == EFFECT for row in rows)


def _terms(row: Row, name: str, *, plain: bool = False) -> tuple[float, float]:
    """What a task adds to the numerator and the denominator of a metric."""
    value = row.metrics.get(name)
    if value is None:
        return 0.0, 0.0
    if plain:
        return value, 1.0
    if name in COUNTED:
        return float(row.matched), float(getattr(row, COUNTED[name]))
    return value * row.reference_calls, float(row.reference_calls)


def _average(values: Mapping[str, float | None]) -> float | None:
    known = [value for name in AVERAGED if (value := values.get(name)) is not None]
    return sum(known) / len(known) if len(known) == len(AVERAGED) else None


def _nothing(name: str, rows: Sequence[Row]) -> float | None:
    """A denominator of 0: nothing was called, which is 0, unless no task has a value at all."""
    return 0.0 if any(row.metrics.get(name) is not None for row in rows) else None
