"""A result set cut by what tasks and runs are: difficulty, family, client; and what a solved task takes.

Every slice has the numbers that the whole set has (`reports.summary`), intervals included. What is not known of a task
is put under `unknown`: the difficulty of a task whose set is not at hand, for example.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from m3bench.server.results.reports.summary import summary
from m3bench.server.results.resultset import Result

UNKNOWN = "unknown"
ORDER = ("easy", "medium", "hard")


def slices(results: Sequence[Result], difficulty: Mapping[str, str]) -> dict[str, dict[str, dict[str, Any]]]:
    """The numbers by difficulty and by client; those by family are in the set's own document.

    Args:
        results: The scored samples.
        difficulty: Of each task that is known.
    """
    return {
        "difficulty": _cut(results, lambda result: difficulty.get(result.sample.task, UNKNOWN)),
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


def _place(name: str) -> tuple[int, str]:
    return (ORDER.index(name) if name in ORDER else len(ORDER), name)


def _client(result: Result) -> str:
    client = result.card.client
    return client.name if client is not None and client.name else UNKNOWN
