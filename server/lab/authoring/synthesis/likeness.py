"""When two synthesized tasks are near-duplicates of each other, and a memory of those that were kept.

Two tasks are near-duplicates when one of three holds: they ask the same of the same kind of things, whatever stands on
the card; at least half of the calls of one of them are calls of the other; or the questions share at least half of the
runs of three words that either of them has (the Jaccard index of their word trigrams is 0.5 or more).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from m3bench.tasks.task import ReferenceCall, Task

MOST_CALLS = 0.5
"""Share of the calls of the shorter task that may not be reached by those that both have."""
MOST_WORDS = 0.5
"""Share of runs of three words that may not be reached by those that both questions have."""
RUN = 3


def trigrams(question: str) -> frozenset[tuple[str, ...]]:
    """The runs of three words of a question."""
    words = re.findall(r"[\w'°.,]*\w", question.casefold())
    return frozenset(zip(*(words[start:] for start in range(RUN)), strict=False))


def same_words(one: str, other: str) -> float:
    """The share of runs of three words that two questions have in common, of all that either has."""
    mine, others = trigrams(one), trigrams(other)
    return len(mine & others) / len(mine | others) if mine or others else 1.0


def same_calls(one: Sequence[Sequence[ReferenceCall]], other: Sequence[Sequence[ReferenceCall]]) -> float:
    """The share of the calls of the shorter of two references that are calls of the other as well."""
    mine, others = _calls(one), _calls(other)
    return len(mine & others) / min(len(mine), len(others)) if mine and others else 0.0


@dataclass
class Kept:
    """The tasks that were kept so far."""

    _shapes: set[str] = field(default_factory=set)
    _tasks: list[Task] = field(default_factory=list)

    def repeats(self, shape: str, steps: Sequence[Sequence[ReferenceCall]]) -> bool:
        """Whether a task that asks this with these calls is a near-duplicate, whatever its words will be."""
        return shape in self._shapes or any(
            same_calls(steps, task.references[0].steps) >= MOST_CALLS for task in self._tasks
        )

    def sounds_like(self, question: str) -> bool:
        """Whether a question is worded nearly as that of a task that was kept."""
        return any(same_words(question, task.question) >= MOST_WORDS for task in self._tasks)

    def keep(self, shape: str, task: Task) -> None:
        """Remember a task."""
        self._shapes.add(shape)
        self._tasks.append(task)


def _calls(steps: Sequence[Sequence[ReferenceCall]]) -> frozenset[str]:
    return frozenset(f"{call.tool} {sorted(call.arguments.items())}" for step in steps for call in step)
