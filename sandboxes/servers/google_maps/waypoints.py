"""What a route may start, stop and end at: coordinates, addresses, names and place ids."""

from collections.abc import Mapping
from typing import Any

from m3bench.sandboxes.identifiers import is_place_id
from m3bench.sandboxes.servers.google_maps import geocoder
from m3bench.sandboxes.servers.google_maps.details import resolve
from m3bench.sandboxes.servers.google_maps.matches import Match
from m3bench.sandboxes.servers.google_maps.reverse import reverse
from m3bench.sandboxes.servers.google_maps.wire import ROUTES, http_error, lat_lng
from m3bench.sandboxes.world.geo import Point


def legacy(text: str) -> tuple[Point, str, list[str]] | None:
    """Position, place id and types of a waypoint written as text; None when nothing answers to it."""
    text = text.strip().removeprefix("via:")
    if text.startswith("place_id:"):
        found = resolve(text.removeprefix("place_id:").strip())
        return (found.point, found.id, list(found.types)) if found else None
    point = geocoder.coordinates(text)
    if point is not None:
        there = reverse(point)
        return (point, there[0].id, list(there[0].types)) if there else (point, "", [])
    matched: tuple[Match, ...] = geocoder.geocode(text) if text else ()
    return (matched[0].point, matched[0].id, list(matched[0].types)) if matched else None


def may_be(text: str) -> bool:
    """Whether a waypoint that nothing here answers to may be one all the same."""
    _, is_id, name = text.strip().removeprefix("via:").partition("place_id:")
    return is_place_id(name.strip()) if is_id else any(character.isalnum() for character in text)


def current(waypoint: Mapping[str, Any], field: str) -> Point:
    """Position of a waypoint given as an object; raises a `ToolError` like the service's refusal.

    The service knows `location.latLng`, `placeId` and `address`; a bare `latLng`, which it refuses, is taken
    as what it plainly means.
    """
    if isinstance(waypoint.get("placeId"), str):
        found = resolve(waypoint["placeId"])
        if found is None:
            message = f"{field}.placeId: The provided Place ID is invalid."
            raise http_error(400, ROUTES, message, possible=is_place_id(waypoint["placeId"]))
        return found.point
    location = waypoint.get("location")
    for value in ((location or {}).get("latLng") if isinstance(location, Mapping) else None, waypoint.get("latLng")):
        if value is not None:
            point = lat_lng(value)
            if point is None:
                raise http_error(400, ROUTES, f"{field}: latLng needs a latitude and a longitude on the globe.")
            return point
    if isinstance(waypoint.get("address"), str):
        there = legacy(waypoint["address"])
        if there is None:
            message = f"{field}.address: no place answers to {waypoint['address']!r}."
            raise http_error(400, ROUTES, message, possible=may_be(waypoint["address"]))
        return there[0]
    raise http_error(400, ROUTES, f"{field} must have one of location.latLng, placeId or address.")
