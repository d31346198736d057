"""Tools: addresses to positions and back."""

from typing import Any

from m3bench.sandboxes.servers.google_maps import geocoder, matches, pluscodes
from m3bench.sandboxes.servers.google_maps.reverse import reverse
from m3bench.sandboxes.servers.google_maps.wire import LEGACY, envelope, sent, server
from m3bench.sandboxes.world import settlements
from m3bench.sandboxes.world.geo import Point

ENDPOINT = f"{LEGACY}/geocode/json"


@server.tool
def geocode(address: str, region: str | None = None, language: str | None = None) -> dict[str, Any]:
    request = sent(address=address, region=region, language=language)
    if not address.strip():
        return envelope(ENDPOINT, refused("Invalid request. Missing the 'address' parameter."), request=request)
    point = geocoder.coordinates(address)
    found = reverse(point) if point else list(geocoder.geocode(address.strip(), region))
    return envelope(ENDPOINT, _response([match.legacy() for match in found]), request=request)


@server.tool
def reverse_geocode(lat: float, lng: float, language: str | None = None) -> dict[str, Any]:
    request = sent(latlng=f"{lat},{lng}", language=language)
    if not (-90 <= lat <= 90 and -180 <= lng <= 180):
        return envelope(ENDPOINT, refused("Invalid request. Invalid 'latlng' parameter."), request=request)
    point = Point(lat, lng)
    response = _response([match.legacy() for match in reverse(point)])
    town = settlements.nearest(point, 50_000)
    code = pluscodes.encode(point)
    compound = {"compound_code": f"{code[4:]} {matches.town_address(town)}"} if town else {}
    return envelope(ENDPOINT, {"plus_code": {**compound, "global_code": code}, **response}, request=request)


def refused(message: str) -> dict[str, Any]:
    """The response of a legacy service to a request that makes no sense."""
    return {"error_message": message, "results": [], "status": "INVALID_REQUEST"}


def _response(results: list[dict[str, Any]]) -> dict[str, Any]:
    return {"results": results, "status": "OK" if results else "ZERO_RESULTS"}
