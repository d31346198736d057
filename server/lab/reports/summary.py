"""The document of a result set: everything its page shows.

Numbers come from `scoring.aggregate` and the score cards; nothing is scored here. Values that came from outside are
bounded. A set of a thousand runs is a few hundred kilobytes.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from shlex import quote
from statistics import fmean
from typing import ClassVar, Literal

from m3bench.server.lab.reports.measures import ConductMeasure, measures_of
from m3bench.server.lab.reports.page import page
from m3bench.server.lab.reports.uncertainty import (
    PassRates,
    SetUncertainty,
    families_of,
    means_of,
    pass_rates,
    solved_of,
    uncertainty,
)
from m3bench.server.lab.results.analyses.confusion import confusion
from m3bench.server.lab.results.analyses.failures import CLASSES, FailureClass, class_of, classes
from m3bench.server.lab.results.analyses.people import PeopleFacts, people_facts
from m3bench.server.lab.results.analyses.perception import PerceptionFacts, perception_facts
from m3bench.server.lab.results.analyses.taxonomy import ERRORS, GROUPS, ErrorName, errors
from m3bench.server.lab.results.documents import JsonDocument
from m3bench.server.lab.results.resultset import Result, ResultSet
from m3bench.server.scorecard.model import ScoringProfile
from m3bench.server.scorecard.pages.legend import legend, profile_of
from m3bench.server.scorecard.pages.plain import cut, shown
from m3bench.server.scoring import aggregate
from m3bench.server.scoring.statistics.estimates import Interval, estimate
from m3bench.tasks.json_types import JsonObject

SCHEMA = 1
NAMED = 3
"""Improvements and failed checks that are listed for each run; its own page has all."""
LISTED = 10
"""Runs that are named as the worst or the most informative."""
SCRIPTS, STYLES = ("card.js", "statistics.js", "set.js"), ("card.css", "set.css", "site.css")

_ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True)
class SampleCounts(JsonDocument):
    """What became of the samples of a set."""

    planned: int
    scored: int
    void: int
    missing: int


@dataclass(frozen=True, kw_only=True)
class VoidLine(JsonDocument):
    """A sample that is void."""

    task: str
    repeat: int
    why: str


@dataclass(frozen=True, kw_only=True)
class Summary(JsonDocument):
    """The aggregate of some runs."""

    runs: int
    tasks: int
    profile: ScoringProfile
    metrics: Mapping[str, float | None]
    range: tuple[float, float] | None
    """The lowest and the highest average of a run."""
    note: str
    """Why the average lies outside that range, where it does."""
    intervals: Mapping[str, Interval]
    paper: float | None
    """The average of the paper's metric."""
    solved: int
    checked: int
    """Runs whose tasks have fields or checks."""
    success: float | None
    success_interval: Interval | None


Slices = Mapping[str, Mapping[str, Summary]]
"""By what a set is cut (`difficulty`, `level`, …, `client`), and for each of its values the aggregate of those runs."""


@dataclass(frozen=True, kw_only=True)
class GapCount(JsonDocument):
    """Calls that asked for something the frozen world does not hold."""

    calls: int
    share: float


@dataclass(frozen=True, kw_only=True)
class FaultCost(JsonDocument):
    """Runs in which something went wrong, and the points of average it cost them in all."""

    runs: int
    points: float


@dataclass(frozen=True, kw_only=True)
class FailureCount(JsonDocument):
    """How many samples ended in one way."""

    class_: FailureClass
    means: str
    runs: int


@dataclass(frozen=True, kw_only=True)
class ErrorLine(JsonDocument):
    """An error of failed runs, under TOBench's name."""

    group: str
    error: ErrorName
    means: str
    runs: int
    times: int


@dataclass(frozen=True, kw_only=True)
class ToolLine(JsonDocument):
    """How often one tool was called where one was wanted."""

    wanted: str
    called: str
    answered: bool
    calls: int


@dataclass(frozen=True, kw_only=True)
class UsageTotals(JsonDocument):
    """What all scored runs took together."""

    input_tokens: int
    output_tokens: int
    cost: float | None
    seconds: float
    steps: int
    calls: int


