"""Geocoding: from words to positions, and from a position to names.

Words are coordinates, plus codes, post codes, addresses, names of places and towns. An address is read from its end:
country, state, town; what stands before them is a place or a street in that town. Streets are compared with
abbreviations written out, so that `Av. de X` and `Avenue de X` are one street. What is not understood makes the answer
partial, as the public service does; nonsense has no answer.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache

from rapidfuzz import fuzz

from m3bench.sandboxes.servers.google_maps import gazetteer, matches, pluscodes
from m3bench.sandboxes.servers.google_maps.matches import GeocodeMatch
from m3bench.sandboxes.world import geo, places, postcodes, settlements
from m3bench.sandboxes.world.geo import Point
from m3bench.sandboxes.world.places import Place
from m3bench.sandboxes.world.search import fold, words
from m3bench.sandboxes.world.settlements import COUNTRIES, Settlement, states
from m3bench.sandboxes.world.streets import Street, streets

_FULL = {
    "av": "avenue", "ave": "avenue", "avda": "avenida", "bd": "boulevard", "blvd": "boulevard", "boul": "boulevard",
    "bulv": "bulvar", "c": "calle", "cd": "caddesi", "cad": "caddesi", "cl": "calle", "cr": "crescent",
    "cres": "crescent", "ct": "court", "dr": "drive", "e": "east", "expy": "expressway", "hwy": "highway",
    "ln": "lane", "n": "north", "ne": "northeast", "nw": "northwest", "pl": "place", "pkwy": "parkway",
    "pza": "plaza", "r": "rua", "rd": "road", "s": "south", "se": "southeast", "sk": "sokak", "sok": "sokak",
    "sq": "square", "st": "street", "ste": "sainte", "str": "strasse", "sw": "southwest", "ter": "terrace",
    "ul": "ulica", "v": "via", "w": "west",
}  # fmt: skip
_NATIONAL_PARK = re.compile(r"(?<=\w )NP\b")
_ENDINGS = re.compile(r"(?<=\w{3})(strasse|str)\b")
_NUMBER = re.compile(
    r"(?P<chome>\d+-chome)-(?P<block>\d+)-(?P<house>\d+)\b"
    r"|\bno[:.]?\s*(?P<no>\d+)"
    r"|^\s*(?P<first>\d+)(?:\s*[-–/]\s*\d+)?(?:\s*(?:bis|ter|[a-d]))?\b(?!\.|st\b|nd\b|rd\b|th\b|-)"
    r"|[\s,](?P<last>\d+)(?:\s*[-–/]\s*\d+)?\s*[a-d]?\s*$",
    re.I,
)


def plain_street(name: str) -> str:
    """A street's name without case, accents and abbreviations."""
    words = [_FULL.get(word, word) for word in re.findall(r"[^\W_]+", fold(name))]
    return _ENDINGS.sub(" strasse", " ".join(words)).strip()


def split_number(text: str) -> tuple[str, int | None]:
    """The street and the house number of a line such as `20 Av. de Tourville` or `Marienplatz 8`."""
    match = _NUMBER.search(text)
    if match is None:
        return text.strip(" ,"), None
    if match["chome"]:
        number = (int(match["block"]) - 1) * 10 + int(match["house"]) - 1
        rest = text[: match.start()] + match["chome"] + text[match.end() :]
        return rest.strip(" ,"), number
    digits = match["no"] or match["first"] or match["last"]
    rest = text[: match.start()] + " " + text[match.end() :] if match["no"] else text.replace(match.group(), " ", 1)
    return rest.strip(" ,"), int(digits)


