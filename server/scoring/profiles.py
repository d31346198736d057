"""The ways to score: the paper's formulas with stated conventions, the public evaluator's arithmetic, and by effect.

A profile is data: which matching decides what counts as the same call, what depends on what, and which function
computes each metric. Everything else works for every profile. `m3` gives a perfect trajectory 1 on everything.
`open-m3-bench` exists for comparison with published numbers and keeps their properties, among them order consistency
0 for a perfect trajectory of one step. `effect` asks what calls brought about, and takes order from the plan.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, NamedTuple

from m3bench.server.scoring import metrics
from m3bench.server.scoring.alignment import CallAlignment, Matching
from m3bench.server.scoring.matching.effect import EffectMatching
from m3bench.server.scoring.matching.text import M3_TEXT, PUBLIC_TEXT
from m3bench.server.scoring.metrics import Metric
from m3bench.tasks.errors import UserError

AVERAGED = (
    "recall",
    "precision",
    "argument_similarity",
    "step_coherence",
    "order_consistency",
    "merge_purity",
)
"""The six metrics whose mean is `average`. The published average has a seventh, which needs a judge."""

STRUCTURE = ("step_coherence", "order_consistency", "merge_purity")
"""The metrics that depend on how calls were put into steps."""

COUNTED: Mapping[str, str] = MappingProxyType({"recall": "reference_calls", "precision": "actual_calls"})
"""Metrics that are matches over a count: over many tasks sums are divided by sums."""

NOTHING_NEEDED = "no call of the reference was needed"


class MetricValues(NamedTuple):
    """What a run got."""

    values: dict[str, float | None]
    """Each metric and `average`; `None` when it has no value."""
    failures: dict[str, str]
    """Why a metric has no value."""

    @property
    def known(self) -> dict[str, float]:
        """The metrics that have a value."""
        return {name: value for name, value in self.values.items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class Profile:
    """A way to score."""

    name: str
    matching: Matching
    """What counts as the same call."""
    dependence: Literal["steps", "plan"]
    """What a call depends on: the steps of the reference before its own, or the calls that its plan says it needs."""
    metrics: Mapping[str, Metric]
    mean: Callable[[Mapping[str, float]], float]
    """The average, given the six metrics of `AVERAGED`."""

    def measure(self, alignment: CallAlignment) -> MetricValues:
        """Every metric and their average, and why those without a value have none."""
        if alignment.undefined:
            names = (*self.metrics, "average")
            return MetricValues(dict.fromkeys(names), dict.fromkeys(names, NOTHING_NEEDED))
        values: dict[str, float | None] = {}
        failures: dict[str, str] = {}
        for name, metric in self.metrics.items():
            try:
                values[name] = metric(alignment)
            except Exception as error:
                # A broken metric must not take the others, or the report, with it.
                values[name] = None
                failures[name] = f"{type(error).__name__}: {error}"
        known = {name: value for name in AVERAGED if (value := values.get(name)) is not None}
        values["average"] = self.mean(known) if len(known) == len(AVERAGED) else None
        return MetricValues(values, failures)


def _m3_all(alignment: CallAlignment) -> float:
    return 1.0 if alignment.both_empty else metrics.argument_similarity_all(alignment)


def _m3_strong(alignment: CallAlignment) -> float:
    return 1.0 if alignment.both_empty else metrics.argument_similarity_strong(alignment)


M3 = Profile(
    name=M3_TEXT.name,
    matching=M3_TEXT,
    dependence="steps",
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
    mean=metrics.mean_of_six,
)

OPEN_M3_BENCH = Profile(
    name=PUBLIC_TEXT.name,
    matching=PUBLIC_TEXT,
    dependence="steps",
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
    mean=metrics.mean_of_six,
)

EFFECT = Profile(
    name="effect",
    matching=EffectMatching(),
    dependence="plan",
    metrics=MappingProxyType(
        {
            "recall": metrics.recall,
            "precision": metrics.effect_precision,
            "argument_similarity": metrics.effect_argument_similarity,
            "step_coherence": metrics.effect_step_coherence,
            "order_consistency": metrics.effect_order_consistency,
            "merge_purity": metrics.effect_merge_purity,
        }
    ),
    mean=metrics.mean_by_recall,
)

PROFILES: Mapping[str, Profile] = MappingProxyType({profile.name: profile for profile in (EFFECT, M3, OPEN_M3_BENCH)})


def find_profile(name: str) -> Profile:
    """The profile of that name."""
    try:
        return PROFILES[name]
    except KeyError:
        raise UserError(f"Unknown profile {name!r}: there are {', '.join(PROFILES)}.") from None