@dataclass(frozen=True, kw_only=True)
class Repeats(JsonDocument):
    """The noise between attempts at the same task."""

    most: int
    pass_at: PassRates
    pass_hat: PassRates
    average_sd: float | None


@dataclass(frozen=True, kw_only=True)
class NamedImprovement(JsonDocument):
    """What would have helped a run."""

    gain: float
    text: str


@dataclass(frozen=True, kw_only=True)
class RunLine(JsonDocument):
    """A run of a set, in a line."""

    run: str
    task: str
    family: str
    repeat: int
    success: bool | None
    class_: FailureClass
    metrics: Mapping[str, float | None]
    paper: float | None
    checks: tuple[int, int]
    """Those that passed, and all."""
    failed_checks: tuple[str, ...]
    improvements: tuple[NamedImprovement, ...]
    steps: int
    calls: int
    needed: int
    matched: int
    failed: int
    coerced: int
    excluded: int
    seconds: float
    tokens: int
    cost: float | None

    @property
    def badness(self) -> tuple[bool, bool, float, str, int]:
        """The worst runs come first by this."""
        average = self.metrics.get("average")
        return bool(self.success), average is not None, average or 0.0, self.task, self.repeat


@dataclass(frozen=True, kw_only=True)
class InformativeRun(JsonDocument):
    """A run that a person learns from."""

    run: str
    why: str


@dataclass(frozen=True, kw_only=True)
class SetDocument(JsonDocument):
    """What there is to show of a result set."""

    left_out: ClassVar[frozenset[str]] = frozenset(
        {"people", "slices", "links", "downloads", "conduct", "measures", "perception"}
    )

    schema: int = SCHEMA
    kind: Literal["set"] = "set"
    folder: str
    """As a shell takes it; empty where readers need not know it."""
    legend: Sequence[Mapping[str, object]]
    set: JsonObject
    """The set's header without its tasks."""
    manifests: Sequence[Mapping[str, object]]
    counts: SampleCounts
    void: tuple[VoidLine, ...]
    summary: Summary
    families: Mapping[str, Summary]
    outcomes: Mapping[str, int]
    coerced: int
    excluded: Mapping[str, int]
    gaps: GapCount
    faults: Mapping[str, FaultCost]
    failures: tuple[FailureCount, ...]
    errors: tuple[ErrorLine, ...]
    tools: tuple[ToolLine, ...]
    usage: UsageTotals
    uncertainty: SetUncertainty
    repeats: Repeats
    runs: tuple[RunLine, ...]
    worst: tuple[str, ...]
    informative: tuple[InformativeRun, ...]
    slices: Slices | None = None
    people: PeopleFacts | None = None
    conduct: Mapping[str, int] | None = None
    measures: tuple[ConductMeasure, ...] | None = None
    perception: PerceptionFacts | None = None
    links: JsonDocument | None = None
    """To other pages, where there are some."""
    downloads: tuple[str, ...] | None = None
    """Files beside the page."""


@dataclass(frozen=True, kw_only=True)
class SetTotals(JsonDocument):
    """What a board shows of a result set: everything but its single runs."""

    left_out: ClassVar[frozenset[str]] = frozenset({"measures"})

    counts: SampleCounts
    summary: Summary
    families: Mapping[str, Summary]
    outcomes: Mapping[str, int]
    failures: tuple[FailureCount, ...]
    usage: UsageTotals
    uncertainty: SetUncertainty
    repeats: Repeats
    measures: tuple[ConductMeasure, ...] | None = None
    """Of conduct, where the set has something to say of it."""


def set_totals(results: ResultSet) -> SetTotals:
    """What a board shows of a result set."""
    return SetTotals(
        counts=SampleCounts(
            planned=len(results.header.tasks) * results.header.repeats,
            scored=len(results.results),
            void=len(results.void),
            missing=len(results.missing),
        ),
        summary=summary(results.results),
        families={family: summary(members) for family, members in sorted(_families(results.results).items())},
        outcomes=results.outcomes,
        failures=tuple(
            FailureCount(class_=name, means=CLASSES[name][1], runs=count) for name, count in classes(results).items()
        ),
        usage=_usage(results.results),
        uncertainty=uncertainty(results),
        repeats=_repeats(results.results),
        measures=measures_of(results.results) or None,
    )


