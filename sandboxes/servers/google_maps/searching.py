"""Tools: places for a free text, by name or by kind, and places around a point.

A text is split into a kind of place and where it should be: `best restaurants near Tower Bridge, London` is the type
restaurant and the place Tower Bridge, London; `Titanic showtimes near New York` is a cinema; `Shakespeare and Company`
is neither but a name.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from rapidfuzz import fuzz

from m3bench.sandboxes.gaps import covered
from m3bench.sandboxes.servers.google_maps import cards, gazetteer, geocoder, matches
from m3bench.sandboxes.servers.google_maps.matches import GeocodeMatch
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
from m3bench.sandboxes.world import geo, places, settlements
from m3bench.sandboxes.world.geo import Point
from m3bench.sandboxes.world.land import is_land
from m3bench.sandboxes.world.places import Place
from m3bench.sandboxes.world.search import fold
from m3bench.tasks.errors import ToolError

_KINDS: dict[str, tuple[str, ...]] = {
    "restaurant": (
        "restaurant", "restaurants", "place to eat", "places to eat", "dining", "dinner", "lunch", "eatery", "food",
        "restaurante", "ristorante", "gaststatte", "bistro", "brasserie", "trattoria", "diner",
    ),
    "cafe": ("cafe", "cafes", "coffee", "coffee shop", "coffee shops", "coffeehouse", "tea room", "kaffee"),
    "bakery": ("bakery", "bakeries", "boulangerie", "backerei", "patisserie", "bread"),
    "bar": ("bar", "bars", "pub", "pubs", "tavern", "nightlife", "cocktail bar", "wine bar"),
    "supermarket": (
        "supermarket", "supermarkets", "grocery", "groceries", "grocery store", "grocery stores", "supermarche",
        "supermarkt", "supermercado", "supermercato", "food market", "market to buy food",
    ),
    "convenience_store": ("convenience store", "convenience stores", "corner shop", "kiosk", "minimarket"),
    "lodging": (
        "hotel", "hotels", "lodging", "accommodation", "accommodations", "place to stay", "places to stay", "inn",
        "hostel", "motel", "guest house", "guesthouse", "bed and breakfast", "ryokan", "auberge",
    ),
    "movie_theater": (
        "movie theater", "movie theaters", "movie theatre", "movie theatres", "cinema", "cinemas", "kino",
        "showtimes", "showtime", "film theater", "movies", "movie showtimes", "imax",
    ),
    "pharmacy": ("pharmacy", "pharmacies", "drugstore", "chemist", "apotheke", "pharmacie", "farmacia", "apothecary"),
    "bank": ("bank", "banks", "atm", "atms", "cash machine"),
    "gas_station": ("gas station", "gas stations", "petrol station", "petrol stations", "fuel", "filling station"),
    "gym": ("gym", "gyms", "fitness", "fitness center", "fitness centre", "workout"),
    "museum": ("museum", "museums", "musee", "museo"),
    "park": ("park", "parks", "garden", "gardens", "green space"),
    "library": ("library", "libraries", "bibliotheque", "bibliothek"),
    "hospital": ("hospital", "hospitals", "emergency room", "clinic", "medical center"),
    "train_station": ("train station", "train stations", "railway station", "rail station", "bahnhof", "gare"),
    "airport": ("airport", "airports", "aeroport", "flughafen"),
    "school": ("school", "schools", "primary school", "elementary school"),
    "university": ("university", "universities", "college", "campus"),
    "book_store": ("book store", "book stores", "bookstore", "bookstores", "bookshop", "bookshops"),
    "post_office": ("post office", "post offices"),
    "zoo": ("zoo", "zoos"),
    "aquarium": ("aquarium", "aquariums"),
    "stadium": ("stadium", "stadiums", "arena"),
    "shopping_mall": ("mall", "malls", "shopping mall", "shopping center", "shopping centre"),
    "fishing_store": (
        "bait", "bait shop", "bait shops", "bait and tackle", "bait and tackle shop", "bait tackle", "tackle shop",
        "fishing store", "fishing shop", "fishing gear", "fishing supplies", "fly shop", "tackle",
    ),
    "sporting_goods_store": ("sporting goods", "sporting goods store", "sports shop", "outdoor gear", "outfitter"),
    "bicycle_store": ("bike shop", "bicycle store", "bicycle shop", "bike shops", "bike store"),
    "hardware_store": ("hardware store", "hardware stores", "ironmonger"),
    "florist": ("florist", "flower shop", "flowers"),
    "gift_shop": ("gift shop", "souvenir shop", "souvenirs"),
    "clothing_store": ("clothing store", "clothes shop", "boutique"),
    "store": ("store", "stores", "shop", "shops", "shopping"),
    "research_institute": (
        "research station", "research stations", "research institute", "research institutes", "research center",
        "research centre", "research facility", "research lab", "research laboratory", "field station", "laboratory",
        "observatory",
    ),
    "marina": ("marina", "marinas", "harbor", "harbour"),
    "beach": ("beach", "beaches"),
    "market": ("market", "markets", "flea market", "farmers market"),
    "tourist_attraction": (
        "tourist attraction", "tourist attractions", "attraction", "attractions", "sights", "sightseeing",
        "things to do", "landmark", "landmarks", "points of interest",
    ),
    "campground": ("campground", "campgrounds", "campsite", "campsites", "camping", "place to camp"),
    "national_park": ("national park", "national parks"),
    "visitor_center": ("visitor center", "visitor centre", "tourist information", "information center"),
    "place_of_worship": ("church", "churches", "mosque", "temple", "place of worship", "cathedral"),
    "performing_arts_theater": ("theater", "theatre", "opera", "concert hall"),
    "subway_station": ("subway station", "metro station", "underground station"),
}  # fmt: skip
_CUISINES = frozenset(
    [
        *("italian", "french", "chinese", "japanese", "indian", "mexican", "thai", "greek", "turkish", "korean"),
        *("spanish", "vietnamese", "seafood", "pizza", "sushi", "ramen", "barbecue", "american", "german", "lebanese"),
        *("moroccan", "ethiopian", "peruvian", "portuguese", "indonesian", "vegetarian", "steak", "brazilian"),
    ]
)
_FILLER = frozenset(
    [
        *("best", "top", "good", "great", "nice", "cheap", "popular", "famous", "nearest", "nearby", "closest"),
        *("local", "find", "show", "me", "a", "an", "the", "some", "any", "all", "list", "of", "open", "now", "rated"),
        *("highly", "recommended", "where", "can", "i", "is", "are", "there", "to", "for", "and", "or", "with"),
        *("showing", "playing"),
    ]
)
_PHRASES = {fold(phrase): kind for kind, phrases in _KINDS.items() for phrase in phrases}
_LONGEST = max(len(phrase.split()) for phrase in _PHRASES)
_NEAR = re.compile(r"\b(?:near(?:by)?|close to|around|next to|in|at|by|within|à|près de|nahe|cerca de)\b", re.I)


@dataclass(frozen=True)
class Wish:
    """What a text asks for."""

    kinds: tuple[str, ...]
    """Types of places; empty when the text is a name."""
    name: str
    """What is left of the text when kinds and filling words are taken away."""
    where: str
    """The place named after a word like near; empty when there is none."""


def understand(text: str) -> Wish:
    """Read a free text."""
    what, where = _split(text)
    words = re.findall(r"[^\W_]+", fold(what))
    kinds: list[str] = []
    left: list[str] = []
    position = 0
    while position < len(words):
        for length in range(min(_LONGEST, len(words) - position), 0, -1):
            kind = _PHRASES.get(" ".join(words[position : position + length]))
            if kind:
                kinds.append(kind)
                position += length
                break
        else:
            word = words[position]
            if word in _CUISINES:
                kinds.append(_cuisine(word))
            elif word not in _FILLER:
                left.append(word)
            position += 1
    return Wish(_sensible(kinds), " ".join(left), where)


def _split(text: str) -> tuple[str, str]:
    match = None
    for match in _NEAR.finditer(text):
        if text[: match.start()].strip() and _has_kind(text[: match.start()]):
            return text[: match.start()].strip(), text[match.end() :].strip(" ,")
    if match and match.group().lower().startswith("near"):
        return text[: match.start()].strip(), text[match.end() :].strip(" ,")
    return text, ""


def _has_kind(text: str) -> bool:
    words = re.findall(r"[^\W_]+", fold(text))
    if _CUISINES & set(words):
        return True
    spans = ((i, j) for i in range(len(words)) for j in range(i + 1, min(len(words), i + _LONGEST) + 1))
    return any(" ".join(words[i:j]) in _PHRASES for i, j in spans)


def _cuisine(word: str) -> str:
    return "steak_house" if word == "steak" else f"{word}_restaurant"


def _sensible(kinds: list[str]) -> tuple[str, ...]:
    """`italian restaurant` asks for an Italian one, `book shop` for no shop of another kind."""
    narrow = [kind for kind in kinds if kind.endswith(("_restaurant", "_house"))]
    if narrow:
        return tuple(dict.fromkeys(narrow))
    precise = [kind for kind in kinds if kind not in ("store", "market")]
    return tuple(dict.fromkeys(precise or kinds))


FARTHEST_M = 60_000.0
EVERYDAY_M = 25_000.0
"""So far at most goes one from a town to eat or to sleep."""
_EVERYDAY = frozenset(["hotel", "lodging", "restaurant", "cafe", "bar", "bakery", "supermarket", "pharmacy"])
_BEST = re.compile(r"\b(best|top|good|great|recommended|highly)\b", re.I)
_INSIDE = re.compile(r"\bin\b", re.I)
"""Says that a place elsewhere is no answer."""
_NEAREST = re.compile(r"\b(nearest|closest)\b", re.I)


def find_places(query: str, centre: Point | None, radius_m: float, region: str | None) -> list[Place | GeocodeMatch]:
    """What a text asks for, best first: places, or a town when the text is one.

    Args:
        query: The text.
        centre: Where to look first; None when the caller did not say.
        radius_m: How far around it.
        region: Two-letter code of the country to prefer.
    """
    found = _found(query, centre, radius_m, region)
    spot = None if found else gazetteer.exactly(query)
    return [spot] if spot else found


def _found(query: str, centre: Point | None, radius_m: float, region: str | None) -> list[Place | GeocodeMatch]:
    wish = understand(query)
    if not wish.kinds:
        return _named(query, centre, region)
    if wish.name:
        found = _by_whole_name(query, wish, centre, region)
        if found:
            return found
    where, reach = _where(wish, centre, radius_m, region)
    if where is None:
        if wish.where or wish.name:
            return _exactly(query, region)
        return list(_famous(wish))
    return _called_first(query, list(_of_kind(query, wish, where, reach)))


def _called_first(query: str, found: list[Place]) -> list[Place | GeocodeMatch]:
    """Places of a kind, behind the one whose name and town the text is: the Echo Park Lodge is no park."""
    name, comma, _ = query.partition(",")
    if not comma or any(fold(place.name) == fold(name) for place in found[:1]):
        return list(found)
    meant = {
        match.id
        for match in _exactly(query, None)
        if isinstance(match, GeocodeMatch) and fold(match.name) == fold(name)
    }
    called = [place for place in _places_named(name, None, None) if place.id in meant]
    return [*called, *(place for place in found if place not in called)]


def _named(query: str, centre: Point | None, region: str | None) -> list[Place | GeocodeMatch]:
    found: list[Place | GeocodeMatch] = list(_places_named(query, centre, region))
    town = settlements.exact(query)
    if town:
        return [matches.of_town(town), *found]
    if found:
        return found
    return _exactly(query, region)


def _exactly(query: str, region: str | None) -> list[Place | GeocodeMatch]:
    """What the text is the address of."""
    return [match for match in geocoder.geocode(query, region) if not match.partial]


def _places_named(query: str, centre: Point | None, region: str | None) -> list[Place]:
    scored = []
    for score, place in places.find(query, 30):
        about = max(fuzz.token_set_ratio(fold(query), fold(name)) for name in (place.name, *place.aliases))
        if score < 0.55 or about < 70:
            continue
        if centre is not None:
            score += 0.15 / (1 + geo.distance(centre, place.point) / 5000)
        if region and region.upper() in (place.country, "UK" if place.country == "GB" else ""):
            score += 0.03
        scored.append((-score, place.id, place))
    scored.sort(key=lambda entry: entry[:2])
    best = -scored[0][0] if scored else 0.0
    return [place for score, _, place in scored if -score >= best - 0.25]


def _by_whole_name(query: str, wish: Wish, centre: Point | None, region: str | None) -> list[Place | GeocodeMatch]:
    """A name that contains a kind: Museum of Modern Art, Hotel Belleclaire."""
    what = query[: -len(wish.where)] if wish.where and query.endswith(wish.where) else query
    what = re.sub(r"\s*\b(near|in|at|around|by)\s*$", "", what.strip(" ,"), flags=re.I)
    return [place for place in _places_named(what, centre, region) if _is_name(what, place)]


def _is_name(text: str, place: Place) -> bool:
    """Whether every word of a place's name is in the text, or nearly so; `Italian restaurant Rome` is no name."""
    wanted = fold(text)
    return any(
        fuzz.token_sort_ratio(wanted, fold(name)) >= 72
        or (len(name) > 7 and fuzz.token_set_ratio(wanted, fold(name)) >= 97)
        for name in (place.name, *place.aliases)
    )


