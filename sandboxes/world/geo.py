"""Geodesy on a sphere: distances, bearings, boxes, encoded lines and web-map tiles.

Degrees and metres throughout. A sphere is within half a percent of the ellipsoid, which is closer than the
positions in our tables.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

EARTH_RADIUS_M = 6_371_008.8
MAX_MERCATOR_LAT = 85.0511287798066
TILE_PX = 256


class Point(NamedTuple):
    """A position in degrees."""

    lat: float
    lng: float


@dataclass(frozen=True)
class Box:
    """A rectangle in degrees; it crosses the antimeridian when west is greater than east."""

    south: float
    west: float
    north: float
    east: float

    @classmethod
    def around(cls, centre: Point, radius_m: float) -> "Box":
        """The smallest box that holds a circle."""
        angle = math.degrees(radius_m / EARTH_RADIUS_M)
        south, north = max(-90.0, centre.lat - angle), min(90.0, centre.lat + angle)
        if south == -90 or north == 90:
            return cls(south, -180.0, north, 180.0)
        ratio = math.sin(math.radians(angle)) / math.cos(math.radians(centre.lat))
        spread = math.degrees(math.asin(min(1.0, ratio)))
        if spread >= 90:
            return cls(south, -180.0, north, 180.0)
        return cls(south, wrap(centre.lng - spread), north, wrap(centre.lng + spread))

    @classmethod
    def of(cls, points: Iterable[Point]) -> "Box":
        """The smallest box that holds the points, without crossing the antimeridian."""
        lats, lngs = zip(*points, strict=True)
        return cls(min(lats), min(lngs), max(lats), max(lngs))

    def contains(self, point: Point) -> bool:
        """Whether a point lies inside or on the edge."""
        if not self.south <= point.lat <= self.north:
            return False
        if self.west <= self.east:
            return self.west <= point.lng <= self.east
        return point.lng >= self.west or point.lng <= self.east


def wrap(lng: float) -> float:
    """A longitude in [-180, 180)."""
    return (lng + 180) % 360 - 180


def distance(a: Point, b: Point) -> float:
    """Metres along the great circle."""
    lat_a, lat_b = math.radians(a.lat), math.radians(b.lat)
    half = (
        math.sin((lat_b - lat_a) / 2) ** 2
        + math.cos(lat_a) * math.cos(lat_b) * math.sin(math.radians(b.lng - a.lng) / 2) ** 2
    )
    return 2 * EARTH_RADIUS_M * math.asin(math.sqrt(min(1.0, half)))


def bearing(a: Point, b: Point) -> float:
    """The direction from a to b at a, in [0, 360), clockwise from north."""
    lat_a, lat_b, turn = math.radians(a.lat), math.radians(b.lat), math.radians(b.lng - a.lng)
    east = math.sin(turn) * math.cos(lat_b)
    north = math.cos(lat_a) * math.sin(lat_b) - math.sin(lat_a) * math.cos(lat_b) * math.cos(turn)
    return math.degrees(math.atan2(east, north)) % 360


def destination(start: Point, direction: float, metres: float) -> Point:
    """Where one arrives after going straight in a direction."""
    angle, course, lat = metres / EARTH_RADIUS_M, math.radians(direction), math.radians(start.lat)
    sine = math.sin(lat) * math.cos(angle) + math.cos(lat) * math.sin(angle) * math.cos(course)
    end = math.asin(max(-1.0, min(1.0, sine)))
    turn = math.atan2(math.sin(course) * math.sin(angle) * math.cos(lat), math.cos(angle) - math.sin(lat) * sine)
    return Point(math.degrees(end), wrap(start.lng + math.degrees(turn)))


def between(a: Point, b: Point, share: float) -> Point:
    """The point at a share of the way from a to b along the great circle."""
    return destination(a, bearing(a, b), distance(a, b) * share)


def compass(direction: float) -> str:
    """The nearest of eight winds, in words."""
    winds = ("north", "northeast", "east", "southeast", "south", "southwest", "west", "northwest")
    return winds[round(direction / 45) % 8]


def encode_polyline(points: Sequence[Point]) -> str:
    """A line in the encoded polyline format, five decimals."""
    text: list[str] = []
    last_lat = last_lng = 0
    for point in points:
        lat, lng = round(point.lat * 1e5), round(point.lng * 1e5)
        text.append(_encode_number(lat - last_lat) + _encode_number(lng - last_lng))
        last_lat, last_lng = lat, lng
    return "".join(text)


def decode_polyline(text: str) -> list[Point]:
    """The points of an encoded polyline; raises `ValueError` when it is not one."""
    numbers: list[int] = []
    value = shift = 0
    for character in text:
        chunk = ord(character) - 63
        if not 0 <= chunk < 64:
            raise ValueError(f"{character!r} does not occur in an encoded polyline")
        value |= (chunk & 31) << shift
        shift += 5
        if chunk < 32:
            numbers.append(~(value >> 1) if value & 1 else value >> 1)
            value = shift = 0
    if shift or len(numbers) % 2:
        raise ValueError("the encoded polyline breaks off in the middle of a point")
    points: list[Point] = []
    lat = lng = 0
    for step_lat, step_lng in zip(numbers[::2], numbers[1::2], strict=True):
        lat, lng = lat + step_lat, lng + step_lng
        points.append(Point(lat / 1e5, lng / 1e5))
    return points


def _encode_number(number: int) -> str:
    rest = ~(number << 1) if number < 0 else number << 1
    text = ""
    while rest >= 32:
        text += chr((32 | (rest & 31)) + 63)
        rest >>= 5
    return text + chr(rest + 63)


def pixel(point: Point, zoom: int) -> tuple[float, float]:
    """Web-mercator pixel coordinates of a point, from the north-west corner of the world."""
    size = TILE_PX * 2.0**zoom
    lat = max(-MAX_MERCATOR_LAT, min(MAX_MERCATOR_LAT, point.lat))
    sine = math.sin(math.radians(lat))
    return (point.lng + 180) / 360 * size, (0.5 - math.atanh(sine) / (2 * math.pi)) * size


def unpixel(x: float, y: float, zoom: int) -> Point:
    """The point at web-mercator pixel coordinates."""
    size = TILE_PX * 2.0**zoom
    lat = math.degrees(math.asin(math.tanh((0.5 - y / size) * 2 * math.pi)))
    return Point(lat, x / size * 360 - 180)


def tile(point: Point, zoom: int) -> tuple[int, int]:
    """Column and row of the web-map tile a point lies on."""
    last = 2**zoom - 1
    x, y = pixel(point, zoom)
    return min(last, max(0, int(x // TILE_PX))), min(last, max(0, int(y // TILE_PX)))


def tile_box(x: int, y: int, zoom: int) -> Box:
    """What a web-map tile covers."""
    north_west = unpixel(x * TILE_PX, y * TILE_PX, zoom)
    south_east = unpixel((x + 1) * TILE_PX, (y + 1) * TILE_PX, zoom)
    return Box(south_east.lat, north_west.lng, north_west.lat, south_east.lng)
