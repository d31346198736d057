"""Many tasks in one number, with an interval.

By effect every task counts the same: each metric and the average are plain means over tasks, and over the repeats of
a task before that. The micro aggregate, for the other profiles, is the published one: recall and precision are sums
over sums, the rest are means weighted by reference calls; `average` is the mean of the six aggregated metrics. A
metric that failed on a task takes no part there. Intervals come from a seeded bootstrap over clusters of tasks
(`statistics.clusters`). Every metric is a sum of numerators over a sum of denominators, which makes both cheap.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from m3bench.server.scoring.profiles import AVERAGED, COUNTED, EFFECT, M3
from m3bench.server.scoring.statistics.clusters import RESAMPLES, SEED, Clusters, clusters_of, draw
from m3bench.server.scoring.statistics.estimates import LEVEL, Interval, mean_of, score_interval
from m3bench.server.scoring.trajectory_score import TrajectoryScore
from m3bench.tasks.lazy_modules import LazyModule

if TYPE_CHECKING:
    import numpy as np

    from m3bench.server.scoring.statistics.clusters import Floats
else:
    np = LazyModule("numpy")

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
    task: str = ""
    """The task, where `id` says which attempt at it this is."""

    @classmethod
    def from_score(cls, task: str, family: str | None, score: TrajectoryScore) -> "Row":
        """The row of a scored trajectory."""
        return cls(
            id=task,
            family=family,
            metrics=score.metrics,
            reference_calls=score.alignment.wanted,
            actual_calls=score.alignment.actual_calls,
            matched=len(score.matches),
            profile=score.profile,
        )


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
    """Each metric and `average` as the plain mean over tasks that have a value: every task counts the same.

    Of a task that was tried several times the mean of its runs counts.
    """
    tasks = by_task(rows)
    return {name: mean_of(list(task_values(tasks, name).values())) for name in (*METRICS, "average")}


def by_task(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Rows by task, tasks in order of appearance.

    Rows that do not name their task, as in files of results, carry repeats as `TASK#2` beside `TASK`.
    """
    ids = {row.id for row in rows}
    tasks: dict[str, list[Row]] = {}
    for row in rows:
        name, _, number = row.id.rpartition("#")
        tasks.setdefault(row.task or (name if number.isdigit() and name in ids else row.id), []).append(row)
    return tasks


def task_values(tasks: Mapping[str, Sequence[Row]], name: str) -> dict[str, float]:
    """The mean of a metric over the runs of each task that has a value."""
    found = {}
    for task, members in tasks.items():
        known = [value for row in members if (value := row.metrics.get(name)) is not None]
        if known:
            found[task] = sum(known) / len(known)
    return found


def by_family(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Rows by family, families in order of appearance; tasks without one come under an empty name."""
    families: dict[str, list[Row]] = {}
    for row in rows:
        families.setdefault(row.family or "", []).append(row)
    return families


def intervals(
    rows: Sequence[Row], *, level: float = LEVEL, resamples: int = RESAMPLES, seed: int = SEED
) -> dict[str, Interval]:
    """Intervals of the aggregate from a bootstrap over clusters of tasks; none for fewer than two tasks."""
    tasks = by_task(rows)
    if len(tasks) < 2:
        return {}
    found = clusters_of([members[0].family for members in tasks.values()])
    table = _resampled(tasks, _by_task(rows), found, draw(found.count, resamples, seed))
    values = overall(rows)
    ranges = {}
    for name, column in zip((*METRICS, "average"), table.T, strict=True):
        known, value = column[~np.isnan(column)], values[name]
        if value is not None and len(known):
            ranges[name] = score_interval(value, found.error(known), len(tasks), found.freedom, level)
    return ranges


def _resampled(tasks: Mapping[str, Sequence[Row]], plain: bool, clusters: Clusters, counts: "Floats") -> "Floats":
    """Aggregates of resampled tasks, [resamples, metrics and average]; NaN where no drawn task has a value."""
    names = (*METRICS, "average")
    terms = np.array([[_task_terms(members, name, plain) for name in names] for members in tasks.values()], float)
    known = np.array(
        [[any(row.metrics.get(name) is not None for row in members) for name in names] for members in tasks.values()],
        float,
    )
    above, below = (counts @ clusters.sums(terms[:, :, part]) for part in (0, 1))
    with np.errstate(invalid="ignore"):
        ratios: Floats = above / below
    # Nothing was called in tasks that do have a value: that is 0, as in the aggregate.
    ratios[(below == 0) & (counts @ clusters.sums(known) > 0)] = 0.0
    if not plain:
        ratios[:, -1] = ratios[:, [METRICS.index(name) for name in AVERAGED]].mean(axis=1)
    return ratios


def _task_terms(rows: Sequence[Row], name: str, plain: bool) -> tuple[float, float]:
    """What all repeats of a task add to the numerator and the denominator of a metric."""
    if plain:
        known = [value for row in rows if (value := row.metrics.get(name)) is not None]
        return (sum(known) / len(known), 1.0) if known else (0.0, 0.0)
    above, below = zip(*(_terms(row, name) for row in rows), strict=True)
    return sum(above), sum(below)


def _by_task(rows: Sequence[Row]) -> bool:
    """Whether every task counts the same: rows by effect are not pooled, nor is what they are mixed with."""
    return any(row.profile == EFFECT.name for row in rows)


def _terms(row: Row, name: str) -> tuple[float, float]:
    """What a run adds to the numerator and the denominator of a pooled metric."""
    value = row.metrics.get(name)
    if value is None:
        return 0.0, 0.0
    if name in COUNTED:
        return float(row.matched), float(getattr(row, COUNTED[name]))
    return value * row.reference_calls, float(row.reference_calls)


def _average(values: Mapping[str, float | None]) -> float | None:
    known = [value for name in AVERAGED if (value := values.get(name)) is not None]
    return sum(known) / len(known) if len(known) == len(AVERAGED) else None


def _nothing(name: str, rows: Sequence[Row]) -> float | None:
    """A denominator of 0: nothing was called, which is 0, unless no task has a value at all."""
    return 0.0 if any(row.metrics.get(name) is not None for row in rows) else None
