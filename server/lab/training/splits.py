"""Which tasks are for training, which for choosing among learners, and which for the result.

Every seed belongs to one split, by its last digit, so that whoever names a seed knows what it may be used for; whole
families can be held out beside that. The sets that travel with the package are for testing. What is told before an
episode has ended, and whether there are trajectories to copy, depends on the split alone.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Literal

from m3bench.tasks.answers.names import Name
from m3bench.tasks.folding import fold
from m3bench.tasks.task import Task

Split = Literal["train", "validation", "test"]

SPLITS: tuple[Split, ...] = ("train", "validation", "test")

HELD_OUT = ("fipe_car", "museum", "research_station")
"""Families that are kept for testing, unless somebody says otherwise."""

LEAST_KEPT = 0.5
"""Of a family's tasks: where fewer would be left, what it asks about cannot be kept apart."""


def split_of_seed(seed: int) -> Split:
    """Seeds that end in 8 are for validation, in 9 for testing, all others for training."""
    last = abs(seed) % 10
    return "validation" if last == 8 else "test" if last == 9 else "train"


def seeds_of(split: Split, first: int) -> Iterable[int]:
    """The seeds of a split from one on, without an end."""
    return (seed for seed in count(first) if split_of_seed(seed) == split)


def asked_for(task: Task) -> frozenset[str]:
    """The entities that a task asks for: the names that are to be handed in, folded."""
    values = (field.value for field in task.fields)
    return frozenset(fold(value.value) for value in values if isinstance(value, Name))


@dataclass(frozen=True, kw_only=True)
class KeptApart:
    """Tasks for training, without those that ask for what a test asks for."""

    tasks: tuple[Task, ...]
    dropped: tuple[str, ...]
    """Ids of the tasks that were left out."""
    shared: dict[str, int]
    """Families that could not be kept apart, because too few tasks would be left, and how many tasks share."""


def keep_apart(tasks: Iterable[Task], tested: Iterable[Task]) -> KeptApart:
    """Leave out what asks for an entity that a test task of any family asks for.

    Args:
        tasks: For training.
        tested: For testing.
    """
    held = frozenset(entity for task in tested for entity in asked_for(task))
    families: dict[str, list[Task]] = {}
    for task in tasks:
        families.setdefault(task.family, []).append(task)
    kept: list[Task] = []
    dropped: list[str] = []
    shared: dict[str, int] = {}
    for family, members in families.items():
        apart = [task for task in members if not asked_for(task) & held]
        if len(apart) < LEAST_KEPT * len(members):
            shared[family] = len(members) - len(apart)
            apart = members
        kept += apart
        dropped += _ids(members, apart)
    return KeptApart(tasks=tuple(kept), dropped=tuple(dropped), shared=shared)


def _ids(members: Sequence[Task], kept: Sequence[Task]) -> list[str]:
    ids = {task.id for task in kept}
    return [task.id for task in members if task.id not in ids]
