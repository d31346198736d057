"""Every formula against somebody else's computation of it, scipy's or statsmodels'."""

import random
from itertools import product

import numpy as np
import pytest
from scipy import stats

from m3bench.server.scoring.statistics.clusters import clusters_of, critical, strata_of
from m3bench.server.scoring.statistics.components import components
from m3bench.server.scoring.statistics.logistic import over_draws, over_families
from m3bench.server.scoring.statistics.paired import difference, mcnemar, sign_test, standard_errors
from m3bench.server.scoring.statistics.power import Size, detectable, planned_error, power_of
from tests.server.scoring.statistics.clustered import Truth, means


def made(**given: float) -> tuple[dict[str, list[float]], dict[str, str | None]]:
    truth = Truth(**{"mean": 0.4, "binary": False, **given})  # type: ignore[arg-type]
    dice = np.random.default_rng(3)
    return truth.samples(truth.hardness(dice), dice)


@pytest.mark.slow
def test_the_standard_error_is_that_of_a_regression_with_clustered_errors() -> None:
    """But for the two tasks that are added, which are 1 in 100 of the spread here."""
    api = pytest.importorskip("statsmodels.api")
    samples, families = made(families=60, tasks=8, repeats=1)
    numbers = np.array(list(means(samples).values())) - 0.3
    groups = np.unique([families[task] for task in samples], return_inverse=True)[1]
    fitted = api.OLS(numbers, np.ones(len(numbers))).fit(
        cov_type="cluster", cov_kwds={"groups": groups, "use_correction": False}
    )
    found = standard_errors(numbers[:, None], clusters_of([families[task] for task in samples]))[0]
    assert found == pytest.approx(fitted.bse[0] * (60 / 59) ** 0.5, rel=0.02)


@pytest.mark.parametrize(("passed", "of"), [(1, 20), (3, 20), (10, 20), (19, 20)])
def test_tasks_without_families_give_the_quantiles_of_a_beta_distribution(passed: int, of: int) -> None:
    """Whatever families may do, single tasks that are solved or not are draws of one chance."""
    expected = stats.beta(passed + 0.4, of - passed + 0.4).ppf([0.025, 0.975])
    single = over_draws(passed / of, of, 0.95)
    assert (single.low, single.high) == pytest.approx(expected, abs=1e-9)
    spread = over_families([1.0] * passed + [0.0] * (of - passed), [1.0] * of, 1.0, 0.95)
    assert (spread.low, spread.high) == pytest.approx(expected, abs=0.015)
    assert single.deviation == pytest.approx(stats.beta(passed + 0.4, of - passed + 0.4).std())


def test_t_is_students() -> None:
    assert critical(27, 0.95) == pytest.approx(stats.t.ppf(0.975, 27))


def test_the_parts_of_variance_are_those_of_a_mixed_model() -> None:
    pandas = pytest.importorskip("pandas")
    mixed = pytest.importorskip("statsmodels.regression.mixed_linear_model")
    dice = np.random.default_rng(5)
    samples, families = {}, {}
    for family, task in product(range(12), range(5)):
        level = np.random.default_rng(family).normal(0, 0.3) + dice.normal(0, 0.2)
        samples[f"{family}-{task}"] = (0.5 + level + dice.normal(0, 0.1, 4)).tolist()
        families[f"{family}-{task}"] = f"f{family}"
    table = pandas.DataFrame(
        [(families[task], task, value) for task, values in samples.items() for value in values],
        columns=["family", "task", "value"],
    )
    fitted = mixed.MixedLM.from_formula(
        "value ~ 1", table, groups="family", re_formula="1", vc_formula={"task": "0 + C(task)"}
    ).fit(reml=True)
    found = components(samples, families)
    assert found is not None
    assert found.family == pytest.approx(float(fitted.cov_re.iloc[0, 0]), rel=0.01)
    assert found.task == pytest.approx(float(fitted.vcomp[0]), rel=0.01)
    assert found.repeat == pytest.approx(float(fitted.scale), rel=0.01)


