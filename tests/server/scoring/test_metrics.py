"""Each metric of the paper by hand, and what holds in every profile, degenerate cases included."""

import math
import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from m3bench.server.scoring.alignment import CallAlignment, CallMatch
from m3bench.server.scoring.metrics import order
from m3bench.server.scoring.profiles import AVERAGED, EFFECT, M3, OPEN_M3_BENCH, PROFILES, Profile
from m3bench.tasks.plan import Plan, PlannedCall
from tests.examples import examples

NAMES = (*M3.metrics, "average")


def aligned(links: Sequence[tuple[int, int, float]], reference: Sequence[int], actual: Sequence[int]) -> CallAlignment:
    """An alignment with matches between these steps, which have so many calls."""
    starts = [[sum(sizes[:step]) for step in range(len(sizes))] for sizes in (reference, actual)]
    free = [[iter(range(start, start + size)) for start, size in zip(*each, strict=True)]
            for each in ((starts[0], reference), (starts[1], actual))]  # fmt: skip
    matches = {
        next(free[0][ours]): CallMatch(actual=(next(free[1][theirs]),), similarity=similarity)
        for ours, theirs, similarity in links
    }
    return CallAlignment(
        matches=matches,
        reference_sizes=tuple(reference),
        actual_steps=tuple(step for step, size in enumerate(actual) for _ in range(size)),
        # Every step needs the one before it, which only `effect` asks.
        plan=Plan(
            calls=tuple(
                PlannedCall(needs=tuple(range(starts[0][step - 1], starts[0][step])) if step else ())
                for step, size in enumerate(reference)
                for _ in range(size)
            )
        ),
    )


def values(profile: Profile, alignment: CallAlignment) -> dict[str, float | None]:
    found, failures = profile.measure(alignment)
    assert failures == {}
    return found


# Reference: step 0 with three calls, step 1 with one. Two of step 0 fall in actual steps 0 and 1, in the latter
# together with the match of step 1; one match is weak.
MIXED = aligned([(0, 0, 1.0), (0, 1, 0.9), (1, 1, 0.7)], (3, 1), (2, 2, 0))
PURITY = 1 - (1.6 / 2.6) * -(
    0.9 / 1.6 * math.log(0.9 / 1.6) + 0.7 / 1.6 * math.log(0.7 / 1.6)
) / math.log(2)  # fmt: skip


def test_m3_by_hand() -> None:
    assert values(M3, MIXED) == pytest.approx(
        {
            "recall": 3 / 4,
            "precision": 3 / 4,
            "argument_similarity": 0.95 * 3 / 4,
            "argument_similarity_all": 2.6 / 3 * 3 / 4,
            "argument_similarity_strong": 0.95 * 2 / 4,
            "step_coherence": (2 / 2 + 1) / 3 * 3 / 4,
            "order_consistency": 1.0 * 3 / 4,
            "merge_purity": PURITY * 3 / 4,
            "average": (3 / 4 * (1 + 1 + 0.95 + 2 / 3 + 1 + PURITY)) / 6,
        }
    )


def test_open_m3_bench_by_hand() -> None:
    assert values(OPEN_M3_BENCH, MIXED) == pytest.approx(
        {
            "recall": 3 / 4,
            "precision": 3 / 4,
            "argument_similarity": 2.6 / 4,
            "argument_similarity_all": 2.6 / 4,
            "argument_similarity_strong": 1.9 / 4,
            "step_coherence": ((2 / 3) / 2 * 3 + 1 * 1) / 4,
            "order_consistency": (2 * 1) / (3 * 1),
            "merge_purity": PURITY * 3 / 4,
            "average": (3 / 4 + 3 / 4 + 2.6 / 4 + 2 / 4 + 2 / 3 + PURITY * 3 / 4) / 6,
        }
    )


def test_turned_round_steps_are_inversions() -> None:
    turned = aligned([(0, 2, 1.0), (1, 1, 1.0), (2, 0, 1.0)], (1, 1, 1), (1, 1, 1))
    half = aligned([(0, 1, 1.0), (1, 2, 1.0), (2, 0, 1.0)], (1, 1, 1), (1, 1, 1))
    assert values(M3, turned)["order_consistency"] == 0.0
    assert values(M3, half)["order_consistency"] == pytest.approx(1 / 3)
    assert values(OPEN_M3_BENCH, half)["order_consistency"] == pytest.approx(1 / 3)


def test_pairs_in_one_step_on_either_side_are_not_comparable() -> None:
    merged = aligned([(0, 0, 1.0), (1, 0, 1.0)], (1, 1), (2,))
    assert order(merged) == (0, 0)
    assert values(M3, merged)["order_consistency"] == 1.0
    assert values(M3, merged)["merge_purity"] == pytest.approx(0.0)


