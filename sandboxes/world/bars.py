"""Price bars: the minutes of a stretch of trading, and larger bars made of smaller ones.

A path is drawn from the coarse to the fine: levels per day between known anchors, then a Brownian bridge of minutes
between two levels. A minute needs nothing but its day. Bars hold whole numbers only (prices in ticks, volumes
in lots), so that the minutes of a day add up to the day exactly.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from functools import lru_cache
from itertools import pairwise
from math import sqrt

import numpy as np
import numpy.typing as npt

from m3bench.sandboxes.world import noise
from m3bench.sandboxes.world.fields import Array

Whole = npt.NDArray[np.int64]

_DIGITS = Context(prec=20)
_SPREAD_OF_FOUR = 65536 * sqrt(4 / 12)
"""Standard deviation of the sum of four uniform numbers of 16 bits."""


@dataclass(frozen=True, kw_only=True)
class Bars:
    """Stretches of trading one after another: prices in ticks, volume in lots, turnover in parts of the quote."""

    open: Whole
    high: Whole
    low: Whole
    close: Whole
    volume: Whole
    turnover: Whole

    def __len__(self) -> int:
        return len(self.open)

    def grouped(self, starts: Sequence[int] | Whole) -> "Bars":
        """Larger bars, each from one start to the next; the first start is 0."""
        first = np.asarray(starts, dtype=np.int64)
        last = np.append(first[1:], len(self)) - 1
        return Bars(
            open=self.open[first],
            high=np.maximum.reduceat(self.high, first),
            low=np.minimum.reduceat(self.low, first),
            close=self.close[last],
            volume=np.add.reduceat(self.volume, first),
            turnover=np.add.reduceat(self.turnover, first),
        )

    def part(self, start: int, end: int | None = None) -> "Bars":
        """The bars from `start` up to but not including `end`."""
        return Bars(**{name: values[start:end] for name, values in self.__dict__.items()})


def joined(parts: Sequence[Bars]) -> Bars:
    """Bars one after another; at least one part."""
    return Bars(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in parts[0].__dict__})


def levels(
    anchors: Mapping[int, float], volatility: float, key: str, *, market: str | None = None, share: float = 0.0
) -> Array:
    """One level per day from the first anchor to the last; on an anchor's day the level is the anchor.

    Args:
        anchors: Day number to level.
        volatility: Standard deviation of a day's relative change.
        key: Whose noise this is.
        market: Noise in common with others.
        share: How much of the changes is the market's, 0 to 1.
    """
    days = sorted(anchors)
    count = days[-1] - days[0]
    changes = steps(days[0], count, key, "day")
    if market:
        changes = share * steps(days[0], count, market, "day") + sqrt(1 - share * share) * changes
    walk = np.concatenate([[0.0], np.cumsum(changes * volatility)])
    path = np.empty(count + 1)
    for start, end in pairwise(days):
        part = slice(start - days[0], end - days[0] + 1)
        drift = float((Decimal(anchors[end]) / Decimal(anchors[start])).ln(_DIGITS))
        along = np.arange(end - start + 1) / (end - start)
        wander = walk[part] - walk[part][0]
        path[part] = anchors[start] * _growth(wander + along * (drift - wander[-1]))
    path[[day - days[0] for day in days]] = [anchors[day] for day in days]
    return path


def _growth(exponents: Array) -> Array:
    """The exponential, the same to the last bit on every machine, as floating-point libraries do not promise."""
    return np.array([float(Decimal(exponent).exp(_DIGITS)) for exponent in exponents.tolist()])


def brownian_bridge(start: float, end: float, count: int, volatility: float, *key: noise.Key) -> Array:
    """A Brownian bridge of `count` + 1 points from `start` to `end`; the volatility is that of the whole stretch."""
    along = np.arange(count + 1) / count
    walk = np.concatenate([[0.0], np.cumsum(steps(0, count, *key, "minute"))])
    bridge = (walk - walk[-1] * along) / sqrt(count)
    return np.asarray(start + (end - start) * along + start * volatility * bridge)


def trade(points: Whole, reach: float, volume: int, unit: float, weights: Array, *key: noise.Key) -> Bars:
    """The bars between neighbouring points, the volume spread over them.

    Args:
        points: Prices in ticks, one more than there are bars; each at least 1.
        reach: How far highs and lows typically lie outside open and close, in ticks.
        volume: Lots of all bars together.
        unit: What one lot at one tick is worth in parts of the quote.
        weights: How busy each bar is, relative to the others.
    """
    opens, closes = points[:-1], points[1:]
    count = len(opens)
    outside = np.rint(np.abs(steps(0, 2 * count, *key, "outside")) * reach).astype(np.int64)
    highs = np.maximum(opens, closes) + outside[:count]
    lows = np.maximum(np.minimum(opens, closes) - outside[count:], 1)
    volumes = _spread(volume, weights * (0.25 + _fractions(count, *key, "volume")))
    turnovers = np.rint(volumes * (opens + closes) * (unit / 2)).astype(np.int64)
    return Bars(open=opens, high=highs, low=lows, close=closes, volume=volumes, turnover=turnovers)


def steps(first: int, count: int, *key: noise.Key) -> Array:
    """Nearly normal numbers for the places `first`, `first` + 1, …: mean 0, standard deviation 1."""
    parts = _bits(first, count, *key).view(np.uint16).reshape(-1, 4)
    return np.asarray((parts.sum(axis=1, dtype=np.float64) - 2 * 65535) / _SPREAD_OF_FOUR)


def _fractions(count: int, *key: noise.Key) -> Array:
    return np.asarray((_bits(0, count, *key) >> np.uint64(11)) / float(1 << 53))


def _spread(total: int, weights: Array) -> Whole:
    """Whole parts in proportion to the weights that add up to the total."""
    along = np.cumsum(weights)
    ends = np.floor(total * (along / along[-1])).astype(np.int64)
    return np.asarray(np.diff(ends, prepend=0))


@lru_cache(maxsize=16)
def _places(first: int, count: int) -> npt.NDArray[np.uint64]:
    """Places far apart from one another, for a hash to mix."""
    return np.arange(first, first + count, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)


def _bits(first: int, count: int, *key: noise.Key) -> npt.NDArray[np.uint64]:
    """64 mixed bits per place; wraps around as unsigned numbers do."""
    mixed = np.uint64(noise.bits(*key)) + _places(first, count)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))
