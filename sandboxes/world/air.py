"""Air anywhere at any hour: fine dust, nitrogen dioxide and ozone, and the indexes made of them.

The yearly fine dust of the described cities is true to public figures; every other settlement adds a plume by
its size, on a background of its region. Season, time of day, wind and drifting weather move the values.
"""

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from m3bench.sandboxes.world import fields, land, settlements, tables
from m3bench.sandboxes.world.fields import Array
from m3bench.sandboxes.world.geo import Point
from m3bench.sandboxes.world.terrain import vectors_of

REGION_KM = 900.0
LOCAL_KM = 50.0
EARTH_KM = 6371.0
WIDE_DEGREES = 12.0
"""In a view wider than this only large cities are seen."""

PM25_TO_US_AQI = ((0, 9.0, 35.4, 55.4, 125.4, 225.4, 500), (0, 50, 100, 150, 200, 300, 500))
"""Breakpoints of the US index, in micrograms per cubic metre, as revised in 2024."""
_PM25_TO_UAQI = ((0, 8, 20, 40, 80, 200), (97, 80, 60, 40, 20, 1))
_NO2_TO_UAQI = ((0, 30, 60, 110, 200, 400), (98, 80, 60, 40, 20, 1))
_O3_TO_UAQI = ((0, 75, 110, 150, 210, 350), (98, 80, 60, 40, 20, 1))


@dataclass(frozen=True, kw_only=True)
class AirQuality:
    """The air of one hour, in micrograms per cubic metre."""

    pm25: float
    no2: float
    o3: float

    @property
    def index(self) -> int:
        """The universal index, 0 … 100, higher is better."""
        return min(self._indexes.values())

    @property
    def dominant(self) -> str:
        """The pollutant that sets the index."""
        return min(self._indexes, key=lambda name: self._indexes[name])

    @property
    def _indexes(self) -> dict[str, int]:
        return {
            "pm25": round(float(np.interp(self.pm25, *_PM25_TO_UAQI))),
            "no2": round(float(np.interp(self.no2, *_NO2_TO_UAQI))),
            "o3": round(float(np.interp(self.o3, *_O3_TO_UAQI))),
        }


class _Plumes(NamedTuple):
    vectors: Array
    radius: Array
    strength: Array
    people: Array


class _Regions(NamedTuple):
    vectors: Array
    pm25: Array


def air(point: Point, when: datetime) -> AirQuality:
    """The air at a place and hour."""
    pm25, town = (float(part[0]) for part in _field(np.array([point.lat]), np.array([point.lng]), when))
    light = max(0.0, math.cos(2 * math.pi * (_solar_hour(point.lng, when) - 14.5) / 24))
    summer = 0.5 + 0.5 * math.cos(2 * math.pi * (when.timetuple().tm_yday - 190) / 365.25) * math.copysign(1, point.lat)
    return AirQuality(
        pm25=round(pm25, 1),
        no2=round(2 + 1.4 * town * (1.25 - 0.5 * light), 1),
        o3=round(max(4.0, 48 + 40 * light * (0.4 + 0.6 * summer) - 0.7 * town), 1),
    )


def pm25_field(lats: Array, lngs: Array, when: datetime) -> Array:
    """Fine dust at many points."""
    return _field(lats, lngs, when)[0]


def us_aqi(pm25: Array) -> Array:
    """The US index of fine dust."""
    return np.asarray(np.interp(pm25, *PM25_TO_US_AQI))


def universal_aqi(pm25: Array) -> Array:
    """The universal index of fine dust, 0 … 100, higher is better."""
    return np.asarray(np.interp(pm25, *_PM25_TO_UAQI))


