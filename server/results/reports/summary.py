"""The document of a result set: everything its page shows, as plain JSON.

Numbers come from `scoring.aggregate` and the score cards; nothing is scored here. Values that came from outside are
bounded. A set of a thousand runs is a few hundred kilobytes.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from shlex import quote
from statistics import fmean, pstdev
from typing import Any

from m3bench.server.results.reports.legend import legend, profile_of
from m3bench.server.results.reports.page import page
from m3bench.server.results.reports.plain import cut, shown
from m3bench.server.results.resultset import Result, ResultSet
from m3bench.server.scoring import aggregate
from m3bench.server.scoring.repeats import pass_at_k, pass_hat_k

SCHEMA = 1
NAMED = 3
"""Improvements and failed checks that are listed for each run; its own page has all."""
LISTED = 10
"""Runs that are named as the worst or the most informative."""
SCRIPTS, STYLES = ("card.js", "statistics.js", "set.js"), ("card.css", "set.css")

_Z = 1.959964
"""Of a 95 % interval."""


def set_document(results: ResultSet) -> dict[str, Any]:
    """What there is to show of a result set."""
    runs = [_run(result) for result in results.results]
    return {
        "schema": SCHEMA,
        "kind": "set",
        "folder": quote(str(results.folder)),
        "legend": legend(profile_of(result.row for result in results.results)),
        "set": shown(results.header.model_dump(mode="json", by_alias=True, exclude={"tasks"}), text=200),
        "manifests": shown(list(results.manifests), text=200),
        "counts": {
            "planned": len(results.header.tasks) * results.header.repeats,
            "scored": len(runs),
            "void": len(results.void),
            "missing": len(results.missing),
        },
        "void": [
            {"task": sample.task, "repeat": sample.repeat, "why": cut(sample.reason, 300)} for sample in results.void
        ],
        "summary": summary(results.results),
        "families": {family: summary(members) for family, members in sorted(_families(results.results).items())},
        "outcomes": results.outcomes,
        "coerced": sum(result.card.calls_coerced for result in results.results),
        "excluded": results.excluded,
        "gaps": {"calls": results.gaps, "share": results.gap_share},
        "faults": faults(results.results),
        "usage": _usage(results.results),
        "repeats": _repeats(results.results),
        "runs": runs,
        "worst": [run["run"] for run in sorted(runs, key=_badness)[:LISTED]],
        "informative": _informative(results.results),
    }


def set_page(document: Mapping[str, Any]) -> str:
    """The page of a set's document."""
    return page(f"{document['set']['name']} · m3bench", document, SCRIPTS, styles=STYLES)


def summary(results: Sequence[Result]) -> dict[str, Any]:
    """The aggregate of some runs, with intervals."""
    rows, paper = [result.row for result in results], [result.paper_row for result in results]
    solved = [result.card.success for result in results if result.card.success is not None]
    return {
        "runs": len(rows),
        "profile": profile_of(rows),
        "metrics": aggregate.overall(rows),
        "intervals": {name: [it.low, it.high] for name, it in aggregate.intervals(rows).items()},
        "paper": aggregate.overall(paper)["average"],
        "solved": sum(solved),
        "checked": len(solved),
        "success": fmean(solved) if solved else None,
        "success_interval": wilson(sum(solved), len(solved)),
    }


def wilson(passed: int, of: int) -> list[float] | None:
    """The 95 % interval of a share; holds at 0 and 1 too, where the usual one has no width."""
    if not of:
        return None
    share, square = passed / of, _Z * _Z
    middle = (share + square / (2 * of)) / (1 + square / of)
    half = _Z * math.sqrt(share * (1 - share) / of + square / (4 * of * of)) / (1 + square / of)
    return [max(0.0, middle - half), min(1.0, middle + half)]


def faults(results: Sequence[Result]) -> dict[str, dict[str, float]]:
    """What went wrong, by kind: runs in which it did, and the points of average it cost them in all."""
    runs: Counter[str] = Counter()
    points: dict[str, float] = {}
    for result in results:
        for kind in {one.kind for one in result.card.improvements}:
            runs[kind] += 1
        for one in result.card.improvements:
            points[one.kind] = points.get(one.kind, 0.0) + one.gain
    return {kind: {"runs": runs[kind], "points": points[kind]} for kind in sorted(runs)}


def _families(results: Sequence[Result]) -> dict[str, list[Result]]:
    families: dict[str, list[Result]] = {}
    for result in results:
        families.setdefault(result.card.family, []).append(result)
    return families


def _run(result: Result) -> dict[str, Any]:
    card, sample = result.card, result.sample
    return {
        "run": result.run.id,
        "task": sample.task,
        "family": card.family,
        "repeat": sample.repeat,
        "success": card.success,
        "metrics": card.metrics,
        "paper": card.paper_average,
        "checks": [card.checks_passed, len(card.checks)],
        "failed_checks": [cut(f"{check.check} — {check.reason}", 300) for check in card.checks if not check.passed][
            :NAMED
        ],
        "improvements": [{"gain": one.gain, "text": cut(one.text, 300)} for one in card.improvements[:NAMED]],
        "steps": len(card.alignment.actual_steps),
        "calls": result.row.actual_calls,
        "needed": result.row.reference_calls,
        "matched": result.row.matched,
        "failed": card.calls_failed,
        "coerced": card.calls_coerced,
        "excluded": card.calls_excluded,
        "seconds": sample.seconds,
        "tokens": sample.usage.input_tokens + sample.usage.output_tokens,
        "cost": sample.usage.cost,
    }


def _usage(results: Sequence[Result]) -> dict[str, Any]:
    costs = [result.sample.usage.cost for result in results]
    known = [cost for cost in costs if cost is not None]
    return {
        "input_tokens": sum(result.sample.usage.input_tokens for result in results),
        "output_tokens": sum(result.sample.usage.output_tokens for result in results),
        "cost": math.fsum(known) if known else None,
        "seconds": math.fsum(result.sample.seconds for result in results),
        "steps": sum(len(result.card.alignment.actual_steps) for result in results),
        "calls": sum(result.row.actual_calls for result in results),
    }


def _attempts(results: Sequence[Result]) -> dict[str, list[Result]]:
    tasks: dict[str, list[Result]] = {}
    for result in results:
        tasks.setdefault(result.sample.task, []).append(result)
    return tasks


def _repeats(results: Sequence[Result]) -> dict[str, Any]:
    """The noise between attempts at the same task."""
    attempts = list(_attempts(results).values())
    most = max(map(len, attempts), default=0)
    passed = [[bool(result.card.success) for result in tries] for tries in attempts]
    spreads = [
        pstdev([value for result in tries if (value := result.card.average) is not None] or [0.0])
        for tries in attempts
        if len(tries) > 1
    ]
    return {
        "most": most,
        "pass_at": {str(k): pass_at_k(passed, k) for k in range(1, most + 1)},
        "pass_hat": {str(k): pass_hat_k(passed, k) for k in range(1, most + 1)},
        "average_sd": fmean(spreads) if spreads else None,
    }


def _badness(run: Mapping[str, Any]) -> tuple[Any, ...]:
    average = run["metrics"].get("average")
    return (bool(run["success"]), average is not None, average or 0.0, run["task"], run["repeat"])


def _informative(results: Sequence[Result]) -> list[dict[str, Any]]:
    """Runs a person learns most from: repeats that differ, and cards whose checks and alignment disagree."""
    found = []
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
    found.sort(key=lambda one: (-one[0], one[1]))
    return [{"run": run, "why": why} for _, run, why in found[:LISTED]]
