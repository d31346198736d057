"""The document of a leaderboard: result sets in order, with intervals, ranks with ties, and what sets them apart.

Sets are comparable when their manifests agree in everything that could move a number; mixing others has to be asked
for, and the document then says so. A rank is one more than the number of sets that are clearly better, task by task,
so sets that cannot be told apart share one.
"""

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from m3bench.server.results.reports.legend import legend
from m3bench.server.results.reports.legend import profile_of as scoring_profile_of
from m3bench.server.results.reports.plain import shown
from m3bench.server.results.reports.published import PUBLISHED, SOURCE
from m3bench.server.results.reports.summary import set_document
from m3bench.server.results.resultset import ResultSet
from m3bench.server.scoring.aggregate import Row
from m3bench.server.scoring.compare import compare
from m3bench.tasks.errors import UserError

SCHEMA = 1

COMPARED = ("m3bench", "tasks", "catalog", "world", "encoder", "content_only", "steps", "scores", "upstream")
"""Fields of a manifest that must agree."""


def leaderboard_document(sets: Sequence[ResultSet], *, mixed: bool = False) -> dict[str, Any]:
    """What there is to show of several result sets.

    Args:
        sets: The sets.
        mixed: Put sets together although their manifests differ.

    Raises:
        UserError: The manifests differ and nobody asked to mix them, or two sets have one name.
    """
    empty = [str(one.folder) for one in sets if not one.results]
    if empty:
        raise UserError(f"There is no scored run in {', '.join(empty)}.")
    names = [one.header.name for one in sets]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UserError(f"Two result sets are called {twice[0]!r}: rename one in its set.json.")
    kinds = {one.header.name: manifest_key(one) for one in sets}
    if len({key for keys in kinds.values() for key in keys}) > 1 and not mixed:
        raise UserError(
            "These result sets were not made under the same conditions: " + "; ".join(_differences(sets)) + ". "
            "Compare like with like, or say --mixed, and the page will say so too."
        )
    rows = {one.header.name: _by_task(one.rows) for one in sets}
    entries = [_entry(one, _rank(one.header.name, rows)) for one in sets]
    entries.sort(key=lambda entry: (-(entry["summary"]["metrics"]["average"] or 0.0), entry["name"]))
    return {
        "schema": SCHEMA,
        "kind": "leaderboard",
        "legend": legend(scoring_profile_of(row for one in sets for row in one.rows)),
        "mixed": _differences(sets) if len({key for keys in kinds.values() for key in keys}) > 1 else [],
        "manifest": shown(dict(sets[0].manifests[0]), text=200) if sets else {},
        "entries": entries,
        "pairs": _pairs(names, rows),
        "published": {"source": SOURCE, "rows": PUBLISHED},
    }


def _entry(results: ResultSet, rank: int) -> dict[str, Any]:
    document, header = set_document(results), results.header
    kept = ("summary", "families", "usage", "counts", "outcomes", "repeats")
    return {
        "rank": rank,
        "name": header.name,
        "kind": header.kind,
        "agent": header.agent,
        "solver": header.solver,
        "profile": profile_of(results),
        "manifest": list(manifest_key(results)),
        **{name: document[name] for name in kept},
    }


def _rank(name: str, rows: Mapping[str, Sequence[Row]]) -> int:
    return 1 + sum(_clearly_better(rows[other], rows[name]) for other in rows if other != name)


def manifest_key(results: ResultSet) -> tuple[str, ...]:
    """Short names for the conditions of a set, one for each that its runs had."""
    found = {json.dumps(_conditions(manifest), sort_keys=True) for manifest in results.manifests}
    return tuple(sorted(sha256(text.encode()).hexdigest()[:12] for text in found))


def profile_of(results: ResultSet) -> str:
    """The profile without the task or family that it was for."""
    return results.header.profile.partition(":")[0]


def _conditions(manifest: Mapping[str, Any]) -> dict[str, Any]:
    return {name: manifest.get(name) for name in COMPARED}


def _differences(sets: Sequence[ResultSet]) -> list[str]:
    """What the manifests disagree on, in words."""
    manifests = [(one.header.name, _conditions(manifest)) for one in sets for manifest in one.manifests]
    words = []
    for name in COMPARED:
        seen: dict[str, list[str]] = {}
        for owner, conditions in manifests:
            seen.setdefault(json.dumps(conditions[name], sort_keys=True), []).append(owner)
        if len(seen) > 1:
            told = " and ".join(
                f"{_brief(value)} ({', '.join(dict.fromkeys(owners))})" for value, owners in seen.items()
            )
            words.append(f"{name} is {told}")
    return words  # fmt: skip


def _brief(value: str) -> str:
    return value if len(value) <= 40 else f"{value[:24]}…{value[-9:]}"


def _by_task(rows: Sequence[Row]) -> list[Row]:
    """One row a task: the first attempt at it, so that sets with other numbers of repeats can be paired."""
    return [row for row in rows if "#" not in row.id]


def _clearly_better(one: Sequence[Row], other: Sequence[Row]) -> bool:
    """Whether `one` has the higher average, and surely so."""
    change = next(change for change in compare(other, one).changes if change.metric == "average")
    return change.clear and (change.difference or 0.0) > 0


def _pairs(names: Sequence[str], rows: Mapping[str, Sequence[Row]]) -> list[dict[str, Any]]:
    """Every two sets, task by task."""
    found = []
    for number, first in enumerate(names):
        for second in names[number + 1 :]:
            compared = compare(rows[first], rows[second])
            change = next(change for change in compared.changes if change.metric == "average")
            interval = change.interval and [change.interval.low, change.interval.high]
            found.append(
                {"first": first, "second": second, "tasks": compared.tasks, "difference": change.difference,
                 "interval": interval, "clear": change.clear, "better": change.better, "worse": change.worse}
            )  # fmt: skip
    return found
