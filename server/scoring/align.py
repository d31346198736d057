"""Which actual call answers which reference call: similarity-bucketed Hungarian assignment.

Only calls of the same tool may match. In each tool's bucket the assignment has as many pairs as possible with
similarity at or above the weak threshold, and among those the smallest total of 1 − similarity. Most buckets are
decided without embedding or solving anything; each shortcut below gives the result the solver would give, ties
included, so that match sets equal the public evaluator's. Vectors come in from outside: this module embeds nothing.
"""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.floating]

_PROHIBITIVE = 1e6
"""Cost of a pair below the threshold; outweighs every sum of real costs."""


class Keyed(NamedTuple):
    """A call as alignment sees it."""

    place: int
    """Index among the flattened calls."""
    tool: str
    text: str
    key: str
    """Equal keys are equal calls: similarity 1, with nothing to compute."""


class Pair(NamedTuple):
    """A reference call and the actual call that answers it, as indices of the flattened calls."""

    reference: int
    actual: int
    similarity: float


@dataclass(frozen=True, kw_only=True)
class Bucket:
    """The calls of one tool on both sides."""

    reference: tuple[Keyed, ...]
    actual: tuple[Keyed, ...]

    @property
    def texts(self) -> dict[str, str]:
        """What must be embedded to solve it: texts by key."""
        return {call.key: call.text for call in self.reference + self.actual}


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is known without embedding, and what is left to solve."""

    settled: tuple[Pair, ...]
    open: tuple[Bucket, ...]


def plan(reference: Iterable[Keyed], actual: Iterable[Keyed]) -> Plan:
    """Split the calls into buckets and settle those that need no similarity.

    A tool on one side only has no matches. When the keys of one side are contained in those of the other, pairing
    equal keys costs nothing and so is optimal; of several equal keys the first go together, as in the solver.
    """
    settled: list[Pair] = []
    unsettled: list[Bucket] = []
    actual_by_tool = _by_tool(actual)
    for tool, references in _by_tool(reference).items():
        actuals = actual_by_tool.get(tool)
        if actuals is None:
            continue
        if _contained(references, actuals):
            settled += _pair_equal(references, actuals)
        else:
            unsettled.append(Bucket(reference=tuple(references), actual=tuple(actuals)))
    return Plan(settled=tuple(settled), open=tuple(unsettled))


def solve(bucket: Bucket, vectors: Mapping[str, "Floats"], threshold: float, ceiling: float = 1.0) -> Iterator[Pair]:
    """The best assignment in one bucket.

    Args:
        bucket: The calls of one tool.
        vectors: Unit vectors by key, of all the bucket's texts.
        threshold: The weak threshold.
        ceiling: Highest similarity of calls that are not equal.
    """
    similarity = similarities(bucket, vectors, ceiling)
    for row, column in assign(similarity, threshold):
        yield Pair(bucket.reference[row].place, bucket.actual[column].place, float(similarity[row, column]))


def similarities(bucket: Bucket, vectors: Mapping[str, "Floats"], ceiling: float = 1.0) -> "Floats":
    """Cosines, rows for reference calls; exactly 1 where the keys are equal, at most `ceiling` elsewhere."""
    import numpy as np

    rows = {key: row for row, key in enumerate(dict.fromkeys(call.key for call in bucket.reference))}
    columns = {key: column for column, key in enumerate(dict.fromkeys(call.key for call in bucket.actual))}
    table = np.stack([vectors[key] for key in rows]) @ np.stack([vectors[key] for key in columns]).T
    table = np.clip(table.astype(np.float64), -1.0, ceiling)
    for key in rows.keys() & columns.keys():
        table[rows[key], columns[key]] = 1.0
    return table[np.ix_([rows[call.key] for call in bucket.reference], [columns[call.key] for call in bucket.actual])]


def assign(similarity: "Floats", threshold: float) -> list[tuple[int, int]]:
    """Row and column of each pair at or above the threshold, in row order.

    When every row that can match has one best column and no two rows share it (or the same for columns), that is
    the only optimum. Otherwise scipy decides, on the whole table, so that ties break as in the public evaluator.
    """
    import numpy as np

    allowed = similarity >= threshold
    if not allowed.any():
        return []
    costs = np.where(allowed, 1.0 - similarity, _PROHIBITIVE)
    pairs = _forced(costs, allowed)
    if pairs is None:
        pairs = [(row, column) for column, row in _forced(costs.T, allowed.T) or ()]
    if not pairs:
        # Importing scipy.optimize costs more than scoring a run, so it waits until it is needed.
        from scipy.optimize import linear_sum_assignment

        rows, columns = linear_sum_assignment(costs)
        pairs = [(int(row), int(column)) for row, column in zip(rows, columns, strict=True)]
    return sorted((row, column) for row, column in pairs if allowed[row, column])


def _forced(costs: "Floats", allowed: "npt.NDArray[np.bool_]") -> list[tuple[int, int]] | None:
    """The row-wise minima, when they alone can be the optimum; `None` when that is not certain.

    Rows without an allowed column match nothing whatever the others do. For the rest, the row minima bound the
    total from below; distinct columns reach the bound, and strict minima reach it in one way only. A single row
    takes its first minimum, as the solver does.
    """
    import numpy as np

    rows: list[int] = np.flatnonzero(allowed.any(axis=1)).tolist()
    best = [int(column) for column in costs[rows].argmin(axis=1)]
    if len(set(best)) < len(best):
        return None
    if len(costs) > 1:
        for row, column in zip(rows, best, strict=True):
            if (costs[row] == costs[row, column]).sum() > 1:
                return None
    return list(zip(rows, best, strict=True))


def _by_tool(calls: Iterable[Keyed]) -> dict[str, list[Keyed]]:
    buckets: dict[str, list[Keyed]] = {}
    for call in calls:
        buckets.setdefault(call.tool, []).append(call)
    return buckets


def _contained(one: Sequence[Keyed], other: Sequence[Keyed]) -> bool:
    if len(one) == len(other) == 1:
        return one[0].key == other[0].key
    small, large = sorted((Counter(call.key for call in side) for side in (one, other)), key=Counter.total)
    return small <= large


def _pair_equal(references: Sequence[Keyed], actuals: Sequence[Keyed]) -> Iterator[Pair]:
    waiting: dict[str, deque[Keyed]] = {}
    for call in actuals:
        waiting.setdefault(call.key, deque()).append(call)
    for call in references:
        if queue := waiting.get(call.key):
            yield Pair(call.place, queue.popleft().place, 1.0)
