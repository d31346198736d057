"""Tools: points put on roads, the roads nearest to points, and speed limits.

A known street is met where it runs; elsewhere roads are a grid, narrow in towns and wide outside, turned a
little from place to place. A stretch of road has an id that speaks for its position. The public service asks
for a licence before it tells speed limits; here they are simply told.
"""

import math
from typing import NotRequired, TypedDict

from m3bench.sandboxes.gaps import covered
from m3bench.sandboxes.identifiers import is_place_id
from m3bench.sandboxes.servers.google_maps import geocoder
from m3bench.sandboxes.servers.google_maps.geocoder import nearest_street
from m3bench.sandboxes.servers.google_maps.wire import ROADS, envelope, http_error, sent, server, v1_location
from m3bench.sandboxes.world import geo, noise, placeids, settlements
from m3bench.sandboxes.world.geo import Point
from m3bench.sandboxes.world.land import is_land

MAX_POINTS = 100
STREET_M = 60.0
STRETCH_M = 150.0
"""Points on the same road within this length share an id."""
INTERPOLATION_M = 50.0
MAX_BETWEEN = 40
LAND_M = 120_000.0
"""Farther from any settlement there are no roads to be found."""
KM_PER_MILE = 1.609344


class _SnappedPoint(TypedDict):
    location: dict[str, float]
    placeId: str
    originalIndex: NotRequired[int]


@server.tool
def roads_snap_to_roads(path: list[str], interpolate: bool = False) -> dict[str, object]:
    endpoint = f"{ROADS}/snapToRoads"
    points = _points(path, endpoint, "path")
    request = sent(path="|".join(path), interpolate=str(interpolate).lower())
    snapped = _snapped(points, interpolate)
    return _told(points, snapped, envelope(endpoint, {"snappedPoints": snapped}, request=request))


@server.tool
def roads_nearest_roads(points: list[str]) -> dict[str, object]:
    endpoint = f"{ROADS}/nearestRoads"
    known = _points(points, endpoint, "points")
    request = sent(points="|".join(points))
    snapped = _snapped(known, interpolate=False)
    return _told(known, snapped, envelope(endpoint, {"snappedPoints": snapped}, request=request))


@server.tool
def roads_speed_limits(
    placeIds: list[str] | None = None, path: list[str] | None = None, units: str = "KPH"
) -> dict[str, object]:
    endpoint = f"{ROADS}/speedLimits"
    if units not in ("KPH", "MPH"):
        raise http_error(400, endpoint, f"Invalid value for units: {units!r}. Use KPH or MPH.")
    if not placeIds and not path:
        raise http_error(400, endpoint, "Either placeIds or path is needed.")
    request = sent(placeId=placeIds, path="|".join(path) if path else None, units=units)
    snapped = _snapped(_points(path, endpoint, "path"), interpolate=False) if path else []
    ids = list(dict.fromkeys([*(placeIds or []), *(point["placeId"] for point in snapped)]))
    limits = []
    for identifier in ids:
        position = placeids.position(identifier, "road")
        if position is None:
            message = f"{identifier!r} is no stretch of road. Take placeId from snapped points."
            raise http_error(400, endpoint, message, possible=is_place_id(identifier))
        limits.append({"placeId": identifier, "speedLimit": _limit(position, units), "units": units})
    response = {"speedLimits": limits, **({"snappedPoints": snapped} if path else {})}
    return envelope(endpoint, response, request=request)


def _told(points: list[Point], snapped: list[_SnappedPoint], answer: dict[str, object]) -> dict[str, object]:
    """The answer; that there is no road near any point is a gap of the world where there is land."""
    return covered(answer, snapped or not any(map(is_land, points)))


def _points(texts: list[str], endpoint: str, field: str) -> list[Point]:
    if not 1 <= len(texts) <= MAX_POINTS:
        raise http_error(400, endpoint, f"{field} needs 1 to {MAX_POINTS} points, not {len(texts)}.")
    points = []
    for text in texts:
        point = geocoder.coordinates(text)
        if point is None:
            raise http_error(400, endpoint, f"Invalid value in {field}: {text!r} is not 'lat,lng'.")
        points.append(point)
    return points


def _snapped(points: list[Point], interpolate: bool) -> list[_SnappedPoint]:
    """Snapped points in order; those far from any road are left out."""
    told: list[_SnappedPoint] = []
    last: Point | None = None
    for index, point in enumerate(points):
        found = _snap(point)
        if found is None:
            continue
        if interpolate and last is not None:
            told += [_entry(_snap(between) or between) for between in _between(last, found)]
        told.append({**_entry(found), "originalIndex": index})
        last = found
    return told


def _between(a: Point, b: Point) -> list[Point]:
    count = min(MAX_BETWEEN, int(geo.distance(a, b) / INTERPOLATION_M))
    return [geo.between(a, b, (number + 1) / (count + 1)) for number in range(count)]


def _entry(point: Point) -> _SnappedPoint:
    return {"location": v1_location(point), "placeId": placeids.point_id(_stretch(point), "road")}


def _snap(point: Point) -> Point | None:
    street = nearest_street(point, STREET_M)
    if street:
        along = min(street.length, max(0.0, street.locate(point)[0]))
        return _rounded(geo.destination(street.middle, street.bearing, along - street.length / 2))
    town = settlements.nearest(point, LAND_M)
    if town is None:
        return None
    spacing = 140.0 if geo.distance(point, town.point) < town.radius_m else 900.0
    turn = math.radians(noise.between(-30, 30, "roads", round(point.lat * 20), round(point.lng * 20)))
    east, north = _plane(point)
    across, up = east * math.cos(turn) - north * math.sin(turn), east * math.sin(turn) + north * math.cos(turn)
    across_off, up_off = (round(value / spacing) * spacing - value for value in (across, up))
    if abs(across_off) < abs(up_off):
        up_off = 0.0
    else:
        across_off = 0.0
    east_off = across_off * math.cos(turn) + up_off * math.sin(turn)
    north_off = -across_off * math.sin(turn) + up_off * math.cos(turn)
    heading = math.degrees(math.atan2(east_off, north_off))
    return _rounded(geo.destination(point, heading, math.hypot(east_off, north_off)))


def _plane(point: Point) -> tuple[float, float]:
    metre = math.radians(1) * geo.EARTH_RADIUS_M
    return point.lng * metre * math.cos(math.radians(round(point.lat, 1))), point.lat * metre


def _stretch(point: Point) -> Point:
    """The same for all points of a stretch of road."""
    step = math.degrees(STRETCH_M / geo.EARTH_RADIUS_M)
    return Point(max(-90.0, min(90.0, round(point.lat / step) * step)), geo.wrap(round(point.lng / step) * step))


def _rounded(point: Point) -> Point:
    return Point(round(point.lat, 7), round(point.lng, 7))


def _limit(point: Point, units: str) -> int:
    town = settlements.nearest(point, LAND_M)
    inside = town is not None and geo.distance(point, town.point) < town.radius_m
    miles = town is not None and town.country in ("US", "GB")
    kind = noise.integer(0, 2, "limit", round(point.lat, 4), round(point.lng, 4))
    if miles:
        mph = (25, 30, 35)[kind] if inside else (45, 55, 65)[kind]
        return mph if units == "MPH" else round(mph * KM_PER_MILE)
    kmh = (30, 50, 50)[kind] if inside else (80, 90, 100)[kind]
    return kmh if units == "KPH" else round(kmh / KM_PER_MILE)
