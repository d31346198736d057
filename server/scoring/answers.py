"""What profile `effect` finds: which reference calls were answered, how, and by which actual calls. Values only."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from m3bench.server.scoring.agreement import Agreement
from m3bench.tasks.plan import Plan

NAME = "effect"
"""Of the profile."""

Way = Literal["same call", "same effect", "partly", "another route"]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """How a reference call was answered."""

    way: Way
    actual: tuple[int, ...]
    """The calls that answer it; several only on another route."""
    similarity: float
    agreement: Agreement | None
    """Of the arguments, when the tool is the same."""


@dataclass(frozen=True, kw_only=True)
class Answers:
    """Which reference calls were answered, and how."""

    plan: Plan
    reference_steps: tuple[int, ...]
    """The step of each reference call."""
    steps: tuple[int, ...]
    """The step of each actual call."""
    answers: Mapping[int, Answer]
    """By place in the reference."""
    dropped: frozenset[int]
    """Reference calls that were not needed in this run."""
    rejected: Mapping[int, tuple[int, Agreement]]
    """For a reference call that nothing answers: the nearest actual call of the same tool, and how it differs."""
    reference_tools: tuple[str, ...] = ()
    """The tool of each reference call."""
    tools: tuple[str, ...] = ()
    """The tool of each actual call."""
    results_known: bool = True
    """Whether what the actual calls gave is known; otherwise their arguments alone decided."""

    @property
    def wanted(self) -> int:
        """How many reference calls count."""
        return len(self.plan.calls) - len(self.dropped)

    @cached_property
    def needed(self) -> frozenset[int]:
        """The actual calls that answer something."""
        return frozenset(index for answer in self.answers.values() for index in answer.actual)
