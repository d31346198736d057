"""Listed companies and their prices: one path of minutes per share, from which every larger bar is made.

Closing levels are known on a few days and drawn between them; a day runs from its opening gap to its close. Prices
are adjusted for splits and dividends, in cents. Share classes of one company move alike.
"""

import re
from collections.abc import Mapping
from datetime import date
from functools import cache, lru_cache

import numpy as np

from m3bench.sandboxes.world import bars, noise, sessions, tables
from m3bench.sandboxes.world.bars import Bars
from m3bench.sandboxes.world.fields import Array
from m3bench.sandboxes.world.tables import Record

Company = Record

CENTS = 100
_MARKET_SHARE = 0.55
"""How much of a day's change is the market's."""
_GAP = 0.35
_INSIDE = 0.75
"""The night's and the day's part of a day's volatility."""


@cache
def companies() -> Mapping[str, Company]:
    """Every listed share by ticker."""
    return {company["id"]: company for company in tables.load("companies")}


@cache
def instruments() -> Mapping[str, Record]:
    """What has a price and is no share: indices, currency pairs and futures, by ticker."""
    return {record["id"]: record for record in tables.load("instruments")}


def find(ticker: str) -> Record | None:
    """The share or other instrument of a ticker, in whatever case it is written; `USDJPY=X` is `JPY=X`."""
    symbol = ticker.strip().upper()
    if re.fullmatch(r"USD[A-Z]{3}=X", symbol) and symbol not in instruments():
        symbol = symbol[3:]
    return companies().get(symbol) or companies().get(symbol.replace(".", "-")) or instruments().get(symbol)


def decimals(ticker: str) -> int:
    """Decimals of a price: a tick is one of the last."""
    return int(_priced(ticker).get("decimals", 2))


def ticks(ticker: str) -> int:
    """How many ticks make one unit of the currency."""
    return int(10 ** decimals(ticker))


def _priced(ticker: str) -> Record:
    return companies().get(ticker) or instruments()[ticker]


def minutes(ticker: str, number: int) -> Bars:
    """The minutes of a trading day, by its number from 1 on."""
    company = _priced(ticker)
    moves_as, volatility = company["moves_as"], company["volatility"]
    before, after = float(_levels(ticker)[number - 1]), float(_levels(ticker)[number])
    count = sessions.length(sessions.days()[number])
    opening = before * (1 + _GAP * volatility * float(bars.steps(number, 1, moves_as, "gap")[0]))
    path = bars.brownian_bridge(opening, after, count, _INSIDE * volatility, moves_as, number)
    points = np.rint(path * ticks(ticker)).astype(np.int64)
    restless = abs(after / before - 1) / volatility
    busy = noise.between(0.7, 1.2, ticker, number, "busy") * (0.85 + 0.25 * restless) * count / sessions.FULL_MINUTES
    volume = round(company["volume"] * busy)
    reach = volatility * after * ticks(ticker) / 60
    return bars.trade(points, reach, volume, 1.0, _bustle(count), ticker, number)


@lru_cache(maxsize=128)
def daily(ticker: str) -> Bars:
    """All trading days from number 1 to the last."""
    return bars.joined([minutes(ticker, number).grouped([0]) for number in range(1, len(sessions.days()))])


def close_on(ticker: str, number: int) -> float:
    """The closing price of a trading day."""
    return round(float(np.rint(_levels(ticker)[number] * ticks(ticker))) / ticks(ticker), decimals(ticker))


def last_close(ticker: str) -> float:
    """The price at the world's instant."""
    return close_on(ticker, len(sessions.days()) - 1)


def is_known(ticker: str, day: date) -> bool:
    """Whether the close of a day is the real one and not drawn."""
    priced = _priced(ticker)
    return bool(priced.get("known", True)) and day.isoformat() in priced["closes"]


def dividends(ticker: str) -> Mapping[date, float]:
    """Dividend per share by the day from which a buyer no longer gets it."""
    return {date.fromisoformat(day): float(amount) for day, amount in _priced(ticker).get("dividends", ())}


def splits(ticker: str) -> Mapping[date, float]:
    """New shares per old one by the first day after the split."""
    return {date.fromisoformat(day): float(ratio) for day, ratio in _priced(ticker).get("splits", ())}


@cache
def _levels(ticker: str) -> Array:
    company = _priced(ticker)
    anchors = {sessions.numbers()[date.fromisoformat(day)]: close for day, close in company["closes"].items()}
    volatility = company["volatility"]
    return bars.levels(anchors, volatility, company["moves_as"], market="stocks", share=_MARKET_SHARE)


@cache
def _bustle(count: int) -> Array:
    """How busy the minutes of a day are: most after the opening and before the close."""
    along = np.arange(count) / (count - 1) * 2 - 1
    return np.asarray(1 + 2.5 * along * along)
