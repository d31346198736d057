"""Summarises result sets in a few numbers each, for the end of a run: as a table or as plain data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.table import Table

from m3bench.server.lab.reports.measures import ConductMeasure, measures_of
from m3bench.server.lab.reports.uncertainty import averages_of, families_of, headline, solved_of
from m3bench.server.lab.results.resultset import ResultSet, read_resultset
from m3bench.server.scoring.aggregate import intervals, overall
from m3bench.server.scoring.statistics.estimates import Interval


@dataclass(frozen=True, kw_only=True)
class AgentOutcome:
    """One agent's result set in a few numbers."""

    agent: str
    folder: Path
    average: float | None
    paper: float | None
    """The average of the paper's metric."""
    interval: Interval | None
    success: float | None
    """The share of repeats that were solved, the mean over tasks; None when no task has fields or checks."""
    success_interval: Interval | None
    scored: int
    void: int
    missing: int
    reasons: tuple[str, ...]
    """Why samples are void, each reason once."""
    cost: float | None
    gap_share: float
    """The share of all calls that asked for something the frozen world does not hold."""
    conduct: Mapping[str, int] = field(default_factory=dict)
    """Unwanted effects, and calls that the weather took; empty when there were none."""
    measures: tuple[ConductMeasure, ...] = ()
    """The same as shares of tasks, with intervals."""
    caution: str | None = None
    """What the intervals do not cover; None where there are enough families."""

    def to_json(self) -> dict[str, object]:
        """A dict that `json.dumps` takes."""
        return {
            "agent": self.agent, "folder": str(self.folder), "average": self.average, "paper": self.paper,
            "interval": self.interval and self.interval.to_json(), "success": self.success,
            "success_interval": self.success_interval and self.success_interval.to_json(), "scored": self.scored,
            "void": self.void, "missing": self.missing, "reasons": list(self.reasons), "cost": self.cost,
            "gap_share": self.gap_share, "caution": self.caution, **({"conduct": self.conduct} if self.conduct else {}),
            **({"measures": [measure.to_json() for measure in self.measures]} if self.measures else {}),
        }  # fmt: skip


def outcome(folder: Path) -> AgentOutcome:
    """The outcome of the result set in a folder."""
    return summarise(read_resultset(folder))


def summarise(found: ResultSet) -> AgentOutcome:
    """A result set in a few numbers."""
    families = families_of(found.results)
    solved = headline(solved_of(found.results), families, "solved")
    # The average covers every task, even where nothing decides whether it is solved.
    average = headline(averages_of(found.results), families, "average")
    costs = [result.sample.usage.cost for result in found.results if result.sample.usage.cost is not None]
    return AgentOutcome(
        agent=found.header.name,
        folder=found.folder,
        average=overall(found.rows)["average"] if found.rows else None,
        paper=overall(found.paper_rows)["average"] if found.rows else None,
        interval=intervals(found.rows).get("average"),
        success=solved.value,
        success_interval=solved.interval,
        scored=len(found.results),
        void=len(found.void),
        missing=len(found.missing),
        reasons=tuple(dict.fromkeys(sample.reason for sample in found.void)),
        cost=sum(costs) if costs else None,
        gap_share=found.gap_share,
        conduct=found.conduct,
        measures=measures_of(found.results),
        caution=solved.caution or average.caution,
    )


def table(outcomes: Sequence[AgentOutcome]) -> Table:
    """The outcomes side by side, and below them what their intervals do not cover."""
    shown = Table(
        box=None,
        pad_edge=False,
        caption="\n".join([*_measured(outcomes), *_cautions(outcomes)]) or None,
        caption_justify="left",
    )
    shown.add_column("agent")
    for heading in ("solved", "95 % interval", "average", "95 % interval", "paper's metric", "samples", "void"):
        shown.add_column(heading, justify="right")
    for outcome in outcomes:
        between = "" if outcome.interval is None else f"{outcome.interval.low:.3f} … {outcome.interval.high:.3f}"
        solved = "–" if outcome.success is None else f"{outcome.success * 100:.1f} %"
        share = outcome.success_interval
        solved_between = "" if share is None else f"{share.low * 100:.1f} … {share.high * 100:.1f} %"
        average, paper = ("–" if value is None else f"{value:.3f}" for value in (outcome.average, outcome.paper))
        counts = str(outcome.scored), str(outcome.void or "")
        shown.add_row(outcome.agent, solved, solved_between, average, between, paper, *counts)
    return shown


def _measured(outcomes: Sequence[AgentOutcome]) -> list[str]:
    """The conduct of each agent, in a line."""
    return [
        f"{outcome.agent}: {', '.join(f'{measure.label} {measure.value * 100:.1f} %' for measure in outcome.measures)}"
        for outcome in outcomes
        if outcome.measures
    ]


def _cautions(outcomes: Sequence[AgentOutcome]) -> list[str]:
    """What intervals do not cover: once where it is the same for all, else for each agent."""
    said = {outcome.caution for outcome in outcomes}
    if len(said) == 1:
        return [caution for caution in said if caution is not None]
    return [f"{outcome.agent}: {outcome.caution}" for outcome in outcomes if outcome.caution is not None]
