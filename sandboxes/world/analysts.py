"""What analysts say of a share: who covers it, how each rating changed, and the counts that follow.

Each house starts coverage with a rating and revisits it every few months, mostly to leave it as it is. The counts of
a month are the ratings in force then, so that they agree with the changes. No house rates itself. All of it is
invented, around how the share was really seen.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import cache

from m3bench.sandboxes.world import noise, sessions, stocks, tables
from m3bench.sandboxes.world.clock import NOW

LEVELS = ("strongBuy", "buy", "hold", "sell", "strongSell")
KEYS = ("strong_buy", "buy", "hold", "underperform", "sell")
"""What a mean rating of 1, 2, 3, 4, 5 is called in a quote."""
_COVERAGE_FROM = date(2022, 9, 1)


@dataclass(frozen=True, kw_only=True)
class Rating:
    """One thing a house said."""

    moment: datetime
    firm: str
    grade: str
    before: str
    """The grade until then; empty when coverage starts."""
    action: str
    """init, up, down, main or reit."""
    level: int
    """The place of the grade in `LEVELS`."""


@cache
def ratings(ticker: str) -> tuple[Rating, ...]:
    """All that was said, newest first."""
    company = stocks.companies()[ticker]
    key = company["reports_as"]
    others = [house for house in tables.load("brokers") if house["company_id"] != key]
    houses = sorted(others, key=lambda house: noise.bits(key, house["id"], "covers"))
    said = [rating for house in houses[: company["analysts"]] for rating in _said_by(house, key, company["lean"])]
    return tuple(sorted(said, key=lambda rating: (rating.moment, rating.firm), reverse=True))


def latest(ticker: str, since: date) -> tuple[Rating, ...]:
    """The newest of each house from a day on, newest first."""
    newest: dict[str, Rating] = {}
    for rating in ratings(ticker):
        if rating.moment.date() >= since:
            newest.setdefault(rating.firm, rating)
    return tuple(newest.values())


def counts(ticker: str, until: date) -> Mapping[str, int]:
    """How many houses stood at each level at the end of a day."""
    found = dict.fromkeys(LEVELS, 0)
    seen: set[str] = set()
    for rating in ratings(ticker):
        if rating.moment.date() <= until and rating.firm not in seen:
            seen.add(rating.firm)
            found[LEVELS[rating.level]] += 1
    return found


def months_before(months: int) -> date:
    """The same day of an earlier month than the world's."""
    first = NOW.year * 12 + NOW.month - 1 - months
    return date(first // 12, first % 12 + 1, NOW.day)


def mean(ticker: str) -> float:
    """The mean level today, from 1 for a strong buy to 5."""
    now = counts(ticker, NOW.date())
    return round(sum((place + 1) * now[name] for place, name in enumerate(LEVELS)) / sum(now.values()), 5)


def _said_by(house: tables.Record, key: str, lean: float) -> list[Rating]:
    day = _COVERAGE_FROM + timedelta(days=noise.integer(0, 100, key, house["id"], "start"))
    said: list[Rating] = []
    while day < NOW.date():
        place = len(said)
        wanted = _level(house, lean, key, place) if place % 5 == 0 else said[-1].level
        before = said[-1] if said else None
        said.append(
            Rating(
                moment=_published(day, key, house["id"]),
                firm=house["name"],
                grade=house["grades"][wanted],
                before=before.grade if before else "",
                action=_action(before, wanted, key, house["id"]),
                level=wanted,
            )
        )
        day += timedelta(days=noise.integer(45, 130, key, house["id"], place, "pause"))
    return said


def _action(before: Rating | None, level: int, key: str, house: str) -> str:
    if before is None:
        return "init"
    if level != before.level:
        return "up" if level < before.level else "down"
    return "reit" if noise.fraction(key, house, before.moment.isoformat(), "again") < 0.3 else "main"


def _level(house: tables.Record, lean: float, key: str, place: int) -> int:
    """A level that the house has a word for; the lower the lean, the friendlier."""
    draw = noise.fraction(key, house["id"], place, "level")
    friendly = min(0.96, max(0.08, (3.3 - lean) / 1.9))
    unfriendly = max(0.0, (lean - 1.9) / 6)
    strong = noise.fraction(key, house["id"], place, "strength") < 0.5
    if draw < friendly:
        level = 0 if strong else 1
    elif draw < 1 - unfriendly:
        level = 2
    else:
        level = 4 if strong else 3
    if house["grades"][level] is None:
        level = 1 if level == 0 else 3
    return level


def _published(day: date, key: str, house: str) -> datetime:
    """A moment before or in the trading hours of the last trading day up to a day."""
    if day > sessions.FIRST:
        day = sessions.days()[sessions.latest(day)]
    minute = noise.integer(6 * 60, 15 * 60, key, house, day.isoformat(), "minute")
    return sessions.moment(day, time(minute // 60, minute % 60))
