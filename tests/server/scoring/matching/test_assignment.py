"""Alignment: one-to-one, same tool only, optimal, and with the solver's own ties."""

import itertools

import numpy as np
import numpy.typing as npt
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from m3bench.server.scoring.matching.assignment import assign, cosines
from m3bench.server.scoring.matching.text import Bucket, KeyedCall, in_buckets, solve
from tests.examples import examples

WEAK = 0.6


def keyed(*texts: str, tool: str = "t") -> list[KeyedCall]:
    return [KeyedCall(place, tool, text, text) for place, text in enumerate(texts)]


def solver(similarity: npt.NDArray[np.float64]) -> list[tuple[int, int]]:
    """What the public evaluator does in a bucket."""
    costs = np.where(similarity >= WEAK, 1 - similarity, 1e6)
    pairs = zip(*linear_sum_assignment(costs), strict=True)
    return [(int(row), int(column)) for row, column in pairs if similarity[row, column] >= WEAK]


def brute_force(similarity: npt.NDArray[np.float64]) -> tuple[int, float]:
    """The most pairs that can match, and the least they can cost."""
    table = similarity if similarity.shape[0] <= similarity.shape[1] else similarity.T
    rows, columns = table.shape
    best = (0, 0.0)
    for order in itertools.permutations(range(columns), rows):
        values = [table[row, column] for row, column in enumerate(order) if table[row, column] >= WEAK]
        best = max(best, (len(values), sum(values)))
    return best


# Few values, so that ties are common; some below the threshold.
tables = st.tuples(st.integers(1, 5), st.integers(1, 5), st.randoms(use_true_random=False)).map(
    lambda drawn: np.array(
        [[drawn[2].choice((0.2, 0.5, 0.6, 0.61, 0.7, 0.9, 1.0)) for _ in range(drawn[1])] for _ in range(drawn[0])]
    )
)


@settings(max_examples=examples(300))
@given(tables)
def test_pairs_equal_the_solvers_ties_included(table: npt.NDArray[np.float64]) -> None:
    assert assign(table, WEAK) == solver(table)


@settings(max_examples=examples(200))
@given(tables)
def test_pairs_are_one_to_one_and_optimal(table: npt.NDArray[np.float64]) -> None:
    pairs = assign(table, WEAK)
    assert len({row for row, _ in pairs}) == len({column for _, column in pairs}) == len(pairs)
    count, total = brute_force(table)
    assert len(pairs) == count
    assert sum(table[pair] for pair in pairs) == np.float64(total) or np.isclose(
        sum(table[pair] for pair in pairs), total, atol=1e-12
    )


def test_random_tables_need_the_solver_and_get_its_answer() -> None:
    random = np.random.default_rng(3)
    for _ in range(200):
        table = random.random(tuple(random.integers(1, 9, 2)))
        assert assign(table, WEAK) == solver(table)


@settings(max_examples=examples(200))
@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=6), st.data())
def test_a_contained_side_is_settled_as_the_solver_would(large: list[str], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(large))
    small = shuffled[: data.draw(st.integers(1, len(large)))]
    for reference, actual in ((small, large), (large, small)):
        found = in_buckets(keyed(*reference), keyed(*actual))
        assert found.open == ()
        table = np.array([[1.0 if one == other else 0.7 for other in actual] for one in reference])
        assert [(pair.reference, pair.actual) for pair in sorted(found.settled)] == solver(table)
        assert all(pair.similarity == 1.0 for pair in found.settled)


def test_a_tool_on_one_side_only_has_no_pairs() -> None:
    found = in_buckets(keyed("x", tool="one"), keyed("x", tool="other"))
    assert (found.settled, found.open) == ((), ())


def test_tools_are_settled_apart_from_each_other() -> None:
    reference = [KeyedCall(0, "a", "x", "x"), KeyedCall(1, "b", "y", "y")]
    actual = [KeyedCall(0, "b", "y", "y"), KeyedCall(1, "a", "z", "z")]
    found = in_buckets(reference, actual)
    assert [(pair.reference, pair.actual) for pair in found.settled] == [(1, 0)]
    assert [bucket.texts for bucket in found.open] == [{"x": "x", "z": "z"}]


def test_equal_keys_are_exactly_one_and_the_rest_at_most_the_ceiling() -> None:
    vector = np.array([0.6, 0.8], np.float32)
    vectors = {"x": vector, "y": vector, "z": np.array([1.0, 0.0], np.float32)}
    bucket = Bucket(reference=tuple(keyed("x", "z")), actual=tuple(keyed("y", "x")))
    table = cosines(["x", "z"], ["y", "x"], vectors, ceiling=0.99)
    assert table[0].tolist() == [0.99, 1.0]
    assert np.allclose(table[1], [0.6, 0.6])
    assert [(pair.reference, pair.actual) for pair in solve(bucket, vectors, 0.5, 0.99)] == [(0, 1), (1, 0)]


def test_nothing_below_the_threshold_is_paired() -> None:
    assert assign(np.array([[0.59, 0.1], [0.3, 0.59]]), WEAK) == []
    assert assign(np.array([[0.60]]), WEAK) == [(0, 0)]
