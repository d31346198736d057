"""Tools: one place by its id, and its photos.

Photos are drawings of ours: a scene in the manner of the place's kind with its name, the same every time.
"""

from base64 import b64encode
from typing import Any

from m3bench.sandboxes.identifiers import is_place_id
from m3bench.sandboxes.servers.google_maps import cards, matches, photos, pluscodes, reverse
from m3bench.sandboxes.servers.google_maps.matches import Match
from m3bench.sandboxes.servers.google_maps.searching import FIELDS
from m3bench.sandboxes.servers.google_maps.wire import PLACES, envelope, http_error, mask_problem, masked, sent, server
from m3bench.sandboxes.world import placeids, places, settlements
from m3bench.sandboxes.world.places import Place

MASK = ",".join(
    (
        *("id", "displayName", "formattedAddress", "location", "primaryType", "primaryTypeDisplayName", "rating"),
        *("userRatingCount", "internationalPhoneNumber", "websiteUri", "currentOpeningHours", "photos.name"),
    )
)
MAX_PHOTO_PX = 4800


@server.tool
def place_details(place_id: str, fields: str | None = None) -> dict[str, Any]:
    endpoint = f"{PLACES}/places/{place_id}"
    mask = fields or MASK
    unknown = mask_problem(mask, FIELDS)
    if unknown is not None:
        raise http_error(400, endpoint, f"Cannot find matching fields for path '{unknown}'.")
    found = resolve(place_id)
    if found is None:
        message = "The Place ID is no longer valid. Please refresh cached Place IDs."
        raise http_error(404, endpoint, message, possible=is_place_id(place_id))
    card = cards.current(found) if isinstance(found, Place) else cards.current_match(found)
    return envelope(endpoint, masked(card, mask), mask=mask)


@server.tool
def place_photo_media(
    photo_resource: str, maxWidthPx: int | None = None, maxHeightPx: int | None = None
) -> dict[str, Any]:
    endpoint = f"{PLACES}/{photo_resource}/media"
    request = sent(maxWidthPx=maxWidthPx, maxHeightPx=maxHeightPx)
    for limit in (maxWidthPx, maxHeightPx):
        if limit is not None and not 1 <= limit <= MAX_PHOTO_PX:
            raise http_error(400, endpoint, f"maxWidthPx and maxHeightPx must be between 1 and {MAX_PHOTO_PX}.")
    parts = photo_resource.split("/")
    found = places.by_id().get(parts[1]) if len(parts) == 4 and parts[0] == "places" and parts[2] == "photos" else None
    if found is None or photo_resource not in cards.photo_names(found.id, found.ratings):
        message = "The photo resource is not known. Take one from photos[].name of a place."
        possible = found is None and len(parts) == 4 and is_place_id(parts[1])
        raise http_error(404, endpoint, message, possible=possible)
    width, height = cards.photo_size(parts[3])
    data = photos.draw(found, parts[3], *_fitted(width, height, maxWidthPx, maxHeightPx))
    url = f"data:image/jpeg;base64,{b64encode(data).decode()}"
    return envelope(endpoint, {"content_type": "image/jpeg", "data_url": url}, request=request)


def resolve(identifier: str) -> Place | Match | None:
    """What a place id stands for; None when it was never given out."""
    place = places.by_id().get(identifier)
    if place is not None:
        return place
    point = placeids.position(identifier, "town")
    if point is not None:
        return matches.of_town(settlements.around(point, 1)[0])
    for kind, row in (("country", -1), ("region", -2)):
        point = placeids.position(identifier, kind)
        if point is not None:
            found = reverse.reverse(point)
            return found[row] if found else None
    point = placeids.position(identifier, "address")
    if point is None:
        return None
    for match in reverse.reverse(point):
        if match.types[0] in ("street_address", "route"):
            return match
    return matches.of_code(pluscodes.encode(point)[4:], point, settlements.nearest(point, 50_000))


def _fitted(width: int, height: int, most_wide: int | None, most_high: int | None) -> tuple[int, int]:
    """The size within both limits; a photo is never larger than a picture of a screen."""
    scale = min(1.0, (most_wide or 800) / width, (most_high or 800) / height, 800 / max(width, height))
    return max(1, round(width * scale)), max(1, round(height * scale))