TOWN_REACH_M = 60_000.0
SMALL_TOWN = 150_000
LITTLE_KNOWN = 400_000
SURE = 0.62
"""The least score at which a name is taken for the place of that name."""
_COORDINATES = re.compile(
    r"\s*\(?\s*({0})\s*°?\s*,\s*({0})\s*°?\s*\)?\s*".format(r"[+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?")
)
_ZIP = re.compile(r"\b(\d{5})(?:-\d{4})?\b")
_POST_WORD = re.compile(r"\b(?=[\w-]*\d)[\w-]{3,9}\b")
_QUARTERS = frozenset(("north", "northeast", "east", "southeast", "south", "southwest", "west", "northwest"))
_WITH_STATES = frozenset(("US", "CA", "AU"))
_OFFICIAL = re.compile(r"\b(city of|district|city|province|prefecture|ward|governorate)\b", re.I)
_SCRAPS = re.compile(r"\b(?:[A-ZØ]{1,3}|\d{1,4})\b")
_LONE_NUMBER = re.compile(r"(?:no\.?\s*)?(\d{1,5})", re.I)
_LINKS = re.compile(r"\s+(?:in|at|near|,)\s+", re.I)


@dataclass
class _Reading:
    """What the end of an address says."""

    country: str | None = None
    region: str | None = None
    town: Settlement | None = None
    zip: str | None = None
    rest: list[str] = field(default_factory=list)
    """The parts that say neither, most specific first."""


def coordinates(text: str) -> Point | None:
    """The point of a text such as `48.85, 2.29`; None when it is none or not on the globe."""
    match = _COORDINATES.fullmatch(text)
    if match is None:
        return None
    lat, lng = float(match[1]), float(match[2])
    return Point(lat, lng) if -90 <= lat <= 90 and -180 <= lng <= 180 else None


_AIRPORT_NAME = 5
"""An airport's name alone is at least so long."""
_KINDS = frozenset(
    {"airport", "beach", "bridge", "castle", "church", "hotel", "lake", "mill", "park", "station", "tower"}
)


@lru_cache(maxsize=512)
def geocode(text: str, region: str | None = None) -> tuple[GeocodeMatch, ...]:
    """What an address or name means, likeliest first; empty when nothing answers to it.

    Args:
        text: The address, in any order of the usual ones.
        region: Two-letter code of the country to prefer.
    """
    text = _NATIONAL_PARK.sub("National Park", text)
    found = _meant(text, region)
    kept = tuple(match for match in found if not _is_town_of_kind(text, match))
    if found and not kept:
        kind = fold(found[0].town or found[0].name)
        rest = " ".join(word for word in words(text) if word != kind)
        kept = tuple(match for match in _meant(rest, region) if kind in match.types)
    spot = gazetteer.find(text) if all(match.partial for match in kept) else _rather(text, kept[0])
    return (spot,) if spot else kept or _airport_of_name(text)


def _airport_of_name(text: str) -> tuple[GeocodeMatch, ...]:
    """The airport that people call by this name alone, such as Ben Gurion, where nothing else bears it."""
    asked = set(words(text))
    if not asked or "airport" in asked or len("".join(asked)) < _AIRPORT_NAME:
        return ()
    spot = gazetteer.find(f"{text} airport")
    return (spot,) if spot and "airport" in spot.types and asked & set(words(spot.name)) else ()


def _rather(text: str, found: GeocodeMatch) -> GeocodeMatch | None:
    """The spot of exactly this name, where a town that few know or one of a name like it was found."""
    if found.types[0] != "locality":
        return None
    town = settlements.exact(text)
    return gazetteer.exactly(text) if town is None or town.people < LITTLE_KNOWN else None


def _is_town_of_kind(text: str, match: GeocodeMatch) -> bool:
    """Whether a town is called after a kind of thing, such as Airport, Hawaii, and the text asks for such a thing."""
    if "locality" not in match.types or fold(match.town or match.name) not in _KINDS:
        return False
    known = {*words(match.address), *words(" ".join(states("US").values()))}
    return any(word not in known for word in words(text))


