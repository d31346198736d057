"""Tasks as items: known parameters are found again, backwards tasks are named, a short form errs as much as it says."""

from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest
from scipy.special import expit

from m3bench.server.scoring.statistics.clusters import Floats
from m3bench.server.scoring.statistics.items import Answers, fit, items
from m3bench.server.scoring.statistics.short_form import Record, choose, cross_validated, models_of, predict

FAMILIES, TASKS = 20, 120
BACKWARDS = (0, 1)


class World:
    """Tasks and sets whose parameters are known, with sets that are better at some families than at others."""

    def __init__(self, seed: int, sets: int, repeats: int = 3, own: float = 0.3) -> None:
        dice = np.random.default_rng(seed)
        self.abilities = dice.normal(0, 1, sets)
        self.slopes = np.exp(dice.normal(0.1, 0.4, TASKS))
        self.slopes[list(BACKWARDS)] = -1.2
        self.difficulties = dice.normal(0, 1, TASKS)
        self.difficulties[list(BACKWARDS)] = 0
        logits = self.slopes * (self.abilities[:, None] - self.difficulties)
        logits += dice.normal(0, own, (sets, FAMILIES))[:, np.arange(TASKS) % FAMILIES]
        self.solved = dice.binomial(repeats, expit(logits)).astype(np.float64)
        self.tries = np.full(logits.shape, float(repeats))
        self.tasks = tuple(f"{number % FAMILIES}-{number}" for number in range(TASKS))

    def answers(self, rows: Sequence[int]) -> Answers:
        """Of some sets."""
        kept = list(rows)
        names = tuple(map(str, kept))
        return Answers(sets=names, tasks=self.tasks, solved=self.solved[kept], tries=self.tries[kept])

    def record(self, rows: Sequence[int]) -> Record:
        """Of some sets."""
        families: dict[str, str | None] = {task: task.partition("-")[0] for task in self.tasks}
        return Record(solved=self.answers(rows), others={}, families=families)


@cache
def large() -> World:
    return World(seed=20261118, sets=40, own=0.0)


def test_known_parameters_are_found_again_within_their_errors() -> None:
    world = large()
    answers = world.answers(range(40))
    found = items(answers, fit(answers), fit(answers, pooled=True))
    # Estimates are in standard deviations of the sets at hand.
    middle, scale = world.abilities.mean(), world.abilities.std()
    slopes, difficulties = world.slopes * scale, (world.difficulties - middle) / scale
    steps = [
        ((item.discrimination.value - slopes[at]) / item.discrimination.error)
        for at, item in enumerate(found)
        if item.discrimination is not None
    ]
    places = [
        ((item.difficulty.value - difficulties[at]) / item.difficulty.error)
        for at, item in enumerate(found)
        if item.difficulty is not None
    ]
    for errors in (steps, places):
        assert len(errors) > 100
        assert np.mean(np.abs(errors) < 1.96) > 0.88
        assert abs(np.mean(errors)) < 0.4
    forwards = [at for at in range(TASKS) if at not in BACKWARDS]
    values = [found[at].discrimination for at in forwards]
    known = np.array([value.value if value is not None else np.nan for value in values])
    assert np.corrcoef(known[~np.isnan(known)], slopes[forwards][~np.isnan(known)])[0, 1] > 0.7


def test_tasks_that_discriminate_backwards_are_named_and_no_others() -> None:
    world = large()
    answers = world.answers(range(40))
    found = items(answers, fit(answers), fit(answers, pooled=True))
    assert [at for at, item in enumerate(found) if item.backwards] == list(BACKWARDS)
    assert all(found[at].difficulty is None for at in BACKWARDS)


def test_few_sets_do_not_diverge_and_alike_tries_say_nothing() -> None:
    world = World(seed=5, sets=4)
    world.solved[:, 7], world.solved[:, 8] = 3.0, 0.0
    answers = world.answers(range(4))
    model = fit(answers)
    found = items(answers, model, fit(answers, pooled=True))
    assert np.isfinite(model.covariances).all()
    assert abs(model.slopes).max() < 4
    assert [found[at].discrimination for at in (7, 8)] == [None, None]
    assert [(item.discrimination, item.difficulty) for item in items(answers)] == [(None, None)] * TASKS


def test_repeats_that_are_all_the_same_count_once() -> None:
    once = World(seed=6, sets=12, repeats=1).answers(range(12))
    often = Answers(sets=once.sets, tasks=once.tasks, solved=once.solved * 5, tries=once.tries * 5)
    errors = [np.sqrt(fit(answers).covariances[:, 0, 0]).mean() for answers in (once, often)]
    assert errors[1] > 0.8 * errors[0]


def test_a_short_form_is_spread_over_families_and_leaves_out_backwards_tasks() -> None:
    world = large()
    record = world.record(range(40))
    chosen = choose(fit(record.solved, pooled=True), record.family_list, 30)
    counts = np.bincount([number % FAMILIES for number in chosen], minlength=FAMILIES)
    assert len(set(chosen)) == 30
    assert set(counts) == {1, 2}
    assert not set(chosen) & set(BACKWARDS)


@pytest.mark.parametrize("seed", [11, 12])
def test_the_error_that_a_short_form_claims_is_the_one_that_new_sets_have(seed: int) -> None:
    world = World(seed=seed, sets=44)
    record = world.record(range(14))
    models = models_of(record)
    claim = cross_validated(record, models, count=30)["solved"]
    chosen = choose(models["solved"], record.family_list, 30)
    full: Floats = (world.solved / world.tries).mean(axis=1)
    errors = [
        predict(models["solved"], chosen, world.solved[row], world.tries[row]) - full[row] for row in range(14, 44)
    ]
    found = float(np.mean(np.square(errors)) ** 0.5)
    assert claim.error / 1.6 < found < claim.error * 1.6
    assert np.mean(np.abs(errors) < 2.2 * claim.error) > 0.85
    assert claim.orders.tau > 0.7
    assert claim.orders.clear_turned <= 0.02 * claim.orders.clear
    assert len(claim.trials) == 14


def test_a_set_that_lacks_tasks_helps_with_the_others_and_is_not_predicted() -> None:
    world = World(seed=8, sets=8)
    world.tries[0, 30:] = world.solved[0, 30:] = 0
    record = world.record(range(8))
    found = cross_validated(record, models_of(record), count=30)["solved"]
    assert [trial.set for trial in found.trials] == [str(row) for row in range(1, 8)]
