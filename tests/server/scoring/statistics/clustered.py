"""Samples of an agent whose true value is known: families and tasks that are harder or easier, repeats by chance."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, ndtri


@dataclass(frozen=True, kw_only=True)
class Truth:
    """How samples come about."""

    mean: float
    families: int = 28
    tasks: int = 2
    """In each family."""
    repeats: int = 3
    family_spread: float = 0.6
    task_spread: float = 0.8
    binary: bool = True

    def hardness(self, random: np.random.Generator) -> npt.NDArray[np.float64]:
        """The true value of each task, [families, tasks], for a draw of families and tasks."""
        spread = np.sqrt(1 + self.family_spread**2 + self.task_spread**2)
        families = random.normal(0, self.family_spread, (self.families, 1))
        return self.within(families, random, float(spread))

    def within(
        self, families: npt.NDArray[np.float64], random: np.random.Generator, spread: float
    ) -> npt.NDArray[np.float64]:
        """The true value of each task, for a draw of tasks of these families."""
        tasks = random.normal(0, self.task_spread, (self.families, self.tasks))
        found: npt.NDArray[np.float64] = ndtr(ndtri(self.mean) * spread + families + tasks)
        return found

    def samples(
        self, values: npt.NDArray[np.float64], random: np.random.Generator
    ) -> tuple[dict[str, list[float]], dict[str, str | None]]:
        """Samples by task, and the family of each task."""
        shape = (self.families, self.tasks, self.repeats)
        true = np.broadcast_to(values[:, :, None], shape)
        made = (random.random(shape) < true) if self.binary else random.beta(6 * true + 1e-3, 6 * (1 - true) + 1e-3)
        names = [(family, task) for family in range(self.families) for task in range(self.tasks)]
        return (
            {f"{family}-{task}": made[family, task].astype(float).tolist() for family, task in names},
            {f"{family}-{task}": f"f{family}" for family, task in names},
        )


def means(samples: dict[str, list[float]]) -> dict[str, float]:
    """The mean of each task's samples."""
    return {task: sum(values) / len(values) for task, values in samples.items()}