def _meant(text: str, region: str | None) -> tuple[GeocodeMatch, ...]:
    code = pluscodes.find(text)
    if code:
        return _by_code(*code, region)
    bias = _bias(region)
    written = _as_written(text)
    if written:
        return (written,)
    post = _post_word([text.strip()], bias)
    if post:
        return (post,)
    reading = _read(text, bias)
    sight = _sights().get(fold(text.strip()))
    if sight and reading.town and not reading.rest and reading.town.people < SMALL_TOWN:
        return (matches.of_place(sight),)
    found = _inside(reading, text) or _anywhere(text, reading, bias) or _sight_of(reading)
    if found:
        return tuple(found)
    return _by_short_state(text, region) or _outer(reading, bias) or _town_at_end(text, region)


def _as_written(text: str) -> GeocodeMatch | None:
    """A place whose address is exactly the one that answers show, with or without its name and country."""
    place = _written_places().get(" ".join(words(text)))
    return matches.of_place(place) if place else None


@cache
def _written_places() -> dict[str, Place]:
    by_writing: dict[str, Place] = {}
    for place in places.places():
        for address in (place.address, place.full_address):
            by_writing.setdefault(" ".join(words(f"{place.name} {address}")), place)
            if any(letter.isdigit() for letter in address.split(",")[0]):
                by_writing.setdefault(" ".join(words(address)), place)
    return by_writing


@cache
def _sights() -> dict[str, Place]:
    """Well-known places by exactly their names: they come before a small town of the same name."""
    named: dict[str, Place] = {}
    for place in places.places():
        if place.fact:
            for name in (place.name, *place.aliases):
                named.setdefault(fold(name), place)
    return named


def _sight_of(reading: _Reading) -> list[GeocodeMatch]:
    """A well-known place far from any town, or with a state that is also a city, behind its name."""
    sight = _sights().get(fold(reading.rest[0])) if reading.rest else None
    if sight is None or reading.town is not None or reading.country not in (None, sight.country):
        return []
    found = matches.of_place(sight)
    return [found] if reading.region in (None, found.region) else []


def _by_short_state(text: str, region: str | None) -> tuple[GeocodeMatch, ...]:
    """A place of an American state that is written out, while the addresses of places have it short."""
    for short, long in sorted(states("US").items(), key=lambda entry: (-len(entry[1]), entry[0])):
        shorter = re.sub(rf"[,\s]+{long}(?=$|,\s*(?:usa?|united states)$)", f", {short}", text.strip(), flags=re.I)
        if shorter != text.strip():
            return tuple(match for match in geocode(shorter, region) if not match.partial)
    return ()


def _town_at_end(text: str, region: str | None) -> tuple[GeocodeMatch, ...]:
    """An address without commas: the last words may be the town, or the country behind it."""
    words = text.split()
    if "," in text or len(words) > 12:
        return ()
    for count in range(1, min(3, len(words) - 1) + 1):
        end = " ".join(words[-count:])
        if settlements.exact(end) or fold(end) in settlements.country_names():
            return geocode(f"{' '.join(words[:-count])}, {' '.join(words[-count:])}", region)
    return ()


def _bias(region: str | None) -> str | None:
    code = (region or "").upper().replace("UK", "GB")
    return code if code in settlements.countries() else None


def _by_code(code: str, rest: str, region: str | None) -> tuple[GeocodeMatch, ...]:
    if pluscodes.is_full(code):
        point = pluscodes.decode(code)
    else:
        around = geocode(rest, region) if rest else ()
        if not around:
            return ()
        point = pluscodes.recover(code, around[0].point)
        town = _read(rest, _bias(region)).town
        if town:
            return (matches.of_code(code, point, town),)
    return (matches.of_code(code, point, settlements.nearest(point, 50_000)),)


