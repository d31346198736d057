"""Landsat 8: which scene covers a point and when the satellite passes, from the geometry of its orbit.

Paths and rows follow the Worldwide Reference System 2; a path comes round every 16 days. Scenes are taken over
land alone, by day, up to 82.6 degrees of latitude.
"""

import math
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache

from m3bench.sandboxes.world import clock
from m3bench.sandboxes.world.geo import Point, wrap
from m3bench.sandboxes.world.land import is_land

FIRST_SCENE = date(2013, 4, 11)
MOST_LATITUDE = 82.6
_PATHS, _ROWS_AROUND, _EQUATOR_ROW, _DAY_ROWS = 233, 248, 60, 122
_FIRST_PATH_LNG = -64.6
_INCLINATION = math.radians(98.2)
_REPEAT_DAYS = 16
_KNOWN_PATH, _KNOWN_DAY = 44, date(2014, 3, 18)
"""A path and a day on which it was imaged; the path seven further west follows a day later."""
_SPREAD_DEGREES = 0.6
"""Land this near to a point means that its scene is taken."""


@dataclass(frozen=True)
class LandsatScene:
    """A picture of one place on one day."""

    path: int
    row: int
    taken: date

    @property
    def id(self) -> str:
        """What the archive calls it."""
        return f"LC08_L1TP_{self.path:03d}{self.row:03d}_{self.taken:%Y%m%d}_{self.taken:%Y%m%d}_02_T1"


def nearest(point: Point, day: date) -> LandsatScene | None:
    """The scene of a point that was taken nearest to a day, or None where none is taken."""
    if abs(point.lat) > MOST_LATITUDE or not _is_imaged(point):
        return None
    path, row = _scene(point)
    offset = (path - _KNOWN_PATH) * 7 % _REPEAT_DAYS
    phase = (day - _KNOWN_DAY - timedelta(days=offset)).days % _REPEAT_DAYS
    before = day - timedelta(days=phase)
    after = before + timedelta(days=_REPEAT_DAYS)
    possible = [taken for taken in (before, after) if FIRST_SCENE <= taken < clock.NOW.date()]
    return LandsatScene(path, row, min(possible, key=lambda taken: abs(taken - day))) if possible else None


def _scene(point: Point) -> tuple[int, int]:
    """Path and row whose centre is nearest."""
    row = min(range(1, _DAY_ROWS + 1), key=lambda row: abs(_centres()[row - 1].lat - point.lat))
    steps = (_FIRST_PATH_LNG + _centres()[row - 1].lng - point.lng) % 360 / (360 / _PATHS)
    return round(steps) % _PATHS + 1, row


@cache
def _centres() -> tuple[Point, ...]:
    """Latitude of each row by day, and its longitude relative to where the orbit crosses the equator."""
    found = []
    for row in range(1, _DAY_ROWS + 1):
        along = math.radians((row - _EQUATOR_ROW) * 360 / _ROWS_AROUND)
        lat = -math.degrees(math.asin(math.sin(_INCLINATION) * math.sin(along)))
        orbit = math.degrees(math.atan2(math.cos(_INCLINATION) * math.sin(along), math.cos(along)))
        turned = math.degrees(along) * 98.88 / 1440
        found.append(Point(lat, orbit - turned))
    return tuple(found)


def _is_imaged(point: Point) -> bool:
    spread = (-_SPREAD_DEGREES, 0.0, _SPREAD_DEGREES)
    return any(
        is_land(Point(max(-90.0, min(89.9, point.lat + north)), wrap(point.lng + east)))
        for north in spread
        for east in spread
    )
