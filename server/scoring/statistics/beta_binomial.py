"""The mean of a number between 0 and 1 over families of tasks: the posterior of a beta-binomial model.

Every family has a mean of its own, drawn from a beta distribution with mean `mu` and intraclass correlation `rho`, and
the tasks of a family are draws from that. Neither parameter is known: `mu` has the prior Beta(PRIOR, PRIOR), `rho` the
weights of RHOS. The quantiles of `mu` after the data are the interval, its standard deviation is the standard error,
and nothing special happens at 0 and 1 or where nothing varies.

A task that was solved or not is one draw. Means over repeats, and averages of metrics, vary less than that: a task then
counts as `1 / dispersion` draws.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import betaincinv, expit, gammaln

from m3bench.server.scoring.statistics.clusters import Floats, Places

PRIOR = 0.4
RHOS = {0.02: 1.0, 0.1: 2.0, 0.2: 2.0, 0.3: 1.6, 0.4: 1.3, 0.5: 0.9, 0.6: 0.6, 0.7: 0.4, 0.8: 0.3}
"""Correlations and how likely they are before the data: families of tasks usually have 10 to 40 % of the variance."""
_LOGITS, _EDGE = 181, 9.0
"""Points of the grid of `mu`, evenly spaced in its logit, and where that ends."""
_STEPS = 240
"""Family means are rounded to so many parts, so that likelihoods can be kept."""
_TRUST = 0.04
"""How much spread, in squares of solved tasks, is assumed before any is seen."""


@dataclass(frozen=True, kw_only=True)
class Posterior:
    """What is known of a mean after the data."""

    deviation: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class _Grid:
    """Where the posterior is computed, [mu, rho], and what does not depend on data."""

    logits: Floats
    mus: Floats
    alphas: Floats
    betas: Floats
    fixed: Floats
    """The part of a family's log-likelihood that is the same for all: −log B(alpha, beta)."""
    prior: Floats


@lru_cache(maxsize=1)
def _grid() -> _Grid:
    logits = np.linspace(-_EDGE, _EDGE, _LOGITS)
    mus = expit(logits)
    strength = 1 / np.array(list(RHOS)) - 1
    alphas, betas = np.outer(mus, strength), np.outer(1 - mus, strength)
    return _Grid(
        logits=logits,
        mus=mus,
        alphas=alphas,
        betas=betas,
        fixed=gammaln(alphas + betas) - gammaln(alphas) - gammaln(betas),
        # In the logit, the density Beta(a, a) is mu^a (1 − mu)^a.
        prior=(PRIOR * (np.log(mus) + np.log(1 - mus)))[:, None] + np.log(list(RHOS.values())),
    )


@lru_cache(maxsize=8192)
def _log_likelihood(step: int, draws: float) -> Floats:
    """Of a family with this mean over so many draws, at every point of the grid."""
    grid, successes = _grid(), step / _STEPS * draws
    found: Floats = (
        grid.fixed
        + gammaln(successes + grid.alphas)
        + gammaln(draws - successes + grid.betas)
        - gammaln(draws + grid.alphas + grid.betas)
    )
    return found


def over_families(means: Sequence[float], draws: Sequence[float], level: float) -> Posterior:
    """What is known of the mean over families like these, given the mean of each and how many draws it stands for."""
    grid = _grid()
    logs = grid.prior.copy()
    for mean, number in zip(means, draws, strict=True):
        logs += _log_likelihood(round(min(1.0, max(0.0, mean)) * _STEPS), _two_digits(number))
    return _summed_up(logs, min(means), max(means), level)


def over_families_of_many(means: Floats, draws: Floats, level: float) -> list[Posterior]:
    """The same for many agents at once, as simulations need it: means by agent and family, draws by agent."""
    grid, steps = _grid(), np.rint(np.clip(means, 0, 1) * _STEPS).astype(int)
    rounded = np.array([_two_digits(float(number)) for number in draws])
    found: list[Posterior | None] = [None] * len(means)
    for number in np.unique(rounded):
        rows = np.flatnonzero(rounded == number)
        known, place = np.unique(steps[rows], return_inverse=True)
        counts = np.zeros((len(rows), len(known)))
        np.add.at(counts, (np.arange(len(rows))[:, None], place.reshape(len(rows), -1)), 1)
        likelihoods = np.stack([_log_likelihood(int(step), float(number)).ravel() for step in known])
        for row, logs in zip(rows.tolist(), counts @ likelihoods, strict=True):
            ends = float(means[row].min()), float(means[row].max())
            found[row] = _summed_up(logs.reshape(grid.prior.shape) + grid.prior, *ends, level)
    return [one for one in found if one is not None]


def _summed_up(logs: Floats, least: float, most: float, level: float) -> Posterior:
    """What a posterior on the grid says of `mu`, given the lowest and the highest mean of a family."""
    grid = _grid()
    weights = np.exp(logs - logs.max()).sum(axis=1)
    weights /= weights.sum()
    middle = float(weights @ grid.mus)
    ends = np.interp([(1 - level) / 2, (1 + level) / 2], np.cumsum(weights) - weights / 2, grid.logits)
    low, high = (float(end) for end in expit(ends))
    return Posterior(
        deviation=float(weights @ (grid.mus - middle) ** 2) ** 0.5,
        low=0.0 if most <= 0 else low,
        high=1.0 if least >= 1 else high,
    )


@lru_cache(maxsize=1024)
def _two_digits(number: float) -> float:
    return float(f"{number:.2g}")


def over_draws(mean: float, draws: float, level: float) -> Posterior:
    """What is known of the mean of independent draws: the case without families."""
    first, second = mean * draws + PRIOR, (1 - mean) * draws + PRIOR
    total = first + second
    return Posterior(
        deviation=(first * second / (total + 1)) ** 0.5 / total,
        low=0.0 if mean <= 0 else float(betaincinv(first, second, (1 - level) / 2)),
        high=1.0 if mean >= 1 else float(betaincinv(first, second, (1 + level) / 2)),
    )


def dispersion(values: Floats, place: Places, usual: float, *, overall: bool = False) -> float:
    """How much the tasks of a family vary, as a part of what being solved or not would.

    Args:
        values: Of the tasks.
        place: For each task the number of its family.
        usual: What is assumed as far as the data say nothing.
        overall: Whether the yardstick is a task of any family, and not one of the same family.
    """
    sizes = np.bincount(place)
    means = np.bincount(place, values) / sizes
    freedom = len(values) - len(sizes)
    if freedom <= 0:
        return usual
    within = float(((values - means[place]) ** 2).sum())
    if overall:
        mean = float(values.mean())
        coin = mean * (1 - mean)
    else:
        coin = float(np.average(means * (1 - means), weights=sizes)) + within / freedom * float((1 / sizes).mean())
    return min(1.0, max(0.02, (within + _TRUST * usual) / (coin * freedom + _TRUST)))
