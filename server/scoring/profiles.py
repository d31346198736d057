"""The two ways to score: the paper's formulas with stated conventions, and the public evaluator's arithmetic.

A profile says what the text of a call is, which calls are similar enough, and which function computes each metric.
`m3` gives a perfect trajectory 1 on everything. `open-m3-bench` exists for comparison with published numbers and
keeps their properties, among them order consistency 0 for a perfect trajectory of one step.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from m3bench.server.scoring import metrics, texts
from m3bench.server.scoring.metrics import Alignment, Metric
from m3bench.server.scoring.texts import Signature
from m3bench.tasks.errors import UserError
from m3bench.tasks.trajectory import JSON, Call

AVERAGED = (
    "recall",
    "precision",
    "argument_similarity",
    "step_coherence",
    "order_consistency",
    "merge_purity",
)
"""The six metrics whose mean is `average`. The published average has a seventh, which needs a judge."""

COUNTED: Mapping[str, str] = MappingProxyType({"recall": "reference_calls", "precision": "actual_calls"})
"""Metrics that are matches over a count: over many tasks sums are divided by sums."""


@dataclass(frozen=True, kw_only=True)
class Profile:
    """A way to score."""

    name: str
    arguments: Callable[[Call, Signature | None], JSON]
    """The arguments in the form that is compared."""
    text: Callable[[Call, JSON], str]
    """The text of a call, given those arguments."""
    metrics: Mapping[str, Metric]
    canonical: bool
    """Whether ties are broken by what the calls are, not by how they happen to be listed: equal means equal text,
    and calls of a step are aligned in the order of their texts. If not, calls that the encoder cannot tell apart
    (another case, another spacing) are equal, and the listed order decides, as in the public evaluator."""
    weak: float = 0.60
    """Similarity from which two calls match."""
    strong: float = 0.80
    """Similarity from which a match is strong."""

    @property
    def ceiling(self) -> float:
        """Highest similarity of calls that are not equal; below 1 by more than rounding when equal means text."""
        return 1.0 - 1e-6 if self.canonical else 1.0


def _m3_all(alignment: Alignment) -> float:
    return 1.0 if alignment.both_empty else metrics.argument_similarity_all(alignment)


def _m3_strong(alignment: Alignment) -> float:
    return 1.0 if alignment.both_empty else metrics.argument_similarity_strong(alignment)


M3 = Profile(
    name="m3",
    arguments=texts.m3_arguments,
    text=texts.m3_text,
    canonical=True,
    metrics=MappingProxyType(
        {
            "recall": metrics.recall,
            "precision": metrics.precision,
            "argument_similarity": metrics.argument_similarity,
            "argument_similarity_all": _m3_all,
            "argument_similarity_strong": _m3_strong,
            "step_coherence": metrics.step_coherence,
            "order_consistency": metrics.order_consistency,
            "merge_purity": metrics.merge_purity,
        }
    ),
)

OPEN_M3_BENCH = Profile(
    name="open-m3-bench",
    arguments=texts.public_arguments,
    text=texts.public_text,
    canonical=False,
    metrics=MappingProxyType(
        {
            "recall": metrics.recall,
            "precision": metrics.precision,
            # The column that the public evaluator reports as argument similarity.
            "argument_similarity": metrics.argument_similarity_all,
            "argument_similarity_all": metrics.argument_similarity_all,
            "argument_similarity_strong": metrics.argument_similarity_strong,
            "step_coherence": metrics.step_coherence,
            "order_consistency": metrics.public_order_consistency,
            "merge_purity": metrics.merge_purity,
        }
    ),
)

PROFILES: Mapping[str, Profile] = MappingProxyType({profile.name: profile for profile in (M3, OPEN_M3_BENCH)})


def find_profile(name: str) -> Profile:
    """The profile of that name."""
    try:
        return PROFILES[name]
    except KeyError:
        raise UserError(f"Unknown profile {name!r}: there are {' and '.join(PROFILES)}.") from None
