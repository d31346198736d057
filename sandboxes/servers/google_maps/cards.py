"""A place as the two generations of the places service write it, and the names of its photos."""

from zoneinfo import ZoneInfo

from m3bench.sandboxes.servers.google_maps.matches import GeocodeMatch, location, viewport
from m3bench.sandboxes.servers.google_maps.wire import v1_location
from m3bench.sandboxes.world import hours, noise, zones
from m3bench.sandboxes.world.clock import NOW
from m3bench.sandboxes.world.places import Place

PRICES = ("PRICE_LEVEL_INEXPENSIVE", "PRICE_LEVEL_MODERATE", "PRICE_LEVEL_EXPENSIVE", "PRICE_LEVEL_VERY_EXPENSIVE")
PHOTO_SIZES = ((4032, 3024), (3024, 4032), (4000, 2250), (1920, 1080), (2048, 1536))
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def open_now(place: Place) -> bool:
    """Whether a place with known hours is open at the world's instant."""
    return hours.is_open(place.hours, NOW.astimezone(ZoneInfo(zones.zone_at(place.point))))


def photo_names(identifier: str, ratings: int) -> list[str]:
    """The photo resources of a place; well-known places have more."""
    count = 1 + min(4, len(str(ratings)))
    return [f"places/{identifier}/photos/{photo_reference(identifier, number)}" for number in range(count)]


def photo_reference(identifier: str, number: int) -> str:
    """The last part of a photo resource."""
    return "AeeoHc" + noise.token(58, _LETTERS, "photo", identifier, number)


def photo_size(reference: str) -> tuple[int, int]:
    """Width and height of a photo in full."""
    return noise.pick(PHOTO_SIZES, "photo size", reference)


def legacy(place: Place | GeocodeMatch) -> dict[str, object]:
    """The entry in the results of the legacy text search."""
    if isinstance(place, GeocodeMatch):
        return {
            "formatted_address": place.address,
            "geometry": {"location": location(place.point), "viewport": viewport(place.point, place.reach_m)},
            "name": place.name or place.town or place.address.split(",")[0],
            "place_id": place.id,
            "types": list(place.types),
        }
    card: dict[str, object] = {
        "business_status": "OPERATIONAL",
        "formatted_address": place.full_address,
        "geometry": {"location": location(place.point), "viewport": viewport(place.point, 150)},
        "name": place.name,
        "place_id": place.id,
        "types": list(place.types),
    }
    if place.hours:
        card["opening_hours"] = {"open_now": open_now(place)}
    if place.rating is not None:
        reference = photo_reference(place.id, 0)
        width, height = photo_size(reference)
        card["photos"] = [{"height": height, "width": width, "photo_reference": reference, "html_attributions": []}]
        card["rating"] = place.rating
        card["user_ratings_total"] = place.ratings
    if place.price is not None:
        card["price_level"] = place.price
    return card


def current(place: Place) -> dict[str, object]:
    """The resource of the newer service with every field we know."""
    card: dict[str, object] = {
        "name": f"places/{place.id}",
        "id": place.id,
        "types": list(place.types),
        "formattedAddress": place.full_address,
        "shortFormattedAddress": place.address,
        "location": v1_location(place.point),
        "displayName": {"text": place.name, "languageCode": "en"},
        "primaryType": place.types[0],
        "primaryTypeDisplayName": {"text": words(place.types[0]), "languageCode": "en"},
        "businessStatus": "OPERATIONAL",
    }
    if place.rating is not None:
        card["rating"] = place.rating
        card["userRatingCount"] = place.ratings
        card["photos"] = [_photo(name) for name in photo_names(place.id, place.ratings)]
    if place.price is not None:
        card["priceLevel"] = PRICES[place.price - 1]
    if place.phone:
        card["internationalPhoneNumber"] = place.phone
        card["nationalPhoneNumber"] = place.phone.split(" ", 1)[-1]
    if place.hours:
        times = {
            "openNow": open_now(place),
            "periods": hours.periods(place.hours),
            "weekdayDescriptions": hours.descriptions(place.hours),
        }
        card["currentOpeningHours"] = times
        card["regularOpeningHours"] = times
    if place.fact:
        card["editorialSummary"] = {"text": place.fact, "languageCode": "en"}
    return card


def current_match(match: GeocodeMatch) -> dict[str, object]:
    """The resource of a town, street or address."""
    return {
        "name": f"places/{match.id}",
        "id": match.id,
        "types": list(match.types),
        "formattedAddress": match.address,
        "location": v1_location(match.point),
        "displayName": {"text": match.name or match.address.split(",")[0], "languageCode": "en"},
        "primaryType": match.types[0],
        "primaryTypeDisplayName": {"text": words(match.types[0]), "languageCode": "en"},
    }


def words(kind: str) -> str:
    """A type as people say it."""
    return kind.replace("_", " ").capitalize()


def _photo(name: str) -> dict[str, object]:
    width, height = photo_size(name.rsplit("/", 1)[1])
    return {"name": name, "widthPx": width, "heightPx": height}
