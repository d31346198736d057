"""Tools: addresses to positions and back."""

from typing import Any

from m3bench.sandboxes.gaps import covered
from m3bench.sandboxes.servers.google_maps import geocoder, matches, pluscodes
from m3bench.sandboxes.servers.google_maps.reverse import reverse
from m3bench.sandboxes.servers.google_maps.wire import LEGACY, envelope, sent, server
from m3bench.sandboxes.world import settlements
from m3bench.sandboxes.world.geo import Point
from m3bench.sandboxes.world.land import is_land

ENDPOINT = f"{LEGACY}/geocode/json"


@server.tool
def geocode(address: str, region: str | None = None, language: str | None = None) -> dict[str, Any]:
    request = sent(address=address, region=region, language=language)
    if not address.strip():
        return envelope(ENDPOINT, refused("Invalid request. Missing the 'address' parameter."), request=request)
    point = geocoder.coordinates(address)
    found = reverse(point) if point else list(geocoder.geocode(address.strip(), region))
    answer = envelope(ENDPOINT, _response([match.legacy() for match in found]), request=request)
    return covered(answer, found or (point is not None and not is_land(point)), address)


@server.tool
def reverse_geocode(lat: float, lng: float, language: str | None = None) -> dict[str, Any]:
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


def refused(message: str) -> dict[str, Any]:
    """The response of a legacy service to a request that makes no sense."""
    return {"error_message": message, "results": [], "status": "INVALID_REQUEST"}


def _response(results: list[dict[str, Any]]) -> dict[str, Any]:
    return {"results": results, "status": "OK" if results else "ZERO_RESULTS"}
