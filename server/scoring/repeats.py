"""Repeated attempts at the same task: pass@k and pass^k.

Both are the unbiased estimates from n ≥ k attempts of which c passed. pass@k asks whether at least one of k attempts
passes, pass^k whether all of them do; the gap between the two is an agent's unreliability.
"""

from collections.abc import Iterable, Sequence
from math import comb


def pass_at_k(tasks: Iterable[Sequence[bool]], k: int) -> float | None:
    """Mean over tasks of the chance that at least one of k attempts passes.

    Args:
        tasks: For each task, whether each attempt passed.
        k: Attempts allowed. Tasks with fewer attempts are left out; `None` when all are.
    """
    return _mean([1 - comb(n - c, k) / comb(n, k) for n, c in _counts(tasks, k)])


def pass_hat_k(tasks: Iterable[Sequence[bool]], k: int) -> float | None:
    """Mean over tasks of the chance that all of k attempts pass; arguments as in `pass_at_k`."""
    return _mean([comb(c, k) / comb(n, k) for n, c in _counts(tasks, k)])


def _counts(tasks: Iterable[Sequence[bool]], k: int) -> list[tuple[int, int]]:
    if k < 1:
        raise ValueError("k must be at least 1")
    return [(len(passed), sum(passed)) for passed in tasks if len(passed) >= k]


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
