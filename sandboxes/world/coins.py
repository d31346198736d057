"""Currencies and the pairs they trade in: one value per currency and minute, and every price follows from it.

A currency has a value in USDT; the price of A-B is the value of A over that of B, so that triangles of pairs close
up to a tick. Days begin at midnight in Hong Kong (16:00 UTC) as on the exchange; the day of the world's instant is
not over and ends with its last whole minute.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache, lru_cache

import numpy as np

from m3bench.sandboxes.world import bars, noise, tables
from m3bench.sandboxes.world.bars import Bars
from m3bench.sandboxes.world.clock import NOW
from m3bench.sandboxes.world.fields import Array

MINUTES = 1440
HONG_KONG = timedelta(hours=8)
TURNOVER_DECIMALS = 4

_EPOCH = date(1970, 1, 1)
_TODAY = ((NOW + HONG_KONG).date() - _EPOCH).days
_MINUTES_TODAY = (NOW + HONG_KONG).hour * 60 + (NOW + HONG_KONG).minute
_BUSY = {"USDT": 1.0, "USDC": 0.08, "USD": 0.06, "EUR": 0.03, "BTC": 0.02, "ETH": 0.01, "BRL": 0.01}
"""How much of a coin's turnover each quote currency sees, as multiples of the pair with USDT."""


@dataclass(frozen=True, kw_only=True)
class TradingPair:
    """What can be traded: a base currency for a quote currency."""

    base: str
    quote: str
    decimals: int
    """Decimals of a price: a tick is one of the last."""
    lot: int
    """Decimals of an amount of the base."""
    first: int
    """The day number of the first bar."""


@cache
def pairs() -> Mapping[str, TradingPair]:
    """Every pair by its id, such as BTC-USDT."""
    return {
        f"{coin['id']}-{quote}": TradingPair(
            base=coin["id"],
            quote=quote,
            decimals=decimals,
            lot=coin["lot"],
            first=max(_first(coin["id"]), _first(quote)),
        )
        for coin in tables.load("coins")
        for quote, decimals in coin["pairs"].items()
    }


def minutes(pair: TradingPair, day: int) -> Bars:
    """The minutes of a day: 1440 of them, or fewer when the day is today."""
    value = _values(pair.base, day) / _values(pair.quote, day)
    points = np.maximum(np.rint(value * 10**pair.decimals).astype(np.int64), 1)
    price = float(points[0]) / 10**pair.decimals
    name = f"{pair.base}-{pair.quote}"
    restless = max(_coins()[name]["volatility"] for name in (pair.base, pair.quote))
    dollars = _coins()[pair.base]["turnover"] * 1_000_000 * _BUSY[pair.quote]
    busy = noise.between(0.6, 1.5, name, day, "busy") * (len(points) - 1) / MINUTES
    amount = round(dollars * busy / float(_values(pair.base, day)[0]) * 10**pair.lot)
    unit = 10**TURNOVER_DECIMALS / 10 ** (pair.decimals + pair.lot)
    reach = restless * price * 10**pair.decimals / 90
    return bars.trade(points, reach, amount, unit, np.ones(len(points) - 1), name, day)


@lru_cache(maxsize=64)
def daily(pair: TradingPair, first: int) -> Bars:
    """The days of a pair from a day on, the last one up to the world's instant."""
    return bars.joined([minutes(pair, day).grouped([0]) for day in range(first, _TODAY + 1)])


def recent(pair: TradingPair, size: int, count: int) -> tuple[Bars, list[datetime]]:
    """The last bars of `size` minutes, which divides a day, with the moments they open; oldest first."""
    per_day = MINUTES // size
    first = max(pair.first, _TODAY - -(-count // per_day))
    parts = []
    for day in range(first, _TODAY + 1):
        whole = minutes(pair, day)
        parts.append(whole.grouped(np.arange(0, len(whole), size)))
    found = bars.joined(parts)
    opens = [midnight(first) + timedelta(minutes=size * place) for place in range(len(found))]
    return found.part(max(0, len(found) - count)), opens[-count:]


def calendar(pair: TradingPair, unit: str, count: int) -> tuple[Bars, list[datetime]]:
    """The last bars of a "day", a "week" from Monday or a "month", with the moments they open; oldest first.

    The first week or month of a pair opens with the calendar, though trading began later in it.
    """
    days = [_EPOCH + timedelta(days=day) for day in range(pair.first, _TODAY + 1)]
    heads = [_head(day, unit) for day in days]
    starts = [place for place in range(len(heads)) if not place or heads[place] != heads[place - 1]][-count:]
    found = daily(pair, pair.first + starts[0]).grouped([place - starts[0] for place in starts])
    return found, [midnight((heads[place] - _EPOCH).days) for place in starts]


def midnight(day: int) -> datetime:
    """When a day of the exchange begins."""
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=day) - HONG_KONG


def _head(day: date, unit: str) -> date:
    if unit == "week":
        return day - timedelta(days=day.weekday())
    return day.replace(day=1) if unit == "month" else day


@lru_cache(maxsize=64)
def _values(currency: str, day: int) -> Array:
    """The value in USDT at the beginning of each minute of a day and at the end of the last."""
    count = _MINUTES_TODAY if day == _TODAY else MINUTES
    if currency == "USDT":
        return np.ones(count + 1)
    level = _levels(currency)
    place = day - _first(currency)
    volatility = _coins()[currency]["volatility"]
    return bars.brownian_bridge(float(level[place]), float(level[place + 1]), count, 0.8 * volatility, currency, day)


@cache
def _levels(currency: str) -> Array:
    """The value at the beginning of each day since the first, and at the world's instant."""
    coin = _coins()[currency]
    anchors = {(date.fromisoformat(day) - _EPOCH).days: value for day, value in coin["values"].items()}
    anchors[_TODAY + 1] = coin["value"]
    return bars.levels(anchors, coin["volatility"], currency, market="coins", share=coin["with_market"])


@cache
def _first(currency: str) -> int:
    """The day of the oldest value."""
    if currency == "USDT":
        return 0
    return (date.fromisoformat(min(_coins()[currency]["values"])) - _EPOCH).days


@cache
def _coins() -> Mapping[str, tables.Record]:
    return {coin["id"]: coin for coin in tables.load("coins")}
