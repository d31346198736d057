"""What a file of predictions cost on its way to a score: everything that was left out or amended, and why."""

from collections import Counter
from collections.abc import Iterator, Sequence

from m3bench.tasks.catalog import load_catalog, nearest
from m3bench.tasks.trajectory_files import NAMELESS, UNREADABLE, Defect, TaskFile

WORDS = {
    "not_run": ("task was not run", "tasks were not run"),
    "no_reference": ("task has no reference", "tasks have no reference"),
    "duplicate": ("id occurs twice", "ids occur twice"),
    "task": ("task cannot be read", "tasks cannot be read"),
    "step": ("step cannot be read", "steps cannot be read"),
    "call": ("call is malformed", "calls are malformed"),
    "unknown_tool": ("call names an unknown tool", "calls name unknown tools"),
}


def skipped_of(expected: TaskFile, actual: TaskFile) -> Iterator[Defect]:
    """Everything in two files that is left out or not scored as it is written."""
    for task in expected.tasks:
        if task not in actual.tasks:
            yield Defect(kind="not_run", task=task, why="there is a reference and no run; not counted as 0")
    for task in actual.tasks:
        if task not in expected.tasks:
            yield Defect(kind="no_reference", task=task, why="there is a run and no reference; left out")
    yield from expected.defects
    yield from actual.defects
    yield from _unknown(expected, actual)


def summary(skipped: Sequence[Defect]) -> str:
    """How many defects of each kind there are, in words."""
    counts: Counter[str] = Counter(defect.kind for defect in skipped)
    parts = [f"{counts[kind]} {words[counts[kind] != 1]}" for kind, words in WORDS.items() if counts[kind]]
    return ", ".join(parts)


def _unknown(expected: TaskFile, actual: TaskFile) -> Iterator[Defect]:
    """Calls of tools that neither the catalog nor any reference has."""
    catalog = load_catalog()
    known = set(catalog.by_tool)
    known |= {call.tool for task in expected.tasks.values() for taken in task.trajectories for call in taken.calls}
    for id in expected.tasks:
        if id not in actual.tasks:
            continue
        for trajectory in actual.tasks[id].trajectories:
            for number, step in enumerate(trajectory.steps):
                for place, call in enumerate(step.calls):
                    if call.tool in known or call.tool == NAMELESS or call.tool.endswith(UNREADABLE):
                        continue
                    close = nearest(call.tool[:200], known, 1)
                    hint = f" (did you mean {close[0]}?)" if close else ""
                    why = f"there is no tool {call.tool[:80]!r}{hint}; counted as a call that answers nothing"
                    yield Defect(kind="unknown_tool", task=id, where=f"steps[{number}].calls[{place}].name", why=why)
