"""What goes into a matching and what comes out: a run beside its references, and which calls answer which.

Values, and the protocol that every matching follows (`matching.text`, `matching.effect`). An alignment is all that
metrics, ranges, reasons and improvements know of a run; putting its calls into other steps gives another alignment.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from m3bench.server.scoring.differences import DifferingArgument
from m3bench.server.scoring.encoder import Encoder
from m3bench.server.scoring.matching.agreement import Agreement
from m3bench.server.scoring.signatures import Signatures
from m3bench.tasks.plan import Plan
from m3bench.tasks.trajectory import Trajectory

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vectors = Mapping[str, npt.NDArray[np.floating]]

WEAK = 0.60
"""Similarity from which two calls match."""
STRONG = 0.80
"""Similarity from which a match is strong."""

RIGHT_FOR_A_SLIP = 2
"""Calls that answer something for each slip that counts once: who gets more wrong has not slipped."""

Way = Literal["same call", "same effect", "partly", "another route"]


@dataclass(frozen=True, kw_only=True)
class ScorableRun:
    """A run to be scored."""

    actual: Trajectory
    references: Sequence[Trajectory]
    """At least one; the best of them counts."""
    plans: Sequence[Plan] = ()
    """What the calls of each reference give and need; empty when nobody has played them."""
    results: Sequence[str] | None = None
    """The text of each actual call's result; None when results are not known."""
    said: str = ""
    """What the client handed in and was right about; empty when it was not right."""
    pictures: frozenset[str] = field(default_factory=frozenset)
    """Names of the files that the run began with."""


@dataclass(frozen=True, kw_only=True)
class CallMatch:
    """How a reference call was answered."""

    actual: tuple[int, ...]
    """Places of the calls that answer it; several only on another route."""
    similarity: float
    way: Way | None = None
    """None where calls are compared by their words."""
    differences: tuple[DifferingArgument, ...] = ()
    """Arguments that count and are not the same."""


class NearMiss(NamedTuple):
    """The actual call that is nearest to a reference call of the same tool without answering it."""

    actual: int
    agreement: Agreement

    @property
    def is_slip(self) -> bool:
        """Whether it is the wanted call but for one thing that it was about."""
        wrong, rest = self.agreement.wrong, self.agreement.reworded
        # A text that is about another thing has no share of its words.
        return len(wrong) == 1 and not rest and (wrong[0].kind == "text" or self.agreement.share == 1)


class StepLink(NamedTuple):
    """A match as the metrics of the paper see it."""

    reference_step: int
    actual_step: int
    similarity: float


@dataclass(frozen=True, kw_only=True)
class CallAlignment:
    """Which actual calls answer which reference calls, and the steps of both. Calls are named by their places."""

    matches: Mapping[int, CallMatch]
    """By place in the reference, in its order."""
    reference_sizes: tuple[int, ...]
    """Calls per reference step."""
    actual_steps: tuple[int, ...]
    """The step of each actual call."""
    plan: Plan | None = None
    """What depends on what; None where it is only known that each step follows those before it."""
    not_needed: frozenset[int] = frozenset()
    """Reference calls whose facts the client evidently had without them."""
    nearest: Mapping[int, NearMiss] = field(default_factory=dict)
    """For a reference call that nothing answers, what was called instead."""
    slips: frozenset[int] = frozenset()
    """Actual calls that were about another thing and otherwise what a reference call that nothing answers wants."""
    results_known: bool = True
    """Whether what the actual calls gave is known, where that counts."""

    @cached_property
    def reference_calls(self) -> int:
        """N_ref, with calls that were not needed."""
        return sum(self.reference_sizes)

    @property
    def actual_calls(self) -> int:
        """N_act."""
        return len(self.actual_steps)

    @property
    def wanted(self) -> int:
        """How many reference calls count."""
        return self.reference_calls - len(self.not_needed)

    @property
    def both_empty(self) -> bool:
        """Nothing was to be done and nothing was done."""
        return self.reference_calls == 0 and self.actual_calls == 0

    @property
    def undefined(self) -> bool:
        """Whether no call of the reference was needed, so that the run says nothing."""
        return self.reference_calls > 0 and self.wanted == 0

    @cached_property
    def reference_steps(self) -> tuple[int, ...]:
        """The step of each reference call."""
        return tuple(step for step, size in enumerate(self.reference_sizes) for _ in range(size))

    @cached_property
    def answering(self) -> frozenset[int]:
        """The actual calls that answer something."""
        return frozenset(index for match in self.matches.values() for index in match.actual)

    @property
    def counted_calls(self) -> int:
        """The actual calls, without slips where they are few: what a slip should have told is missed already."""
        slips = self.slips - self.answering
        few = RIGHT_FOR_A_SLIP * len(slips) <= len(self.answering)
        return self.actual_calls - len(slips) if few else self.actual_calls

    @cached_property
    def first_steps(self) -> Mapping[int, int]:
        """The step in which each answered reference call was answered first."""
        steps = self.actual_steps
        return {place: min([steps[index] for index in match.actual]) for place, match in self.matches.items()}

    @cached_property
    def links(self) -> tuple[StepLink, ...]:
        """The matches as pairs of steps."""
        return tuple(
            StepLink(self.reference_steps[place], self.first_steps[place], match.similarity)
            for place, match in self.matches.items()
        )

    @cached_property
    def strong_similarities(self) -> tuple[float, ...]:
        """S of the strong matches."""
        return tuple(match.similarity for match in self.matches.values() if match.similarity >= STRONG)

    @cached_property
    def matched_by_step(self) -> Mapping[int, int]:
        """Matches per reference step, for steps that have any."""
        return Counter(link.reference_step for link in self.links)

    @cached_property
    def actual_steps_by_step(self) -> Mapping[int, frozenset[int]]:
        """The actual steps that a reference step's matches fall into, for steps that have any."""
        spread: dict[int, set[int]] = {}
        for link in self.links:
            spread.setdefault(link.reference_step, set()).add(link.actual_step)
        return {step: frozenset(actual) for step, actual in spread.items()}

    @cached_property
    def dependences(self) -> tuple[tuple[int, int], ...]:
        """Every two answered reference calls of which the second needs the first and was answered by another call."""
        if self.plan is None:
            return ()
        matches, needs = self.matches, self.plan.needs
        return tuple(
            (need, place)
            for place, match in matches.items()
            for need in sorted(needs[place])
            if need in matches and matches[need].actual != match.actual
        )

    @property
    def dependent_steps(self) -> list[tuple[int, int]]:
        """The actual steps of every two answered calls of which the second needs the first."""
        return [(self.first_steps[need], self.first_steps[place]) for need, place in self.dependences]


class PendingAlignment(Protocol):
    """The alignment with one reference, which may have to wait until texts are embedded."""

    @property
    def texts(self) -> Mapping[str, str]:
        """The texts to embed, by key."""
        ...

    def settle(self, vectors: "Vectors") -> CallAlignment:
        """The alignment, given the unit vectors of those texts by key."""
        ...


class Matching(Protocol):
    """Decides which actual calls answer which reference calls."""

    def prepare(self, run: ScorableRun, signatures: Signatures, encoder: Encoder | None) -> Sequence[PendingAlignment]:
        """One alignment for each reference, as far as it is known without embedding a text."""
        ...