@settings(max_examples=examples(100))
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12))
def test_counting_pairs_quickly_equals_counting_them_all(pairs: list[tuple[int, int]]) -> None:
    comparable = inverted = 0
    for place, (a, b) in enumerate(pairs):
        for c, d in pairs[place + 1 :]:
            if a != c and b != d:
                comparable += 1
                inverted += (a < c) != (b < d)
    assert order(aligned([(a, b, 1.0) for a, b in pairs], (12,) * 6, (12,) * 6)) == (comparable, inverted)


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
@pytest.mark.parametrize(("reference", "actual"), [((2, 1), ()), ((), (1, 2)), ((0,), (3,)), ((1,), (1,))], ids=str)
def test_without_matches_everything_is_zero(profile: Profile, reference: Sequence[int], actual: Sequence[int]) -> None:
    assert values(profile, aligned([], reference, actual)) == dict.fromkeys((*profile.metrics, "average"), 0.0)


@pytest.mark.parametrize("sizes", [((), ()), ((0, 0), (0,))], ids=["no steps", "empty steps"])
def test_doing_nothing_when_nothing_was_to_be_done(sizes: tuple[Sequence[int], Sequence[int]]) -> None:
    empty = aligned([], *sizes)
    assert values(M3, empty) == dict.fromkeys(NAMES, 1.0)
    public = values(OPEN_M3_BENCH, empty)
    zero = {"argument_similarity", "argument_similarity_all", "argument_similarity_strong"}
    assert {name: public[name] for name in NAMES if name != "average"} == {
        name: 0.0 if name in zero else 1.0 for name in NAMES if name != "average"
    }


def test_a_perfect_single_step_has_no_order_in_the_public_arithmetic() -> None:
    perfect = aligned([(0, 0, 1.0), (0, 0, 1.0)], (2,), (2,))
    assert values(M3, perfect) == dict.fromkeys(NAMES, 1.0)
    assert values(OPEN_M3_BENCH, perfect)["order_consistency"] == 0.0


def test_only_weak_matches_have_no_strong_similarity() -> None:
    weak = aligned([(0, 0, 0.7)], (1,), (1,))
    found = values(M3, weak)
    assert (found["argument_similarity"], found["argument_similarity_strong"]) == (0.0, 0.0)
    assert found["argument_similarity_all"] == pytest.approx(0.7)


alignments = st.builds(
    lambda seed, steps, matches: _random_alignment(random.Random(seed), steps, matches),
    st.integers(0, 10_000),
    st.integers(1, 5),
    st.integers(0, 12),
)


def _random_alignment(source: random.Random, steps: int, matches: int) -> CallAlignment:
    links = [(source.randrange(steps), source.randrange(steps), source.uniform(0.6, 1.0)) for _ in range(matches)]
    sizes = [
        [sum(link[side] == step for link in links) + source.randrange(3) for step in range(steps)] for side in (0, 1)
    ]
    return aligned(links, *sizes)


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
@given(alignment=alignments)
def test_every_metric_is_between_zero_and_one(profile: Profile, alignment: CallAlignment) -> None:
    for name, value in values(profile, alignment).items():
        assert value is not None
        assert 0.0 <= value <= 1.0, name


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
@given(alignment=alignments, seed=st.integers(0, 100))
def test_the_order_in_which_matches_are_listed_changes_no_digit(
    profile: Profile, alignment: CallAlignment, seed: int
) -> None:
    matches = list(alignment.matches.items())
    random.Random(seed).shuffle(matches)
    shuffled = replace(alignment, matches=dict(matches))
    assert values(profile, shuffled) == values(profile, alignment)


def test_a_broken_metric_is_recorded_and_takes_no_other_with_it() -> None:
    def broken(_: CallAlignment) -> float:
        raise ZeroDivisionError("by hand")

    profile = replace(M3, name="test", metrics={**M3.metrics, "merge_purity": broken})
    found, failures = profile.measure(MIXED)
    assert failures == {"merge_purity": "ZeroDivisionError: by hand"}
    assert found["merge_purity"] is None
    assert found["average"] is None
    assert found["recall"] == 3 / 4


def test_every_profile_has_the_averaged_six_and_those_of_the_paper_have_the_same_metrics() -> None:
    assert list(M3.metrics) == list(OPEN_M3_BENCH.metrics)
    assert tuple(EFFECT.metrics) == AVERAGED
    assert set(AVERAGED) <= set(M3.metrics)
    assert len(AVERAGED) == 6
