"""How sure the numbers of a result set are: intervals, parts of the variance, pass rates, what voids could have done.

Numbers come from `scoring.statistics`; here samples become what it takes. `solved` and `average` are the two numbers
that people quote, and have everything; the other metrics have intervals.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from m3bench.server.lab.results.documents import JsonDocument, plain
from m3bench.server.lab.results.resultset import Result, ResultSet, Sample
from m3bench.server.scoring.statistics.components import Components, components
from m3bench.server.scoring.statistics.estimates import (
    FEW_FAMILIES,
    Estimate,
    Interval,
    Kind,
    bounds,
    estimate,
    macro,
    mean_of,
    pass_at_k,
    pass_hat_k,
)
from m3bench.tasks.json_types import JsonObject
from m3bench.tasks.lazy_modules import LazyModule

if TYPE_CHECKING:
    from m3bench.server.scoring.statistics import clusters, power
else:
    # numpy is loaded where there is something to estimate.
    clusters = LazyModule("m3bench.server.scoring.statistics.clusters")
    power = LazyModule("m3bench.server.scoring.statistics.power")

Samples = dict[str, list[float]]
"""For each task, the values of its scored repeats."""

PassRates = Mapping[int, Estimate | None]
"""For each k, the chance of a task with its interval; None when no task was tried that often."""


@dataclass(frozen=True, kw_only=True)
class Headline(JsonDocument):
    """The mean over tasks with its interval, and the other ways to take a mean."""

    estimate: Estimate | None
    """None when no task has a value; then there is no other mean either."""
    same_families: Interval | None = None
    """The interval for other tasks of these same families."""
    micro: float | None = None
    macro: float | None = None

    @property
    def value(self) -> float | None:
        """The mean over tasks."""
        return None if self.estimate is None else self.estimate.value

    @property
    def interval(self) -> Interval | None:
        """Of the mean over tasks."""
        return None if self.estimate is None else self.estimate.interval

    @property
    def caution(self) -> str | None:
        """What the interval does not cover; None where there is nothing to say."""
        return None if self.estimate is None else self.estimate.caution

    def to_json(self) -> JsonObject:
        """The estimate's entries, and the other means beside them."""
        mean = {"value": None, "interval": None} if self.estimate is None else self.estimate.to_json()
        others = {"same_families": self.same_families, "micro": self.micro, "macro": self.macro}
        return {name: plain(value) for name, value in {**mean, **others}.items()}


@dataclass(frozen=True, kw_only=True)
class NumberUncertainty(JsonDocument):
    """How sure one number of a set is."""

    headline: Headline
    variance: Components | None
    with_voids: Interval | None
    """Between what it would be had all void samples failed, and had all been solved."""
    detectable: float | None
    """The smallest difference to another set of this size that would be found four times out of five; None where there
    are too few families for a test."""

    def to_json(self) -> JsonObject:
        """The headline's entries, and the others beside them."""
        others = {"variance": self.variance, "with_voids": self.with_voids, "detectable": self.detectable}
        return {**self.headline.to_json(), **{name: plain(value) for name, value in others.items()}}


@dataclass(frozen=True, kw_only=True)
class SetUncertainty(JsonDocument):
    """How sure the numbers of a set are."""

    solved: NumberUncertainty
    average: NumberUncertainty


def solved_of(results: Sequence[Result]) -> Samples:
    """Whether each repeat of each task was solved, as 0 or 1; tasks without fields and checks are left out."""
    return _samples(results, lambda result: None if result.card.success is None else float(result.card.success))


def averages_of(results: Sequence[Result]) -> Samples:
    """The average of each repeat of each task."""
    return _samples(results, lambda result: result.card.average)


def means_of(samples: Samples) -> dict[str, float]:
    """The mean over the repeats of each task."""
    return {task: sum(values) / len(values) for task, values in samples.items()}


def families_of(results: Sequence[Result]) -> dict[str, str | None]:
    """The family of each task."""
    return {result.sample.task: result.card.family for result in results}


def headline(samples: Samples, families: Mapping[str, str | None], of: Kind) -> Headline:
    """The mean over tasks with its interval, and the other ways to take a mean."""
    values = means_of(samples)
    found = estimate(values, families, of=of)
    if found is None:
        return Headline(estimate=None)
    within = estimate(values, families, of=of, scope="tasks")
    return Headline(
        estimate=found,
        same_families=None if within is None else within.interval,
        micro=mean_of([value for repeats in samples.values() for value in repeats]),
        macro=macro(values, families),
    )


def uncertainty(results: ResultSet) -> SetUncertainty:
    """What is to be said of a whole set."""
    families, lost = families_of(results.results), _lost(results.void)
    return SetUncertainty(
        solved=_of_number(solved_of(results.results), families, lost, "solved"),
        average=_of_number(averages_of(results.results), families, lost, "average"),
    )


def _of_number(
    samples: Samples, families: Mapping[str, str | None], lost: Mapping[str, int], of: Kind
) -> NumberUncertainty:
    parts = components(samples, families)
    return NumberUncertainty(
        headline=headline(samples, families, of),
        variance=parts,
        with_voids=bounds(samples, lost) if samples else None,
        detectable=_detectable(samples, families, parts),
    )


def pass_rates(results: Sequence[Result]) -> tuple[PassRates, PassRates]:
    """pass@k and pass^k for every k up to the most repeats of a task, each with its interval and number of tasks."""
    tries, families = solved_of(results), families_of(results)
    most = max(map(len, tries.values()), default=0)

    def rate(chance: Callable[[Sequence[bool], int], float], k: int) -> Estimate | None:
        known = {task: [bool(value) for value in repeats] for task, repeats in tries.items() if len(repeats) >= k}
        return estimate({task: chance(repeats, k) for task, repeats in known.items()}, families, of="solved")

    attempts = range(1, most + 1)
    return {k: rate(pass_at_k, k) for k in attempts}, {k: rate(pass_hat_k, k) for k in attempts}


def _samples(results: Sequence[Result], value: Callable[[Result], float | None]) -> Samples:
    found: Samples = {}
    for result in results:
        if (known := value(result)) is not None:
            found.setdefault(result.sample.task, []).append(known)
    return found


def _lost(void: Sequence[Sample]) -> dict[str, int]:
    return dict(Counter(sample.task for sample in void))


def _detectable(samples: Samples, families: Mapping[str, str | None], parts: Components | None) -> float | None:
    """The smallest difference to another set of this size that would be found four times out of five."""
    if parts is None:
        return None
    repeats = sum(map(len, samples.values())) / len(samples)
    count = clusters.clusters_of([families.get(task) for task in samples]).families
    if count < FEW_FAMILIES:
        return None
    size = power.Size(families=count, tasks=len(samples), repeats=max(1, round(repeats)))
    return power.detectable(power.planned_error(size, parts), size.freedom)
