"""Elevation of any point: known heights, mountain ranges between them, and the sea floor.

Airfields and cities give the height of the lowlands and valleys, weighted by distance. Within a range, ridges
rise to its crest between the known points. Summits, camps and other points of known height are met exactly; around
a flat one, such as the surface of a lake, the ground is level.
Nothing here is surveyed: between the known points the ground is plausible, not true.
"""

from array import array
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from m3bench.sandboxes.world import fields, land, tables
from m3bench.sandboxes.world.fields import Array
from m3bench.sandboxes.world.geo import EARTH_RADIUS_M, Point

NEIGHBOURS = 6
CHUNK = 64
VALLEY_KM = 14.0
"""How far a known height keeps the ground level in the mountains."""
PEAK_KM = 4.0
SHORE_KM = 1.5
"""How far around a town on the shore the ground is dry, whatever the mask of the sea says."""
SHORE_METRES = (2.0, 15.0)
"""Between these lies such a town."""
KM_PER_DEGREE = EARTH_RADIUS_M / 1000 * np.pi / 180


class _Anchors(NamedTuple):
    vectors: Array
    metres: Array


class _Peaks(NamedTuple):
    vectors: Array
    metres: Array
    reach: Array
    """How far around each the ground is drawn to it, in kilometres: less where other heights are known nearby."""


class _Range(NamedTuple):
    metres: float
    width: float
    crest: Array
    south: float
    west: float
    north: float
    east: float


def elevation(point: Point) -> float:
    """Metres above the sea; zero or less where there is sea."""
    return float(elevations(np.array([point.lat]), np.array([point.lng]))[0])


def elevations(lats: Array, lngs: Array) -> Array:
    """Metres above the sea of many points."""
    found = np.empty(lats.shape)
    for start in range(0, lats.size, CHUNK):
        part = slice(start, start + CHUNK)
        found[part] = _ground(lats[part], lngs[part])
    return np.round(found, 2)


def ruggedness(lats: Array, lngs: Array) -> Array:
    """How deep in the mountains points are, in [0, 1]."""
    rugged = np.zeros(lats.shape)
    south, north, west, east = (float(edge) for edge in (lats.min(), lats.max(), lngs.min(), lngs.max()))
    for ridge in _ranges():
        if north < ridge.south or south > ridge.north or east < ridge.west or west > ridge.east:
            continue
        share = np.clip(1 - _crest_km(ridge.crest, lats, lngs) / ridge.width, 0, 1)
        rugged = np.maximum(rugged, share * min(1.0, ridge.metres / 3000))
    return rugged


def _ground(lats: Array, lngs: Array) -> Array:
    vectors = vectors_of(lats, lngs)
    lowland, spread, off_km = _inverse_distance_weighted(vectors)
    lift = _lift(lats, lngs, lowland) * _smooth((off_km - 2) / VALLEY_KM)
    bumps = fields.fractal_noise(lngs * 20, lats * 20, 3, 11) * np.minimum(120, 4 + 0.18 * spread) * _smooth(off_km / 4)
    metres = lowland + lift + bumps
    ice = _ice(lats, lngs)
    metres = np.where(ice > 0, np.maximum(ice + 0.2 * bumps, 1), metres)
    dry = land.sea_mask(lats, lngs)
    # The mask is a kilometre coarse: an airfield or city on its shore stays dry.
    dry |= off_km < 1.5
    metres = np.where(dry, np.where(lowland > 3, np.maximum(metres, 1.0), metres), _sea_floor(lats, lngs))
    ashore = (vectors @ _shores().T).max(axis=1) > np.cos(SHORE_KM * 1000 / EARTH_RADIUS_M)
    metres = np.where(~dry & ashore, np.clip(lowland, *SHORE_METRES), metres)
    metres = np.where(dry & ashore, np.maximum(metres, SHORE_METRES[0]), metres)
    return _peaks_met(vectors, metres)


def _inverse_distance_weighted(vectors: Array) -> tuple[Array, Array, Array]:
    """Height by inverse distance weighting (IDW), spread of heights, and kilometres to the nearest known height."""
    anchors = _anchors()
    centre = vectors.mean(axis=0)
    length = np.linalg.norm(centre)
    near = np.arange(len(anchors.metres))
    if length > 0.9:
        centre /= length
        reach = float((vectors @ centre).min())
        wide = np.cos(min(np.pi, np.arccos(np.clip(reach, -1, 1)) + np.radians(6)))
        rows = np.flatnonzero(anchors.vectors @ centre >= wide)
        if rows.size >= 4 * NEIGHBOURS:
            near = rows
    closeness = vectors @ anchors.vectors[near].T
    best = np.argpartition(-closeness, NEIGHBOURS, axis=1)[:, :NEIGHBOURS]
    km = np.arccos(np.clip(np.take_along_axis(closeness, best, axis=1), -1, 1)) * EARTH_RADIUS_M / 1000
    metres = anchors.metres[near][best]
    weights = 1 / (km**2 + 1.0)
    mean = (weights * metres).sum(axis=1) / weights.sum(axis=1)
    return mean, metres.std(axis=1), km.min(axis=1)


