"""What people ask for: kinds of places in a free text, and where they want them.

`best restaurants near Tower Bridge, London` is the type restaurant and the place Tower Bridge, London;
`Titanic showtimes near New York` is a cinema; `Shakespeare and Company` is neither but a name.
"""

import re
from dataclasses import dataclass

from m3bench.sandboxes.world.search import fold

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