def set_document(results: ResultSet, slices: Slices | None = None) -> SetDocument:
    """What there is to show of a result set, with its slices where they are known."""
    runs, totals = tuple(_run(result) for result in results.results), set_totals(results)
    return SetDocument(
        folder=quote(str(results.folder)),
        legend=legend(profile_of(result.row for result in results.results)),
        set=shown(results.header.model_dump(mode="json", by_alias=True, exclude={"tasks"}), text=200),
        manifests=[shown(manifest, text=200) for manifest in results.manifests],
        counts=totals.counts,
        void=tuple(
            VoidLine(task=sample.task, repeat=sample.repeat, why=cut(sample.reason, 300)) for sample in results.void
        ),
        summary=totals.summary,
        families=totals.families,
        outcomes=totals.outcomes,
        coerced=sum(result.card.calls_coerced for result in results.results),
        excluded=results.excluded,
        gaps=GapCount(calls=results.gaps, share=results.gap_share),
        faults=faults(results.results),
        failures=totals.failures,
        errors=_errors(results.results),
        tools=_tools(results.results),
        usage=totals.usage,
        uncertainty=totals.uncertainty,
        repeats=totals.repeats,
        runs=runs,
        worst=tuple(run.run for run in sorted(runs, key=lambda run: run.badness)[:LISTED]),
        informative=_informative(results.results),
        slices=slices,
        people=people_facts(results),
        conduct=results.conduct or None,
        measures=totals.measures,
        perception=perception_facts(results.results),
    )


def set_page(document: SetDocument) -> str:
    """The page of a set's document."""
    return page(f"{document.set['name']} · m3bench", document.to_json(), SCRIPTS, styles=STYLES)


def summary(results: Sequence[Result]) -> Summary:
    """The aggregate of some runs, with intervals."""
    rows, paper = [result.row for result in results], [result.paper_row for result in results]
    tries, families = solved_of(results), families_of(results)
    solved = estimate(means_of(tries), families, of="solved")
    averages = [value for result in results if (value := result.card.average) is not None]
    metrics = aggregate.overall(rows)
    return Summary(
        runs=len(rows),
        tasks=len(families),
        profile=profile_of(rows),
        metrics=metrics,
        range=(min(averages), max(averages)) if averages else None,
        note=_explained(metrics["average"], averages),
        intervals=aggregate.intervals(rows, metrics),
        paper=aggregate.overall(paper)["average"],
        solved=round(sum(map(sum, tries.values()))),
        checked=sum(map(len, tries.values())),
        success=None if solved is None else solved.value,
        success_interval=None if solved is None else solved.interval,
    )


def _explained(average: float | None, runs: Sequence[float]) -> str:
    """Why an average lies outside the range of its runs, where it does."""
    if average is None or not runs or min(runs) - _ROUNDING <= average <= max(runs) + _ROUNDING:
        return ""
    return (
        f"This average pools the calls of all runs, so it can lie outside their range, {min(runs):.3f} to "
        f"{max(runs):.3f}; the mean over runs is {fmean(runs):.3f}."
    )


def faults(results: Sequence[Result]) -> dict[str, FaultCost]:
    """What went wrong, by kind: runs in which it did, and the points of average it cost them in all."""
    runs: Counter[str] = Counter()
    points: dict[str, float] = {}
    for result in results:
        for kind in {improvement.kind for improvement in result.card.improvements}:
            runs[kind] += 1
        for improvement in result.card.improvements:
            points[improvement.kind] = points.get(improvement.kind, 0.0) + improvement.gain
    return {kind: FaultCost(runs=runs[kind], points=points[kind]) for kind in sorted(runs)}


def _errors(results: Sequence[Result]) -> tuple[ErrorLine, ...]:
    """The errors of failed runs, under TOBench's names."""
    found = errors(results)
    return tuple(
        ErrorLine(group=group, error=name, means=ERRORS[name], runs=found[name].runs, times=found[name].times)
        for group, names in GROUPS.items()
        for name in names
        if name in found
    )


