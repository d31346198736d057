"""Where the spread of samples comes from: families, tasks within families, repeats of a task.

The nested analysis of variance for unequal numbers: mean squares are set equal to what they are expected to be. A part
that comes out below 0 is 0. Without repeats the part of repeats cannot be told from that of tasks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Components:
    """Variances; they add up to that of a single sample of a random task of a random family."""

    family: float
    """0 when there is one family."""
    task: float
    """With the part of repeats, when `repeat` is None."""
    repeat: float | None
    """None when no task has two samples."""

    def shares(self) -> dict[str, float | None]:
        """Each part of the whole; None where it is not known, or where nothing varies."""
        whole = self.family + self.task + (self.repeat or 0.0)
        parts = {"family": self.family, "task": self.task, "repeat": self.repeat}
        return {name: None if part is None or whole <= 0 else part / whole for name, part in parts.items()}

    def to_json(self) -> dict[str, object]:
        """A dict that `json.dumps` takes."""
        return {"family": self.family, "task": self.task, "repeat": self.repeat, "shares": self.shares()}


def components(samples: Mapping[str, Sequence[float]], families: Mapping[str, str | None]) -> Components | None:
    """Split the variance of samples.

    Args:
        samples: For each task, the values of its repeats.
        families: The family of each task.

    Returns:
        The parts, or None when there are fewer than two tasks.
    """
    tasks = {task: list(values) for task, values in samples.items() if values}
    if len(tasks) < 2:
        return None
    total = sum(map(len, tasks.values()))
    grand = sum(map(sum, tasks.values())) / total
    means = {task: sum(values) / len(values) for task, values in tasks.items()}
    nested: dict[str, list[str]] = {}
    for task in tasks:
        nested.setdefault(families.get(task) or f"\0{task}", []).append(task)
    sizes = {family: sum(len(tasks[task]) for task in members) for family, members in nested.items()}
    averages = {
        family: sum(means[task] * len(tasks[task]) for task in members) / sizes[family]
        for family, members in nested.items()
    }
    within = sum((value - means[task]) ** 2 for task, values in tasks.items() for value in values)
    between = sum(
        len(tasks[task]) * (means[task] - averages[family]) ** 2
        for family, members in nested.items()
        for task in members
    )
    above = sum(sizes[family] * (averages[family] - grand) ** 2 for family in nested)
    own = sum(len(tasks[task]) ** 2 / sizes[family] for family, members in nested.items() for task in members)
    free_repeats, free_tasks, free_families = total - len(tasks), len(tasks) - len(nested), len(nested) - 1
    repeat = within / free_repeats if free_repeats else None
    noise = repeat or 0.0
    task_part = max(0.0, (between - free_tasks * noise) / (total - own)) if free_tasks else 0.0
    family_part = 0.0
    if free_families and free_tasks:
        squares = sum(len(values) ** 2 for values in tasks.values())
        expected = free_families * noise + (own - squares / total) * task_part
        family_part = max(0.0, (above - expected) / (total - sum(size**2 for size in sizes.values()) / total))
    elif free_families:
        # Every task is alone in its family: the two parts cannot be told apart, and both are called the task's.
        task_part = max(0.0, (above - free_families * noise) / (total - sum(s**2 for s in sizes.values()) / total))
    return Components(family=family_part, task=task_part, repeat=repeat)
