"""Two result sets over the same tasks: is one better, and how sure is that.

Paired: repeats are averaged per task, and the difference of each task is taken, so what makes a task hard for both
cancels out. Tasks that only one set has are listed, not compared. How sure: `statistics.paired`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from m3bench.server.scoring.aggregate import METRICS, Row, by_task, task_values
from m3bench.server.scoring.statistics.estimates import LEVEL, Interval, mean_of
from m3bench.server.scoring.statistics.paired import Difference, difference, mcnemar
from m3bench.server.scoring.statistics.power import detectable

ALPHA = 0.05


@dataclass(frozen=True, kw_only=True)
class Change:
    """One number in both sets."""

    metric: str
    """A metric, `average`, or `solved`."""
    first: float | None
    second: float | None
    """Means over the tasks where both have a value, whatever the profile: every task counts the same."""
    paired: Difference | None
    """Over the tasks where both have a value; None when there is none."""

    @property
    def difference(self) -> float | None:
        """Second − first, the mean over tasks."""
        return None if self.paired is None else self.paired.value

    @property
    def interval(self) -> Interval | None:
        """Of the difference; None for fewer than two tasks."""
        return None if self.paired is None else self.paired.interval

    @property
    def clear(self) -> bool:
        """Whether chance is ruled out at 5 %, by the permutation test."""
        return self.paired is not None and self.paired.p is not None and self.paired.p <= ALPHA

    @property
    def counts(self) -> tuple[int, int, int]:
        """Tasks where the second is higher, lower, and the same."""
        if self.paired is None:
            return 0, 0, 0
        better, worse = self.paired.better, self.paired.worse
        return better, worse, self.paired.tasks - better - worse

    @property
    def detectable(self) -> float | None:
        """The smallest true difference that would have been found four times out of five; None without a test."""
        if self.paired is None or self.paired.error is None or self.paired.p is None:
            return None
        return detectable(self.paired.error, self.paired.freedom)


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Every number, over the tasks both sets have."""

    tasks: int
    changes: tuple[Change, ...]
    """`solved` first, where it is known; then the metrics and the average."""
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    mcnemar: float | None = None
    """p of McNemar's exact test of *solved*, where each task was tried once in both sets."""

    @property
    def caution(self) -> str | None:
        """What the intervals do not cover, and why there is no test; None where there is a test."""
        return next((change.paired.caution for change in self.changes if change.paired is not None), None)


Solved = Mapping[str, Sequence[bool]]
"""For each task, whether each attempt solved it."""


def compare(
    first: Sequence[Row],
    second: Sequence[Row],
    *,
    solved: tuple[Solved, Solved] | None = None,
    level: float = LEVEL,
) -> Comparison:
    """Compare two result sets task by task; by `solved` as well where it is given for both."""
    ours, theirs = by_task(first), by_task(second)
    common = [task for task in ours if task in theirs]
    families = {task: ours[task][0].family for task in common}

    def paired(one: Mapping[str, float], other: Mapping[str, float]) -> Difference | None:
        kept = {task: one[task] for task in common if task in one}
        return difference(kept, other, families, level=level)

    def change(name: str, one: Mapping[str, float], other: Mapping[str, float]) -> Change:
        known = [task for task in common if task in one and task in other]
        means = (mean_of([values[task] for task in known]) for values in (one, other))
        return Change(metric=name, first=next(means), second=next(means), paired=paired(one, other))

    changes = []
    if solved is not None:
        ours_solved, theirs_solved = (
            {task: sum(tries) / len(tries) for task, tries in side.items() if tries} for side in solved
        )
        changes.append(change("solved", ours_solved, theirs_solved))
    changes += [change(name, task_values(ours, name), task_values(theirs, name)) for name in (*METRICS, "average")]
    return Comparison(
        tasks=len(common),
        changes=tuple(changes),
        only_first=tuple(task for task in ours if task not in theirs),
        only_second=tuple(task for task in theirs if task not in ours),
        mcnemar=_exact(common, *solved) if solved is not None else None,
    )


def _exact(common: Sequence[str], first: Solved, second: Solved) -> float | None:
    known = [task for task in common if first.get(task) and second.get(task)]
    if not known or any(len(side[task]) > 1 for side in (first, second) for task in known):
        return None
    return mcnemar({task: first[task][0] for task in known}, {task: second[task][0] for task in known})