def _where(wish: Wish, centre: Point | None, radius_m: float, region: str | None) -> tuple[Point | None, float]:
    text = wish.where or ("" if centre is not None else wish.name)
    if text:
        point = geocoder.coordinates(text)
        if point is not None:
            return point, max(radius_m, 5000.0)
        matched = geocoder.geocode(text, region)
        if matched and (wish.where or not matched[0].partial):
            return matched[0].point, max(3000.0, 1.3 * matched[0].reach_m)
    return centre, radius_m


def _of_kind(query: str, wish: Wish, centre: Point, radius_m: float) -> list[Place]:
    wide = max(FARTHEST_M, radius_m)
    around = [(off, place) for off, place in places.within(centre, wide) if set(wish.kinds) & set(place.types)]
    inside = [entry for entry in around if entry[0] <= radius_m]
    outside = [entry for entry in around if radius_m < entry[0] <= max(3 * radius_m, 6000.0)]
    if not inside and not outside and not _INSIDE.search(query):
        far = EVERYDAY_M if _EVERYDAY & set(wish.kinds) else wide
        outside = [entry for entry in around if entry[0] <= far][:10]
    if _NEAREST.search(query):
        return [place for _, place in (*inside, *outside)]
    keen = 2.0 if _BEST.search(query) else 1.0
    inside.sort(key=lambda entry: (-_worth(entry[1], keen) + 0.6 * entry[0] / radius_m, entry[1].id))
    return [place for _, place in (*inside, *outside)]


def _worth(place: Place, keen: float) -> float:
    return 0.6 * place.fame + keen * 0.5 * ((place.rating or 3.5) - 3)


def _famous(wish: Wish) -> list[Place]:
    """The best known of a kind anywhere, when nobody said where."""
    fitting = [place for place in places.places() if set(wish.kinds) & set(place.types)]
    return sorted(fitting, key=lambda place: (-place.fame, place.id))[:20]


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
    locationBias: dict[str, object] | None = None,
    maxResultCount: int = 10,
    fields: str | None = None,
) -> dict[str, object]:
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
    found = find_places(query.strip(), centre, max(50.0, radius), regionCode)
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
) -> dict[str, object]:
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


def _page(results: list[dict[str, object]], status: str) -> dict[str, object]:
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


def _circle(bias: Mapping[str, object] | None) -> tuple[Point | None, float]:
    """Centre and radius of a location bias; shapes other than a circle are ignored."""
    circle = (bias or {}).get("circle")
    if not isinstance(circle, Mapping):
        return None, 5000.0
    radius = circle.get("radius", 5000)
    return lat_lng(circle.get("center")), float(radius) if isinstance(radius, int | float) and radius > 0 else 5000.0
