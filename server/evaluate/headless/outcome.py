"""Summarises result sets in a few numbers each, for the end of a run: as a table or as plain data."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from m3bench.server.results.resultset import ResultSet, read_resultset
from m3bench.server.scoring.aggregate import Interval, intervals, overall

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One agent's result set in a few numbers."""

    agent: str
    folder: Path
    average: float | None
    paper: float | None
    """The average of the paper's metric."""
    interval: Interval | None
    success: float | None
    """The share of scored samples that passed all checks of their task; None when no task has any."""
    scored: int
    void: int
    missing: int
    reasons: tuple[str, ...]
    """Why samples are void, each reason once."""
    cost: float | None
    gap_share: float
    """The share of all calls that asked for something the frozen world does not hold."""

    def to_json(self) -> dict[str, Any]:
        """A dict that `json.dumps` takes."""
        return {
            "agent": self.agent, "folder": str(self.folder), "average": self.average,
            "paper": self.paper,
            "interval": None if self.interval is None else [self.interval.low, self.interval.high],
            "success": self.success, "scored": self.scored, "void": self.void, "missing": self.missing,
            "reasons": list(self.reasons), "cost": self.cost, "gap_share": self.gap_share,
        }  # fmt: skip


def outcome(folder: Path) -> Outcome:
    """The outcome of the result set in a folder."""
    return summarise(read_resultset(folder))


def summarise(found: ResultSet) -> Outcome:
    """A result set in a few numbers."""
    checked = [result.card.success for result in found.results if result.card.success is not None]
    costs = [result.sample.usage.cost for result in found.results if result.sample.usage.cost is not None]
    return Outcome(
        agent=found.header.name,
        folder=found.folder,
        average=overall(found.rows)["average"] if found.rows else None,
        paper=overall(found.paper_rows)["average"] if found.rows else None,
        interval=intervals(found.rows).get("average"),
        success=sum(checked) / len(checked) if checked else None,
        scored=len(found.results),
        void=len(found.void),
        missing=len(found.missing),
        reasons=tuple(dict.fromkeys(sample.reason for sample in found.void)),
        cost=sum(costs) if costs else None,
        gap_share=found.gap_share,
    )


def table(outcomes: Sequence[Outcome]) -> "Table":
    """The outcomes side by side."""
    from rich.table import Table

    shown = Table(box=None, pad_edge=False)
    shown.add_column("agent")
    for heading in ("average", "95 % interval", "solved", "paper's metric", "samples", "void"):
        shown.add_column(heading, justify="right")
    for one in outcomes:
        between = "" if one.interval is None else f"{one.interval.low:.3f} … {one.interval.high:.3f}"
        solved = "–" if one.success is None else f"{one.success * 100:.1f} %"
        average, paper = ("–" if value is None else f"{value:.3f}" for value in (one.average, one.paper))
        shown.add_row(one.agent, average, between, solved, paper, str(one.scored), str(one.void or ""))
    return shown
