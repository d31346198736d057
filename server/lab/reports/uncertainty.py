"""How sure the numbers of a result set are: intervals, parts of the variance, pass rates, what voids could have done.

Numbers come from `scoring.statistics`; here samples become what it takes. `solved` and `average` are the two numbers
that people quote, and have everything; the other metrics have intervals.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from m3bench.server.lab.results.resultset import Result, ResultSet, Sample
from m3bench.server.scoring.repeats import all_of_them, at_least_one
from m3bench.server.scoring.statistics.components import Components, components
from m3bench.server.scoring.statistics.estimates import estimate, macro, mean_of
from m3bench.server.scoring.statistics.power import Size, detectable, planned_error
from m3bench.server.scoring.statistics.voids import bounds

Samples = dict[str, list[float]]
"""For each task, the values of its scored repeats."""


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


def headline(samples: Samples, families: Mapping[str, str | None]) -> dict[str, Any]:
    """The mean over tasks with its interval, and the other ways to take a mean."""
    values = means_of(samples)
    found = estimate(values, families)
    if found is None:
        return {"value": None, "interval": None, "same_families": None, "micro": None, "macro": None}
    within = estimate(values, families, scope="tasks")
    return {
        **found.to_json(),
        "same_families": within and within.interval and within.interval.to_json(),
        "micro": mean_of([value for repeats in samples.values() for value in repeats]),
        "macro": macro(values, families),
    }


def uncertainty(results: ResultSet) -> dict[str, Any]:
    """What is to be said of a whole set."""
    families = families_of(results.results)
    found: dict[str, Any] = {}
    for name, samples in (("solved", solved_of(results.results)), ("average", averages_of(results.results))):
        parts = components(samples, families)
        limits = bounds(samples, _lost(results.void)) if samples else None
        found[name] = {
            **headline(samples, families),
            "variance": parts and parts.to_json(),
            "with_voids": limits and limits.to_json(),
            "detectable": _detectable(samples, families, parts),
        }
    return found


def pass_rates(results: Sequence[Result]) -> dict[str, dict[str, Any]]:
    """pass@k and pass^k for every k up to the most repeats of a task, each with its interval and number of tasks."""
    tries, families = solved_of(results), families_of(results)
    most = max(map(len, tries.values()), default=0)
    found: dict[str, dict[str, Any]] = {"pass_at": {}, "pass_hat": {}}
    for name, chance in (("pass_at", at_least_one), ("pass_hat", all_of_them)):
        for k in range(1, most + 1):
            values = {task: chance([bool(one) for one in ones], k) for task, ones in tries.items() if len(ones) >= k}
            rate = estimate(values, families)
            found[name][str(k)] = rate and rate.to_json()
    return found


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
    size = Size(
        families=len({families.get(task) for task in samples}), tasks=len(samples), repeats=max(1, round(repeats))
    )
    return detectable(planned_error(size, parts), size.freedom)
