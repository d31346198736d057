"""The document of a leaderboard: result sets in order, with intervals, ranks with ties, and what sets them apart.

Sets must have been made under the same conditions (`results.comparability`). Those with other lists of tasks can be
compared over the tasks that all have; others can be put together when that is asked for, and then the document says
what differs and gives no ranks. Sets are ordered by what they solved, then by the average; both have ranks.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from m3bench.server.lab.reports.published import PUBLISHED, SOURCE
from m3bench.server.lab.reports.summary import set_document
from m3bench.server.lab.reports.uncertainty import averages_of, families_of, means_of, solved_of
from m3bench.server.lab.results.comparability import (
    differences,
    distinct_names,
    keys,
    over_common_tasks,
    profile_of,
    refuse_unlike,
)
from m3bench.server.lab.results.resultset import ResultSet
from m3bench.server.scorecard.pages.legend import legend
from m3bench.server.scorecard.pages.legend import profile_of as scoring_profile_of
from m3bench.server.scorecard.pages.plain import shown
from m3bench.server.scoring.statistics.power import detectable
from m3bench.server.scoring.statistics.ranks import Pair, Rank, pairs_of, ranks_of
from m3bench.tasks.errors import UserError

SCHEMA = 2

NUMBERS = {"solved": solved_of, "average": averages_of}
"""What sets are ranked by."""


def leaderboard_document(
    sets: Sequence[ResultSet], *, mixed: bool = False, common: bool = False,
    document_of: Callable[[ResultSet], Mapping[str, Any]] = set_document,
) -> dict[str, Any]:  # fmt: skip
    """What there is to show of several result sets.

    Args:
        sets: The sets.
        mixed: Put sets together although they were made under other conditions; there are no ranks then.
        common: Compare over the tasks that all sets have.
        document_of: Gives the document of a set, for callers that need it too.

    Raises:
        UserError: The sets do not compare and nobody asked to put them together, or one is given twice or empty.
    """
    names = distinct_names(sets)
    if common:
        sets = over_common_tasks(sets)
    empty = [str(one.folder) for one in sets if not one.results]
    if empty:
        raise UserError(f"There is no scored run in {', '.join(empty)}.")
    if not mixed:
        refuse_unlike(sets, names, ", or say --mixed, and the page will say so too, without ranks")
    unlike = differences(sets, names)
    pairs, ranks = ({}, {}) if unlike else _compared(dict(zip(names, sets, strict=True)))
    entries = [
        _entry(one, document_of(one), name, {number: found[name] for number, found in ranks.items() if name in found})
        for name, one in zip(names, sets, strict=True)
    ]
    entries.sort(key=_order)
    return {
        "schema": SCHEMA,
        "kind": "leaderboard",
        "legend": legend(scoring_profile_of(row for one in sets for row in one.rows)),
        "mixed": unlike,
        "common": {"tasks": len(sets[0].header.tasks)} if common else None,
        "manifest": shown(dict(sets[0].manifests[0]), text=200) if sets else {},
        "entries": entries,
        "pairs": _pairs(pairs),
        "published": {"source": SOURCE, "rows": PUBLISHED},
    }


def _compared(sets: Mapping[str, ResultSet]) -> tuple[dict[str, list[Pair]], dict[str, dict[str, Rank]]]:
    """Every two sets, and the ranks, by what is solved and by the average; sets without such a number take no part."""
    families = {task: family for one in sets.values() for task, family in families_of(one.results).items()}
    pairs: dict[str, list[Pair]] = {}
    ranks: dict[str, dict[str, Rank]] = {}
    for number, samples in NUMBERS.items():
        values = {name: known for name, one in sets.items() if (known := means_of(samples(one.results)))}
        pairs[number] = pairs_of(values, families)
        ranks[number] = ranks_of(values, families, pairs[number])
    return pairs, ranks


def _entry(results: ResultSet, document: Mapping[str, Any], name: str, ranks: Mapping[str, Rank]) -> dict[str, Any]:
    header = results.header
    kept = ("summary", "families", "usage", "counts", "outcomes", "repeats", "uncertainty", "failures")
    first = ranks.get("solved") or ranks.get("average")
    return {
        "rank": first and first.rank,
        "ranks": {number: {"rank": rank.rank, "interval": [rank.low, rank.high]} for number, rank in ranks.items()},
        "name": name,
        "kind": header.kind,
        "agent": header.agent,
        "solver": header.solver,
        "profile": profile_of(results),
        "manifest": list(keys(results)),
        **{name: document[name] for name in kept},
    }


def _order(entry: Mapping[str, Any]) -> tuple[Any, ...]:
    summary = entry["summary"]
    return (-(summary["success"] or 0.0), -(summary["metrics"]["average"] or 0.0), entry["name"])


def _pairs(pairs: Mapping[str, Sequence[Pair]]) -> list[dict[str, Any]]:
    """Every two sets, task by task, by each number."""
    found = []
    for number, ones in pairs.items():
        for pair in ones:
            step = pair.difference
            found.append(
                {"number": number, "first": pair.first, "second": pair.second, "tasks": step.tasks,
                 "clusters": step.clusters, "difference": step.value,
                 "interval": step.interval and step.interval.to_json(), "p": step.p, "p_holm": pair.adjusted,
                 "clear": pair.clear, "better": step.better, "worse": step.worse,
                 "detectable": None if step.error is None else detectable(step.error, step.freedom)}
            )  # fmt: skip
    return found
