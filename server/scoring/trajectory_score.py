"""The result of scoring one run: numbers, and the alignment behind them.

Values only; `scorer` makes them and `explain` puts them into words. A metric that failed has no value: it is listed
in `failures`, and is neither 0 nor part of any average.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from m3bench.server.scoring.answers import Answers
from m3bench.server.scoring.differences import Difference
from m3bench.server.scoring.metrics import Alignment
from m3bench.tasks.trajectory import Call


@dataclass(frozen=True, kw_only=True)
class Placed:
    """A call and where it stands in its trajectory."""

    index: int
    """Place among the flattened calls."""
    step: int
    """Place of its step, from 0."""
    call: Call


@dataclass(frozen=True, kw_only=True)
class Match:
    """A reference call and the actual call that answers it."""

    reference: Placed
    actual: Placed
    similarity: float
    strong: bool
    """Whether the similarity reaches the strong threshold; a match below it is weak."""
    differences: tuple[Difference, ...]


@dataclass(frozen=True, kw_only=True)
class TrajectoryScore:
    """One run against the best of its references."""

    profile: str
    metrics: Mapping[str, float | None]
    """Each metric and `average`; `None` when it failed."""
    failures: Mapping[str, str]
    """Why a metric has no value."""
    matches: tuple[Match, ...]
    """In the order of the reference."""
    missed: tuple[Placed, ...]
    """Reference calls that nothing answers."""
    extra: tuple[Placed, ...]
    """Actual calls that answer nothing."""
    alignment: Alignment
    """What the metrics were computed from."""
    reference: int
    """Which reference was best, from 0."""
    references: int
    """How many there were."""
    answers: Answers | None = None
    """How each reference call was answered by effect; None in the profiles that compare texts."""

    @property
    def average(self) -> float | None:
        """Mean of the six metrics that need no judge."""
        return self.metrics["average"]

    @property
    def strong(self) -> tuple[Match, ...]:
        """Matches at or above the strong threshold."""
        return tuple(match for match in self.matches if match.strong)

    @property
    def weak(self) -> tuple[Match, ...]:
        """The other matches."""
        return tuple(match for match in self.matches if not match.strong)

    def to_json(self) -> dict[str, Any]:
        """A dict that `json.dumps` takes: metrics first, then the alignment as indices of flattened calls."""
        entry: dict[str, Any] = dict(self.metrics)
        entry |= {
            "reference_calls": self.alignment.reference_calls,
            "actual_calls": self.alignment.actual_calls,
            "matched": len(self.matches),
            "matches": [[m.reference.index, m.actual.index, m.similarity] for m in self.matches],
            "missed": [placed.index for placed in self.missed],
            "extra": [placed.index for placed in self.extra],
        }
        if any(match.differences for match in self.matches):
            entry["differences"] = [
                [difference.to_json() for difference in match.differences] for match in self.matches
            ]
        if self.answers is not None:
            entry |= {
                "reference_calls": self.answers.wanted,
                "ways": [answer.way for answer in self.answers.answers.values()],
                "not_needed": sorted(self.answers.dropped),
            }
        if self.references > 1:
            entry["reference"] = self.reference
        if self.failures:
            entry["failures"] = dict(self.failures)
        return entry
