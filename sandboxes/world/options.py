"""Options on listed shares: expiries, strikes, and prices after Black and Scholes on the last close.

Volatility is the share's own, a little higher away from the money and for the near expiries. Prices are whole cents
and fall with the strike for calls and rise for puts.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import cache

from m3bench.sandboxes.world import noise, sessions, stocks
from m3bench.sandboxes.world.clock import NOW

RATE = 0.039
"""The riskless interest per year."""
EXPIRIES = tuple(
    date.fromisoformat(day)
    for day in [
        "2025-11-07",
        "2025-11-14",
        "2025-11-21",
        "2025-11-28",
        "2025-12-05",
        "2025-12-12",
        "2025-12-19",
        "2026-01-16",
        "2026-02-20",
        "2026-03-20",
        "2026-04-17",
        "2026-06-18",
        "2026-09-18",
        "2026-12-18",
        "2027-01-15",
        "2027-06-17",
        "2027-12-17",
        "2028-01-21",
    ]
)
"""Fridays; the Thursday before where the Friday is a holiday. The last ones of January are the long-dated series."""
WITHOUT = frozenset({"BRK-A"})
"""Shares that have no listed options."""

_STEPS = ((25, 0.5), (80, 1.0), (200, 2.5), (500, 5.0), (1500, 10.0))
"""The distance of strikes by the price of the share: up to …, this much."""
_STRIKES_EACH_SIDE = 14


@dataclass(frozen=True, kw_only=True)
class Contract:
    """One line of an option chain."""

    symbol: str
    traded: datetime
    strike: float
    price: float
    bid: float
    ask: float
    change: float
    volume: int
    open_interest: int
    volatility: float
    in_the_money: bool


def expiries(ticker: str) -> tuple[date, ...]:
    """When options on a share expire."""
    return () if ticker in WITHOUT else EXPIRIES


@cache
def chain(ticker: str, expiry: date, side: str) -> tuple[Contract, ...]:
    """The contracts of an expiry, `calls` or `puts`, by strike."""
    spot = stocks.last_close(ticker)
    before = stocks.close_on(ticker, len(sessions.days()) - 2)
    return tuple(_contract(ticker, expiry, side, strike, spot, before) for strike in strikes(spot, expiry))


def strikes(spot: float, expiry: date) -> Sequence[float]:
    """Round prices around the share's, wider apart for later expiries."""
    step = next((size for limit, size in _STEPS if spot <= limit), 50.0)
    if (expiry - NOW.date()).days > 180:
        step *= 2
    middle = round(spot / step)
    first = max(1, middle - _STRIKES_EACH_SIDE)
    return [round(place * step, 2) for place in range(first, middle + _STRIKES_EACH_SIDE + 1)]


def value(side: str, spot: float, strike: float, years: float, volatility: float) -> float:
    """What Black and Scholes say a European option is worth."""
    spread = volatility * math.sqrt(years)
    upper = (math.log(spot / strike) + (RATE + volatility * volatility / 2) * years) / spread
    lower = upper - spread
    owed = strike * math.exp(-RATE * years)
    if side == "calls":
        return spot * _normal(upper) - owed * _normal(lower)
    return owed * _normal(-lower) - spot * _normal(-upper)


def _contract(ticker: str, expiry: date, side: str, strike: float, spot: float, before: float) -> Contract:
    days = (expiry - NOW.date()).days
    distance = abs(math.log(strike / spot))
    volatility = _volatility(ticker, days) * (1 + 0.04 * min(distance, 0.5))
    price = max(0.01, round(value(side, spot, strike, days / 365, volatility), 2))
    yesterday = max(0.01, round(value(side, before, strike, (days + 1) / 365, volatility), 2))
    half = max(0.01, round(price * 0.012, 2))
    key = (ticker, expiry.isoformat(), side, str(strike))
    crowd = stocks.companies()[ticker]["volume"] ** 0.55 * math.exp(-7 * distance) * 30 / (20 + days)
    return Contract(
        symbol=f"{ticker.replace('-', '')}{expiry:%y%m%d}{side[0].upper()}{round(strike * 1000):08d}",
        traded=_traded(*key),
        strike=strike,
        price=price,
        bid=max(0.0, round(price - half, 2)),
        ask=round(price + half, 2),
        change=round(price - yesterday, 2),
        volume=1 + round(crowd * noise.between(0.3, 1.7, *key, "volume")),
        open_interest=5 + round(4 * crowd * noise.between(0.5, 2.0, *key, "open")),
        volatility=round(volatility, 6),
        in_the_money=strike < spot if side == "calls" else strike > spot,
    )


def _volatility(ticker: str, days: int) -> float:
    """Per year; nearer expiries are priced as if a little more restless."""
    return float(stocks.companies()[ticker]["volatility"]) * math.sqrt(252) * (1 + 0.12 * math.exp(-days / 40))


def _traded(*key: str) -> datetime:
    """In the last trading day's hours."""
    close = sessions.moment(sessions.days()[-1], time(16, 0))
    return close - timedelta(seconds=noise.integer(1, 5 * 3600, *key, "traded"))


def _normal(x: float) -> float:
    return (1 + math.erf(x / math.sqrt(2))) / 2