def _tools(results: Sequence[Result]) -> tuple[ToolLine, ...]:
    return tuple(
        ToolLine(wanted=cut(pair.wanted, 200), called=cut(pair.called, 200), answered=pair.answered, calls=count)
        for pair, count in confusion(results).items()
    )


def _families(results: Sequence[Result]) -> dict[str, list[Result]]:
    families: dict[str, list[Result]] = {}
    for result in results:
        families.setdefault(result.card.family, []).append(result)
    return families


def _run(result: Result) -> RunLine:
    card, sample = result.card, result.sample
    failed = [cut(f"{check.check} — {check.reason}", 300) for check in card.checks if not check.passed]
    return RunLine(
        run=result.run.id,
        task=sample.task,
        family=card.family,
        repeat=sample.repeat,
        success=card.success,
        class_=class_of(result),
        metrics=card.metrics,
        paper=card.paper_average,
        checks=(card.checks_passed, len(card.checks)),
        failed_checks=tuple(failed[:NAMED]),
        improvements=tuple(
            NamedImprovement(gain=improvement.gain, text=cut(improvement.text, 300))
            for improvement in card.improvements[:NAMED]
        ),
        steps=len(card.alignment.actual_steps),
        calls=result.row.actual_calls,
        needed=result.row.reference_calls,
        matched=result.row.matched,
        failed=card.calls_failed,
        coerced=card.calls_coerced,
        excluded=card.calls_excluded,
        seconds=sample.seconds,
        tokens=sample.usage.input_tokens + sample.usage.output_tokens,
        cost=sample.usage.cost,
    )


def _usage(results: Sequence[Result]) -> UsageTotals:
    costs = [result.sample.usage.cost for result in results]
    known = [cost for cost in costs if cost is not None]
    return UsageTotals(
        input_tokens=sum(result.sample.usage.input_tokens for result in results),
        output_tokens=sum(result.sample.usage.output_tokens for result in results),
        cost=math.fsum(known) if known else None,
        seconds=math.fsum(result.sample.seconds for result in results),
        steps=sum(len(result.card.alignment.actual_steps) for result in results),
        calls=sum(result.row.actual_calls for result in results),
    )


def _attempts(results: Sequence[Result]) -> dict[str, list[Result]]:
    tasks: dict[str, list[Result]] = {}
    for result in results:
        tasks.setdefault(result.sample.task, []).append(result)
    return tasks


def _repeats(results: Sequence[Result]) -> Repeats:
    attempts = list(_attempts(results).values())
    spreads = [
        _spread([value for result in tries if (value := result.card.average) is not None])
        for tries in attempts
        if len(tries) > 1
    ]
    pass_at, pass_hat = pass_rates(results)
    return Repeats(
        most=max(map(len, attempts), default=0),
        pass_at=pass_at,
        pass_hat=pass_hat,
        average_sd=fmean(spreads) if spreads else None,
    )


def _spread(values: Sequence[float]) -> float:
    """The standard deviation; that of equal values is 0 exactly."""
    if len(set(values)) == 1:
        return 0.0
    mean = fmean(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))


def _informative(results: Sequence[Result]) -> tuple[InformativeRun, ...]:
    """Runs a person learns most from: repeats that differ, and cards whose checks and alignment disagree."""
    found: list[tuple[float, str, str]] = []
    for task, tries in _attempts(results).items():
        values = [result.card.average or 0.0 for result in tries]
        if len(tries) > 1 and max(values) - min(values) > 0.1:
            low = tries[values.index(min(values))]
            why = f"repeats of {task} range from {min(values):.3f} to {max(values):.3f}"
            found.append((max(values) - min(values), low.run.id, why))
        for result, value in zip(tries, values, strict=True):
            if result.card.success is True and value < 0.6:
                found.append((1 - value, result.run.id, f"solved with an average of {value:.3f}"))
            elif result.card.success is False and value > 0.9:
                found.append((value, result.run.id, f"not solved with an average of {value:.3f}"))
    found.sort(key=lambda entry: (-entry[0], entry[1]))
    return tuple(InformativeRun(run=run, why=why) for _, run, why in found[:LISTED])
