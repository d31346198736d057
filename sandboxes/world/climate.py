"""Weather anywhere at any hour: a seeded model over real climate.

Latitude, distance from the sea and height give the usual temperature of the season, corrected to the true
January and July means of the cities around. On that lie the time of day and systems of weather that drift
with the hours. The same place and hour always have the same weather.
"""

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import NamedTuple

import numpy as np

from m3bench.sandboxes.world import geo, land, noise, tables, terrain
from m3bench.sandboxes.world.geo import Point

LAPSE_PER_M = 0.006
REACH_M = 700_000.0
"""How far a city's true climate speaks for its surroundings."""
LOCAL_M = 60_000.0
WARMEST_DAY = 203
"""Of the year, north of the equator."""

_LATS = (-90, -80, -70, -60, -50, -40, -30, -20, -10, 0, 10, 20, 30, 40, 50, 60, 70, 80, 90)
_MEANS = (-45, -30, -11, 0, 6, 12.5, 18, 23, 26, 26.5, 27, 25.5, 20.5, 14, 8, 1, -9, -17, -22)
_SWINGS = (14, 13, 9, 3, 4, 5, 6, 4.5, 2, 0.5, 1.5, 5, 9.5, 13, 15, 18, 19, 17, 16)
"""Half the difference between summer and winter, far from the sea."""


@dataclass(frozen=True, kw_only=True)
class Weather:
    """The weather of one hour."""

    celsius: float
    wind_kmh: float
    code: int
    """WMO code: 0 clear, 3 overcast, 45 fog, 61 rain, 71 snow, 95 thunderstorm …"""


class _Normal(NamedTuple):
    january: float
    july: float
    rain: float


def weather(point: Point, when: datetime) -> Weather:
    """The weather at a place and hour."""
    hours = when.astimezone(UTC).timestamp() / 3600
    normal = normals(point)
    wetness = _system(point, hours, "wet") + 0.5 * _wet_share(normal.rain) - 0.15
    celsius = season(normal, point, when) + _day_swing(normal, wetness) * math.cos(_hour_angle(point, when))
    swing = abs(normal.july - normal.january) / 2
    celsius += (1.2 + 0.22 * swing) * _system(point, hours, "warm") * 1.6
    return Weather(
        celsius=round(celsius, 1),
        wind_kmh=_wind(point, hours),
        code=_code(celsius, wetness, abs(point.lat), noise.fraction("code", *_cell(point), int(hours))),
    )


def season(normal: "_Normal", point: Point, when: datetime) -> float:
    """The usual temperature of the day of the year."""
    angle = 2 * math.pi * (when.timetuple().tm_yday - WARMEST_DAY) / 365.25
    return (normal.january + normal.july) / 2 + (normal.july - normal.january) / 2 * math.cos(angle)


def normals(point: Point) -> _Normal:
    """Mean temperature of January and July and yearly rain, from formula and the cities around."""
    base = _formula(point, terrain.elevation(point))
    weights = january = july = rain = 0.0
    for place, (d_january, d_july, ratio) in _corrections():
        off = geo.distance(point, place) / REACH_M
        if off < 3:
            # A city speaks loudest for itself, though cities of other climates are within reach.
            weight = math.exp(-off * off) + 15 * math.exp(-((off * REACH_M / LOCAL_M) ** 2))
            weights += weight
            january, july, rain = january + weight * d_january, july + weight * d_july, rain + weight * ratio
    share = weights + 0.2
    return _Normal(
        base.january + january / share, base.july + july / share, max(5.0, base.rain * math.exp(rain / share))
    )


def _formula(point: Point, metres: float) -> _Normal:
    inland = float(land.inland(np.array([point.lat]), np.array([point.lng]))[0])
    continental = 0.35 + 0.65 * (1 - math.exp(-max(0.0, inland) / 6))
    mean = float(np.interp(point.lat, _LATS, _MEANS))
    swing = float(np.interp(point.lat, _LATS, _SWINGS)) * continental * (1 if point.lat >= 0 else -1)
    lapse = LAPSE_PER_M * max(0.0, metres)
    rain = float(np.interp(abs(point.lat), (0, 10, 25, 35, 50, 70, 90), (2100, 1600, 500, 600, 800, 400, 150)))
    return _Normal(mean - swing - lapse, mean + swing - lapse, rain)


@cache
def _corrections() -> tuple[tuple[Point, tuple[float, float, float]], ...]:
    """What the formula misses at each city: January, July, and the logarithm of the rain's ratio."""
    found = []
    for record in tables.load("cities"):
        point = Point(record["lat"], record["lng"])
        base = _formula(point, record["elevation"])
        missed = (
            record["january"] - base.january,
            record["july"] - base.july,
            math.log(record["rain"] / base.rain),
        )
        found.append((point, missed))
    return tuple(found)


def _wet_share(rain: float) -> float:
    return min(1.0, rain / 1500) - 0.4


def _day_swing(normal: "_Normal", wetness: float) -> float:
    """Half the difference between afternoon and night: large where it is dry and clear."""
    return (6.5 - 3.5 * min(1.0, normal.rain / 1600)) * (1 - 0.35 * max(0.0, min(1.0, wetness)))


def _hour_angle(point: Point, when: datetime) -> float:
    moment = when.astimezone(UTC)
    solar = moment.hour + moment.minute / 60 + point.lng / 15
    return 2 * math.pi * (solar - 15) / 24


def _system(point: Point, hours: float, kind: str) -> float:
    """Large weather in about [-1, 1]: some five hundred kilometres wide, moving east, changing within days."""
    x = point.lng * math.cos(math.radians(point.lat)) / 5 - hours / 60
    y = point.lat / 5
    day = hours / 40
    early, late = math.floor(day), math.floor(day) + 1
    share = day - early
    return noise.fractal_noise(x, y, 3, kind, early) * (1 - share) + noise.fractal_noise(x, y, 3, kind, late) * share


def _wind(point: Point, hours: float) -> float:
    inland = float(land.inland(np.array([point.lat]), np.array([point.lng]))[0])
    usual = 10 + 7 * math.exp(-max(0.0, inland) / 1.5) + 0.08 * max(0.0, abs(point.lat) - 30)
    gusty = 1 + 0.9 * _system(point, hours, "wind") + 0.15 * noise.normal("gust", *_cell(point), int(hours))
    return round(max(0.4, usual * max(0.05, gusty)), 1)


def _cell(point: Point) -> tuple[int, int]:
    return round(point.lat * 10), round(point.lng * 10)


def _code(celsius: float, wetness: float, latitude: float, chance: float) -> int:
    if wetness < 0.25:
        if celsius < 12 and wetness > 0.1 and chance < 0.12:
            return 45
        return 0 if wetness < -0.2 else 1 if wetness < -0.02 else 2 if wetness < 0.12 else 3
    heavy = 0 if wetness < 0.36 else 1 if wetness < 0.5 else 2
    if celsius < 1:
        return (71, 73, 75)[heavy]
    if latitude < 35 and celsius > 24 and chance < 0.35:
        return 95
    if chance < 0.3:
        return (51, 53, 55)[heavy]
    return (80, 81, 82)[heavy] if chance > 0.8 else (61, 63, 65)[heavy]
