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

from m3bench.server.lab.reports.page import page
from m3bench.server.lab.reports.uncertainty import families_of, headline, pass_rates, solved_of, uncertainty
from m3bench.server.lab.results.analyses.confusion import confusion
from m3bench.server.lab.results.analyses.failures import CLASSES, class_of, classes
from m3bench.server.lab.results.analyses.taxonomy import ERRORS, GROUPS, errors
from m3bench.server.lab.results.resultset import Result, ResultSet
from m3bench.server.scorecard.pages.legend import legend, profile_of
from m3bench.server.scorecard.pages.plain import cut, shown
from m3bench.server.scoring import aggregate

SCHEMA = 1
NAMED = 3
"""Improvements and failed checks that are listed for each run; its own page has all."""
LISTED = 10
"""Runs that are named as the worst or the most informative."""
SCRIPTS, STYLES = ("card.js", "statistics.js", "set.js"), ("card.css", "set.css", "site.css")

_ROUNDING = 1e-9


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
        "failures": [{"class": name, "means": CLASSES[name][1], "runs": n} for name, n in classes(results).items()],
        "errors": _errors(results.results),
        "tools": [
            {"wanted": cut(pair.wanted, 200), "called": cut(pair.called, 200), "answered": pair.answered, "calls": n}
            for pair, n in confusion(results.results).items()
        ],
        "usage": _usage(results.results),
        "uncertainty": uncertainty(results),
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
    tries, families = solved_of(results), families_of(results)
    solved = headline(tries, families)
    averages = [value for result in results if (value := result.card.average) is not None]
    metrics = aggregate.overall(rows)
    return {
        "runs": len(rows),
        "tasks": len(families),
        "profile": profile_of(rows),
        "metrics": metrics,
        "range": [min(averages), max(averages)] if averages else None,
        "note": _explained(metrics["average"], averages),
        "intervals": {name: [it.low, it.high] for name, it in aggregate.intervals(rows).items()},
        "paper": aggregate.overall(paper)["average"],
        "solved": round(sum(map(sum, tries.values()))),
        "checked": sum(map(len, tries.values())),
        "success": solved["value"],
        "success_interval": solved["interval"],
    }


def _explained(average: float | None, runs: Sequence[float]) -> str:
    """Why an average lies outside the range of its runs, where it does."""
    if average is None or not runs or min(runs) - _ROUNDING <= average <= max(runs) + _ROUNDING:
        return ""
    return (
        f"This average pools the calls of all runs, so it can lie outside their range, {min(runs):.3f} to "
        f"{max(runs):.3f}; the mean over runs is {fmean(runs):.3f}."
    )


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


def _errors(results: Sequence[Result]) -> list[dict[str, Any]]:
    """The errors of failed runs, under TOBench's names."""
    found = errors(results)
    return [
        {"group": group, "error": name, "means": ERRORS[name], "runs": found[name].runs, "times": found[name].times}
        for group, names in GROUPS.items()
        for name in names
        if name in found
    ]


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
        "class": class_of(result),
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
    spreads = [
        pstdev([value for result in tries if (value := result.card.average) is not None] or [0.0])
        for tries in attempts
        if len(tries) > 1
    ]
    return {
        "most": most,
        **pass_rates(results),
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
