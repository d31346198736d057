"""pass@k and pass^k."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from m3bench.server.scoring.statistics.estimates import pass_at_k, pass_hat_k


@given(st.lists(st.booleans(), min_size=1, max_size=6), st.integers(1, 6))
def test_the_estimates_equal_trying_every_choice(passed: list[bool], k: int) -> None:
    if k > len(passed):
        with pytest.raises(ValueError, match="at most the number"):
            pass_at_k(passed, k)
        return
    choices = list(combinations(passed, k))
    assert pass_at_k(passed, k) == pytest.approx(sum(any(choice) for choice in choices) / len(choices))
    assert pass_hat_k(passed, k) == pytest.approx(sum(all(choice) for choice in choices) / len(choices))


def test_k_is_at_least_one() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        pass_hat_k([True], 0)
