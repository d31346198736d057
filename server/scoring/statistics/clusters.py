"""Which samples hang together, and how they are drawn again.

Repeats of a task are not new tasks, and tasks of a family are made by one generator. Samples are therefore averaged to
tasks first, and tasks are drawn in clusters. In scope `families` whole families are drawn: the question is how the
number would fall for other families of this kind. With fewer than `MIN_FAMILIES` of them nothing can be said about
others, and single tasks are drawn. In scope `tasks` the families stay and tasks are drawn anew within each of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Places = npt.NDArray[np.intp]

Scope = Literal["families", "tasks"]

RESAMPLES = 1000
SEED = 0
MIN_FAMILIES = 6
"""With five clusters even the clearest difference has a permutation p of 1/16."""


@dataclass(frozen=True, kw_only=True)
class Clusters:
    """Tasks by what is drawn together."""

    place: "Places"
    """For each task the number of its cluster."""
    count: int
    """How many clusters there are."""
    kind: Literal["family", "task"]

    @property
    def freedom(self) -> int:
        """Degrees of freedom of a standard error over these clusters."""
        return self.count - 1

    def sums(self, values: "Floats") -> "Floats":
        """Values of tasks, whatever they are along further axes, summed over each cluster."""
        import numpy as np

        found = np.zeros((self.count, *values.shape[1:]))
        np.add.at(found, self.place, values)
        return found

    def means(self, values: "Floats", resamples: int, seed: int) -> "Floats":
        """The mean of a value over the tasks of each resample."""
        import numpy as np

        counts = draw(self.count, resamples, seed)
        found: Floats = (counts @ self.sums(values)) / (counts @ self.sums(np.ones(len(values))))
        return found

    def error(self, means: "Floats") -> float:
        """The standard error that the spread of resampled means amounts to.

        With n clusters the square of that spread is on average (n − 1) / n of what it should be.
        """
        return float(means.std() * (self.count / max(1, self.count - 1)) ** 0.5)


def clusters_of(families: Sequence[str | None]) -> Clusters:
    """The clusters of tasks, given the family of each; a task without a family is one of its own."""
    import numpy as np

    names = [name or f"\0{number}" for number, name in enumerate(families)]
    known = {name: number for number, name in enumerate(dict.fromkeys(names))}
    if len(known) < MIN_FAMILIES:
        return Clusters(place=np.arange(len(names)), count=len(names), kind="task")
    return Clusters(
        place=np.array([known[name] for name in names], dtype=np.intp),
        count=len(known),
        kind="family" if any(families) else "task",
    )


@lru_cache(maxsize=16)
def draw(count: int, resamples: int = RESAMPLES, seed: int = SEED) -> "Floats":
    """How often each of so many clusters is in each resample, [resamples, clusters]: drawn with replacement."""
    import numpy as np

    counts = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), resamples).astype(float)
    counts.flags.writeable = False
    return counts


def strata_of(families: Sequence[str | None]) -> tuple[int, ...]:
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
    return tuple(numbers[name] for name in names)


@lru_cache(maxsize=4)
def draw_within(strata: tuple[int, ...], resamples: int = RESAMPLES, seed: int = SEED) -> "Floats":
    """Weights of tasks in resamples within strata, [resamples, tasks].

    Of a stratum of n tasks n − 1 are drawn, and each counts n / (n − 1): the spread is then right for small n too.
    """
    import numpy as np

    random = np.random.default_rng(seed)
    weights = np.ones((resamples, len(strata)))
    for stratum in sorted(set(strata)):
        tasks = np.flatnonzero(np.array(strata) == stratum)
        size = len(tasks)
        if size > 1:
            drawn = random.multinomial(size - 1, np.full(size, 1 / size), resamples)
            weights[:, tasks] = drawn * (size / (size - 1))
    weights.flags.writeable = False
    return weights