def _field(lats: Array, lngs: Array, when: datetime) -> tuple[Array, Array]:
    """Fine dust, and the part of it that towns add."""
    vectors = vectors_of(lats, lngs)
    regional, town = _usual(vectors, lats, lngs)
    truth = _truth(vectors)
    regional, town = regional * truth, town * truth
    hours = when.astimezone(UTC).timestamp() / 3600
    still = fields.fractal_noise(lngs / 4 - hours / 70, lats / 4, 3, 71 + int(hours // 30))
    next_still = fields.fractal_noise(lngs / 4 - hours / 70, lats / 4, 3, 72 + int(hours // 30))
    share = (hours / 30) % 1
    calm = np.exp(0.7 * (still * (1 - share) + next_still * share))
    fine = 1 + 0.10 * fields.fractal_noise(lngs * 25, lats * 25, 2, 5)
    angle = 2 * math.pi * (when.timetuple().tm_yday - 15) / 365.25
    winter = 1 + 0.3 * np.cos(angle) * np.clip(lats / 35, -1, 1)
    solar = (hours + lngs / 15) % 24
    traffic = 1 + 0.22 * np.cos(2 * np.pi * (solar - 8.5) / 24) + 0.14 * np.cos(4 * np.pi * (solar - 8) / 24)
    return (regional + town * traffic) * calm * winter * fine, town * traffic * calm


def _usual(vectors: Array, lats: Array, lngs: Array) -> tuple[Array, Array]:
    """What comes from far and what towns add, in the mean of a year and a day, by formula."""
    regional = _regional(vectors, lats, lngs)
    return regional, _town(vectors, lats) * (0.55 + regional / 14)


def _truth(vectors: Array) -> Array:
    """The factor by which the formula is wrong at the described cities, fading around them."""
    regions = _regions()
    km = np.arccos(np.clip(vectors @ regions.vectors.T, -1, 1)) * EARTH_KM
    weights = np.exp(-((km / LOCAL_KM) ** 2))
    return np.asarray(np.exp((weights * _missed()).sum(axis=-1) / (weights.sum(axis=-1) + 0.1)))


@cache
def _missed() -> Array:
    records = tables.load("cities")
    lats, lngs = (np.array([record[key] for record in records], dtype=float) for key in ("lat", "lng"))
    found = [
        sum(
            float(part[0])
            for part in _usual(
                vectors_of(lats[row : row + 1], lngs[row : row + 1]), lats[row : row + 1], lngs[row : row + 1]
            )
        )
        for row in range(len(records))
    ]
    return np.asarray(np.log(_regions().pm25 / np.array(found)))


def _regional(vectors: Array, lats: Array, lngs: Array) -> Array:
    """What comes from far: clean at sea, dusty where the cities of a region are."""
    regions = _regions()
    km = np.arccos(np.clip(vectors @ regions.vectors.T, -1, 1)) * EARTH_KM
    weights = np.exp(-((km / REGION_KM) ** 2))
    clean = np.where(np.abs(lats) > 62, 1.5, 4.0)
    around = (weights * regions.pm25).sum(axis=-1) + 0.25 * clean
    inland = np.clip((land.inland(lats, lngs) + 1.5) / 2.5, 0.3, 1)
    return np.asarray((0.5 * around / (weights.sum(axis=-1) + 0.25) + 0.5) * inland)


def _town(vectors: Array, lats: Array) -> Array:
    plumes = _plumes()
    centre = vectors.reshape(-1, 3).mean(axis=0)
    centre /= max(1e-9, np.linalg.norm(centre))
    reach = math.acos(max(-1.0, min(1.0, float((vectors @ centre).min()))))
    near: npt.NDArray[np.bool_] = plumes.vectors @ centre >= math.cos(min(math.pi, reach + 90 / EARTH_KM))
    if math.degrees(reach) > WIDE_DEGREES / 2:
        near &= plumes.people >= (1_000_000 if math.degrees(reach) > 2 * WIDE_DEGREES else 250_000)
    total = np.zeros(lats.shape)
    rows = np.flatnonzero(near)
    for start in range(0, rows.size, 256):
        part = rows[start : start + 256]
        km = np.arccos(np.clip(vectors @ plumes.vectors[part].T, -1, 1)) * EARTH_KM
        # Plumes of neighbours overlap: the sum of squares keeps a suburb from doubling its city.
        total += ((plumes.strength[part] * np.exp(-((km / plumes.radius[part]) ** 1.4))) ** 2).sum(axis=-1)
    return np.sqrt(total)


def _solar_hour(lng: float, when: datetime) -> float:
    moment = when.astimezone(UTC)
    return (moment.hour + moment.minute / 60 + lng / 15) % 24


@cache
def _regions() -> _Regions:
    records = tables.load("cities")
    lats, lngs, pm25 = (np.array([r[key] for r in records], dtype=float) for key in ("lat", "lng", "pm25"))
    return _Regions(vectors_of(lats, lngs), pm25)


@cache
def _plumes() -> _Plumes:
    places = settlements.settlements()
    people = np.array([place.people for place in places], dtype=float)
    lats = np.array([place.point.lat for place in places])
    lngs = np.array([place.point.lng for place in places])
    strength = 2.2 * np.maximum(0, np.log10(np.maximum(people, 1000) / 4000)) ** 1.15
    radius = 3 + 0.012 * np.sqrt(people)
    return _Plumes(vectors_of(lats, lngs), radius, strength, people)
