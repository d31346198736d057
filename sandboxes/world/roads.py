"""A road-like metric over the globe: how far and how long it is from one point to another by road.

There is no map of roads here. The way is longer than the line by a factor that belongs to the ground it
crosses, so it is the same for everybody and nearly keeps the triangle inequality: a little more in towns, more
in mountains, much more around water. Between well-known cities the length is known, and near them it is brought
into line with it. Which points are joined by land is known by country.
"""

import math
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np

from m3bench.sandboxes.world import fields, geo, land, settlements, tables, terrain
from m3bench.sandboxes.world.fields import Array
from m3bench.sandboxes.world.geo import Point

SAMPLES = 20
LOCAL_M = 130.0
"""What the first corners cost on the shortest ways."""
SHORE_M = 300_000.0
"""From a point farther from any settlement no road leads anywhere."""

INNER_M, OUTER_M = 12_000.0, 40_000.0
"""How far from the middle of a city a known length holds, and where it no longer matters."""

_ISLANDS = frozenset(
    [
        *("JP", "TW", "PH", "ID", "LK", "MG", "MU", "SC", "MV", "CV", "NZ", "FJ", "PG", "SB", "VU", "NC", "PF", "WS"),
        *("TO", "CU", "JM", "HT", "DO", "PR", "BS", "BB", "TT", "GD", "LC", "VC", "AG", "DM", "KN", "BM", "KY", "TC"),
        *("IS", "FO", "MT", "CY", "GL", "KM", "RE", "YT", "ST", "FK", "GU", "KI", "MH", "FM", "NR", "PW", "TV", "AQ"),
        *("AU", "BN", "TL", "BH", "AW", "CW", "VI", "VG", "GP", "MQ", "SH", "GS"),
    ]
)
_SOUTH_AMERICA = frozenset(("CO", "VE", "EC", "PE", "BR", "BO", "PY", "UY", "AR", "CL", "GY", "SR", "GF"))
_JOINED = {"HT": "DO", "BN": "MY", "TL": "ID"}


@dataclass(frozen=True)
class Way:
    """A way by road."""

    metres: float
    rough: float
    """Share of mountains on it, in [0, 1]."""


class _Lengths(NamedTuple):
    starts: Array
    ends: Array
    lines: Array
    """As the crow flies, in metres."""
    ways: tuple[tuple[Point, Point, float], ...]
    """From, to and metres by road."""


def joined(a: Point, b: Point) -> bool:
    """Whether a road, with the ferries and tunnels that cars use, leads from one point to the other."""
    network = _network(a)
    return network is not None and network == _network(b)


def way(a: Point, b: Point) -> Way:
    """How far it is by road between two points that are joined."""
    found = _over_ground(a, b)
    return Way(max(geo.distance(a, b), found.metres * _correction(a, b)), found.rough)


def _over_ground(a: Point, b: Point) -> Way:
    line = geo.distance(a, b)
    if line < 1:
        return Way(line, 0.0)
    shares = (np.arange(SAMPLES) + 0.5) / SAMPLES
    # Rounding differs by direction, and at the edge of a cell of the map that is land or water.
    first, last = sorted((a, b), key=lambda point: (point.lat, point.lng))
    lats, lngs = _along(first, last, shares)
    rough = terrain.ruggedness(lats, lngs)
    wet = ~land.land_at(lats, lngs)
    bends = 1.19 + 0.10 * fields.value_noise(lngs * 9, lats * 9, 17) + 0.38 * rough + 0.75 * wet
    # Long ways follow main roads, which are straighter.
    straighter = 1 - 0.3 * line / (line + 150_000)
    factor = 1 + (float(bends.mean()) - 1) * straighter
    return Way(line * factor + LOCAL_M * (1 - math.exp(-line / 450)), float(rough.mean()))


def _correction(a: Point, b: Point) -> float:
    """By how much a way is longer than the ground says: all of it within two cities of known distance, less around."""
    known = _lengths()
    one, other = settlements.unit_vector(a), settlements.unit_vector(b)
    off = np.minimum(
        np.maximum(_metres(known.starts, one), _metres(known.ends, other)),
        np.maximum(_metres(known.starts, other), _metres(known.ends, one)),
    )
    inner, outer = np.minimum(INNER_M, 0.06 * known.lines), np.minimum(OUTER_M, 0.2 * known.lines)
    weights = np.clip((outer - off) / (outer - inner), 0, 1)
    best = int(weights.argmax())
    if not weights[best]:
        return 1.0
    start, end, metres = known.ways[best]
    return 1 + float(weights[best]) * (metres / _over_ground(start, end).metres - 1)


def _metres(places: Array, place: Array) -> Array:
    return np.asarray(np.arccos(np.clip(places @ place, -1, 1)) * geo.EARTH_RADIUS_M)


@cache
def _lengths() -> _Lengths:
    ways = tuple(
        (Point(record["lat"], record["lng"]), Point(record["to_lat"], record["to_lng"]), float(record["metres"]))
        for record in tables.load("road_lengths")
    )
    return _Lengths(
        starts=np.array([settlements.unit_vector(start) for start, _, _ in ways]),
        ends=np.array([settlements.unit_vector(end) for _, end, _ in ways]),
        lines=np.array([geo.distance(start, end) for start, end, _ in ways]),
        ways=ways,
    )


def _along(a: Point, b: Point, shares: Array) -> tuple[Array, Array]:
    """Points on the great circle; the same for both directions."""
    start, end = settlements.unit_vector(a), settlements.unit_vector(b)
    angle = math.acos(max(-1.0, min(1.0, float(start @ end))))
    if angle < 1e-9:
        return np.full(shares.shape, a.lat), np.full(shares.shape, a.lng)
    vectors = np.sin((1 - shares) * angle)[:, None] * start + np.sin(shares * angle)[:, None] * end
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    lats = np.degrees(np.arcsin(np.clip(vectors[:, 2], -1, 1)))
    return lats, np.degrees(np.arctan2(vectors[:, 1], vectors[:, 0]))


@lru_cache(maxsize=256)
def _network(point: Point) -> str | None:
    place = settlements.around(point, 1)[0]
    if geo.distance(point, place.point) > SHORE_M:
        return None
    country = settlements.countries().get(place.country)
    if place.country == "US" and place.region == "HI":
        return "HI"
    if place.country in _ISLANDS:
        return _JOINED.get(place.country, place.country)
    if place.country in _SOUTH_AMERICA:
        return "south america"
    return "north america" if country and country.continent == "NA" else "old world"
