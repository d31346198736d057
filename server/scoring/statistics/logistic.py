"""The mean of a number between 0 and 1 over families of tasks: the posterior of a logistic-normal model.

Every family has a mean of its own, whose logit is drawn from a normal distribution such that these means have the mean
`mu`; the tasks of a family are draws from its mean. How much family means vary, `tau`, is a part of the variance of
single tasks. Neither is known: `mu` has a beta prior, and `tau` a uniform one up to 1, which leans a little to large
parts where `mu` is in the middle: there an interval over a few families would be too short otherwise.
Quantiles of `mu` after the data are the interval, its standard deviation is the standard error, and nothing special
happens at 0 and 1 or where nothing varies.

Families that are all alike have `tau` = 1 / tasks of a family, and family means follow a binomial distribution. By
chance a few families can also be closer to each other than draws would be. The model follows them there, down to a part
of `_SPREADS`, as a t interval does: else an interval over few families would cover too often where families are alike,
and too rarely where they differ.

A task that was solved or not is one draw. Means over repeats, and averages of metrics, vary less than that: a task then
counts as `1 / dispersion` draws.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import lgamma, log
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from m3bench.server.scoring.statistics.clusters import Floats, Places
from m3bench.tasks.lazy_modules import LazyModule

if TYPE_CHECKING:
    from scipy import special
else:
    special = LazyModule("scipy.special")

PRIOR = 0.4
"""Of the mean of independent draws: Beta(PRIOR, PRIOR)."""
_MU_PRIOR = 0.25
"""Of `mu`: Beta(_MU_PRIOR, _MU_PRIOR). It is less, because not knowing `tau` widens intervals near 0 and 1 as well."""
_LEANING = 0.3
"""The prior of a share s of families is (1 - s) ** -(_LEANING * (4 * mu * (1 - mu)) ** 4)."""
_SHARES = (0.015, 0.05, 0.1, 0.16, 0.23, 0.31, 0.4, 0.5, 0.62, 0.76, 0.9)
"""Shares of families in the variance of tasks where the posterior is computed."""
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
_NODES, _REACH = 41, 4.2
"""Points of the distribution of families, and where they end, in standard deviations."""
_HALVINGS = 30
"""How closely the middle of that distribution is found."""
_NEAR = 1.05
"""By how much kept dispersions differ."""
_IMPOSSIBLE, _SAME = -1e3, 1e-9
Halves = npt.NDArray[np.float32]
"""Half as long as other floats: exponentials of many are the dearest part."""


@dataclass(frozen=True, kw_only=True)
class Posterior:
    """What is known of a mean after the data."""

    deviation: float
    low: float
    high: float

    def within(self, some: bool, some_not: bool) -> "Posterior":
        """With 0 among what is possible where nothing was solved, and 1 where everything was."""
        return replace(self, low=self.low if some else 0.0, high=self.high if some_not else 1.0)


@dataclass(frozen=True, kw_only=True)
class _Grid:
    """Where the posterior is computed, [mu] and [mu, tau], for one dispersion; none of it depends on other data."""

    draws: Floats
    """What a task counts as where families are closer than draws would be, [tau]."""
    solved: Halves
    """The logarithm of a family's chance at each node of what families are like, [mu, tau, node]."""
    not_solved: Halves


@lru_cache(maxsize=1)
def _axis() -> tuple[Floats, Floats, Floats]:
    """The points of `mu` as logits and as chances, and the logarithm of its prior."""
    bent = _CURVE * np.linspace(-1, 1, _POINTS)
    logits = _EDGE * np.sinh(bent) / np.sinh(_CURVE)
    mus = _expit(logits)
    # In the logit, the density Beta(a, a) is mu^a (1 − mu)^a; points lie less dense further out.
    return logits, mus, _MU_PRIOR * np.log(mus * (1 - mus)) + np.log(np.cosh(bent))


def _expit(logits: Floats) -> Floats:
    """What scipy has as well, and takes as long to load as a run takes to be told of."""
    found: Floats = 1 / (1 + np.exp(-logits))
    return found


@lru_cache(maxsize=1)
def _nodes() -> tuple[Floats, Floats]:
    """Points of a standard normal distribution, and how much each weighs."""
    points = np.linspace(-_REACH, _REACH, _NODES)
    weights = np.exp(-(points**2) / 2)
    return points, weights / weights.sum()