def test_unequal_numbers_of_tasks_and_repeats_leave_the_parts_unbiased() -> None:
    dice = np.random.default_rng(6)
    found = []
    for _ in range(300):
        samples, families = {}, {}
        for family in range(15):
            base = dice.normal(0, 0.3)
            for task in range(1 + family % 4):
                level = base + dice.normal(0, 0.2)
                samples[f"{family}-{task}"] = (level + dice.normal(0, 0.1, 1 + (family + task) % 3)).tolist()
                families[f"{family}-{task}"] = f"f{family}"
        parts = components(samples, families)
        assert parts is not None
        assert parts.repeat is not None
        found.append((parts.family, parts.task, parts.repeat))
    assert np.mean(found, axis=0) == pytest.approx([0.09, 0.04, 0.01], rel=0.1)


def test_the_permutation_test_is_scipys() -> None:
    dice = random.Random(1)
    for count in (6, 9, 12):
        sums = [dice.gauss(0.4, 1) for _ in range(count)]
        theirs = stats.permutation_test(
            (np.array(sums),), np.sum, permutation_type="samples", n_resamples=np.inf, alternative="two-sided"
        )
        assert sign_test(sums) == pytest.approx(theirs.pvalue, abs=0.002)
    whole = [float(dice.randint(-3, 5)) for _ in range(12)]
    theirs = stats.permutation_test((np.array(whole),), np.sum, permutation_type="samples", n_resamples=np.inf)
    assert sign_test(whole) == pytest.approx(theirs.pvalue)
    assert sign_test([1.0] * 60) == pytest.approx(2.0**-59)
    many = [dice.gauss(0.2, 1) for _ in range(14)]
    theirs = stats.permutation_test((np.array(many),), np.sum, permutation_type="samples", n_resamples=np.inf)
    assert sign_test(many) == pytest.approx(theirs.pvalue, abs=0.002)


@pytest.mark.parametrize(("gained", "lost"), [(0, 0), (3, 0), (8, 1), (5, 5), (0, 12)])
def test_mcnemars_test_is_statsmodels_and_a_binomial_test(gained: int, lost: int) -> None:
    first = {str(n): n >= gained for n in range(gained + lost)} | {"same": True}
    second = {str(n): n < gained for n in range(gained + lost)} | {"same": True}
    expected = stats.binomtest(gained, gained + lost).pvalue if gained + lost else 1.0
    assert mcnemar(first, second) == pytest.approx(expected)
    tables = pytest.importorskip("statsmodels.stats.contingency_tables")
    assert mcnemar(first, second) == pytest.approx(tables.mcnemar([[1, lost], [gained, 0]], exact=True).pvalue)


def test_the_power_is_statsmodels() -> None:
    module = pytest.importorskip("statsmodels.stats.power")
    theirs = module.TTestPower().power(effect_size=0.3, nobs=28, alpha=0.05)
    assert power_of(0.3, 28**-0.5, 27) == pytest.approx(theirs, abs=1e-6)
    least = detectable(28**-0.5, 27)
    assert power_of(least, 28**-0.5, 27) == pytest.approx(0.8, abs=0.01)
    assert power_of(0.0, 0.0, 27) == 0.05
    assert power_of(0.1, 0.0, 27) == 1.0


def test_a_planned_error_is_the_one_that_comes() -> None:
    truth, dice = Truth(mean=0.5, binary=False, families=20, tasks=3, repeats=2), np.random.default_rng(4)
    errors, parts = [], []
    for _ in range(150):
        hardness = truth.hardness(dice)
        (first, families), (second, _) = truth.samples(hardness, dice), truth.samples(hardness, dice)
        compared = difference(means(first), means(second), families)
        split = components(first, families)
        assert compared is not None
        assert compared.error is not None
        assert split is not None
        errors.append(compared.error**2)
        parts.append(split)
    planned = [planned_error(Size(families=20, tasks=60, repeats=2), split, correlation=1.0) ** 2 for split in parts]
    assert np.mean(planned) == pytest.approx(np.mean(errors), rel=0.1)
    assert Size(families=3, tasks=10, repeats=1).freedom == 2


def test_tasks_that_are_alone_in_their_family_share_a_stratum() -> None:
    assert strata_of(["a", "a", "b", "b", "c", "d"]).tolist() == [0, 0, 1, 1, 2, 2]
    assert strata_of(["a", "a", "b", "b", "c"]).tolist() == [0, 0, 1, 1, 1]


def test_families_are_clusters_and_tasks_without_one_are_their_own() -> None:
    assert clusters_of(["a", "a", "b"]).count == 2
    assert clusters_of(["a", None, None]).count == 3
    assert (clusters_of(["a", "a", "b"]).kind, clusters_of([None, None]).kind) == ("family", "task")
