"""pass@k and pass^k."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from m3bench.server.scoring.repeats import pass_at_k, pass_hat_k


@given(st.lists(st.booleans(), min_size=1, max_size=6), st.integers(1, 6))
def test_the_estimates_equal_trying_every_choice(passed: list[bool], k: int) -> None:
    choices = list(combinations(passed, k))
    if not choices:
        assert pass_at_k([passed], k) is pass_hat_k([passed], k) is None
        return
    assert pass_at_k([passed], k) == pytest.approx(sum(any(choice) for choice in choices) / len(choices))
    assert pass_hat_k([passed], k) == pytest.approx(sum(all(choice) for choice in choices) / len(choices))


def test_tasks_are_averaged_and_those_with_too_few_attempts_left_out() -> None:
    tasks = [[True, True], [True, False], [True]]
    assert pass_at_k(tasks, 2) == 1.0
    assert pass_hat_k(tasks, 2) == 0.5
    assert pass_at_k(tasks, 1) == pytest.approx((1 + 0.5 + 1) / 3)


def test_k_is_at_least_one() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        pass_at_k([[True]], 0)
