"""Many tasks in one number, with an interval.

By effect every task counts the same: each metric and the average are plain means over tasks, and over the repeats of
a task before that. The micro aggregate, for the other profiles, is the published one: recall and precision are sums
over sums, the rest are means weighted by reference calls; `average` is the mean of the six aggregated metrics. A
metric that failed on a task takes no part there. Every pooled metric is a sum of numerators over a sum of denominators.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from typing import TypeAlias

from m3bench.server.scoring.profiles import AVERAGED, COUNTED, EFFECT, M3
from m3bench.server.scoring.statistics.estimates import LEVEL, Interval, estimate, mean_of
from m3bench.server.scoring.trajectory_score import TrajectoryScore

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

_EDGE = 1e-4
"""As close to 0 and 1 as logits are taken."""

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
    values: Values = {name: _pooled(rows, name) for name in METRICS}
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


def intervals(rows: Sequence[Row], values: Values | None = None, *, level: float = LEVEL) -> dict[str, Interval]:
    """Intervals of the aggregate over families of tasks (`statistics.estimates`); none for fewer than two tasks.

    A pooled metric differs from the mean over tasks: its interval is moved to where it lies, in logits.

    Args:
        rows: The rows.
        values: What `overall` gives of them, where it is known.
        level: Of the intervals.
    """
    tasks = by_task(rows)
    if len(tasks) < 2:
        return {}
    families = {task: members[0].family for task, members in tasks.items()}
    values, is_plain = overall(rows) if values is None else values, _by_task(rows)
    ranges = {}
    for name in (*METRICS, "average"):
        found, value = estimate(task_values(tasks, name), families, level=level), values[name]
        if found is not None and found.interval is not None and value is not None:
            ranges[name] = found.interval if is_plain else moved(found.interval, found.value, value)
    return ranges


def moved(interval: Interval, where: float, to: float) -> Interval:
    """An interval of one number between 0 and 1 as that of another, as far from it in logits."""
    step = _logit(to) - _logit(where)
    low, high = (1 / (1 + exp(-_logit(end) - step)) for end in (interval.low, interval.high))
    return Interval(low=0.0 if interval.low <= 0 else min(to, low), high=1.0 if interval.high >= 1 else max(to, high))


def _logit(value: float) -> float:
    inside = min(1 - _EDGE, max(_EDGE, value))
    return log(inside / (1 - inside))


def _by_task(rows: Sequence[Row]) -> bool:
    """Whether every task counts the same: rows by effect are not pooled, nor is what they are mixed with."""
    return any(row.profile == EFFECT.name for row in rows)


def _pooled(rows: Sequence[Row], name: str) -> float | None:
    """A metric whose numerators and denominators are added up over runs."""
    counted = COUNTED.get(name)
    above: float = 0
    below: float = 0
    for row in rows:
        if (value := row.metrics.get(name)) is None:
            continue
        weight = row.reference_calls if counted is None else getattr(row, counted)
        above += value * weight if counted is None else row.matched
        below += weight
    return above / below if below else _nothing(name, rows)


def _average(values: Mapping[str, float | None]) -> float | None:
    known = [value for name in AVERAGED if (value := values.get(name)) is not None]
    return sum(known) / len(known) if len(known) == len(AVERAGED) else None


def _nothing(name: str, rows: Sequence[Row]) -> float | None:
    """A denominator of 0: nothing was called, which is 0, unless no task has a value at all."""
    return 0.0 if any(row.metrics.get(name) is not None for row in rows) else None
