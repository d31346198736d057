"""Where there is land: a mask of 30 arc seconds (about a kilometre), and the great lakes as polygons.

The mask knows the sea alone; lakes of a size that a map of a city shows are outlines of their own.
"""

import math
import zlib
from base64 import b85decode
from functools import cache, lru_cache

import numpy as np
import numpy.typing as npt

from m3bench.sandboxes.world import tables
from m3bench.sandboxes.world.geo import Point

CELLS = 120
"""Cells per degree."""

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


def is_land(point: Point) -> bool:
    """Whether a point lies on dry land, to about a kilometre."""
    return bool(land_at(np.array([point.lat]), np.array([point.lng]))[0])


def land_at(lats: Array, lngs: Array) -> Mask:
    """Whether points lie on dry land."""
    return sea_mask(lats, lngs) & ~lake_mask(lats, lngs)


def sea_mask(lats: Array, lngs: Array) -> Mask:
    """Whether points lie on land or on a lake; False is the open sea."""
    lats = np.clip(lats, -90, 89.999999)
    lngs = (lngs + 180) % 360 - 180
    souths, wests = np.floor(lats).astype(int), np.floor(lngs).astype(int)
    found = np.zeros(lats.shape, dtype=bool)
    squares = souths * 1000 + wests
    for square in np.unique(squares):
        here = squares == square
        south, west = int(souths[here][0]), int(wests[here][0])
        cells = _square(south, west)
        if isinstance(cells, bool):
            found[here] = cells
            continue
        rows = CELLS - 1 - np.minimum(CELLS - 1, ((lats[here] - south) * CELLS).astype(int))
        columns = np.minimum(CELLS - 1, ((lngs[here] - west) * CELLS).astype(int))
        found[here] = cells[rows, columns]
    return found


def lake_mask(lats: Array, lngs: Array) -> Mask:
    """Whether points lie on one of the lakes."""
    found = np.zeros(lats.shape, dtype=bool)
    if not lats.size:
        return found
    south, north, west, east = lats.min(), lats.max(), lngs.min(), lngs.max()
    for outline in _lakes():
        low, high = outline.min(axis=0), outline.max(axis=0)
        if low[0] <= north and high[0] >= south and low[1] <= east and high[1] >= west:
            found |= _inside(outline, lats, lngs)
    return found


def coast_distance(point: Point, most_km: float = 600.0) -> float:
    """Kilometres to the nearest sea coast, roughly; negative at sea. Looks no farther than `most_km`."""
    on_land = bool(sea_mask(np.array([point.lat]), np.array([point.lng]))[0])
    for step in (2.0, 5.0, 10.0, 20.0, 40.0, 80.0, 150.0, 300.0, 600.0):
        if step > most_km:
            break
        angles = np.arange(0, 360, 30)
        lats = point.lat + step / 111.2 * np.cos(np.radians(angles))
        stretch = max(0.02, math.cos(math.radians(point.lat)))
        lngs = point.lng + step / 111.2 / stretch * np.sin(np.radians(angles))
        if (sea_mask(np.clip(lats, -90, 90), lngs) != on_land).any():
            return step if on_land else -step
    return most_km if on_land else -most_km


def _inside(outline: Array, lats: Array, lngs: Array) -> Mask:
    """Even-odd rule."""
    inside = np.zeros(lats.shape, dtype=bool)
    for (lat_a, lng_a), (lat_b, lng_b) in zip(outline, np.roll(outline, -1, axis=0), strict=True):
        if lat_a == lat_b:
            continue
        crosses = (lat_a > lats) != (lat_b > lats)
        inside ^= crosses & (lngs < (lng_b - lng_a) * (lats - lat_a) / (lat_b - lat_a) + lng_a)
    return inside


@lru_cache(maxsize=256)
def _square(south: int, west: int) -> bool | Mask:
    inland, coasts = _tiles()
    if (south, west) in inland:
        return True
    packed = coasts.get((south, west))
    if packed is None:
        return False
    bits = np.unpackbits(np.frombuffer(zlib.decompress(b85decode(packed)), dtype=np.uint8))
    return bits.reshape(CELLS, CELLS).astype(bool)


@cache
def _tiles() -> tuple[frozenset[tuple[int, int]], dict[tuple[int, int], str]]:
    inland: set[tuple[int, int]] = set()
    coasts: dict[tuple[int, int], str] = {}
    for record in tables.load("land"):
        if "inland" in record:
            inland |= {(record["south"], west) for low, high in record["inland"] for west in range(low, high + 1)}
        else:
            coasts[record["south"], record["west"]] = record["bits"]
    return frozenset(inland), coasts


@cache
def _lakes() -> tuple[Array, ...]:
    return tuple(np.array(record["outline"], dtype=float) for record in tables.load("lakes"))
