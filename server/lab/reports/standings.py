"""The document of a leaderboard: result sets in order, with intervals, ranks, and what sets them apart.

Sets must have been made under the same conditions (`results.comparability`). Those with other lists of tasks can be
compared over the tasks that all have; others can be put together when that is asked for, and then the document says
what differs and gives no ranks. Sets are ordered by what they solved, then by the average; both have ranks.

Beside them stand the figures that the authors of M³-Bench published, as context and never with a rank: they came from a
prompt-driven text loop over the authors' own servers and tasks, and their average has a judged column in it, so numbers
of ours do not compare with them.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from m3bench.server.lab.interchange.verdict import Coverage, Level
from m3bench.server.lab.reports.measures import ConductMeasure
from m3bench.server.lab.reports.summary import (
    FailureCount,
    Repeats,
    SampleCounts,
    SetDocument,
    SetTotals,
    Summary,
    UsageTotals,
    set_totals,
)
from m3bench.server.lab.reports.uncertainty import SetUncertainty, averages_of, families_of, means_of, solved_of
from m3bench.server.lab.results.comparability import (
    differences,
    distinct_names,
    keys,
    over_common_tasks,
    profile_of,
    refuse_unlike,
)
from m3bench.server.lab.results.documents import JsonDocument
from m3bench.server.lab.results.resultset import Kind, ResultSet
from m3bench.server.scorecard.pages.legend import legend
from m3bench.server.scorecard.pages.legend import profile_of as scoring_profile_of
from m3bench.server.scorecard.pages.plain import shown
from m3bench.server.scoring.statistics.estimates import Interval
from m3bench.server.scoring.statistics.power import detectable
from m3bench.server.scoring.statistics.ranks import Rank, Ranking, rank
from m3bench.tasks.errors import UserError
from m3bench.tasks.json_types import JsonObject

SCHEMA = 2

NUMBERS = {"solved": solved_of, "average": averages_of}
"""What sets are ranked by."""


SOURCE = "M³-Bench, arXiv 2511.17729, Table 2"

_COLUMNS = (
    "recall", "precision", "argument_similarity", "step_coherence", "order_consistency", "merge_purity",
    "task_completion", "information_grounding", "average_published",
)  # fmt: skip

_FIGURES = """
GLM-4.5V .013 .023 .011 .012 .000 .013 .285 .130 .029
Qwen2.5-VL-72B .143 .073 .125 .125 .022 .112 .303 .388 .141
InternVL-3.5 .224 .143 .193 .191 .048 .161 .325 .298 .179
Gemini-2.5-Flash-Lite .200 .173 .168 .179 .030 .152 .299 .241 .180
Claude-4.5-Haiku .193 .480 .166 .190 .053 .108 .412 .246 .205
GPT-5-Nano .287 .103 .276 .228 .045 .258 .551 .529 .247
Llama-4-Scout .367 .176 .325 .286 .068 .290 .367 .335 .264
Grok-4-Fast .343 .359 .309 .284 .122 .289 .501 .378 .298
Claude-4.5-Sonnet .395 .361 .354 .389 .127 .257 .535 .451 .333
Gemini-2.5-Flash .454 .397 .409 .357 .211 .412 .530 .474 .388
GPT-5-Mini .481 .238 .462 .392 .199 .360 .652 .633 .395
Grok-4 .465 .387 .408 .415 .177 .390 .664 .638 .411
Gemini-2.5-Pro .501 .449 .433 .464 .249 .424 .520 .438 .423
GPT-5 .627 .264 .583 .502 .290 .453 .671 .657 .482
"""

PUBLISHED: tuple[dict[str, str | float], ...] = tuple(
    {"name": name, **dict(zip(_COLUMNS, map(float, numbers), strict=True))}
    for name, *numbers in (line.split() for line in _FIGURES.strip().splitlines())
)

DocumentOf = Callable[[ResultSet], SetDocument]
TotalsOf = Callable[[ResultSet], SetTotals | SetDocument]
"""Gives the document of a set."""


@dataclass(frozen=True, kw_only=True)
class RankShown(JsonDocument):
    """Which places the record bears: the best of them, and both ends."""

    rank: int
    interval: tuple[int, int]

    @property
    def text(self) -> str:
        """As tables show it."""
        low, high = self.interval
        return str(low) if low == high else f"{low}–{high}"


@dataclass(frozen=True, kw_only=True)
class VerdictShown(JsonDocument):
    """What a board shows of the verdict on a bundle."""

    verdict: Level
    summary: str
    proves: str
    cannot_prove: str
    signers: tuple[str, ...]
    starts: Mapping[str, int]
    coverage: Coverage
    notes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class BoardEntry(JsonDocument):
    """A set on a leaderboard."""

    left_out: ClassVar[frozenset[str]] = frozenset({"verdict", "measures"})

    rank: int | None
    ranks: Mapping[str, RankShown]
    """By what is solved and by the average."""
    name: str
    kind: Kind
    agent: str
    solver: str
    profile: str
    manifest: tuple[str, ...]
    """Short names for the conditions under which it was made."""
    summary: Summary
    families: Mapping[str, Summary]
    usage: UsageTotals
    counts: SampleCounts
    outcomes: Mapping[str, int]
    repeats: Repeats
    uncertainty: SetUncertainty
    failures: tuple[FailureCount, ...]
    verdict: VerdictShown | None = None
    """Where the set came as a bundle."""
    measures: tuple[ConductMeasure, ...] | None = None
    """Of conduct, where the set has something to say of it."""

    @property
    def place(self) -> str:
        """The places of a set by what it solved, or by the average where nothing can be solved, as tables show them."""
        found = self.ranks.get("solved") or self.ranks.get("average")
        return "–" if found is None else found.text


@dataclass(frozen=True, kw_only=True)
class PairLine(JsonDocument):
    """Two sets compared task by task: second minus first."""

    number: str
    """By what: `solved` or `average`."""
    first: str
    second: str
    tasks: int
    clusters: int
    difference: float
    interval: Interval | None
    p: float | None
    """None with too few families for a test."""
    clear: bool
    """Whether it is more than chance gives to the largest of the differences that are looked at."""
    better: int
    worse: int
    detectable: float | None


@dataclass(frozen=True, kw_only=True)
class CommonTasks(JsonDocument):
    """That sets are compared over the tasks that all of them have."""

    tasks: int


@dataclass(frozen=True, kw_only=True)
class PublishedFigures(JsonDocument):
    """Figures of others, for context."""

    source: str = SOURCE
    rows: Sequence[Mapping[str, str | float]] = PUBLISHED


@dataclass(frozen=True, kw_only=True)
class Leaderboard(JsonDocument):
    """What there is to show of several result sets."""

    left_out: ClassVar[frozenset[str]] = frozenset({"links", "downloads"})

    schema: int = SCHEMA
    kind: Literal["leaderboard"] = "leaderboard"
    legend: Sequence[Mapping[str, object]]
    mixed: tuple[str, ...]
    """What the sets disagree on; empty when they compare."""
    common: CommonTasks | None
    manifest: JsonObject
    entries: tuple[BoardEntry, ...]
    pairs: tuple[PairLine, ...]
    joint: bool = False
    """Whether all ranks hold together at 95 %, and not each by itself."""
    cautions: Mapping[str, str] = field(default_factory=dict)
    """By number: why sets cannot be told apart, and what it would take."""
    published: PublishedFigures = PublishedFigures()
    links: JsonDocument | None = None
    """To other pages, where there are some."""
    downloads: tuple[str, ...] | None = None
    """Files beside the page."""


def leaderboard_document(
    sets: Sequence[ResultSet],
    *,
    mixed: bool = False,
    common: bool = False,
    joint: bool = False,
    document_of: TotalsOf = set_totals,
    unranked: Collection[str] = (),
) -> Leaderboard:
    """What there is to show of several result sets.

    Args:
        sets: The sets.
        mixed: Put sets together although they were made under other conditions; there are no ranks then.
        common: Compare over the tasks that all sets have.
        joint: Give ranks that hold together at 95 %, and not each by itself.
        document_of: Gives the totals of a set, or its document, for callers that need it too.
        unranked: Names of sets that get no rank.

    Raises:
        UserError: The sets do not compare and nobody asked to put them together, or one is given twice or empty.
    """
    names = distinct_names(sets)
    if common:
        sets = over_common_tasks(sets)
    empty = [str(results.folder) for results in sets if not results.results]
    if empty:
        raise UserError(f"There is no scored run in {', '.join(empty)}.")
    if not mixed:
        refuse_unlike(sets, names, ", or say --mixed, and the page will say so too, without ranks")
    unlike = differences(sets, names)
    # People are a ceiling to hold the others against, and no competitor.
    compared = {
        name: results
        for name, results in zip(names, sets, strict=True)
        if name not in unranked and results.header.kind != "people"
    }
    rankings = {} if unlike or not compared else _compared(compared, joint)
    entries = [
        _entry(
            results,
            document_of(results),
            name,
            {number: found.ranks[name] for number, found in rankings.items() if name in found.ranks},
        )
        for name, results in zip(names, sets, strict=True)
    ]
    return Leaderboard(
        legend=legend(scoring_profile_of(row for results in sets for row in results.rows)),
        mixed=tuple(unlike),
        common=CommonTasks(tasks=len(sets[0].header.tasks)) if common else None,
        manifest=shown(dict(sets[0].manifests[0]), text=200) if sets else {},
        entries=tuple(sorted(entries, key=_order)),
        pairs=tuple(_pairs(rankings)),
        joint=joint,
        cautions=_cautions(rankings, entries),
    )


def _cautions(rankings: Mapping[str, Ranking], entries: Sequence[BoardEntry]) -> dict[str, str]:
    """By number: why sets cannot be told apart; where none are compared, what the interval of one does not cover."""
    sure = {
        "solved": [entry.uncertainty.solved for entry in entries],
        "average": [entry.uncertainty.average for entry in entries],
    }
    found = {}
    for number, sets in sure.items():
        compared = [rankings[number].caution] if number in rankings else []
        said = [*compared, *(uncertain.headline.caution for uncertain in sets)]
        if first := next(filter(None, said), None):
            found[number] = first
    return found


def _compared(sets: Mapping[str, ResultSet], joint: bool) -> dict[str, Ranking]:
    """Sets ranked by what is solved and by the average; those without such a number take no part."""
    families = {task: family for results in sets.values() for task, family in families_of(results.results).items()}
    return {
        number: rank(
            {name: known for name, results in sets.items() if (known := means_of(samples(results.results)))},
            families,
            joint=joint,
        )
        for number, samples in NUMBERS.items()
    }


def _entry(results: ResultSet, document: SetTotals | SetDocument, name: str, ranks: Mapping[str, Rank]) -> BoardEntry:
    header = results.header
    first = ranks.get("solved") or ranks.get("average")
    return BoardEntry(
        rank=None if first is None else first.low,
        ranks={number: RankShown(rank=place.low, interval=(place.low, place.high)) for number, place in ranks.items()},
        name=name,
        kind=header.kind,
        agent=header.agent,
        solver=header.solver,
        profile=profile_of(results),
        manifest=keys(results),
        summary=document.summary,
        families=document.families,
        usage=document.usage,
        counts=document.counts,
        outcomes=document.outcomes,
        repeats=document.repeats,
        uncertainty=document.uncertainty,
        failures=document.failures,
        measures=document.measures,
    )


def _order(entry: BoardEntry) -> tuple[float, float, str]:
    summary = entry.summary
    return -(summary.success or 0.0), -(summary.metrics["average"] or 0.0), entry.name


def _pairs(rankings: Mapping[str, Ranking]) -> Iterator[PairLine]:
    """Every two sets, task by task, by each number."""
    for number, ranking in rankings.items():
        for pair in ranking.pairs:
            step = pair.difference
            least = None
            if step.error is not None and ranking.threshold is not None:
                least = detectable(step.error, step.freedom, threshold=ranking.threshold)
            yield PairLine(
                number=number, first=pair.first, second=pair.second, tasks=step.tasks, clusters=step.clusters,
                difference=step.value, interval=step.interval, p=step.p, clear=pair.clear, better=step.better,
                worse=step.worse, detectable=least,
            )  # fmt: skip
