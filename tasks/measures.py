"""How hard a task is, in numbers that can be counted: steps, width, tools nobody needs, things to see, rounds of work.

All are read off the reference with the fewest calls, as levels are (`levels`), and off the picture. None of them is a
judgement; which of them costs an agent points is for results to show.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from m3bench.tasks.catalog import Catalog
from m3bench.tasks.kinds import kinds_of
from m3bench.tasks.levels import shortest
from m3bench.tasks.scene import Scene
from m3bench.tasks.task import Task


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
    """How often work on a file begins anew after something was looked at or looked up; 0 when no file is made."""


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
