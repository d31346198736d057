"""The mean of a number between 0 and 1 over families of tasks: the posterior of a beta-binomial model.

Every family has a mean of its own, drawn from a beta distribution with mean `mu` and intraclass correlation `rho`, and
the tasks of a family are draws from that. Neither parameter is known: both have priors. Quantiles of `mu` after the
data are the interval, its standard deviation is the standard error, and nothing special happens at 0 and 1 or where
nothing varies. Which quantiles these are is calibrated: few families hardly say how much they differ, and fixed
quantiles would cover too rarely where they differ much and too often where they do not.

A task that was solved or not is one draw. Means over repeats, and averages of metrics, vary less than that: a task then
counts as `1 / dispersion` draws. The constants were chosen by simulation (`bench/intervals.py`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import betaincinv, expit, gammaln

from m3bench.server.scoring.statistics.clusters import Floats, Places

PRIOR = 0.4
"""Of the mean of independent draws: Beta(PRIOR, PRIOR)."""
_MU_PRIOR = 0.47
"""Of `mu`: the same, where families differ as they usually do."""
_RHOS = (0.0, 0.04, 0.1, 0.17, 0.25, 0.35, 0.45, 0.55, 0.67, 0.8)
_RHO_PRIOR = 1.26, 2.77
"""Of `rho`: a beta distribution, most of it between 0.05 and 0.6."""
_TILT = 0.39, 0.092
"""Near 0 and 1 high correlations are rarer: slopes of the log-prior in `rho` and in its logarithm."""
_USUAL = 0.2
_CALIBRATED = -0.2, -3.0, -0.45
"""The logarithm by which tails change: throughout, with how far the `rho` that data say is from `_MIDDLE`, and near 0
and 1 with the logarithm of the dispersion, which repeats make smaller."""
_MIDDLE = 0.25
_LEAST_LOGGED = 0.4
_FEW = 5
"""With more families all of that fades, as their square root."""
_POINTS, _EDGE, _CURVE = 141, 9.0, 2.5
"""Points of the grid of `mu`, its end in logits, and how much denser it is in the middle."""
_STEPS = 240
"""Family means are rounded to so many parts, so that likelihoods can be kept."""
_LEAST = 0.1
"""No dispersion is smaller: that tasks hardly vary is no proof that others would not."""
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
    rhos: Floats
    alphas: Floats
    strength: Floats
    prior: Floats


@lru_cache(maxsize=1)
def _grid() -> _Grid:
    bent = _CURVE * np.linspace(-1, 1, _POINTS)
    logits = _EDGE * np.sinh(bent) / np.sinh(_CURVE)
    mus, rhos = expit(logits), np.array(_RHOS)
    # No correlation at all is as a very small one.
    kept = np.maximum(rhos, 0.015)
    strength = 1 / np.maximum(rhos, 1e-6) - 1
    near_ends = np.log(4 * mus * (1 - mus))[:, None]
    first, second = _RHO_PRIOR
    by_rho = (first - 1) * np.log(kept) + (second - 1) * np.log(1 - kept) + np.log(np.gradient(rhos))
    tilt = _TILT[0] * (rhos - 0.3) + _TILT[1] * np.log(kept / _USUAL)
    return _Grid(
        logits=logits,
        mus=mus,
        rhos=rhos,
        alphas=np.outer(mus, strength),
        strength=strength,
        # In the logit, the density Beta(a, a) is mu^a (1 − mu)^a; points lie less dense further out.
        prior=near_ends * (_MU_PRIOR + tilt) + by_rho + np.log(np.cosh(bent))[:, None],
    )


@lru_cache(maxsize=2048)
def _rise(step: int, draws: float) -> Floats:
    """How so many successes move the log-likelihood, at every point of the grid; failures do so in reverse."""
    grid = _grid()
    found: Floats = gammaln(step / _STEPS * draws + grid.alphas) - gammaln(grid.alphas)
    return found


@lru_cache(maxsize=1024)
def _fall(draws: float) -> Floats:
    """The part of the log-likelihood that so many draws have, whatever they bring."""
    found: Floats = gammaln(draws + _grid().strength) - gammaln(_grid().strength)
    return found


@lru_cache(maxsize=4096)
def _log_likelihood(step: int, draws: float) -> Floats:
    """Of a family with this mean over so many draws, at every point of the grid."""
    return _rise(step, draws) + _rise(_STEPS - step, draws)[::-1] - _fall(draws)


def over_families(means: Sequence[float], sizes: Sequence[float], dispersion: float, level: float) -> Posterior:
    """What is known of the mean over families like these.

    Args:
        means: Of the families.
        sizes: How many tasks each has.
        dispersion: How much tasks vary, see `dispersion`.
        level: Of the interval.
    """
    logs = _grid().prior.copy()
    for mean, size in zip(means, sizes, strict=True):
        logs += _log_likelihood(round(min(1.0, max(0.0, mean)) * _STEPS), _two_digits(size / dispersion))
    return _read_off(logs[None], np.array([means]), np.array([dispersion]), level)[0]


def over_families_of_many(means: Floats, size: int, dispersions: Floats, level: float) -> list[Posterior]:
    """The same for many agents at once, as simulations need it: means by agent and family, all families of one size."""
    shape, steps = _grid().prior.shape, np.rint(np.clip(means, 0, 1) * _STEPS).astype(int)
    rounded = np.array([_two_digits(float(size / part)) for part in dispersions])
    found: dict[int, Posterior] = {}
    for draws in np.unique(rounded).tolist():
        rows = np.flatnonzero(rounded == draws)
        known, place = np.unique(steps[rows], return_inverse=True)
        counts = np.zeros((len(rows), len(known)))
        np.add.at(counts, (np.arange(len(rows))[:, None], place.reshape(len(rows), -1)), 1)
        likelihoods = [_log_likelihood(step, draws) for step in known.tolist()]
        logs = (counts @ np.stack(likelihoods).reshape(len(known), -1)).reshape(len(rows), *shape) + _grid().prior
        found |= zip(rows.tolist(), _read_off(logs, means[rows], dispersions[rows], level), strict=True)
    return [found[row] for row in range(len(means))]


def _read_off(logs: Floats, means: Floats, dispersions: Floats, level: float) -> list[Posterior]:
    """What posteriors on the grid, [agent, mu, rho], say of `mu`, given the means of families, [agent, family]."""
    grid = _grid()
    weights = np.exp(logs - logs.max(axis=(1, 2), keepdims=True))
    weights /= weights.sum(axis=(1, 2), keepdims=True)
    by_mu, rho = weights.sum(axis=2), weights.sum(axis=1) @ grid.rhos
    middle = by_mu @ grid.mus
    deviation = np.sqrt((by_mu * (grid.mus - middle[:, None]) ** 2).sum(axis=1))
    tail = (1 - level) / 2 * np.exp(_calibration(middle, rho, dispersions, means.shape[1]))
    reached = np.cumsum(by_mu, axis=1) - by_mu / 2
    found = []
    for row, family_means in enumerate(means):
        ends = np.interp([tail[row], 1 - tail[row]], reached[row], grid.logits)
        low, high = (float(end) for end in expit(ends))
        found.append(
            Posterior(
                deviation=float(deviation[row]),
                low=0.0 if family_means.max() <= 0 else low,
                high=1.0 if family_means.min() >= 1 else high,
            )
        )
    return found


def _calibration(middle: Floats, rho: Floats, dispersions: Floats, families: int) -> Floats:
    """By how much tails are larger, as a logarithm."""
    always, by_rho, by_dispersion = _CALIBRATED
    edge = 1 - 4 * middle * (1 - middle)
    repeated = edge * np.log(np.maximum(dispersions, _LEAST_LOGGED))
    found: Floats = (always + by_rho * (rho - _MIDDLE) + by_dispersion * repeated) * (_FEW / families) ** 0.5
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
