"""Numbers about a set of tasks."""

from typing import Any

from m3bench.tasks.library import Library


def statistics(library: Library) -> dict[str, Any]:
    """Counts over the first reference of each task, shares of tasks with several steps or parallel calls; a hash."""
    ways = [task.references[0].steps for task in library.tasks.values()]
    calls = [call for steps in ways for step in steps for call in step]
    count = max(1, len(ways))
    return {
        "tasks": len(ways),
        "families": len({task.family for task in library.tasks.values()}),
        "servers": len({call.tool.partition("/")[0] for call in calls}),
        "steps": sum(len(steps) for steps in ways),
        "calls": len(calls),
        "tools": len({call.tool for call in calls}),
        "multi_hop": round(sum(len(steps) > 1 for steps in ways) / count, 4),
        "multi_threaded": round(sum(any(len(step) > 1 for step in steps) for steps in ways) / count, 4),
        "hash": library.hash,
    }
