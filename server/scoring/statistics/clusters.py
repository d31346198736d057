"""Which samples hang together.

Repeats of a task are not new tasks, and tasks of a family are made by one generator. Samples are therefore averaged to
tasks first, and families are the clusters: the question is how a number would fall for other families of this kind.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from m3bench.tasks.lazy_modules import LazyModule

if TYPE_CHECKING:
    from scipy import special
else:
    # It takes a third of a second to load, and a run has nothing to estimate before it is over.
    special = LazyModule("scipy.special")

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]


@dataclass(frozen=True, kw_only=True)
class Clusters:
    """Tasks by what hangs together."""

    place: Places
    """For each task the number of its cluster."""
    count: int
    """How many clusters there are."""
    families: int
    """How many families; a task without one counts as one."""
    kind: Literal["family", "task"]

    @property
    def freedom(self) -> int:
        """Degrees of freedom of a standard error over these clusters."""
        return self.count - 1

    def sums(self, values: Floats) -> Floats:
        """Values of tasks, [task] or [task, number], summed over each cluster."""
        if values.ndim == 1:
            summed: Floats = np.bincount(self.place, values, self.count).astype(np.float64, copy=False)
            return summed
        order, starts = self._members
        found: Floats = np.add.reduceat(values[order], starts, axis=0)
        return found

    @cached_property
    def _members(self) -> tuple[Places, Places]:
        """The tasks of one cluster after the other, and where each cluster starts."""
        order = np.argsort(self.place, kind="stable")
        return order, np.searchsorted(self.place[order], np.arange(self.count))


def clusters_of(families: Sequence[str | None]) -> Clusters:
    """The clusters of tasks, given the family of each; tasks are clusters where there is no family, or only one."""
    return _clusters(tuple(families))


@lru_cache(maxsize=256)
def _clusters(families: tuple[str | None, ...]) -> Clusters:
    # Every number of a set, and every set of a board, has the same tasks.
    names = [name or f"\0{number}" for number, name in enumerate(families)]
    known = {name: number for number, name in enumerate(dict.fromkeys(names))}
    if len(known) == 1:
        return Clusters(place=np.arange(len(names)), count=len(names), families=1, kind="task")
    return Clusters(
        place=np.array([known[name] for name in names], dtype=np.intp),
        count=len(known),
        families=len(known),
        kind="family" if any(families) else "task",
    )


def strata_of(families: Sequence[str | None]) -> Places:
    """The stratum of each task: its family; tasks that are alone in theirs share one, with the last family if need be.

    From a single task no spread can be told, so such tasks are compared with each other, which errs to the safe side.
    """
    names = [name or "" for name in families]
    sizes = {name: names.count(name) for name in set(names)}
    alone = sorted(name for name, size in sizes.items() if size == 1)
    together = sorted(name for name, size in sizes.items() if size > 1)
    if len(alone) == 1 and together:
        alone.append(together.pop())
    numbers = {name: number for number, name in enumerate(together)} | dict.fromkeys(alone, len(together))
    return np.array([numbers[name] for name in names], dtype=np.intp)


def critical(freedom: int, level: float) -> float:
    """Student's t that leaves (1 − level) / 2 above it."""
    return float(special.stdtrit(max(1, freedom), (1 + level) / 2))
