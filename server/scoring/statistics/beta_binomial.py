"""The mean of a number between 0 and 1 over families of tasks: the posterior of a beta-binomial model.

Every family has a mean of its own, drawn from a distribution with mean `mu`, and the tasks of a family are draws from
that. How much family means vary, `tau`, is a part of what it would be were each 0 or 1. Neither is known: both have
priors. Quantiles of `mu` after the data are the interval, its standard deviation is the standard error, and nothing
special happens at 0 and 1 or where nothing varies.

Families that are all alike have `tau` = 1 / draws of a family, and family means follow a binomial distribution;
families that differ more have a beta-binomial one. By chance a few families can also be closer to each other than
draws would be. The model follows them there, down to `_LEAST_SPREAD`, as a t interval does: else an interval over few
families would cover too often where families are alike, and too rarely where they differ.

A task that was solved or not is one draw. Means over repeats, and averages of metrics, vary less than that: a task then
counts as `1 / dispersion` draws.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from scipy.special import betaincinv, expit, gammaln, ndtr, ndtri

from m3bench.server.scoring.statistics.clusters import Floats, Places

PRIOR = 0.4
"""Of the mean of independent draws: Beta(PRIOR, PRIOR)."""
_MU_PRIOR = 0.3
"""Of `mu`: Beta(_MU_PRIOR, _MU_PRIOR). It is less, because not knowing `tau` widens intervals near 0 and 1 as well."""
_TAU_PRIOR = 0.25
"""The density of `tau` falls as this power of it: between 0, uniform, and 1, for a scale that is not known at all."""
_RHOS = (0.015, 0.05, 0.1, 0.16, 0.23, 0.31, 0.4, 0.5, 0.62, 0.76, 0.9)
"""Correlations within families where the posterior is computed, for a `mu` of one half."""
_SPREADS = (0.12, 0.2, 0.35, 0.6)
"""Parts of a binomial variance, where it is computed for families that are closer than draws would be."""
_LEAST = 0.1
"""No dispersion is smaller: that tasks hardly vary is no proof that others would not."""
_TRUST = 0.04
"""How much spread, in squares of solved tasks, is assumed before any is seen."""
_POINTS, _EDGE, _CURVE = 121, 9.0, 2.5
"""Points of the grid of `mu`, its end in logits, and how much denser it is in the middle."""
_STEPS = 240
"""Family means are rounded to so many parts, so that likelihoods can be kept."""
_IMPOSSIBLE, _SAME, _LEAST_RHO, _NODES = -1e3, 1e-9, 2e-3, 121


@dataclass(frozen=True, kw_only=True)
class Posterior:
    """What is known of a mean after the data."""

    deviation: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class _Grid:
    """Where the posterior is computed, [mu, tau], and what does not depend on data."""

    logits: Floats
    mus: Floats
    spreads: Floats
    alphas: Floats
    strength: Floats
    prior: Floats
    """Of `mu`."""


@lru_cache(maxsize=1)
def _grid() -> _Grid:
    bent = _CURVE * np.linspace(-1, 1, _POINTS)
    logits = _EDGE * np.sinh(bent) / np.sinh(_CURVE)
    mus, rhos = expit(logits), np.array(_RHOS)
    # Families that differ by the same in probits are less correlated near 0 and 1: half of that is assumed.
    strength = 1 / np.sqrt(rhos * _in_probits(mus, rhos)) - 1
    return _Grid(
        logits=logits,
        mus=mus,
        spreads=np.array(_SPREADS),
        alphas=mus[:, None] * strength,
        strength=strength,
        # In the logit, the density Beta(a, a) is mu^a (1 − mu)^a; points lie less dense further out.
        prior=_MU_PRIOR * np.log(mus * (1 - mus)) + np.log(np.cosh(bent)),
    )


def _in_probits(mus: Floats, rhos: Floats) -> Floats:
    """Correlations within families, [mu, rho], whose probits vary as they do for these correlations in the middle."""
    nodes, weights = hermegauss(_NODES)
    shares = np.sin(np.pi / 2 * rhos)[:, None]
    chances = ndtr((ndtri(mus)[:, None, None] + shares**0.5 * nodes) / (1 - shares) ** 0.5)
    square = chances**2 @ (weights / weights.sum())
    found = np.clip((square - mus[:, None] ** 2) / (mus * (1 - mus))[:, None], _LEAST_RHO, rhos)
    mirrored: Floats = (found + found[::-1]) / 2
    return mirrored


@lru_cache(maxsize=256)
def _prior(draws: float) -> Floats:
    """The logarithm of the prior at every point of the grid, for families of so many draws."""
    grid = _grid()
    rhos = np.array(_RHOS)
    taus = np.concatenate([grid.spreads / draws, rhos + (1 - rhos) / draws])
    # Of single draws nothing can be told apart by `tau`.
    by_tau = np.log(np.maximum(np.gradient(np.log(taus)), _SAME)) + (1 - _TAU_PRIOR) * np.log(taus)
    found: Floats = grid.prior[:, None] + by_tau
    # So few successes as are expected near 0 and 1 cannot be spread more evenly over families than this.
    rarer = np.minimum(grid.mus, 1 - grid.mus)
    evenest = (1 - draws * rarer) / (1 - rarer)
    found[:, : len(grid.spreads)] += np.where(grid.spreads >= evenest[:, None], 0.0, _IMPOSSIBLE)
    return found


@lru_cache(maxsize=1024)
def _rise(step: int, draws: float) -> Floats:
    """How so many successes move the log-likelihood, at every point of the grid; failures do so in reverse."""
    grid, share = _grid(), step / _STEPS
    even = draws / grid.spreads
    alike = share * np.outer(np.log(grid.mus), even) - gammaln(share * even + 1)
    differing = gammaln(share * draws + grid.alphas) - gammaln(grid.alphas) - gammaln(share * draws + 1)
    return np.concatenate([alike, differing], axis=1)


@lru_cache(maxsize=1024)
def _level(draws: float) -> Floats:
    """The part of the log-likelihood that so many draws have, whatever they bring."""
    grid = _grid()
    alike = np.tile(gammaln(draws / grid.spreads + 1), (len(grid.mus), 1))
    differing = gammaln(draws + 1) + gammaln(grid.strength) - gammaln(draws + grid.strength)
    return np.concatenate([alike, differing], axis=1)


@lru_cache(maxsize=2048)
def _log_likelihood(step: int, draws: float) -> Floats:
    """Of a family with this mean over so many draws, at every point of the grid."""
    found: Floats = _rise(step, draws) + _rise(_STEPS - step, draws)[::-1] + _level(draws)
    if 0 < step < _STEPS:
        # As if of more draws, of which more means are possible.
        found[:, : len(_SPREADS)] -= np.log(_SPREADS)
    return found


def over_families(means: Sequence[float], sizes: Sequence[float], dispersion: float, level: float) -> Posterior:
    """What is known of the mean over families like these.

    Args:
        means: Of the families.
        sizes: How many tasks each has.
        dispersion: How much tasks vary, see `dispersion`.
        level: Of the interval.
    """
    logs = _prior(_two_digits(sum(sizes) / len(sizes) / dispersion)).copy()
    seen = Counter(
        (round(min(1.0, max(0.0, mean)) * _STEPS), _two_digits(size / dispersion))
        for mean, size in zip(means, sizes, strict=True)
    )
    for (step, draws), count in seen.items():
        logs += count * _log_likelihood(step, draws)
    return _read_off(logs[None], np.array([means]), level)[0]


def over_families_of_many(means: Floats, size: int, dispersions: Floats, level: float) -> list[Posterior]:
    """The same for many agents at once, as simulations need it: means by agent and family, all families of one size."""
    steps = np.rint(np.clip(means, 0, 1) * _STEPS).astype(int)
    rounded = np.array([_two_digits(float(size / part)) for part in dispersions])
    found: dict[int, Posterior] = {}
    for draws in np.unique(rounded).tolist():
        rows, prior = np.flatnonzero(rounded == draws), _prior(draws)
        known, place = np.unique(steps[rows], return_inverse=True)
        counts = np.zeros((len(rows), len(known)))
        np.add.at(counts, (np.arange(len(rows))[:, None], place.reshape(len(rows), -1)), 1)
        likelihoods = [_log_likelihood(step, draws) for step in known.tolist()]
        logs = (counts @ np.stack(likelihoods).reshape(len(known), -1)).reshape(len(rows), *prior.shape) + prior
        found |= zip(rows.tolist(), _read_off(logs, means[rows], level), strict=True)
    return [found[row] for row in range(len(means))]


def _read_off(logs: Floats, means: Floats, level: float) -> list[Posterior]:
    """What posteriors on the grid, [agent, mu, tau], say of `mu`, given the means of families, [agent, family]."""
    grid, tail = _grid(), (1 - level) / 2
    by_mu = np.exp(logs - logs.max(axis=(1, 2), keepdims=True)).sum(axis=2)
    by_mu /= by_mu.sum(axis=1, keepdims=True)
    middle = by_mu @ grid.mus
    deviation = np.sqrt((by_mu * (grid.mus - middle[:, None]) ** 2).sum(axis=1))
    reached = np.cumsum(by_mu, axis=1) - by_mu / 2
    found = []
    for row, family_means in enumerate(means):
        low, high = (float(end) for end in expit(np.interp([tail, 1 - tail], reached[row], grid.logits)))
        found.append(
            Posterior(
                deviation=float(deviation[row]),
                low=0.0 if family_means.max() <= 0 else low,
                high=1.0 if family_means.min() >= 1 else high,
            )
        )
    return found


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
    return min(1.0, max(_LEAST, (within + _TRUST * usual) / (coin * freedom + _TRUST)))
