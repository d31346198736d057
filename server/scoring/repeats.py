"""Repeated attempts at the same task: pass@k and pass^k.

Both are the unbiased estimates from n ≥ k attempts of which c passed. pass@k asks whether at least one of k attempts
passes, pass^k whether all of them do; the gap between the two is an agent's unreliability. Tasks are averaged, with an
interval, by `statistics.estimates`.
"""

from collections.abc import Sequence
from math import comb


def pass_at_k(passed: Sequence[bool], k: int) -> float:
    """The chance that at least one of k attempts at a task passes, given whether each of n ≥ k attempts did."""
    n, c = _counts(passed, k)
    return 1 - comb(n - c, k) / comb(n, k)


def pass_hat_k(passed: Sequence[bool], k: int) -> float:
    """The chance that all of k attempts at a task pass; arguments as in `pass_at_k`."""
    n, c = _counts(passed, k)
    return comb(c, k) / comb(n, k)


def _counts(passed: Sequence[bool], k: int) -> tuple[int, int]:
    if not 1 <= k <= len(passed):
        raise ValueError("k must be at least 1 and at most the number of attempts")
    return len(passed), sum(passed)
