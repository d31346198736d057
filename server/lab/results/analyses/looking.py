"""Whether an agent looked at what it had made before it handed it in.

A file is made by a call that is not read-only and names it; it was looked at when a later call that is read-only names
it too. Names are compared without folders. What a result really showed is not asked.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Literal

from m3bench.server.scorecard.model import ActualCall
from m3bench.tasks.table_tools import find_tool

Looked = Literal["no verification", "incomplete verification", "pseudo-verification"]

_FILE = re.compile(r"[^/\\]*\.[A-Za-z][A-Za-z0-9]{1,4}")
"""The name of a file, at the end of a path."""


def looked_at(calls: Iterable[ActualCall]) -> Looked:
    """How far what was made was looked at, for a run whose result is wrong all the same.

    Args:
        calls: In their order.
    """
    seen: dict[str, bool] = {}
    for call in calls:
        if call.failed:
            continue
        tool = find_tool(call.tool)
        looks = tool is not None and tool.read_only
        for name in _files(call.arguments):
            if not looks:
                seen[name] = False
            elif name in seen:
                seen[name] = True
    if not any(seen.values()):
        return "no verification"
    return "pseudo-verification" if all(seen.values()) else "incomplete verification"


def _files(value: object) -> Iterator[str]:
    if isinstance(value, str):
        name = re.split(r"[/\\]", value)[-1]
        if _FILE.fullmatch(name):
            yield name
    elif isinstance(value, dict):
        for part in value.values():
            yield from _files(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _files(part)
