"""Tools on positions: geocoding and reverse geocoding, time zones, elevations, geolocation of the caller, and a ping.

The caller of a frozen world has no address: where radio signals say nothing, a fixed home is assumed.
"""

from datetime import UTC, datetime
from itertools import pairwise

import numpy as np

from m3bench.sandboxes.gaps import covered
from m3bench.sandboxes.servers.google_maps import geocoder, matches, pluscodes
from m3bench.sandboxes.servers.google_maps.geocoder import reverse
from m3bench.sandboxes.servers.google_maps.matches import location
from m3bench.sandboxes.servers.google_maps.wire import GEOLOCATION, LEGACY, envelope, http_error, sent, server
from m3bench.sandboxes.world import geo, noise, settlements, terrain, zones
from m3bench.sandboxes.world.clock import NOW
from m3bench.sandboxes.world.geo import Point
from m3bench.sandboxes.world.land import is_land

ENDPOINT = f"{LEGACY}/geocode/json"


@server.tool
def geocode(address: str, region: str | None = None, language: str | None = None) -> dict[str, object]:
    request = sent(address=address, region=region, language=language)
    if not address.strip():
        return envelope(ENDPOINT, refused("Invalid request. Missing the 'address' parameter."), request=request)
    point = geocoder.coordinates(address)
    found = reverse(point) if point else list(geocoder.geocode(address.strip(), region))
    answer = envelope(ENDPOINT, _response([match.legacy() for match in found]), request=request)
    return covered(answer, found or (point is not None and not is_land(point)), address)


@server.tool
def reverse_geocode(lat: float, lng: float, language: str | None = None) -> dict[str, object]:
    request = sent(latlng=f"{lat},{lng}", language=language)
    if not (-90 <= lat <= 90 and -180 <= lng <= 180):
        return envelope(ENDPOINT, refused("Invalid request. Invalid 'latlng' parameter."), request=request)
    point = Point(lat, lng)
    found = reverse(point)
    response = _response([match.legacy() for match in found])
    town = settlements.nearest(point, 50_000)
    code = pluscodes.encode(point)
    compound = {"compound_code": f"{code[4:]} {matches.town_address(town)}"} if town else {}
    answer = envelope(ENDPOINT, {"plus_code": {**compound, "global_code": code}, **response}, request=request)
    return covered(answer, found or not is_land(point))


def refused(message: str) -> dict[str, object]:
    """The response of a legacy service to a request that makes no sense."""
    return {"error_message": message, "results": [], "status": "INVALID_REQUEST"}


def _response(results: list[dict[str, object]]) -> dict[str, object]:
    return {"results": results, "status": "OK" if results else "ZERO_RESULTS"}


TIMEZONE = f"{LEGACY}/timezone/json"
ELEVATION = f"{LEGACY}/elevation/json"
MAX_POINTS = 512
RESOLUTION_M = 19.08790397644043
"""What the service states where its ground model is fine; ours is as fine as its formula everywhere."""


@server.tool
def timezone(lat: float, lng: float, timestamp: int | None = None) -> dict[str, object]:
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
def elevation_by_locations(locations: list[str]) -> dict[str, object]:
    request = sent(locations="|".join(locations))
    points = [geocoder.coordinates(text) for text in locations]
    return envelope(ELEVATION, _elevations(points), request=request)


@server.tool
def elevation_along_path(path: list[str], samples: int) -> dict[str, object]:
    request = sent(path="|".join(path), samples=samples)
    points = [geocoder.coordinates(text) for text in path]
    known = [point for point in points if point is not None]
    if len(known) < max(2, len(points)) or not 2 <= samples <= MAX_POINTS:
        message = f"Invalid request. A path has at least two 'lat,lng' and 2 to {MAX_POINTS} samples."
        return envelope(ELEVATION, _refused(message), request=request)
    return envelope(ELEVATION, _elevations(list(_sampled(known, samples))), request=request)


def _elevations(points: list[Point | None]) -> dict[str, object]:
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


def _refused(message: str) -> dict[str, object]:
    return {"error_message": message, "results": [], "status": "INVALID_REQUEST"}


HOME = Point(37.4220, -122.0841)
SERVICES = (
    *("geocoding", "places_v1", "routes_v2", "distance_matrix", "directions_legacy", "timezone", "elevation"),
    *("roads", "geolocation", "static_maps", "street_view"),
)
_COUNTRIES = {
    202: "GR", 204: "NL", 206: "BE", 208: "FR", 214: "ES", 216: "HU", 222: "IT", 228: "CH", 230: "CZ", 232: "AT",
    234: "GB", 238: "DK", 240: "SE", 242: "NO", 244: "FI", 250: "RU", 260: "PL", 262: "DE", 268: "PT", 272: "IE",
    274: "IS", 286: "TR", 302: "CA", 310: "US", 311: "US", 312: "US", 334: "MX", 404: "IN", 405: "IN", 424: "AE",
    440: "JP", 450: "KR", 454: "HK", 460: "CN", 466: "TW", 502: "MY", 505: "AU", 510: "ID", 515: "PH", 520: "TH",
    525: "SG", 530: "NZ", 602: "EG", 621: "NG", 639: "KE", 655: "ZA", 722: "AR", 724: "BR", 730: "CL", 732: "CO",
}  # fmt: skip
"""Mobile country code to country."""


@server.tool
def geolocate_home(
    cellTowers: list[dict[str, object]] | None = None,
    wifiAccessPoints: list[dict[str, object]] | None = None,
    considerIp: bool = True,
) -> dict[str, object]:
    request = sent(considerIp=considerIp, cellTowers=cellTowers, wifiAccessPoints=wifiAccessPoints)
    addresses = sorted(str(point.get("macAddress", "")).lower() for point in wifiAccessPoints or [])
    cell = next((tower for tower in cellTowers or [] if "cellId" in tower), None)
    if len([address for address in addresses if address]) >= 2:
        point, accuracy = _near(HOME, 4000, "wifi", *addresses), 30.0
    elif cell is not None:
        point, accuracy = _cell_site(cell), 1200.0
    elif considerIp:
        point, accuracy = HOME, 18_000.0
    else:
        raise http_error(404, GEOLOCATION, "notFound: give two Wi-Fi access points or a cell tower, or allow the IP.")
    response = {"location": {"lat": point.lat, "lng": point.lng}, "accuracy": accuracy}
    return envelope(GEOLOCATION, response, request=request)


@server.tool
def ping() -> dict[str, object]:
    return {"ok": True, "services": list(SERVICES)}


def _cell_site(tower: dict[str, object]) -> Point:
    """A point in a large city of the country whose network it is, the same for the same cell."""
    code = tower.get("mobileCountryCode")
    country = _COUNTRIES.get(code, "US") if isinstance(code, int) else "US"
    towns = [place for place in settlements.settlements() if place.country == country and place.people > 200_000]
    town = noise.pick(towns, "area", country, str(tower.get("locationAreaCode", 0))) if towns else None
    centre, reach = (town.point, town.radius_m) if town else (HOME, 5000.0)
    return _near(centre, reach, "cell", str(tower.get("cellId")))


def _near(centre: Point, reach_m: float, *key: str) -> Point:
    point = geo.destination(centre, noise.between(0, 360, *key, "way"), noise.between(0, reach_m, *key, "far"))
    return Point(round(point.lat, 6), round(point.lng, 6))
