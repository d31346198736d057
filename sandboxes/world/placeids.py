"""Place ids in the shape the maps services use: `ChIJ`, then an S2 cell of the position and a fingerprint.

The cell makes an id speak for itself: the id of an address that stands in no table can still be resolved to
its position, and an id that was never given out here can be told apart from one that was.
"""

import math
from base64 import urlsafe_b64decode, urlsafe_b64encode

from m3bench.sandboxes.world import noise
from m3bench.sandboxes.world.geo import Point

_LEVELS = 30
_TURNS = ((0, 1, 3, 2), (0, 2, 3, 1), (3, 2, 0, 1), (3, 1, 0, 2))
"""Orientation and position on the curve to quadrant (column bit, row bit)."""
_FLIPS = (1, 0, 0, 3)
"""Position on the curve to change of orientation."""
_HEAD, _MIDDLE = b"\x0a\x12\x09", b"\x11"


def place_id(point: Point, name: str) -> str:
    """The id of a named place."""
    return _join(cell(point), noise.bits("place", name, round(point.lat, 5), round(point.lng, 5)))


def point_id(point: Point, kind: str) -> str:
    """The id of a position that is computed, not listed: an address, a town, a stretch of road."""
    leaf = cell(point)
    return _join(leaf, noise.bits(kind, leaf))


def position(identifier: str, kind: str) -> Point | None:
    """Where the position with this `point_id` is; None when it is not such an id."""
    try:
        data = urlsafe_b64decode(identifier + "=" * (-len(identifier) % 4))
    except ValueError:
        return None
    if len(data) != 20 or data[:3] != _HEAD or data[11:12] != _MIDDLE:
        return None
    leaf, fingerprint = int.from_bytes(data[3:11], "little"), int.from_bytes(data[12:], "little")
    return centre(leaf) if fingerprint == noise.bits(kind, leaf) else None


def cell(point: Point) -> int:
    """The S2 leaf cell that holds a point."""
    lat, lng = math.radians(point.lat), math.radians(point.lng)
    x, y, z = math.cos(lat) * math.cos(lng), math.cos(lat) * math.sin(lng), math.sin(lat)
    axis = max(range(3), key=lambda index: abs((x, y, z)[index]))
    face = axis + (3 if (x, y, z)[axis] < 0 else 0)
    match face:
        case 0:
            u, v = y / x, z / x
        case 1:
            u, v = -x / y, z / y
        case 2:
            u, v = -x / z, -y / z
        case 3:
            u, v = z / x, y / x
        case 4:
            u, v = z / y, -x / y
        case _:
            u, v = -y / z, -x / z
    i, j = _grid(u), _grid(v)
    orientation, curve = face & 1, 0
    for level in reversed(range(_LEVELS)):
        quadrant = (i >> level & 1) << 1 | (j >> level & 1)
        place = _TURNS[orientation].index(quadrant)
        curve = curve << 2 | place
        orientation ^= _FLIPS[place]
    return face << 61 | curve << 1 | 1


def centre(leaf: int) -> Point:
    """The middle of a leaf cell."""
    face = leaf >> 61
    orientation, i, j = face & 1, 0, 0
    for level in range(_LEVELS):
        place = leaf >> (59 - 2 * level) & 3
        quadrant = _TURNS[orientation][place]
        i, j = i << 1 | quadrant >> 1, j << 1 | quadrant & 1
        orientation ^= _FLIPS[place]
    u, v = _plane(i), _plane(j)
    x, y, z = ((1.0, u, v), (-u, 1.0, v), (-u, -v, 1.0), (-1.0, -v, -u), (v, -1.0, -u), (v, u, -1.0))[face % 6]
    return Point(math.degrees(math.atan2(z, math.hypot(x, y))), math.degrees(math.atan2(y, x)))


def _grid(u: float) -> int:
    s = 0.5 * math.sqrt(1 + 3 * u) if u >= 0 else 1 - 0.5 * math.sqrt(1 - 3 * u)
    return max(0, min((1 << _LEVELS) - 1, math.floor(s * (1 << _LEVELS))))


def _plane(i: int) -> float:
    s = (i + 0.5) / (1 << _LEVELS)
    return (4 * s * s - 1) / 3 if s >= 0.5 else (1 - 4 * (1 - s) ** 2) / 3


def _join(leaf: int, fingerprint: int) -> str:
    data = _HEAD + leaf.to_bytes(8, "little") + _MIDDLE + fingerprint.to_bytes(8, "little")
    return urlsafe_b64encode(data).decode().rstrip("=")
