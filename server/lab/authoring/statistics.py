"""Numbers about a set of tasks."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any, TypeAlias

from m3bench.tasks.library import Library
from m3bench.tasks.task import Reference, Task

Shape: TypeAlias = frozenset[tuple[str, frozenset[str]]]
"""The tools of a plan, each with those whose results it needs: the same for two things looked up as for three."""


def statistics(library: Library) -> dict[str, Any]:
    """Counts over the first reference of each task, how unlike the tasks of a family are, and a hash."""
    ways = [task.references[0].steps for task in library.tasks.values()]
    calls = [call for steps in ways for step in steps for call in step]
    count = max(1, len(ways))
    families = _families(library)
    return {
        "tasks": len(ways),
        "families": len(families),
        "servers": len({call.tool.partition("/")[0] for call in calls}),
        "steps": sum(len(steps) for steps in ways),
        "calls": len(calls),
        "tools": len({call.tool for call in calls}),
        "multi_hop": round(sum(len(steps) > 1 for steps in ways) / count, 4),
        "multi_threaded": round(sum(any(len(step) > 1 for step in steps) for steps in ways) / count, 4),
        "plan_shapes": {name: len({shape(library, task) for task in tasks}) for name, tasks in families.items()},
        "max_shared_calls": {name: round(max_shared_calls(tasks), 4) for name, tasks in families.items()},
        "hash": library.hash,
    }


def shape(library: Library, task: Task) -> Shape:
    """How the calls of a task's first reference hang together."""
    tools = [call.tool for step in task.references[0].steps for call in step]
    planned = library.plans(task)[0].calls
    return frozenset(
        (tool, frozenset(tools[place] for place in call.needs)) for tool, call in zip(tools, planned, strict=True)
    )


def max_shared_calls(tasks: Iterable[Task]) -> float:
    """The largest share of its calls that a task has word for word in common with another one."""
    counted = [_calls(task.references[0]) for task in tasks]
    return max((_shared(one, other) for one, other in combinations(counted, 2)), default=0.0)


def _shared(one: Counter[str], other: Counter[str]) -> float:
    return (one & other).total() / max(1, min(one.total(), other.total()))


def _calls(reference: Reference) -> Counter[str]:
    return Counter(
        f"{call.tool} {json.dumps(call.arguments, sort_keys=True)}" for step in reference.steps for call in step
    )


def _families(library: Library) -> Mapping[str, list[Task]]:
    found: dict[str, list[Task]] = defaultdict(list)
    for task in library.tasks.values():
        found[task.family].append(task)
    return found
