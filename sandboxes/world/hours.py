"""Opening hours: the short notation of the tables, as text for people and as an answer to "open now?".

The notation is `Mo-Fr 09:00-12:00,14:00-18:00; Sa 09:00-13:00`, `24/7`, with times up to 24:00; a closing
time before the opening time lies after midnight. A day that is not named is closed.
"""

from datetime import datetime
from functools import lru_cache

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_SHORT = tuple(day[:2] for day in DAYS)
_DAY_MINUTES = 24 * 60

Spans = tuple[tuple[int, int], ...]
"""From and to in minutes after midnight; `to` may lie on the next day."""


@lru_cache(maxsize=512)
def week(notation: str) -> tuple[Spans, ...]:
    """The spans of each day, Monday first."""
    if notation == "24/7":
        return tuple(((0, _DAY_MINUTES),) for _ in DAYS)
    days: list[Spans] = [() for _ in DAYS]
    for rule in notation.split(";"):
        names, _, times = rule.strip().partition(" ")
        spans = tuple(_span(part) for part in times.split(","))
        for name in names.split(","):
            first, _, last = name.partition("-")
            start, end = _SHORT.index(first), _SHORT.index(last or first)
            for day in range(start, (end if end >= start else end + 7) + 1):
                days[day % 7] = spans
    return tuple(days)


def is_open(notation: str, local: datetime) -> bool:
    """Whether it is open at a local time."""
    minute = local.hour * 60 + local.minute
    today, yesterday = week(notation)[local.weekday()], week(notation)[local.weekday() - 1]
    return any(start <= minute < end for start, end in today) or any(
        minute < end - _DAY_MINUTES for _, end in yesterday
    )


def descriptions(notation: str) -> list[str]:
    """One line for each day, as the maps services write them."""
    return [f"{day}: {_words(spans)}" for day, spans in zip(DAYS, week(notation), strict=True)]


def periods(notation: str) -> list[dict[str, dict[str, int]]]:
    """Opening and closing times with the day counted from Sunday."""
    if notation == "24/7":
        return [{"open": {"day": 0, "hour": 0, "minute": 0}}]
    return [
        {"open": _moment(day, start), "close": _moment(day, end)}
        for day, spans in enumerate(week(notation))
        for start, end in spans
    ]


def _moment(day: int, minute: int) -> dict[str, int]:
    day, minute = day + minute // _DAY_MINUTES, minute % _DAY_MINUTES
    return {"day": (day + 1) % 7, "hour": minute // 60, "minute": minute % 60}


def _span(text: str) -> tuple[int, int]:
    start, end = (_minutes(part) for part in text.strip().split("-"))
    return start, end if end > start else end + _DAY_MINUTES


def _minutes(text: str) -> int:
    hour, minute = text.split(":")
    return int(hour) * 60 + int(minute)


def _words(spans: Spans) -> str:
    if not spans:
        return "Closed"
    if spans == ((0, _DAY_MINUTES),):
        return "Open 24 hours"
    return ", ".join(f"{_clock(start)} – {_clock(end)}" for start, end in spans)


def _clock(minute: int) -> str:
    hour, minute = divmod(minute % _DAY_MINUTES, 60)
    return f"{hour % 12 or 12}:{minute:02d} {'AM' if hour < 12 else 'PM'}"
