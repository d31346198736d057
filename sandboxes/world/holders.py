"""Who owns a listed company: insiders, institutions, funds, and what insiders bought and sold.

Parts are drawn around what is typical of each holder; those of the institutions stay within the institutions' part
and a transaction's price lies between that day's low and high. All single holdings and transactions are invented.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache

from m3bench.sandboxes.world import noise, sessions, stocks, tables
from m3bench.sandboxes.world.clock import NOW
from m3bench.sandboxes.world.stocks import CENTS

REPORTED = date(2025, 6, 30)
"""The last quarter's end for which all holders had to report."""
SHOWN = 10
_TYPICAL_INSTITUTIONS = 0.75
"""The institutions' part in a company where the typical parts of the table hold."""


@dataclass(frozen=True, kw_only=True)
class Holding:
    """What one institution or fund holds."""

    name: str
    part: float
    shares: int
    value: int
    change: float
    """Relative to the report before."""


@dataclass(frozen=True, kw_only=True)
class Transaction:
    """What an insider did."""

    day: date
    name: str
    title: str
    kind: str
    """sale, award or gift: the everyday ones."""
    shares: int
    low: float
    high: float
    """Prices between which it was done; zero where nothing was paid."""
    value: int


@dataclass(frozen=True, kw_only=True)
class Insider:
    """An officer, what they last did and what they own."""

    name: str
    title: str
    last: Transaction | None
    shares: int


@cache
def holdings(ticker: str, kind: str) -> tuple[Holding, ...]:
    """The largest holders of a kind, `institution` or `fund`, largest first."""
    company = stocks.companies()[ticker]
    scale = company["institutions"] / _TYPICAL_INSTITUTIONS
    price = stocks.last_close(ticker)
    found = []
    for holder in tables.load("investors"):
        if holder["kind"] == kind:
            part = round(holder["typical"] * scale * noise.between(0.93, 1.07, ticker, holder["id"]), 4)
            shares = round(part * company["shares"])
            change = round(0.02 * noise.normal(ticker, holder["id"], "change"), 4)
            found.append(
                Holding(name=holder["name"], part=part, shares=shares, value=round(shares * price), change=change)
            )
    return tuple(sorted(found, key=lambda holding: (-holding.part, holding.name))[:SHOWN])


def institutions_count(ticker: str) -> int:
    """How many institutions hold shares at all."""
    company = stocks.companies()[ticker]
    worth = float(company["shares"] * stocks.last_close(ticker))
    part = float(company["institutions"])
    size: float = min(1.0, worth / 4e12) ** 0.25
    return round(900 + 6200 * part * size)


@cache
def transactions(ticker: str) -> tuple[Transaction, ...]:
    """What insiders did in the last year, newest first."""
    found = [
        _transaction(ticker, officer, place)
        for officer in stocks.companies()[ticker]["officers"]
        for place in range(noise.integer(2, 4, ticker, officer["name"], "deeds"))
    ]
    return tuple(sorted(found, key=lambda deed: (deed.day, deed.name, deed.shares), reverse=True))


@cache
def roster(ticker: str) -> tuple[Insider, ...]:
    """The insiders with what they own; together not more than the insiders' part."""
    company = stocks.companies()[ticker]
    weights = [noise.between(0.2, 1.0, ticker, officer["name"], "owns") for officer in company["officers"]]
    whole = company["insiders"] * company["shares"] * 0.8
    last = {deed.name: deed for deed in reversed(transactions(ticker))}
    return tuple(
        Insider(
            name=officer["name"],
            title=officer["title"],
            last=last.get(officer["name"]),
            shares=int(whole * weight / sum(weights)),
        )
        for officer, weight in zip(company["officers"], weights, strict=True)
    )


def insider_shares(ticker: str) -> int:
    """All shares of insiders together."""
    company = stocks.companies()[ticker]
    return round(float(company["insiders"]) * int(company["shares"]))


def recent(ticker: str, kinds: Sequence[str], days: int = 182) -> tuple[Transaction, ...]:
    """The transactions of some kinds in the last half year."""
    since = NOW.date() - timedelta(days=days)
    return tuple(deed for deed in transactions(ticker) if deed.kind in kinds and deed.day >= since)


def _transaction(ticker: str, officer: tables.Record, place: int) -> Transaction:
    key = (ticker, officer["name"], place)
    number = len(sessions.days()) - 1 - noise.integer(3, 250, *key, "day")
    kind = noise.pick(("sale", "sale", "sale", "award", "award", "gift"), *key, "kind")
    part = insider_shares(ticker) * noise.between(0.0005, 0.004, *key, "size")
    price = stocks.close_on(ticker, number)
    shares = max(1, round(min(part, noise.between(2e5, 6e6, *key, "dollars") / price)))
    low = high = 0.0
    if kind == "sale":
        day = stocks.daily(ticker).part(number - 1, number)
        bottom, top = int(day.low[0]), int(day.high[0])
        low = round((bottom + (top - bottom) * noise.between(0.1, 0.45, *key, "low")) / CENTS, 2)
        high = round((bottom + (top - bottom) * noise.between(0.55, 0.9, *key, "high")) / CENTS, 2)
    return Transaction(
        day=sessions.days()[number],
        name=officer["name"],
        title=officer["title"],
        kind=kind,
        shares=shares,
        low=low,
        high=high,
        value=round(shares * (low + high) / 2),
    )
