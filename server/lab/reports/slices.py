"""A result set cut by what tasks and runs are: difficulty, measures of it, role, client; and what a solved task takes.

Every slice has the numbers that the whole set has (`reports.summary`), intervals included. What is not known of a task
is put under `unknown`: the level of a task whose set is not at hand, for example.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from m3bench.server.lab.reports.summary import summary
from m3bench.server.lab.results.resultset import Result
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.levels import LEVELS, SETTINGS, level_of, setting_of
from m3bench.tasks.library import Library
from m3bench.tasks.measures import BANDS, band, measures
from m3bench.tasks.roles import role_of
from m3bench.tasks.task import Task

UNKNOWN = "unknown"
ORDER = ("easy", "medium", "hard", *LEVELS, *SETTINGS)


GRADES: Mapping[str, Callable[[Task], str]] = {
    "difficulty": lambda task: task.difficulty,
    "level": level_of,
    "setting": setting_of,
    "role": lambda task: role_of(task) or UNKNOWN,
}
"""What is known of a task: our own grade, the level of MCPVerse, the setting of MCP-Bench, and TOBench's roles."""
CUTS = (*GRADES, *BANDS)
"""By what results are cut, beside the client: what is known of tasks, and what is counted of them, in bands."""


def slices(results: Sequence[Result], library: Library | None) -> dict[str, dict[str, dict[str, Any]]]:
    """The numbers by grade, measure and client; those by family are in the set's own document.

    Args:
        results: The scored samples.
        library: The set of tasks, when it is at hand.
    """
    played = {result.sample.task for result in results}
    tasks = {id: task for id, task in library.tasks.items() if id in played} if library is not None else {}
    known = {cut: {id: of(task) for id, task in tasks.items()} for cut, of in GRADES.items()}
    catalog = load_catalog()
    for id, task in tasks.items():
        counted = measures(task, library.scenes(task) if library is not None else (), catalog)
        for cut in BANDS:
            known.setdefault(cut, {})[id] = band(cut, getattr(counted, cut))
    return {
        **{cut: _cut(results, partial(_known, known.get(cut, {}))) for cut in CUTS},
        "client": _cut(results, _client),
    }


def efficiency(results: Sequence[Result]) -> dict[str, float | None]:
    """What all scored samples took, for each one that was solved; None where none was, or no price is known."""
    solved = sum(result.card.success is True for result in results)
    costs = [result.sample.usage.cost for result in results]
    known = [cost for cost in costs if cost is not None]
    totals = {
        "calls": float(sum(result.card.calls for result in results)),
        "tokens": float(sum(one.sample.usage.input_tokens + one.sample.usage.output_tokens for one in results)),
        "cost": math.fsum(known) if len(known) == len(costs) else None,
        "seconds": math.fsum(result.sample.seconds for result in results),
    }
    return {
        "solved": float(solved),
        **{
            f"{name}_per_solved": None if total is None or not solved else total / solved
            for name, total in totals.items()
        },
    }


def _cut(results: Sequence[Result], key: Callable[[Result], str]) -> dict[str, dict[str, Any]]:
    parts: dict[str, list[Result]] = {}
    for result in results:
        parts.setdefault(key(result), []).append(result)
    return {name: summary(parts[name]) for name in sorted(parts, key=_place)}


def _place(name: str) -> tuple[int, int, str]:
    """Grades in their order, bands by where they begin, names by the alphabet, and what is not known last."""
    begins = re.match(r"\d+", name)
    return (
        ORDER.index(name) if name in ORDER else len(ORDER) + (name == UNKNOWN),
        int(begins[0]) if begins else 0,
        name,
    )


def _known(values: Mapping[str, str], result: Result) -> str:
    return values.get(result.sample.task, UNKNOWN)


def _client(result: Result) -> str:
    client = result.card.client
    return client.name if client is not None and client.name else UNKNOWN