def _read(text: str, bias: str | None) -> _Reading:
    parts = [part.strip() for part in re.split(r"[,;\n]", text) if part.strip()]
    reading = _Reading()
    while parts and not (reading.country and reading.town):
        part = parts[-1]
        bare = _take_zip(part, reading)
        if bare and reading.country is None and reading.town is None and fold(bare) in settlements.country_names():
            # A word that is a country and a town (Singapore, Georgia) is a country only behind something else.
            if len(parts) == 1 and settlements.exact(bare, bias):
                break
            reading.country = settlements.country_names()[fold(bare)]
        elif bare and reading.region is None and reading.town is None and (state := _state(bare, reading.country)):
            if len(parts) == 1 and settlements.exact(bare, bias or state[0]) and len(bare) > 3:
                break
            reading.country, reading.region = state
        elif town := _town(bare or part, reading, bias):
            reading.town = town
            reading.country = town.country
        elif bare:
            break
        parts.pop()
    if reading.town is None:
        _town_further_in(parts, reading, bias)
    if reading.town is None and reading.country and parts:
        # A state that is a city: Hong Kong, Singapore.
        reading.town = settlements.exact(settlements.countries()[reading.country].name, reading.country)
    reading.rest = parts
    return reading


def _take_zip(part: str, reading: _Reading) -> str:
    """The part without post codes; a US one is kept."""
    match = _ZIP.search(part)
    if match and reading.zip is None and len(part) <= 40:
        reading.zip = match[1]
    return re.sub(r"\s+", " ", _POST_WORD.sub(" ", part)).strip(" -") if len(part) <= 60 else part


def _state(text: str, country: str | None) -> tuple[str, str] | None:
    for code in COUNTRIES:
        if country in (None, code):
            for short, long in states(code).items():
                if text.upper() == short or fold(text) == fold(long):
                    return code, short
    return None


def _town(text: str, reading: _Reading, bias: str | None) -> Settlement | None:
    if not text or text.isdigit():
        return None
    if "/" in text:
        # Turkish addresses end in town/province.
        return _town(text.split("/")[0].strip(), reading, bias)
    words = text.split()
    tries = [text]
    if len(words) > 1 and (state := _state(words[-1], reading.country)):
        town = settlements.exact(" ".join(words[:-1]), state[0], state[1])
        if town:
            reading.region = state[1]
            return town
    tries.append(_OFFICIAL.sub(" ", text).strip(" -"))
    # What is left of post codes and provinces: JE Utrecht, Roma RM, Praha 1, Rio de Janeiro - RJ.
    tries.append(re.sub(r"\s+", " ", _SCRAPS.sub(" ", text)).strip(" -"))
    for name in tries:
        for country in dict.fromkeys((reading.country or bias, reading.country)):
            town = settlements.exact(name, country, reading.region if reading.country in _WITH_STATES else None)
            if town:
                return town
    return None


def _town_further_in(parts: list[str], reading: _Reading, bias: str | None) -> None:
    """A town may stand before a district that nobody knows."""
    for index in range(len(parts) - 1, 0, -1):
        bare = _take_zip(parts[index], reading)
        town = _town(bare, reading, bias) if bare else None
        if town:
            reading.town, reading.country = town, town.country
            del parts[index]
            return


def _inside(reading: _Reading, text: str) -> list[GeocodeMatch]:
    """A place or street of the town that was read."""
    if not reading.rest or reading.town is None:
        return []
    centre = reading.town.point
    street = _street(reading.rest, centre)
    named = _named(reading.rest, centre, text)
    if named and (street is None or named[0] >= 0.8):
        return [matches.of_place(named[1])]
    housed = _housed(reading.rest, centre)
    if housed:
        return [matches.of_place(housed)]
    if street:
        return [matches.of_street(*street)]
    return [matches.of_place(named[1])] if named else []


