"""pass@k and pass^k."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from m3bench.server.scoring.repeats import all_of_them, at_least_one


@given(st.lists(st.booleans(), min_size=1, max_size=6), st.integers(1, 6))
def test_the_estimates_equal_trying_every_choice(passed: list[bool], k: int) -> None:
    if k > len(passed):
        with pytest.raises(ValueError, match="at most the number"):
            at_least_one(passed, k)
        return
    choices = list(combinations(passed, k))
    assert at_least_one(passed, k) == pytest.approx(sum(any(choice) for choice in choices) / len(choices))
    assert all_of_them(passed, k) == pytest.approx(sum(all(choice) for choice in choices) / len(choices))


def test_k_is_at_least_one() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        all_of_them([True], 0)
