"""The trading days of the New York exchanges: which days, how long, and when they are in UTC.

Days are numbered from `FIRST` on, so that a series is a list. The last one is the last before the world's instant.
"""

from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from zoneinfo import ZoneInfo

from m3bench.sandboxes.world.clock import NOW

FIRST = date(2022, 12, 30)
"""Day number 0: it has a closing price, but no bars."""
FULL_MINUTES = 390
HALF_MINUTES = 210
OPENING = time(9, 30)
CLOSING = time(16, 0)

_TRADED_SINCE = date(1962, 1, 2)
"""Nobody has daily prices from before."""
_NEW_YORK = ZoneInfo("America/New_York")
_HOLIDAYS = frozenset(
    date.fromisoformat(day)
    for day in [
        "2023-01-02",
        "2023-01-16",
        "2023-02-20",
        "2023-04-07",
        "2023-05-29",
        "2023-06-19",
        "2023-07-04",
        "2023-09-04",
        "2023-11-23",
        "2023-12-25",
        "2024-01-01",
        "2024-01-15",
        "2024-02-19",
        "2024-03-29",
        "2024-05-27",
        "2024-06-19",
        "2024-07-04",
        "2024-09-02",
        "2024-11-28",
        "2024-12-25",
        "2025-01-01",
        "2025-01-09",
        "2025-01-20",
        "2025-02-17",
        "2025-04-18",
        "2025-05-26",
        "2025-06-19",
        "2025-07-04",
        "2025-09-01",
    ]
)
_HALF_DAYS = frozenset(
    date.fromisoformat(day)
    for day in ["2023-07-03", "2023-11-24", "2024-07-03", "2024-11-29", "2024-12-24", "2025-07-03"]
)


def before_ours(start: date, end: date) -> bool:
    """Whether a span of days, the last not included, has weekdays on which shares were traded before our record."""
    days = (start + timedelta(days=number) for number in range(min(7, (min(end, FIRST) - start).days)))
    return start >= _TRADED_SINCE and any(day.weekday() < 5 for day in days)


@cache
def days() -> tuple[date, ...]:
    """Every trading day from the first to the last before the world's instant."""
    span = (NOW.date() - FIRST).days
    every = (FIRST + timedelta(days=place) for place in range(span))
    return tuple(day for day in every if day.weekday() < 5 and day not in _HOLIDAYS)


@cache
def numbers() -> dict[date, int]:
    """The number of each trading day."""
    return {day: number for number, day in enumerate(days())}


def latest(day: date) -> int:
    """The number of the last trading day up to and including a day, 1 at least."""
    while day not in numbers() and day > FIRST:
        day -= timedelta(days=1)
    return max(1, numbers().get(day, 1))


def length(day: date) -> int:
    """Minutes between the opening and the closing bell."""
    return HALF_MINUTES if day in _HALF_DAYS else FULL_MINUTES


def moment(day: date, local: time = time()) -> datetime:
    """A time of day in New York, in UTC; midnight unless told."""
    return datetime.combine(day, local, _NEW_YORK).astimezone(UTC)
