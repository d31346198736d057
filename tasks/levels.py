"""How other benchmarks sort tasks, applied to ours: by how many servers a task needs, and by how many calls.

MCP-Bench tells tasks of one server from those of several. MCPVerse has three levels: one or two steps with a single
tool, about five steps, more. Both are read off the references: of several the one with the fewest calls counts, and of
those the one with the fewest servers.
"""

from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

from m3bench.tasks.errors import UserError
from m3bench.tasks.task import ReferenceCall, Task

Setting: TypeAlias = Literal["single", "multi"]
Level: TypeAlias = Literal["L1", "L2", "L3"]

SETTINGS: tuple[Setting, ...] = ("single", "multi")
LEVELS: tuple[Level, ...] = ("L1", "L2", "L3")

Steps: TypeAlias = tuple[tuple[ReferenceCall, ...], ...]

MOST_CALLS = (2, 5)
"""Calls of a task of the first level at most, and of the second."""


def setting_of(task: Task) -> Setting:
    """Whether the shortest reference uses one server or several."""
    return "single" if len(_servers(shortest(task))) <= 1 else "multi"


def level_of(task: Task) -> Level:
    """By the calls of the shortest reference; the first level is for one server alone."""
    calls = sum(map(len, shortest(task)))
    if calls <= MOST_CALLS[0] and setting_of(task) == "single":
        return "L1"
    return "L2" if calls <= MOST_CALLS[1] else "L3"


def of_kind(tasks: Iterable[Task], setting: str | None, levels: Sequence[str]) -> list[Task]:
    """The tasks of a setting and of some levels; neither given means all.

    Raises:
        UserError: There is no such setting or level, or no task of it.
    """
    if setting is not None and setting not in SETTINGS:
        raise UserError(f"There is no setting {setting!r}: choose {' or '.join(SETTINGS)}.")
    for level in levels:
        if level not in LEVELS:
            raise UserError(f"There is no level {level!r}: choose {', '.join(LEVELS)}.")
    given = list(tasks)
    found = [
        task
        for task in given
        if (setting is None or setting_of(task) == setting) and (not levels or level_of(task) in levels)
    ]
    if given and not found:
        asked = " and ".join([*([setting] if setting else []), *([", ".join(levels)] if levels else [])])
        raise UserError(f"None of the {len(given)} chosen tasks is {asked}: choose another --setting or --level.")
    return found


def shortest(task: Task) -> Steps:
    """The steps of the reference with the fewest calls, and of those with the fewest servers."""
    return min(
        (reference.steps for reference in task.references),
        key=lambda steps: (sum(map(len, steps)), len(_servers(steps))),
    )


def _servers(steps: Steps) -> set[str]:
    return {call.tool.partition("/")[0] for step in steps for call in step}
