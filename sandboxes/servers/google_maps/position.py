"""Tools: an estimate of where the caller is, and a sign of life.

The caller of a frozen world has no address: what radio signals do not tell is taken to be a fixed home.
"""

from typing import Any

from m3bench.sandboxes.servers.google_maps.wire import GEOLOCATION, envelope, http_error, sent, server
from m3bench.sandboxes.world import geo, noise, settlements
from m3bench.sandboxes.world.geo import Point

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
    cellTowers: list[dict[str, Any]] | None = None,
    wifiAccessPoints: list[dict[str, Any]] | None = None,
    considerIp: bool = True,
) -> dict[str, Any]:
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
def ping() -> dict[str, Any]:
    return {"ok": True, "services": list(SERVICES)}


def _cell_site(tower: dict[str, Any]) -> Point:
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
