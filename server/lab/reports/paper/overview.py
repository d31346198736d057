"""One page for a reader in a hurry: who solved how much, what is certain, why runs failed, what to be careful about."""

from collections.abc import Sequence

from m3bench.server.lab.reports.paper.analyses import GroupNumbers
from m3bench.server.lab.reports.paper.tables import PaperTable, markdown_text
from m3bench.server.lab.reports.standings import Leaderboard
from m3bench.server.lab.results.analyses.failures import CLASSES
from m3bench.server.scoring.words import p_value, printable

MANY = 8
"""Differences that are told one by one; beyond that they are counted."""


def overview(
    groups: Sequence[GroupNumbers], results: Sequence[PaperTable], empty: Sequence[str], files: Sequence[str]
) -> str:
    """The page.

    Args:
        groups: Their numbers.
        results: The table of results of each.
        empty: Result sets without a scored run.
        files: What was written beside the page.
    """
    lines = ["# Results", ""]
    for group, table in zip(groups, results, strict=True):
        if len(groups) > 1:
            lines += [f"## {group.name}", ""]
        lines += [markdown_text(table)]
        lines += [f"- {line}" for line in (*_certain(group.leaderboard), *_failed(group), *_careful(group))]
        lines.append("")
    if len(groups) > 1:
        lines += ["Numbers of different groups do not compare: they were made under different conditions.", ""]
    if empty:
        lines += [f"Without a scored run, and so in no table: {', '.join(map(printable, empty))}.", ""]
    lines += ["Solved and average are means over tasks, with 95 % intervals. `methods.md` says how it was measured, "
              "`numbers.json` has every digit.", ""]  # fmt: skip
    lines += ["Files: " + ", ".join(f"`{name}`" for name in files) + "."]
    return "\n".join(lines) + "\n"


def _certain(board: Leaderboard) -> list[str]:
    """What can be said of differences in what was solved."""
    pairs = [pair for pair in board.pairs if pair.number == "solved"]
    clear = [pair for pair in pairs if pair.clear]
    if not pairs:
        return []
    if not clear:
        least = max((pair.detectable for pair in pairs if pair.detectable is not None), default=None)
        found = (
            ""
            if least is None
            else f"; a difference of {least * 100:.0f} points would have been found four times out of five"
        )
        return [board.cautions.get("solved") or f"No two sets differ clearly in what they solve{found}."]
    told = [f"{len(clear)} of {len(pairs)} pairs of sets differ clearly in what they solve."]
    for pair in sorted(clear, key=lambda pair: -abs(pair.difference))[:MANY]:
        better, worse = (pair.second, pair.first) if pair.difference > 0 else (pair.first, pair.second)
        told.append(
            f"{printable(better)} solves {abs(pair.difference) * 100:.1f} points more than {printable(worse)}"
            f"{'' if pair.p is None else f' (p {p_value(pair.p)})'}."
        )
    return [*told, f"… and {len(clear) - MANY} more in `pairs.csv`."] if len(clear) > MANY else told


def _failed(group: GroupNumbers) -> list[str]:
    """The most frequent reason for failure in each set."""
    told = []
    for name, analysis in group.analyses.items():
        failed = {kind: count for kind, count in analysis.failures.items() if CLASSES[kind][0] is not None}
        if failed:
            kind = max(failed, key=lambda name: failed[name])
            told.append(
                f"{printable(name)} fails mostly by *{kind}* ({CLASSES[kind][1]}): {failed[kind]} of "
                f"{sum(analysis.failures.values())} samples."
            )
    return told


def _careful(group: GroupNumbers) -> list[str]:
    """What a reader should be careful about."""
    told = []
    for entry in group.leaderboard.entries:
        counts, name = entry.counts, printable(entry.name)
        if counts.void:
            limits = entry.uncertainty.solved.with_voids
            share = "" if limits is None else (
                f"; had they all failed or all been solved, it would have solved {limits.low * 100:.1f} % or "
                f"{limits.high * 100:.1f} %"
            )  # fmt: skip
            told.append(f"Careful: void samples of {name}: {counts.void}{share}.")
        if counts.missing:
            told.append(f"Careful: samples of {name} that were not played: {counts.missing}.")
        if entry.summary.note:
            told.append(f"{name}: {entry.summary.note}")
    return told
