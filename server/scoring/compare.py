"""Two result sets over the same tasks: is one better, and how sure is that.

Paired: both sets are resampled with the same tasks, so what makes a task hard for both cancels out. Tasks that only
one set has are listed, not compared.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from m3bench.server.scoring import aggregate
from m3bench.server.scoring.aggregate import METRICS, Interval, Row


@dataclass(frozen=True, kw_only=True)
class Change:
    """One metric in both sets."""

    metric: str
    first: float | None
    second: float | None
    interval: Interval | None
    """Of second − first; `None` for fewer than two tasks."""
    better: int
    """Tasks where the second is higher."""
    worse: int
    equal: int

    @property
    def difference(self) -> float | None:
        """Second − first; `None` when either has no value."""
        return None if self.first is None or self.second is None else self.second - self.first

    @property
    def clear(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.interval is not None and (self.interval.low > 0 or self.interval.high < 0)


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Every metric, over the tasks both sets have."""

    tasks: int
    changes: tuple[Change, ...]
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]


_SAME = 1e-9


def compare(
    first: Sequence[Row],
    second: Sequence[Row],
    *,
    level: float = aggregate.LEVEL,
    resamples: int = aggregate.RESAMPLES,
    seed: int = aggregate.SEED,
) -> Comparison:
    """Compare two result sets task by task."""
    by_id = {row.id: row for row in second}
    pairs = [(row, by_id[row.id]) for row in first if row.id in by_id]
    ours, theirs = [row for row, _ in pairs], [row for _, row in pairs]
    ranges: dict[str, Interval] = {}
    if len(pairs) > 1:
        table = aggregate.bootstrap(
            [ours, theirs], lambda values: values[1] - values[0], resamples=resamples, seed=seed
        )
        ranges = aggregate.percentiles(table, level)
    before, after = aggregate.overall(ours), aggregate.overall(theirs)
    changes = []
    for name in (*METRICS, "average"):
        steps = [
            new - old
            for one, other in pairs
            if (old := one.metrics.get(name)) is not None and (new := other.metrics.get(name)) is not None
        ]
        better, worse = sum(step > _SAME for step in steps), sum(step < -_SAME for step in steps)
        changes.append(
            Change(
                metric=name,
                first=before.get(name),
                second=after.get(name),
                interval=ranges.get(name),
                better=better,
                worse=worse,
                equal=len(steps) - better - worse,
            )
        )
    known = {row.id for row in first}
    return Comparison(
        tasks=len(pairs),
        changes=tuple(changes),
        only_first=tuple(row.id for row in first if row.id not in by_id),
        only_second=tuple(row.id for row in second if row.id not in known),
    )
