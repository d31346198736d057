"""Where there is land: a mask of 30 arc seconds (about a kilometre), and the great lakes as polygons.

The mask knows the sea alone; lakes of a size that a map of a city shows are outlines of their own.
"""

import zlib
from base64 import b85decode
from functools import cache, lru_cache

import numpy as np
import numpy.typing as npt

from m3bench.sandboxes.world import tables
from m3bench.sandboxes.world.geo import Point

CELLS = 120
"""Cells per degree."""

_SEA, _COAST, _LAND = range(3)

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


def inland(lats: Array, lngs: Array) -> Array:
    """Signed distance to the sea coast in degrees, roughly and bilinear: positive on land, negative at sea."""
    grid = _inland_grid()
    rows, columns = lats + 89.5, (lngs + 179.5) % 360
    low, left = np.clip(np.floor(rows), 0, 178).astype(int), np.floor(columns).astype(int)
    up, right = np.clip(rows - low, 0, 1), columns - left
    nearer, farther = grid[low, left % 360], grid[low, (left + 1) % 360]
    north_near, north_far = grid[low + 1, left % 360], grid[low + 1, (left + 1) % 360]
    south = nearer + (farther - nearer) * right
    north = north_near + (north_far - north_near) * right
    return np.asarray(south + (north - south) * up)


@cache
def _inland_grid() -> Array:
    """Steps of one degree to the other element, per square, signed; from south to north."""
    kinds, _ = _tiles()
    steps = np.zeros((180, 360))
    for element, sign in ((kinds == _LAND, 1.0), (kinds == _SEA, -1.0)):
        left = element
        while left.any():
            steps += np.where(left, sign, 0.0)
            shifted = [np.roll(left, 1, axis=1), np.roll(left, -1, axis=1)]
            padded = np.pad(left, ((1, 1), (0, 0)), mode="edge")
            left = left & shifted[0] & shifted[1] & padded[2:] & padded[:-2]
    return steps


def _inside(outline: Array, lats: Array, lngs: Array) -> Mask:
    """Point in polygon, by the even-odd rule."""
    inside = np.zeros(lats.shape, dtype=bool)
    for (lat_a, lng_a), (lat_b, lng_b) in zip(outline, np.roll(outline, -1, axis=0), strict=True):
        if lat_a == lat_b:
            continue
        crosses = (lat_a > lats) != (lat_b > lats)
        inside ^= crosses & (lngs < (lng_b - lng_a) * (lats - lat_a) / (lat_b - lat_a) + lng_a)
    return inside


@lru_cache(maxsize=256)
def _square(south: int, west: int) -> bool | Mask:
    kinds, coasts = _tiles()
    kind = kinds[south + 90, west + 180]
    if kind != _COAST:
        return bool(kind == _LAND)
    packed = coasts[south * 1000 + west]
    bits = np.unpackbits(np.frombuffer(zlib.decompress(b85decode(packed)), dtype=np.uint8))
    return bits.reshape(CELLS, CELLS).astype(bool)


@cache
def _tiles() -> tuple[npt.NDArray[np.int8], dict[int, bytes]]:
    """What each degree square is, from the south-west, and the packed cells of those with a coast."""
    kinds = np.full((180, 360), _SEA, dtype=np.int8)
    coasts: dict[int, bytes] = {}
    for record in tables.stream("land"):
        row = record["south"] + 90
        if "inland" in record:
            for low, high in record["inland"]:
                kinds[row, low + 180 : high + 181] = _LAND
        else:
            kinds[row, record["west"] + 180] = _COAST
            coasts[record["south"] * 1000 + record["west"]] = record["bits"].encode()
    return kinds, coasts


@cache
def _lakes() -> tuple[Array, ...]:
    return tuple(np.array(record["outline"], dtype=float) for record in tables.load("lakes"))