def _lift(lats: Array, lngs: Array, lowland: Array) -> Array:
    """How far ranges rise over the lowland."""
    lift = np.zeros(lats.shape)
    crests: Array | None = None
    south, north, west, east = (float(edge) for edge in (lats.min(), lats.max(), lngs.min(), lngs.max()))
    for ridge in _ranges():
        if north < ridge.south or south > ridge.north or east < ridge.west or west > ridge.east:
            continue
        share = np.clip(1 - _crest_km(ridge.crest, lats, lngs) / ridge.width, 0, 1)
        if crests is None:
            crests = fields.ridged_noise(lngs * 3.1, lats * 3.9, 5, 29)
        rise = np.maximum(0, ridge.metres - lowland) * np.sqrt(share) * (0.25 + 0.75 * crests)
        lift = np.maximum(lift, rise)
    return lift


def _crest_km(crest: Array, lats: Array, lngs: Array) -> Array:
    """Kilometres to the nearest part of a line, on a plane at each point."""
    squeeze = np.cos(np.radians(lats))
    best = np.full(lats.shape, np.inf)
    segments = pairwise(crest) if len(crest) > 1 else [(crest[0], crest[0])]
    for start, end in segments:
        ax, ay = (start[1] - lngs) * squeeze, start[0] - lats
        dx, dy = (end[1] - start[1]) * squeeze, end[0] - start[0]
        along = np.clip(-(ax * dx + ay * dy) / np.maximum(dx * dx + dy * dy, 1e-9), 0, 1)
        best = np.minimum(best, np.hypot(ax + along * dx, ay + along * dy))
    return best * KM_PER_DEGREE


def _ice(lats: Array, lngs: Array) -> Array:
    """Height of the ice sheets of Antarctica and Greenland, zero elsewhere."""
    sheet = (lats < -66) | ((lats > 61) & (lats < 82) & (lngs > -55) & (lngs < -22))
    steps = np.maximum(0, land.inland(lats, lngs) - 0.6)
    thickness = np.where(lats < 0, 700 * np.sqrt(steps), 950 * np.sqrt(steps))
    return np.where(sheet, np.minimum(thickness, np.where(lats < 0, 3600, 3000)), 0)


def _sea_floor(lats: Array, lngs: Array) -> Array:
    steps = np.maximum(0, -land.inland(lats, lngs))
    shelf = 12 + 110 * np.minimum(1, steps)
    deep = 3900 * _smooth((steps - 0.6) / 3)
    waves = 1 + 0.25 * fields.fractal_noise(lngs * 0.7, lats * 0.7, 4, 53)
    return np.asarray(-(shelf + deep) * waves)


def _peaks_met(vectors: Array, metres: Array) -> Array:
    peaks = _peaks()
    km = np.arccos(np.clip(vectors @ peaks.vectors.T, -1, 1)) * EARTH_RADIUS_M / 1000
    nearest = km.argmin(axis=1)
    off = km[np.arange(len(nearest)), nearest]
    weight = np.exp(-((off / peaks.reach[nearest]) ** 2))
    return np.asarray(metres * (1 - weight) + peaks.metres[nearest] * weight)


def vectors_of(lats: Array, lngs: Array) -> Array:
    """Positions on the unit sphere."""
    lat, lng = np.radians(lats), np.radians(lngs)
    return np.stack([np.cos(lat) * np.cos(lng), np.cos(lat) * np.sin(lng), np.sin(lat)], axis=-1)


def _smooth(t: Array) -> Array:
    t = np.clip(t, 0, 1)
    return np.asarray(t * t * (3 - 2 * t))


@cache
def _anchors() -> _Anchors:
    values = array("d")
    for name in ("heights", "city_heights"):
        for record in tables.stream(name):
            values.extend((record["lat"], record["lng"], record["metres"]))
    for record in tables.stream("cities"):
        values.extend((record["lat"], record["lng"], record["elevation"]))
    for record in tables.stream("peaks"):
        if record.get("flat"):
            values.extend((record["lat"], record["lng"], record["metres"]))
    lats, lngs, metres = np.array(values).reshape(-1, 3).T
    return _Anchors(vectors_of(lats, lngs), metres.copy())


@cache
def _shores() -> Array:
    records = tables.load("shores")
    return vectors_of(np.array([record["lat"] for record in records]), np.array([record["lng"] for record in records]))


@cache
def _peaks() -> _Peaks:
    records = tables.load("peaks")
    lats, lngs, metres = (np.array([r[key] for r in records], dtype=float) for key in ("lat", "lng", "metres"))
    vectors = vectors_of(lats, lngs)
    others = np.arccos(np.clip((vectors @ _anchors().vectors.T).max(axis=1), -1, 1)) * EARTH_RADIUS_M / 1000
    return _Peaks(vectors, metres, np.clip(0.4 * others, 0.6, PEAK_KM))


@cache
def _ranges() -> tuple[_Range, ...]:
    found = []
    for record in tables.load("ranges"):
        crest, width = np.array(record["crest"]), record["width"]
        edges = [*(crest.min(axis=0) - width / 60).tolist(), *(crest.max(axis=0) + width / 60).tolist()]
        found.append(_Range(record["metres"], width, crest, *edges))
    return tuple(found)
