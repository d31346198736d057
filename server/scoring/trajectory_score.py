"""The result of scoring one run: numbers, and the alignment behind them.

Values only; `scorer` makes them and `explain` puts them into words. A metric that failed has no value: it is listed
in `failures`, and is neither 0 nor part of any average.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from m3bench.server.scoring.alignment import STRONG, CallAlignment, Way
from m3bench.server.scoring.differences import DifferingArgument
from m3bench.tasks.json_types import JsonObject
from m3bench.tasks.trajectory import Call


@dataclass(frozen=True, kw_only=True)
class PlacedCall:
    """A call and where it stands in its trajectory."""

    index: int
    """Place among the flattened calls."""
    step: int
    """Place of its step, from 0."""
    call: Call


@dataclass(frozen=True, kw_only=True)
class MatchedCalls:
    """A reference call and the actual calls that answer it."""

    reference: PlacedCall
    answering: tuple[PlacedCall, ...]
    """Several only on another route."""
    similarity: float
    way: Way | None
    """None where calls are compared by their words."""
    differences: tuple[DifferingArgument, ...]

    @property
    def actual(self) -> PlacedCall:
        """The first call that answers it."""
        return self.answering[0]

    @property
    def strong(self) -> bool:
        """Whether the similarity reaches the strong threshold; a match below it is weak."""
        return self.similarity >= STRONG


@dataclass(frozen=True, kw_only=True)
class TrajectoryScore:
    """One run against one of its references; the best one, unless something else is said."""

    profile: str
    metrics: Mapping[str, float | None]
    """Each metric and `average`; `None` when it failed."""
    failures: Mapping[str, str]
    """Why a metric has no value."""
    matches: tuple[MatchedCalls, ...]
    """In the order of the reference."""
    missed: tuple[PlacedCall, ...]
    """Reference calls that nothing answers."""
    extra: tuple[PlacedCall, ...]
    """Actual calls that answer nothing."""
    unneeded: tuple[PlacedCall, ...]
    """Reference calls that were not needed in this run."""
    alignment: CallAlignment
    """What the metrics were computed from."""
    reference: int
    """Which reference it is, from 0."""
    references: int
    """How many there were."""

    @property
    def average(self) -> float | None:
        """Mean of the six metrics that need no judge."""
        return self.metrics["average"]

    @property
    def strong(self) -> tuple[MatchedCalls, ...]:
        """Matches at or above the strong threshold."""
        return tuple(match for match in self.matches if match.strong)

    @property
    def weak(self) -> tuple[MatchedCalls, ...]:
        """The other matches."""
        return tuple(match for match in self.matches if not match.strong)

    def to_json(self) -> JsonObject:
        """A dict that `json.dumps` takes: metrics first, then the alignment as indices of flattened calls."""
        entry: JsonObject = dict(self.metrics)
        entry |= {
            "reference_calls": self.alignment.wanted,
            "actual_calls": self.alignment.actual_calls,
            "matched": len(self.matches),
            "matches": [[match.reference.index, match.actual.index, match.similarity] for match in self.matches],
            "missed": [placed.index for placed in self.missed],
            "extra": [placed.index for placed in self.extra],
        }
        if any(match.differences for match in self.matches):
            entry["differences"] = [
                [difference.to_json() for difference in match.differences] for match in self.matches
            ]
        if self.alignment.plan is not None:
            entry["ways"] = [match.way for match in self.matches]
            entry["not_needed"] = [placed.index for placed in self.unneeded]
        if self.references > 1:
            entry["reference"] = self.reference
        if self.failures:
            entry["failures"] = dict(self.failures)
        return entry
