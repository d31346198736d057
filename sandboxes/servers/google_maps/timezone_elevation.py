"""Tools: time zones and elevations."""

from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import numpy as np

from m3bench.sandboxes.servers.google_maps import geocoder
from m3bench.sandboxes.servers.google_maps.matches import location
from m3bench.sandboxes.servers.google_maps.wire import LEGACY, envelope, sent, server
from m3bench.sandboxes.world import geo, terrain, zones
from m3bench.sandboxes.world.clock import NOW
from m3bench.sandboxes.world.geo import Point

TIMEZONE = f"{LEGACY}/timezone/json"
ELEVATION = f"{LEGACY}/elevation/json"
MAX_POINTS = 512
RESOLUTION_M = 19.08790397644043
"""What the service states where its ground model is fine; ours is as fine as its formula everywhere."""


@server.tool
def timezone(lat: float, lng: float, timestamp: int | None = None) -> dict[str, Any]:
    stamp = int(NOW.timestamp()) if timestamp is None else timestamp
    request = sent(location=f"{lat},{lng}", timestamp=stamp)
    try:
        when = datetime.fromtimestamp(stamp, UTC)
    except (ValueError, OverflowError, OSError):
        when = None
    if when is None or not (-90 <= lat <= 90 and -180 <= lng <= 180):
        wrong = "'timestamp'" if when is None else "'location'"
        response = {"errorMessage": f"Invalid request. Invalid {wrong} parameter.", "status": "INVALID_REQUEST"}
        return envelope(TIMEZONE, response, request=request)
    zone = zones.zone_at(Point(lat, lng))
    standard, saving = zones.offsets(zone, when)
    told = {
        "dstOffset": saving,
        "rawOffset": standard,
        "status": "OK",
        "timeZoneId": zone,
        "timeZoneName": zones.name(zone, standard, saving),
    }
    return envelope(TIMEZONE, told, request=request)


@server.tool
def elevation_by_locations(locations: list[str]) -> dict[str, Any]:
    request = sent(locations="|".join(locations))
    points = [geocoder.coordinates(text) for text in locations]
    return envelope(ELEVATION, _elevations(points), request=request)


@server.tool
def elevation_along_path(path: list[str], samples: int) -> dict[str, Any]:
    request = sent(path="|".join(path), samples=samples)
    points = [geocoder.coordinates(text) for text in path]
    known = [point for point in points if point is not None]
    if len(known) < max(2, len(points)) or not 2 <= samples <= MAX_POINTS:
        message = f"Invalid request. A path has at least two 'lat,lng' and 2 to {MAX_POINTS} samples."
        return envelope(ELEVATION, _refused(message), request=request)
    return envelope(ELEVATION, _elevations(list(_sampled(known, samples))), request=request)


def _elevations(points: list[Point | None]) -> dict[str, Any]:
    known = [point for point in points if point is not None]
    if not known or len(known) < len(points) or len(known) > MAX_POINTS:
        return _refused(f"Invalid request. Give 1 to {MAX_POINTS} locations as 'lat,lng'.")
    metres = terrain.elevations(np.array([p.lat for p in known]), np.array([p.lng for p in known]))
    results = [
        {"elevation": float(height), "location": location(point), "resolution": RESOLUTION_M}
        for point, height in zip(known, metres, strict=True)
    ]
    return {"results": results, "status": "OK"}


def _sampled(path: list[Point], samples: int) -> list[Point | None]:
    """Points at equal distances along a path, both ends included."""
    lengths = [geo.distance(a, b) for a, b in pairwise(path)]
    total, found, index, gone = sum(lengths), [], 0, 0.0
    for number in range(samples):
        wanted = total * number / (samples - 1)
        while index < len(lengths) - 1 and gone + lengths[index] < wanted:
            gone += lengths[index]
            index += 1
        share = min(1.0, (wanted - gone) / lengths[index]) if lengths[index] else 0.0
        found.append(geo.between(path[index], path[index + 1], share))
    return list(found)


def _refused(message: str) -> dict[str, Any]:
    return {"error_message": message, "results": [], "status": "INVALID_REQUEST"}
