"""Nominal levels hold on data whose truth is known: intervals cover it, and nothing is found where nothing is."""

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from m3bench.server.scoring.statistics.estimates import estimate
from m3bench.server.scoring.statistics.paired import difference
from m3bench.server.scoring.statistics.ranks import rank
from tests.server.scoring.statistics.clustered import Truth, means

TRIES = 800
CASES = {
    "solved": Truth(mean=0.3),
    "solved rarely": Truth(mean=0.15),
    "solved once": Truth(mean=0.5, repeats=1),
    "solved, eight tasks a family": Truth(mean=0.6, tasks=8),
    "average": Truth(mean=0.4, binary=False),
    "average, high": Truth(mean=0.8, binary=False, repeats=1),
    "average, twelve families": Truth(mean=0.4, binary=False, families=12, tasks=4),
    "no family is special": Truth(mean=0.4, family_spread=0.0),
}


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", CASES)
def test_a_95_percent_interval_covers_the_truth_in_93_to_98_percent(name: str) -> None:
    truth, random = CASES[name], np.random.default_rng(7)
    covered = 0
    for _ in range(TRIES):
        samples, families = truth.samples(truth.hardness(random), random)
        found = estimate(means(samples), families, of="solved" if truth.binary else "average")
        assert found is not None
        assert found.interval is not None
        covered += found.interval.low <= truth.mean <= found.interval.high
    assert 0.93 <= covered / TRIES <= 0.98


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize("tasks", [2, 8])
def test_the_interval_for_these_families_covers_their_own_truth(tasks: int) -> None:
    truth, random = Truth(mean=0.4, tasks=tasks), np.random.default_rng(8)
    families = random.normal(0, truth.family_spread, (truth.families, 1))
    spread = float(np.sqrt(1 + truth.family_spread**2 + truth.task_spread**2))
    # A task's value is the normal distribution function of a normal number, which has a mean in closed form.
    own = ndtr((ndtri(truth.mean) * spread + families) / np.sqrt(1 + truth.task_spread**2)).mean()
    covered = 0
    for _ in range(TRIES):
        samples, names = truth.samples(truth.within(families, random, spread), random)
        found = estimate(means(samples), names, scope="tasks", of="solved")
        assert found is not None
        assert found.interval is not None
        covered += found.interval.low <= own <= found.interval.high
    assert 0.93 <= covered / TRIES <= 0.97


@pytest.mark.sample(1)
@pytest.mark.parametrize("binary", [True, False])
def test_an_agent_against_itself_is_significant_in_at_most_5_percent(binary: bool) -> None:
    truth, random = Truth(mean=0.4, binary=binary, families=10, tasks=4), np.random.default_rng(9)
    alarms = 0
    for _ in range(TRIES):
        hardness = truth.hardness(random)
        (first, families), (second, _) = truth.samples(hardness, random), truth.samples(hardness, random)
        found = difference(means(first), means(second), families)
        assert found is not None
        assert found.p is not None
        alarms += found.p <= 0.05
    assert alarms / TRIES <= 0.05 + 2 * (0.05 * 0.95 / TRIES) ** 0.5
    assert alarms / TRIES >= 0.02, "a test that never sounds is no test"


@pytest.mark.slow
def test_the_interval_of_a_difference_covers_it() -> None:
    truth, random = Truth(mean=0.3, tasks=4), np.random.default_rng(10)
    covered = 0
    for _ in range(TRIES):
        hardness = truth.hardness(random)
        gain = 0.2 * (1 - hardness)
        (first, families), (second, _) = truth.samples(hardness, random), truth.samples(hardness + gain, random)
        found = difference(means(first), means(second), families)
        assert found is not None
        assert found.interval is not None
        covered += found.interval.low <= 0.2 * (1 - truth.mean) <= found.interval.high
    assert 0.93 <= covered / TRIES <= 0.97


def test_ranks_of_equal_agents_hold_and_so_do_those_of_agents_that_differ() -> None:
    """An agent's true rank counts those that are truly better; equal ones share the first place."""
    random = np.random.default_rng(11)
    right = played = 0
    for number in range(60):
        gaps = np.zeros(6) if number % 2 else np.linspace(0, 0.5, 6)
        hardness = Truth(mean=0.3, families=10, tasks=3).hardness(random)
        made = [(random.random(hardness.shape) < hardness + gap * (1 - hardness)).astype(float) for gap in gaps]
        tasks = [f"{family}-{task}" for family in range(10) for task in range(3)]
        values = {str(place): dict(zip(tasks, row.ravel().tolist(), strict=True)) for place, row in enumerate(made)}
        ranks = rank(values, {task: task.partition("-")[0] for task in tasks}).ranks
        for place, gap in enumerate(gaps):
            true = 1 + int((gaps > gap + 1e-9).sum())
            right += ranks[str(place)].low <= true <= ranks[str(place)].high
            played += 1
    assert right / played >= 0.94
