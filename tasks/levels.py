"""How hard a task is and of which type: the levels of other benchmarks, and measures that can be counted.

MCP-Bench tells tasks of one server from those of several. MCPVerse has three levels: one or two steps with a single
tool, about five steps, more; and three types: something is looked up, done to files, or both. The measures are steps,
width, tools nobody needs, things to see and rounds of work. All are read off the reference with the fewest calls, and
of those the one with the fewest servers, and off the pictures. None is a judgement: results show which of them costs
an agent points.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Literal, NamedTuple, TypeAlias

from m3bench.tasks.catalog import Catalog
from m3bench.tasks.errors import UserError
from m3bench.tasks.kinds import kinds_of
from m3bench.tasks.scene import Scene
from m3bench.tasks.task import ReferenceCall, Task

Setting: TypeAlias = Literal["single", "multi"]
Level: TypeAlias = Literal["L1", "L2", "L3"]
Kind: TypeAlias = Literal["information retrieval", "system interaction", "hybrid"]

SETTINGS: tuple[Setting, ...] = ("single", "multi")
LEVELS: tuple[Level, ...] = ("L1", "L2", "L3")
KINDS: tuple[Kind, ...] = ("information retrieval", "system interaction", "hybrid")

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


def kind_of(task: Task) -> Kind:
    """MCPVerse's type of task, by the roles of the tools of the shortest reference.

    What looks something up retrieves; what makes, changes or reads files, or computes, interacts with the system.
    """
    roles = {kinds_of(call.tool).role for step in shortest(task) for call in step}
    if "knowledge" not in roles:
        return "system interaction"
    return "hybrid" if "action" in roles else "information retrieval"


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


class Measures(NamedTuple):
    """What makes a task hard, counted."""

    steps: int
    """Steps, one after another."""
    width: int
    """Calls of the widest step."""
    unneeded_tools: int
    """Tools that the standard profile shows and the reference does not use."""
    things_seen: int
    """Things and lines of writing in the pictures."""
    rounds: int
    """How often work on a file starts again after something was looked at or looked up; 0 when no file is made."""


BANDS: dict[str, tuple[int, ...]] = {
    "steps": (1, 3, 4, 5),
    "width": (1, 2, 4),
    "unneeded_tools": (0, 50, 100, 150),
    "things_seen": (0, 10, 20, 30),
    "rounds": (0, 1, 2, 3),
}
"""Where the bands begin in which results are shown."""


WORDS = {
    "steps": "steps",
    "width": "at once",
    "unneeded_tools": "tools too many",
    "things_seen": "things to see",
    "rounds": "rounds of work",
}
"""What is counted, said behind a band."""


def measures(task: Task, scenes: Sequence[Scene], catalog: Catalog) -> Measures:
    """What makes a task hard.

    Args:
        task: The task.
        scenes: What is in its pictures.
        catalog: The tools there are.
    """
    steps = shortest(task)
    used = {call.tool for step in steps for call in step}
    shown = {tool.qualified for tool in catalog.tools if tool.server in {*task.servers, *task.distractors}}
    makes = [any(kinds_of(call.tool).role == "action" for call in step) for step in steps]
    return Measures(
        steps=len(steps),
        width=max(map(len, steps), default=0),
        unneeded_tools=len(shown - used),
        things_seen=sum(len(scene.objects) + len(scene.texts) for scene in scenes),
        rounds=sum(made for made, _ in groupby(makes)),
    )


def band(measure: str, value: int) -> str:
    """The band that a number is in: `4 steps`, `50–99 tools too many`, `30+ things to see`."""
    starts = BANDS[measure]
    low = max((start for start in starts if start <= value), default=starts[0])
    above = [start for start in starts if start > low]
    if not above:
        return f"{low}+ {WORDS[measure]}"
    return f"{low} {WORDS[measure]}" if above[0] == low + 1 else f"{low}–{above[0] - 1} {WORDS[measure]}"
