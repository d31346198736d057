"""Where Sun and Moon stand: low-precision formulas, good to a fraction of a degree between 1900 and 2100."""

import math
from datetime import UTC, date, datetime, time, timedelta
from typing import NamedTuple

from m3bench.sandboxes.world.geo import Point, wrap

_J2000 = datetime(2000, 1, 1, 12, tzinfo=UTC)
_PHASES = (
    "new Moon",
    "waxing crescent",
    "first quarter Moon",
    "waxing gibbous",
    "full Moon",
    "waning gibbous",
    "last quarter Moon",
    "waning crescent",
)
_QUARTER_WIDTH = 7.0
"""Degrees of elongation to either side within which a phase counts as one of the four quarters."""


class Phase(NamedTuple):
    """How the Moon looks."""

    name: str
    lit: float
    """Share of the disk that is lit, in [0, 1]."""


def phase(moment: datetime) -> Phase:
    """The phase of the Moon."""
    angle = _elongation(moment)
    quarter = round(angle / 90)
    exact = abs(angle - quarter * 90) <= _QUARTER_WIDTH
    number = quarter % 4 * 2 if exact else int(angle // 90) * 2 + 1
    return Phase(_PHASES[number], (1 - math.cos(math.radians(angle))) / 2)


def next_full_moon(day: date) -> date:
    """The first day, this one included, on which the Moon becomes full (UTC)."""
    while True:
        start = datetime.combine(day, time(), UTC)
        before, after = _elongation(start), _elongation(start + timedelta(days=1))
        if before < 180 <= after:
            return day
        day += timedelta(days=1)


def subsolar(moment: datetime) -> Point:
    """Where on Earth the Sun stands overhead."""
    days = _days(moment)
    anomaly = math.radians(357.529 + 0.98560028 * days)
    mean = 280.459 + 0.98564736 * days
    longitude = math.radians(mean + 1.915 * math.sin(anomaly) + 0.020 * math.sin(2 * anomaly))
    tilt = math.radians(23.439 - 0.00000036 * days)
    declination = math.asin(math.sin(tilt) * math.sin(longitude))
    ascension = math.degrees(math.atan2(math.cos(tilt) * math.sin(longitude), math.cos(longitude)))
    sidereal = 280.46061837 + 360.98564736629 * days
    return Point(math.degrees(declination), wrap(ascension - sidereal))


def _elongation(moment: datetime) -> float:
    """Degrees from the Sun to the Moon along the ecliptic, in [0, 360)."""
    days = _days(moment)
    sun_anomaly = math.radians(357.529 + 0.98560028 * days)
    moon_anomaly = math.radians(134.963 + 13.064993 * days)
    distance = math.radians(297.850 + 12.190749 * days)
    correction = (
        6.289 * math.sin(moon_anomaly)
        + 1.274 * math.sin(2 * distance - moon_anomaly)
        + 0.658 * math.sin(2 * distance)
        + 0.214 * math.sin(2 * moon_anomaly)
        - 2.101 * math.sin(sun_anomaly)
    )
    return (math.degrees(distance) + correction) % 360


def _days(moment: datetime) -> float:
    return (moment - _J2000) / timedelta(days=1)
