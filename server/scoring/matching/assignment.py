"""The assignment of actual calls to reference calls of one tool: Hungarian, on a table of similarities.

The assignment has as many pairs as possible with similarity at or above the weak threshold, and among those the
smallest total of 1 − similarity. The module needs numpy, so it is imported when there is a table to solve.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from m3bench.tasks.lazy_modules import LazyModule

# Importing it costs more than scoring a run, so it waits until it is needed.
if TYPE_CHECKING:
    from scipy import optimize
else:
    optimize = LazyModule("scipy.optimize")

Floats = npt.NDArray[np.floating]

_PROHIBITIVE = 1e6
"""Cost of a pair below the threshold; outweighs every sum of real costs."""


def cosines(rows: Sequence[str], columns: Sequence[str], vectors: Mapping[str, Floats], ceiling: float = 1.0) -> Floats:
    """The cosine of every row and column; exactly 1 where the keys are equal, at most `ceiling` elsewhere.

    Args:
        rows: Keys of the reference calls.
        columns: Keys of the actual calls.
        vectors: Unit vectors by key.
        ceiling: Highest similarity of calls that are not equal.
    """
    row_of = {key: row for row, key in enumerate(dict.fromkeys(rows))}
    column_of = {key: column for column, key in enumerate(dict.fromkeys(columns))}
    table = np.stack([vectors[key] for key in row_of]) @ np.stack([vectors[key] for key in column_of]).T
    table = np.clip(table.astype(np.float64), -1.0, ceiling)
    for key in row_of.keys() & column_of.keys():
        table[row_of[key], column_of[key]] = 1.0
    return table[np.ix_([row_of[key] for key in rows], [column_of[key] for key in columns])]


def best_pairs(table: Sequence[Sequence[float]], threshold: float) -> list[tuple[int, int]]:
    """As `assign`, of a table in lists."""
    return assign(np.array(table), threshold)


def assign(similarity: Floats, threshold: float) -> list[tuple[int, int]]:
    """Row and column of each pair at or above the threshold, in row order.

    When every row that can match has one best column and no two rows share it (or the same for columns), that is
    the only optimum. Otherwise scipy decides, on the whole table, so that ties break as in the public evaluator.
    """
    allowed = similarity >= threshold
    if not allowed.any():
        return []
    costs = np.where(allowed, 1.0 - similarity, _PROHIBITIVE)
    pairs = _forced(costs, allowed)
    if pairs is None:
        pairs = [(row, column) for column, row in _forced(costs.T, allowed.T) or ()]
    if not pairs:
        rows, columns = optimize.linear_sum_assignment(costs)
        pairs = [(int(row), int(column)) for row, column in zip(rows, columns, strict=True)]
    return sorted((row, column) for row, column in pairs if allowed[row, column])


def _forced(costs: Floats, allowed: npt.NDArray[np.bool_]) -> list[tuple[int, int]] | None:
    """The row-wise minima, when they alone can be the optimum; `None` when that is not certain.

    Rows without an allowed column match nothing whatever the others do. For the rest, the row minima bound the
    total from below; distinct columns reach the bound, and strict minima reach it in one way only. A single row
    takes its first minimum, as the solver does.
    """
    rows: list[int] = np.flatnonzero(allowed.any(axis=1)).tolist()
    best = [int(column) for column in costs[rows].argmin(axis=1)]
    if len(set(best)) < len(best):
        return None
    if len(costs) > 1:
        for row, column in zip(rows, best, strict=True):
            if (costs[row] == costs[row, column]).sum() > 1:
                return None
    return list(zip(rows, best, strict=True))
