"""Look-alikes: for a call of a reference, the same call about the nearest other thing that the world holds.

Nearest is fixed for each kind of argument. A name becomes the one of the same table with the fewest letters changed
that does not say the same and more, one that says a word more, and itself with a word less; a town the one of the same
name elsewhere. A position moves to the next place beyond what counts as the same, or into the next time zone where only
zones are told. A day becomes the next day, a time from one day to another the next of the same length, an amount one
with a digit more and one that is a tenth larger, one of a list of choices the next of the list. A search in words that
are no name of the table does not become a name that is a part of it. Nothing is played here: whether the other thing is
another one, its result says.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from difflib import SequenceMatcher
from functools import cache
from typing import NamedTuple

from m3bench.sandboxes.world import places, settlements, shop, tables
from m3bench.sandboxes.world.geo import Point
from m3bench.server.scoring.matching.other_routes import RANGES, REACH
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.distance import NEAR_METRES
from m3bench.tasks.folding import fold
from m3bench.tasks.kinds import kinds_of
from m3bench.tasks.trajectory import JSON, Call

NEXT_PLACE_METRES = 5000.0
"""So far away the next place is looked for; where there is none, the position moves by as much."""
MOST_COMPARED = 40
"""Names whose letters are compared one by one: those that share most groups of letters."""

_AMOUNT = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.]*\d)")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_WORD = re.compile(r"\w+")
_QUOTED = re.compile(r'"([^"]+)"')
_POINT = re.compile(r"\s*(-?\d+\.\d+)\s*,\s*(-?\d+\.\d+)\s*")
_BOOK_NUMBER = re.compile(r"97[89]\d{10}|\d{9}[\dXx]")
_TABLES: Mapping[str, Mapping[str, tuple[tuple[str, str], ...]]] = {
    "amazon/search_products": {"keywords": (("products", "title"), ("products", "kind"))},
    "car-price/search_brand_model_price": {
        "brand_name": (("car_brands", "name"),),
        "model_keyword": (("cars", "name"),),
    },
    "food_nutrition_mcp/get_nutrition": {"query": (("foods", "name"),), "food": (("foods", "name"),)},
    "google-maps/geocode": {"address": (("landmarks", "name"), ("towns", "name"))},
    "google-maps/places_text_search": {"query": (("landmarks", "name"), ("towns", "name"))},
    "healthcare-mcp/clinical_trials_search": {"condition": (("trials", "conditions"),)},
    "healthcare-mcp/fda_drug_lookup": {"drug_name": (("medicines", "generic"), ("medicines", "brands"))},
    "healthcare-mcp/health_topics": {"topic": (("health_topics", "title"),)},
    "healthcare-mcp/lookup_icd_code": {"code": (("diagnoses", "id"),), "description": (("diagnoses", "name"),)},
    "healthcare-mcp/pubmed_search": {"query": (("health_topics", "title"), ("diagnoses", "name"))},
    "hugeicons-mcp/get_icon_glyph_by_style": {"icon_name": (("icons", "name"),)},
    "hugeicons-mcp/search_icons": {"query": (("icons", "name"),)},
    "metmuseum-mcp/get-museum-object": {"objectId": (("met_objects", "id"),)},
    "metmuseum-mcp/search-museum-objects": {"q": (("met_objects", "artist"), ("met_objects", "title"))},
    "nationalparks/findParks": {"q": (("parks", "name"), ("park_units", "name"))},
    "nationalparks/getAlerts": {"parkCode": (("parks", "id"),)},
    "nationalparks/getCampgrounds": {"parkCode": (("parks", "id"),)},
    "nationalparks/getEvents": {"parkCode": (("parks", "id"),)},
    "nationalparks/getParkDetails": {"parkCode": (("parks", "id"),)},
    "nationalparks/getVisitorCenters": {"parkCode": (("parks", "id"),)},
    "nixos/home_manager_search": {"query": (("home_manager_options", "name"),)},
    "nixos/nixhub_package_versions": {"package_name": (("nix_packages", "name"),)},
    "nixos/nixos_info": {"name": (("nix_packages", "name"),)},
    "nixos/nixos_search": {"query": (("nix_packages", "name"),)},
    "openlibrary_mcp/get_book_info": {"isbn": (("books", "id"),), "title": (("books", "title"),)},
    "paper_search/search_arxiv": {"query": (("papers", "title"), ("papers", "authors"))},
    "Reddit-MCP-Server/get_post_content": {"post_id": (("threads", "id"),)},
    "Reddit-MCP-Server/search_hot_posts": {"subreddit": (("communities", "name"),)},
    "tmdb/search_movies": {"query": (("films", "title"),)},
    "weather/get_weather": {"location": (("towns", "name"),)},
    "wiki/search": {"query": (("articles", "title"),)},
    "wiki/summary": {"title": (("articles", "title"),)},
}
"""Where the names of an argument are from: a table of the world, and the field of its records."""
NOT_ABOUT = REACH | {"units"}
"""Arguments that say how much of a thing is told, or in what form."""
ZONES = "google-maps/timezone"
"""The tool that tells the same of all places in a zone and of all days of a season."""
ZONE_DEGREES = 15
SEASON_SECONDS = 182 * 86_400
_MARKET, _PLACE_ID, _ASIN, _TICKER = "instrument", "place_id", "asin", "ticker"


class LookAlike(NamedTuple):
    """A call about another thing."""

    argument: str
    how: str
    """What was done to the argument, in one word or two."""
    call: Call


def lookalikes(call: Call) -> Iterator[LookAlike]:
    """The calls about the nearest other things, of every argument that says what a call is about, the nearest first."""
    kinds = kinds_of(call.tool)
    if kinds.role in ("action", "perception"):
        return
    times = {name for pair in RANGES if call.arguments.keys() >= {*pair} for name in pair}
    for pair in RANGES:
        if times.issuperset(pair):
            yield LookAlike(pair[0], "next time", replace(call, arguments=_next_time(call.arguments, *pair)))
    for name, value in call.arguments.items():
        if kinds.kind(name) in ("content", "presentation") or name in NOT_ABOUT | times:
            continue
        tolerance = call.tolerances.get(name)
        for how, other in _others(call, name, value):
            tolerated = tolerance is not None and not tolerance.words and tolerance.accepts(value, other)
            if other != value and not tolerated:
                yield LookAlike(name, how, replace(call, arguments={**call.arguments, name: other}))


def _next_time(arguments: Mapping[str, JSON], start: str, end: str) -> dict[str, JSON]:
    """The arguments with a time of the same length right after theirs."""
    first, last = (datetime.fromisoformat(str(arguments[name])) for name in (start, end))
    later = timedelta(days=(last - first).days + 1)
    moved = {name: (date.fromisoformat(str(arguments[name])[:10]) + later).isoformat() for name in (start, end)}
    return {**arguments, **{name: day + str(arguments[name])[10:] for name, day in moved.items()}}


def _others(call: Call, name: str, value: JSON) -> Iterator[tuple[str, JSON]]:
    choices = _choices(call.tool).get(name)
    if choices and value in choices:
        yield "next choice", choices[(choices.index(value) + 1) % len(choices)]
    elif isinstance(value, Mapping):
        yield from _in_object(value, _reach_of(call))
    elif isinstance(value, list | tuple):
        for at, item in enumerate(value[:1]):
            for how, other in _others(call, name, item):
                yield how, [*value[:at], other, *value[at + 1 :]]
    elif isinstance(value, bool) or value is None:
        return
    elif isinstance(value, int | float):
        yield from _other_number(call.tool, name, value)
    elif isinstance(value, str):
        yield from _other_text(call.tool, name, value)


def _other_number(tool: str, name: str, value: float) -> Iterator[tuple[str, JSON]]:
    pool = _pool(tool, name)
    if pool:
        known = sorted(int(each) for each in pool)
        yield "next number", min((each for each in known if each != value), key=lambda each: abs(each - value))
    elif tool == ZONES:
        if name == "lng":
            yield "next zone", (value + ZONE_DEGREES + 180) % 360 - 180
        elif name == "timestamp":
            yield "next season", value + SEASON_SECONDS
    elif name in ("lat", "latitude"):
        yield "next place", value + NEXT_PLACE_METRES / 111_000
    elif name not in ("lng", "lon", "longitude"):
        yield "a digit more", value * 10
        yield "a tenth more", type(value)(value * 1.1) if value >= 10 else value + 1


def _other_text(tool: str, name: str, value: str) -> Iterator[tuple[str, JSON]]:
    if value.rstrip().endswith("?"):
        return  # whoever asks a person in a word less asks the same
    if _BOOK_NUMBER.fullmatch(value):
        # The shop's pool has titles; whoever asks by a number meant another number.
        yield from _other_names(value, _pool("openlibrary_mcp/get_book_info", "isbn"), words=False)
        return
    point = _POINT.fullmatch(value)
    if point:
        moved = _moved(Point(float(point[1]), float(point[2])))
        yield "next place", f"{moved.lat},{moved.lng}"
        return
    if _DAY.match(value):
        day = date.fromisoformat(value[:10]) + timedelta(days=1)
        yield "next day", day.isoformat() + value[10:]
        return
    if kinds_of(tool).kind(name) == "place" or tool == "google-maps/places_text_search":
        yield from _same_name_elsewhere(value)
    yield from _other_amount(value)
    named = _QUOTED.search(value)
    core = named[1] if named else _AMOUNT.sub("", value).strip(" g") if tool.startswith("food") else value
    for how, other in _other_names(core, _pool(tool, name), words=kinds_of(tool).kind(name) != "identity"):
        yield how, value.replace(core, other) if core else other


def _other_amount(value: str) -> Iterator[tuple[str, JSON]]:
    """Another amount of the same: only of portions, because numbers in other texts are names."""
    found = re.match(r"(\d+(?:\.\d+)?)( ?k?g | )", value)
    if found:
        amount = float(found[1])
        yield "a digit more", f"{amount * 10:g}{value[found.end(1) :]}"
        yield "a digit before", f"1{value}"
        yield "a tenth more", f"{amount * 1.1:g}{value[found.end(1) :]}"


def _other_names(value: str, pool: Sequence[str], *, words: bool) -> Iterator[tuple[str, str]]:
    folded, own = fold(value), frozenset(fold(value).split())
    is_name = not pool or any(fold(name) == folded for name in pool)
    if pool:
        nearest = [name for name in _nearest(value, pool) if fold(name) != folded]
        nearest = [name for name in nearest if is_name or not frozenset(fold(name).split()) <= own]
        others = [name for name in nearest if not own <= frozenset(_WORD.findall(fold(name)))]
        yield from (("nearest name", name) for name in others[:2])
        longer = [name for name in nearest if own < frozenset(fold(name).replace(",", " ").split())]
        yield from (("a word more", name) for name in sorted(longer, key=len)[:1])
    if words and len(value.split()) > 1:
        yield "a word less", value.partition(" ")[2]
        yield "a word less", value.rpartition(" ")[0]


def _nearest(value: str, pool: Sequence[str]) -> list[str]:
    """The names of a pool, the likest first."""
    grams = _grams(value)
    shared = [(len(grams & _grams(name)) / len(grams | _grams(name)), name) for name in pool]
    close = [name for share, name in sorted(shared, key=lambda pair: (-pair[0], pair[1]))[:MOST_COMPARED]]
    folded = fold(value)
    return sorted(close, key=lambda name: (-SequenceMatcher(None, folded, fold(name)).ratio(), name))


@cache
def _grams(text: str) -> frozenset[str]:
    padded = f" {fold(text)} "
    return frozenset(padded[at : at + 2] for at in range(len(padded) - 1))


def _same_name_elsewhere(value: str) -> Iterator[tuple[str, JSON]]:
    """The town of the same name in another country or state, and the town of a place with another name."""
    name = value.partition(",")[0].strip()
    countries = settlements.countries()
    called = [town for town in settlements.find(name, 8) if fold(town.name) == fold(name)]
    written = [
        f"{town.name}, {town.region}, USA" if town.country == "US" else f"{town.name}, {countries[town.country].name}"
        for town in called
    ]
    rest = fold(value.partition(",")[2])
    for town, text in zip(called, written, strict=True):
        where = {fold(countries[town.country].name), fold(countries[town.country].short), fold(town.region or "")}
        if not any(part and part in rest for part in where):
            yield "same name elsewhere", text
            break


def _reach_of(call: Call) -> float:
    found = call.arguments.get("radiusMeters")
    return float(found) if isinstance(found, int | float) else 0.0


def _in_object(value: Mapping[str, JSON], reach: float = 0.0) -> Iterator[tuple[str, JSON]]:
    """A place that is given as an object: the innermost position or name is another one."""
    if {"latitude", "longitude"} <= value.keys():
        latitude, longitude = (float(str(value[name])) for name in ("latitude", "longitude"))
        moved = _moved(Point(latitude, longitude), reach)
        yield "next place", {**value, "latitude": moved.lat, "longitude": moved.lng}
        return
    for name, inner in value.items():
        if isinstance(inner, Mapping):
            yield from ((how, {**value, name: other}) for how, other in _in_object(inner, reach))
        elif isinstance(inner, str):
            found = [*_same_name_elsewhere(inner)]
            found += [("nearest name", other) for _, other in _other_names(inner, _towns(), words=False)][:1]
            yield from ((how, {**value, name: other}) for how, other in found)


def _moved(point: Point, reach: float = 0.0) -> Point:
    """The next place that is not the same one, and not within what is looked around in."""
    least = max(NEAR_METRES, reach) * 2
    for metres, place in places.within(point, least + NEXT_PLACE_METRES):
        if metres > least:
            return place.point
    return Point(round(point.lat + (least + NEXT_PLACE_METRES) / 111_000, 5), point.lng)


@cache
def _choices(tool: str) -> Mapping[str, tuple[str, ...]]:
    properties = load_catalog().tool(tool).input_schema.get("properties", {})
    return {name: tuple(entry["enum"]) for name, entry in properties.items() if len(entry.get("enum", ())) > 1}


@cache
def _pool(tool: str, argument: str) -> tuple[str, ...]:
    """The names that an argument may have, as the world's tables have them."""
    if argument == _TICKER:
        return tuple(record["id"] for record in tables.load("companies"))
    if argument == _MARKET:
        return tuple(f"{coin['id']}-{quote}" for coin in tables.load("coins") for quote in coin.get("pairs", {}))
    if argument == _PLACE_ID:
        return tuple(place.id for place in places.places())
    if argument == _ASIN:
        return tuple(sorted(shop.products()))
    named = _TABLES.get(tool, {}).get(argument, ())
    found = dict.fromkeys(
        name for table, field in named for record in tables.load(table) for name in _texts(record.get(field))
    )
    return tuple(found)


@cache
def _towns() -> tuple[str, ...]:
    return tuple(dict.fromkeys(town.name for town in settlements.settlements() if town.people > 100_000))


def _texts(value: object) -> Iterator[str]:
    for item in value if isinstance(value, list | tuple) else [value]:
        if item is not None and str(item).strip():
            yield str(item)