def _street(parts: Sequence[str], centre: Point | None) -> tuple[Street, int | None] | None:
    best: tuple[float, Street, int | None] | None = None
    for before, part, after in zip(("", *parts), parts, (*parts[1:], ""), strict=False):
        name, number = split_number(part)
        if number is None and (lone := _LONE_NUMBER.fullmatch(after) or _LONE_NUMBER.fullmatch(before)):
            number = int(lone[1])
        wanted = plain_street(name)
        if not wanted:
            continue
        for street, written in _plain_streets():
            if centre is not None and geo.distance(street.middle, centre) > TOWN_REACH_M:
                continue
            score = fuzz.ratio(wanted, written)
            if score >= 88 and _winds(wanted) == _winds(written) and (best is None or score > best[0]):
                best = (score, street, number)
    return (best[1], best[2]) if best else None


def _winds(street: str) -> frozenset[str]:
    """The quarter a street says it is in: the same street runs through several in some cities."""
    return _QUARTERS & frozenset(street.split())


def _housed(parts: Sequence[str], centre: Point) -> Place | None:
    """The place that has exactly this street and house number."""
    wanted = {plain_street(part) for part in parts if any(letter.isdigit() for letter in part)}
    if not wanted:
        return None
    for row in sorted(places.rows_within(centre, TOWN_REACH_M)):
        place = places.places()[row]
        if plain_street(place.address.split(",")[0]) in wanted:
            return place
    return None


@cache
def _plain_streets() -> tuple[tuple[Street, str], ...]:
    """Each street by its name, and by what stands before the district."""
    return tuple(
        (street, plain_street(name))
        for street in streets()
        for name in dict.fromkeys((street.name, street.name.split(",")[0]))
    )


def _named(parts: Sequence[str], centre: Point, text: str) -> tuple[float, Place] | None:
    """The place whose name is the most specific part, helped by the rest of the address."""
    rows = places.rows_within(centre, TOWN_REACH_M)
    best: tuple[float, Place] | None = None
    for depth, part in enumerate(parts):
        for name in _names(part):
            for score, place in places.find(name, 6, rows=rows):
                fit = _fit(name, place)
                if score < SURE - 0.1 or fit < 0.7:
                    continue
                help_ = fuzz.token_set_ratio(fold(text), fold(place.full_address)) / 100
                total = 0.75 * fit + 0.25 * help_ - 0.12 * depth
                if best is None or total > best[0]:
                    best = (total, place)
    return best


def _names(part: str) -> list[str]:
    """A part, and what stands in and before its brackets."""
    inside = re.findall(r"\(([^)]*)\)", part)
    bare = re.sub(r"\([^)]*\)", " ", part).strip()
    return [name for name in (bare, *inside) if name]


def _fit(name: str, place: Place) -> float:
    """How well a text is one of a place's names, in [0, 1]."""
    wanted = fold(name)
    return max(
        max(fuzz.ratio(wanted, fold(known)), fuzz.token_sort_ratio(wanted, fold(known))) / 100
        for known in (place.name, *place.aliases)
    )


def _anywhere(text: str, reading: _Reading, bias: str | None) -> list[GeocodeMatch]:
    """A name without a town, or one that the town's own places do not have."""
    if not reading.rest:
        return []
    name = " ".join(reading.rest)
    if reading.town is None:
        street = _street(reading.rest, None)
        if street and street[1] is not None:
            return [matches.of_street(*street)]
    whole = _LINKS.sub(" ", text)
    found = [(score, place) for score, place in places.find(whole, 8) if _about(whole, place) and score >= SURE]
    found = [(score + (0.05 if bias == place.country else 0), place) for score, place in found]
    if reading.country:
        found = [(score, place) for score, place in found if place.country == reading.country]
    if reading.town is not None:
        near = [(s, p) for s, p in found if geo.distance(p.point, reading.town.point) <= TOWN_REACH_M]
        found = near
    town = _loose_town(name, reading, bias)
    if found:
        found.sort(key=lambda entry: (-entry[0], entry[1].id))
        if town is None or max(_fit(name, found[0][1]), 0.97 * _fit(whole, found[0][1])) >= _town_fit(name, town):
            return [matches.of_place(place) for _, place in found[:3]]
    return [matches.of_town(town)] if town and reading.town is None else []


