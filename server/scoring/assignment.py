"""Which actual calls of a tool go with which reference calls: equal ones at once, the others by the best assignment."""

import json
from collections import deque
from collections.abc import Sequence

from m3bench.server.scoring.align import assign
from m3bench.tasks.trajectory import Call

WEAK = 0.60
"""Similarity from which two calls match."""


def equal_pairs(references: Sequence[Call], actuals: Sequence[Call]) -> dict[int, int]:
    """Reference calls and actual calls that are written the same, by their places, each of them once."""
    waiting: dict[str, deque[int]] = {}
    for place, call in enumerate(actuals):
        waiting.setdefault(_key(call), deque()).append(place)
    return {place: queue.popleft() for place, call in enumerate(references) if (queue := waiting.get(_key(call)))}


def _key(call: Call) -> str:
    return json.dumps(call.arguments, sort_keys=True)


def assigned(table: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """The best assignment; a single row or column takes the first of its best."""
    if len(table) > 1 and len(table[0]) > 1:
        import numpy as np

        return assign(np.array(table), WEAK)
    similarity, row, column = max(
        (value, -row, -column) for row, line in enumerate(table) for column, value in enumerate(line)
    )
    return [(-row, -column)] if similarity >= WEAK else []
