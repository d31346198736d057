"""Price history rows for the `yahoo-finance` server: a window of days, seen through bars of one interval.

A row has one field that the public service lacks: `Synthetic` names the columns that are drawn and not reported.
"""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

import numpy as np

from m3bench.sandboxes.world import sessions, stocks
from m3bench.sandboxes.world.bars import Bars
from m3bench.sandboxes.world.clock import NOW
from m3bench.sandboxes.world.stocks import CENTS

MINUTES = {"1m": 1, "2m": 2, "5m": 5, "15m": 15, "30m": 30, "60m": 60, "90m": 90, "1h": 60}
INTERVALS = (*MINUTES, "1d", "5d", "1wk", "1mo", "3mo")
REACH_DAYS = {"1m": 30, "60m": 730, "1h": 730}
OTHER_REACH_DAYS = 60
MOST_DAYS_OF_MINUTES = 8

DRAWN = "Open High Low Close Volume"
DRAWN_BUT_CLOSE = "Open High Low Volume"

Row = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Span:
    """A window of days, the last one not included."""

    start: date
    end: date

    def problem(self, interval: str) -> str | None:
        """What forbids bars of an interval here; None when nothing does."""
        if interval not in MINUTES:
            return None
        reach = REACH_DAYS.get(interval, OTHER_REACH_DAYS)
        earliest = NOW.date() - timedelta(days=reach)
        if self.start < earliest:
            return f"{interval} data is only available for the last {reach} days: start on {earliest} or later"
        if interval == "1m" and (min(self.end, NOW.date()) - self.start).days > MOST_DAYS_OF_MINUTES:
            return f"only {MOST_DAYS_OF_MINUTES} days of 1m data are given at a time: narrow the window"
        return None

    def numbers(self) -> range:
        """The trading days in it that have bars."""
        days = sessions.days()
        inside = [number for number in range(1, len(days)) if self.start <= days[number] < self.end]
        return range(inside[0], inside[-1] + 1) if inside else range(0)


def history(ticker: str, span: Span, interval: str) -> list[Row]:
    """The rows of a window, oldest first; larger bars count only the days in the window."""
    numbers = span.numbers()
    if not numbers:
        return []
    if interval in MINUTES:
        return [row for number in numbers for row in _inside(ticker, number, MINUTES[interval])]
    days = [sessions.days()[number] for number in numbers]
    heads = [_head(day, place, days, interval) for place, day in enumerate(days)]
    starts = [place for place in range(len(days)) if not place or heads[place] != heads[place - 1]]
    found = stocks.daily(ticker).part(numbers[0] - 1, numbers[-1]).grouped(starts)
    ends = [*starts[1:], len(days)]
    rows = _rows(found, [sessions.moment(heads[place]) for place in starts])
    for row, start, end in zip(rows, starts, ends, strict=True):
        _add_actions(row, ticker, days[start:end])
        if stocks.is_known(ticker, days[end - 1]):
            row["Synthetic"] = DRAWN_BUT_CLOSE
    return rows


def _head(day: date, place: int, days: list[date], interval: str) -> date:
    """The day that a bar is named after: the Monday, the first of the month or quarter, or its own first day."""
    if interval == "1wk":
        return day - timedelta(days=day.weekday())
    if interval == "1mo":
        return day.replace(day=1)
    if interval == "3mo":
        return day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1)
    return days[place - place % 5] if interval == "5d" else day


def _inside(ticker: str, number: int, size: int) -> list[Row]:
    day = sessions.days()[number]
    minutes = stocks.minutes(ticker, number)
    starts = np.arange(0, len(minutes), size)
    opening = sessions.moment(day, sessions.OPENING)
    rows = _rows(minutes.grouped(starts), [opening + timedelta(minutes=int(start)) for start in starts])
    _add_actions(rows[0], ticker, [day])
    return rows


def _rows(found: Bars, moments: list[datetime]) -> list[Row]:
    columns = (found.open, found.high, found.low, found.close, found.volume)
    return [
        {
            "Date": moment.strftime("%Y-%m-%dT%H:%M:%S.000Z"),
            "Open": first / CENTS,
            "High": high / CENTS,
            "Low": low / CENTS,
            "Close": last / CENTS,
            "Volume": volume,
            "Dividends": 0.0,
            "Stock Splits": 0.0,
            "Synthetic": DRAWN,
        }
        for moment, first, high, low, last, volume in zip(moments, *(c.tolist() for c in columns), strict=True)
    ]


def _add_actions(row: Row, ticker: str, days: list[date]) -> None:
    paid, split = stocks.dividends(ticker), stocks.splits(ticker)
    row["Dividends"] = round(sum(paid.get(day, 0.0) for day in days), 4)
    for day in days:
        if day in split:
            row["Stock Splits"] = split[day]