@lru_cache(maxsize=1)
def _spreads() -> tuple[Floats, Floats, Floats]:
    """Spreads of logits, and for each `mu` where their middle is then and their part of the variance, [mu, spread]."""
    (_, mus, _), (points, weights), spreads = _axis(), _nodes(), np.geomspace(0.05, 14, 24)
    half = mus[: _POINTS // 2 + 1, None]
    steps = spreads[:, None] * points
    low, high = np.full((len(half), len(spreads)), -90.0), np.zeros((len(half), len(spreads)))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        above = _expit(middle[..., None] + steps) @ weights > half
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    middle = (low + high) / 2
    middle[-1] = 0.0
    squares = _expit(middle[..., None] + steps) ** 2 @ weights
    shares = np.maximum.accumulate(np.maximum(squares - half**2, _SAME) / (half * (1 - half)), axis=1)
    # Failures are as likely at 1 - mu as successes at mu.
    return spreads, np.concatenate([middle, -middle[-2::-1]]), np.concatenate([shares, shares[-2::-1]])


@lru_cache(maxsize=32)
def _grid(dispersion: float) -> _Grid:
    shares, (spreads, middles, known) = np.array(_SHARES), _spreads()
    wanted = np.log(shares * dispersion / (1 - shares + shares * dispersion))
    at = np.arange(len(spreads))
    # Where spreads no longer add to the variance, the first of them counts.
    place = np.stack([np.interp(wanted, np.log(row) + _SAME * at, at) for row in known])
    spread = np.exp(np.interp(place, at, np.log(spreads)))
    middle = np.stack([np.interp(found, at, row) for found, row in zip(place, middles, strict=True)])
    logits = middle[..., None] + spread[..., None] * _nodes()[0]
    return _Grid(
        draws=1 / (np.array(_SPREADS) * dispersion),
        solved=(-np.logaddexp(0, -logits)).astype(np.float32),
        not_solved=(-np.logaddexp(0, logits)).astype(np.float32),
    )


@lru_cache(maxsize=256)
def _prior(size: float, dispersion: float) -> Floats:
    """The logarithm of the prior at every point of the grid, for families of so many tasks."""
    _, mus, prior = _axis()
    shares, spreads = np.array(_SHARES), np.array(_SPREADS)
    taus = np.concatenate([spreads / size, shares + (1 - shares) / size])
    # Of families with one task nothing can be told apart by `tau`.
    found: Floats = prior[:, None] + np.log(np.maximum(np.gradient(taus), _SAME))
    found[:, len(spreads) :] += np.outer(_LEANING * (4 * mus * (1 - mus)) ** 4, -np.log(1 - shares))
    # So few successes as are expected near 0 and 1 cannot be spread more evenly over families than this.
    rarer, draws = np.minimum(mus, 1 - mus), size / dispersion
    evenest = np.maximum((1 - draws * rarer) / (1 - rarer), _LEAST / dispersion)
    found[:, : len(spreads)] += np.where(spreads >= evenest[:, None], 0.0, _IMPOSSIBLE)
    return found


@lru_cache(maxsize=2048)
def _log_likelihood(step: int, size: float, dispersion: float) -> Floats:
    """Of a family with this mean over so many tasks, at every point of the grid."""
    if step > _STEPS // 2:
        mirrored: Floats = _log_likelihood(_STEPS - step, size, dispersion)[::-1]
        return mirrored
    grid, share, (_, mus, _) = _grid(dispersion), step / _STEPS, _axis()
    even, draws = size * grid.draws, size / dispersion
    alike = np.outer(np.log(mus), share * even) + np.outer(np.log(1 - mus), (1 - share) * even) + _ways(share, even)
    if step > 0:
        # As if of more draws, of which more means are possible.
        alike -= np.log(_SPREADS)
    exponents = (draws * share) * grid.solved + (draws * (1 - share)) * grid.not_solved
    most = exponents.max(axis=2)
    exponents -= most[..., None]
    summed = np.exp(exponents, out=exponents) @ _nodes()[1].astype(np.float32)
    differing = np.log(summed).astype(np.float64) + most + _ways(share, np.array([draws]))
    return np.concatenate([alike, differing], axis=1)


def _ways(share: float, draws: Floats) -> Floats:
    """The logarithm of how many orders so many draws have of which this share are solved."""
    return np.array([
        lgamma(count + 1) - lgamma(share * count + 1) - lgamma((1 - share) * count + 1) for count in draws.tolist()
    ])  # fmt: skip


def over_families(means: Sequence[float], sizes: Sequence[float], dispersion: float, level: float) -> Posterior:
    """What is known of the mean over families like these.

    Args:
        means: Of the families.
        sizes: How many tasks each has.
        dispersion: How much tasks vary, see `dispersion`.
        level: Of the interval.
    """
    seen = Counter(
        (round(min(1.0, max(0.0, mean)) * _STEPS), float(size)) for mean, size in zip(means, sizes, strict=True)
    )
    found = _over_seen(frozenset(seen.items()), _about(dispersion), level)
    return found.within(max(means) > 0, min(means) < 1)


@lru_cache(maxsize=4096)
def _over_seen(seen: "frozenset[tuple[tuple[int, float], int]]", dispersion: float, level: float) -> Posterior:
    """The same by how many families have which mean over how many tasks: on a board many have the same."""
    families = sum(count for _, count in seen)
    tasks = sum(size * count for (_, size), count in sorted(seen))
    logs = _prior(tasks / families, dispersion).copy()
    # In order, as sums of floats depend on it.
    for (step, size), count in sorted(seen):
        logs += count * _log_likelihood(step, size, dispersion)
    logs -= logs.max()
    return _read_off(np.exp(logs).sum(axis=1), level)


def over_families_of_many(means: Floats, size: int, dispersions: Floats, level: float) -> Floats:
    """The intervals of many agents at once, as simulations need them, [agent, end].

    Args:
        means: By agent and family, all families of one size.
        size: Of a family.
        dispersions: By agent.
        level: Of the intervals.
    """
    steps = np.rint(np.clip(means, 0, 1) * _STEPS).astype(int)
    rounded = np.array([_about(float(part)) for part in dispersions])
    by_mu = np.zeros((len(means), _POINTS))
    for part in np.unique(rounded).tolist():
        rows, prior = np.flatnonzero(rounded == part), _prior(float(size), part)
        known, place = np.unique(steps[rows], return_inverse=True)
        counts = np.zeros((len(rows), len(known)))
        np.add.at(counts, (np.arange(len(rows))[:, None], place.reshape(len(rows), -1)), 1)
        likelihoods = [_log_likelihood(step, float(size), part) for step in known.tolist()]
        logs = (counts @ np.stack(likelihoods).reshape(len(known), -1)).reshape(len(rows), *prior.shape) + prior
        by_mu[rows] = np.exp(logs - logs.max(axis=(1, 2), keepdims=True)).sum(axis=2)
    low, high = _quantiles(by_mu, ((1 - level) / 2, (1 + level) / 2))
    return np.stack([np.where(means.max(axis=1) > 0, low, 0), np.where(means.min(axis=1) < 1, high, 1)], axis=1)


def _read_off(by_mu: Floats, level: float) -> Posterior:
    """What weights on the grid of `mu` say of it."""
    _, mus, _ = _axis()
    total = float(by_mu.sum())
    middle = float(by_mu @ mus) / total
    square = float(by_mu @ mus**2) / total
    low, high = _quantiles(by_mu[None], ((1 - level) / 2, (1 + level) / 2))
    return Posterior(deviation=max(0.0, square - middle**2) ** 0.5, low=float(low[0]), high=float(high[0]))


def _quantiles(by_mu: Floats, parts: tuple[float, float]) -> tuple[Floats, Floats]:
    """Where so much of the weights on the grid of `mu` lies below, for rows of weights."""
    logits, _, _ = _axis()
    reached = np.cumsum(by_mu, axis=1)
    wanted = np.outer(parts, reached[:, -1])
    # Half of a point's weight is below it.
    reached -= by_mu / 2
    rows = np.arange(len(by_mu))
    after = np.clip((reached < wanted[..., None]).sum(axis=2), 1, _POINTS - 1)
    before, step = reached[rows, after - 1], logits[after] - logits[after - 1]
    part = (wanted - before) / np.maximum(reached[rows, after] - before, np.finfo(float).tiny)
    ends = _expit(logits[after - 1] + np.clip(part, 0, 1) * step)
    return ends[0], ends[1]


@lru_cache(maxsize=1024)
def _about(number: float) -> float:
    """The nearest of the powers of `_NEAR`, so that likelihoods are kept for few numbers."""
    return _NEAR ** round(log(number) / log(_NEAR))


def over_draws(mean: float, draws: float, level: float) -> Posterior:
    """What is known of the mean of independent draws: the case without families."""
    first, second = mean * draws + PRIOR, (1 - mean) * draws + PRIOR
    total = first + second
    return Posterior(
        deviation=(first * second / (total + 1)) ** 0.5 / total,
        low=0.0 if mean <= 0 else float(special.betaincinv(first, second, (1 - level) / 2)),
        high=1.0 if mean >= 1 else float(special.betaincinv(first, second, (1 + level) / 2)),
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
    return float(_relative(np.array(within), np.array(coin), freedom, usual))


def dispersions_of_many(values: Floats, usual: float) -> Floats:
    """The same for many agents at once, as simulations need it: values by agent, family and task."""
    _, families, size = values.shape
    freedom, means = families * (size - 1), values.mean(axis=2)
    within = ((values - means[..., None]) ** 2).sum(axis=(1, 2))
    return _relative(within, (means * (1 - means)).mean(axis=1) + within / freedom / size, freedom, usual)


def _relative(within: Floats, coin: Floats, freedom: int, usual: float) -> Floats:
    """Squares within families as a part of those of coins."""
    found: Floats = np.clip((within + _TRUST * usual) / (coin * freedom + _TRUST), _LEAST, 1.0)
    return found
