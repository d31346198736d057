"""Tools: places for a free text, and places around a point."""

from collections.abc import Mapping
from typing import Any

from m3bench.sandboxes.gaps import covered
from m3bench.sandboxes.servers.google_maps import cards, finder
from m3bench.sandboxes.servers.google_maps.wire import (
    LEGACY,
    PLACES,
    envelope,
    http_error,
    lat_lng,
    mask_problem,
    masked,
    sent,
    server,
)
from m3bench.sandboxes.world import places
from m3bench.sandboxes.world.geo import Point
from m3bench.sandboxes.world.land import is_land
from m3bench.sandboxes.world.places import Place
from m3bench.tasks.errors import ToolError

TEXT_SEARCH = f"{LEGACY}/place/textsearch/json"
NEARBY = f"{PLACES}/places:searchNearby"
PAGE = 20
MAX_RADIUS_M = 50_000
NEARBY_MASK = ",".join(
    f"places.{name}"
    for name in ("id", "displayName", "formattedAddress", "location", "primaryType", "rating", "userRatingCount")
)
FIELDS = (
    *("name", "id", "types", "formattedAddress", "shortFormattedAddress", "location", "displayName", "primaryType"),
    *("primaryTypeDisplayName", "businessStatus", "rating", "userRatingCount", "photos", "priceLevel"),
    *("internationalPhoneNumber", "nationalPhoneNumber", "currentOpeningHours", "regularOpeningHours"),
    *("editorialSummary", "websiteUri", "googleMapsUri", "reviews", "addressComponents", "viewport", "plusCode"),
    *("utcOffsetMinutes", "adrFormatAddress", "iconMaskBaseUri", "iconBackgroundColor", "attributions"),
    *("accessibilityOptions", "takeout", "delivery", "dineIn", "paymentOptions", "parkingOptions"),
)
"""What a field mask may name; those that the world knows nothing of are left out of the answer."""


@server.tool
def places_text_search(
    query: str,
    languageCode: str | None = None,
    regionCode: str | None = None,
    locationBias: dict[str, Any] | None = None,
    maxResultCount: int = 10,
    fields: str | None = None,
) -> dict[str, Any]:
    if maxResultCount < 1:
        raise ToolError("maxResultCount must be at least 1.", outcome="invalid_arguments")
    centre, radius = _circle(locationBias)
    request = sent(
        query=query,
        language=languageCode,
        region=regionCode,
        location=f"{centre.lat},{centre.lng}" if centre else None,
        radius=radius if centre else None,
    )
    if not query.strip():
        return envelope(TEXT_SEARCH, _page([], "INVALID_REQUEST"), request=request)
    found = finder.find(query.strip(), centre, max(50.0, radius), regionCode)
    results = [cards.legacy(place) for place in found[: min(PAGE, maxResultCount)]]
    answer = envelope(TEXT_SEARCH, _page(results, "OK" if results else "ZERO_RESULTS"), request=request)
    return covered(answer, found, query)


@server.tool
def places_nearby_search(
    location: dict[str, float],
    radiusMeters: int,
    includedTypes: list[str] | None = None,
    languageCode: str | None = None,
    regionCode: str | None = None,
    fields: str | None = None,
) -> dict[str, Any]:
    mask = fields or NEARBY_MASK
    centre = lat_lng(location)
    if centre is None:
        raise http_error(400, NEARBY, "location needs a latitude in -90..90 and a longitude in -180..180.")
    if not 0 < radiusMeters <= MAX_RADIUS_M:
        raise http_error(400, NEARBY, f"Radius must be between 1 and {MAX_RADIUS_M} metres.")
    unknown = mask_problem(mask, FIELDS, "places.")
    if unknown is not None:
        raise http_error(400, NEARBY, f"Cannot find matching fields for path '{unknown}'.")
    request = sent(
        location={"latitude": centre.lat, "longitude": centre.lng},
        radiusMeters=radiusMeters,
        includedTypes=includedTypes,
        languageCode=languageCode,
        regionCode=regionCode,
    )
    found = [cards.current(place) for place in _around(centre, radiusMeters, includedTypes)]
    answer = envelope(NEARBY, masked({"places": found}, mask), request=request, mask=mask)
    return covered(answer, found or not is_land(centre))


def _page(results: list[dict[str, Any]], status: str) -> dict[str, Any]:
    return {"html_attributions": [], "results": results, "status": status}


def _around(centre: Point, radius_m: float, kinds: list[str] | None) -> list[Place]:
    """The best known first, as the service ranks by default."""
    wanted = set(kinds or ())
    inside = [
        place
        for _, place in places.within(centre, radius_m)
        if place.rating is not None and (not wanted or wanted & set(place.types))
    ]
    return sorted(inside, key=lambda place: (-place.fame - 0.1 * (place.rating or 0), place.id))[:PAGE]


def _circle(bias: Mapping[str, Any] | None) -> tuple[Point | None, float]:
    """Centre and radius of a location bias; shapes other than a circle are ignored."""
    circle = (bias or {}).get("circle")
    if not isinstance(circle, Mapping):
        return None, 5000.0
    radius = circle.get("radius", 5000)
    return lat_lng(circle.get("center")), float(radius) if isinstance(radius, int | float) and radius > 0 else 5000.0