def _about(text: str, place: Place) -> bool:
    """Whether a text names the place itself, not only what is around it."""
    return max(fuzz.token_set_ratio(fold(text), fold(known)) for known in (place.name, *place.aliases)) >= 75


def _loose_town(name: str, reading: _Reading, bias: str | None) -> Settlement | None:
    region = reading.region if reading.country in _WITH_STATES else None
    for country in dict.fromkeys((reading.country or bias, reading.country)):
        found = [
            town for town in settlements.find(name, 4, country=country, region=region) if _town_fit(name, town) >= 0.75
        ]
        if found:
            return found[0]
    return None


def _town_fit(name: str, town: Settlement) -> float:
    wanted = fold(name)
    known = [fold(alias) for alias in (town.name, *town.aliases)]
    return max(max(fuzz.ratio(wanted, alias), fuzz.token_sort_ratio(wanted, alias)) for alias in known) / 100


def _outer(reading: _Reading, bias: str | None) -> tuple[GeocodeMatch, ...]:
    """The town, post code, state or country when the inner parts mean nothing."""
    partial = bool(reading.rest)
    found = _post_word([*reading.rest, reading.zip or ""], bias) if reading.town is None else None
    if (
        found is None
        and reading.zip
        and reading.country in (None, "US")
        and not (reading.town and reading.town.country != "US")
    ):
        entry = postcodes.zip_entry(reading.zip)
        if entry:
            found = matches.of_postcode(entry.code, entry.point, entry.town, entry.state, "US")
    if found is None and reading.town:
        found = matches.of_town(reading.town)
    if found is None and reading.region and reading.country:
        found = matches.of_region(reading.country, reading.region)
    if found is None and reading.country and not partial:
        found = matches.of_country(reading.country)
    if found is None:
        return ()
    return (found.as_partial() if partial and "postal_code" not in found.types else found,)


def _post_word(parts: Sequence[str], bias: str | None) -> GeocodeMatch | None:
    """A post code that one of the known streets has; five digits are a ZIP code unless a country is preferred."""
    wanted = {fold(part) for part in parts if part and (bias not in (None, "US") or not _ZIP.fullmatch(part))}
    for street in streets():
        if street.postcode and fold(street.postcode) in wanted and bias in (None, street.country):
            city = settlements.nearest(street.middle, 60_000)
            if city:
                return matches.of_postcode(street.postcode, street.middle, city.name, city.region, street.country)
    return None


PLACE_M = 60.0
STREET_M = 150.0
TOWN_M = 40_000.0
COUNTRY_M = 400_000.0


def reverse(point: Point) -> list[GeocodeMatch]:
    """What is at a position, most specific first; empty far out at sea."""
    found = [matches.of_place(place) for _, place in places.within(point, PLACE_M)[:3]]
    street = nearest_street(point, STREET_M)
    if street:
        found.append(matches.of_street(street, street.number_at(point)))
    town = settlements.nearest(point, TOWN_M)
    if town:
        found.append(matches.of_town(town))
    state = town or settlements.nearest(point, COUNTRY_M)
    if state and state.region and state.country in matches.POSTAL_FIRST_STATES:
        found.append(matches.of_region(state.country, state.region))
    if state:
        found.append(matches.of_country(state.country))
    elif point.lat < -60:
        found.append(matches.of_country("AQ"))
    return found


def nearest_street(point: Point, most_m: float) -> Street | None:
    """The street nearest to a position."""
    best: tuple[float, Street] | None = None
    for street in streets():
        if abs(street.middle.lat - point.lat) > 0.1:
            continue
        if geo.distance(street.middle, point) > street.length / 2 + most_m:
            continue
        off = street.distance(point)
        if off <= most_m and (best is None or off < best[0]):
            best = (off, street)
    return best[1] if best else None
