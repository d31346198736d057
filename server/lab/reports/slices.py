"""A result set cut by what tasks and runs are: difficulty, measures of it, role, client; and what a solved task takes.

Every slice has the numbers that the whole set has (`reports.summary`), intervals included. What is not known of a task
is put under `unknown`: the level of a task whose set is not at hand, for example.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from m3bench.server.lab.reports.summary import Slices, Summary, summary
from m3bench.server.lab.results.documents import JsonDocument
from m3bench.server.lab.results.resultset import Result, ResultSet, task_set_of
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.levels import BANDS, KINDS, LEVELS, SETTINGS, band, kind_of, level_of, measures, setting_of
from m3bench.tasks.library import Library
from m3bench.tasks.roles import role_of
from m3bench.tasks.task import Task

UNKNOWN = "unknown"
ORDER = ("easy", "medium", "hard", *LEVELS, *KINDS, *SETTINGS)


GRADES: Mapping[str, Callable[[Task], str]] = {
    "difficulty": lambda task: task.difficulty,
    "level": level_of,
    "type": kind_of,
    "setting": setting_of,
    "role": lambda task: role_of(task) or UNKNOWN,
}
"""What is known of a task: our own grade, level and type of MCPVerse, the setting of MCP-Bench, and TOBench's roles."""
CUTS = (*GRADES, *BANDS)
"""By what results are cut, beside the client: what is known of tasks, and what is counted of them, in bands."""


def set_at_hand(results: ResultSet, libraries: Sequence[Library]) -> Library | None:
    """The set of tasks that a result set was made with; None when it is not at hand."""
    hashes = {task_set_of(manifest).get("hash") for manifest in results.manifests} | {results.header.set_hash}
    return next((library for library in libraries if library.hash in hashes), None)


def slices(results: Sequence[Result], library: Library | None) -> Slices:
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


def success_rate(levels: Mapping[str, Summary]) -> float | None:
    """MCPVerse's SR: the mean of what is solved of each level, however many tasks a level has."""
    known = [levels[name].success for name in LEVELS if name in levels]
    found = [value for value in known if value is not None]
    return math.fsum(found) / len(found) if found else None


@dataclass(frozen=True, kw_only=True)
class Efficiency(JsonDocument):
    """What all scored samples took, for each one that was solved; None where none was, or no price is known."""

    solved: float
    calls_per_solved: float | None
    tokens_per_solved: float | None
    cost_per_solved: float | None
    seconds_per_solved: float | None


def efficiency(results: Sequence[Result]) -> Efficiency:
    """What solving takes."""
    solved = sum(result.card.success is True for result in results)
    costs = [result.sample.usage.cost for result in results]
    known = [cost for cost in costs if cost is not None]

    def per_solved(total: float | None) -> float | None:
        return None if total is None or not solved else total / solved

    tokens = sum(result.sample.usage.input_tokens + result.sample.usage.output_tokens for result in results)
    return Efficiency(
        solved=float(solved),
        calls_per_solved=per_solved(float(sum(result.card.calls for result in results))),
        tokens_per_solved=per_solved(float(tokens)),
        cost_per_solved=per_solved(math.fsum(known) if len(known) == len(costs) else None),
        seconds_per_solved=per_solved(math.fsum(result.sample.seconds for result in results)),
    )


def _cut(results: Sequence[Result], key: Callable[[Result], str]) -> dict[str, Summary]:
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
