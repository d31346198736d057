"""Airports and well-known spots by name: what geocoding asks when no place, street or town answers to a text.

A spot must be named as a whole, but for a slip of the pen; what stands behind it must be around it. An airport answers
to its code, to its name and to its city. Nothing is guessed: with no such name there is no answer.
"""

import re
from functools import cache

from rapidfuzz import fuzz, process

from m3bench.sandboxes.servers.google_maps.matches import GeocodeMatch
from m3bench.sandboxes.world import geo, placeids, settlements, tables
from m3bench.sandboxes.world.geo import Point
from m3bench.sandboxes.world.search import fold, words
from m3bench.sandboxes.world.tables import Record

NEAR_M = 120_000.0
CITY_M = 60_000.0
"""How far an airport may be from the city that names it."""
_SPELLED_ALIKE = 90
_LONG_NAME = 8
_AIRPORT = frozenset(("airport", "airports", "aeroport", "aeropuerto", "aeroporto", "flughafen", "lufthavn"))
_FILLING = frozenset(("international", "intl", "the", "of", "at", "in", "regional", "municipal"))
_HUBS = [
    "ATL", "LHR", "JFK", "CDG", "DXB", "HND", "FRA", "AMS", "LAX", "ORD", "SIN", "HKG", "ICN", "PEK", "PVG", "CAN",
    "IST", "MAD", "BCN", "FCO", "MXP", "MUC", "ZRH", "VIE", "CPH", "ARN", "OSL", "HEL", "DUB", "BRU", "LIS", "ATH",
    "SVO", "DEL", "BOM", "BLR", "BKK", "KUL", "CGK", "MNL", "SGN", "HAN", "TPE", "NRT", "KIX", "SYD", "MEL", "BNE",
    "AKL", "YYZ", "YVR", "YUL", "MEX", "GRU", "GIG", "EZE", "SCL", "BOG", "LIM", "PTY", "MIA", "MCO", "DFW", "IAH",
    "DEN", "PHX", "LAS", "SFO", "SEA", "BOS", "EWR", "IAD", "PHL", "CLT", "MSP", "DTW", "SLC", "SAN", "TPA", "CAI",
    "JNB", "CPT", "NBO", "ADD", "LOS", "CMN", "DOH", "AUH", "RUH", "JED", "TLV", "BER", "HAM", "DUS", "WAW", "PRG",
    "BUD", "OTP", "SOF", "BEG", "ZAG", "KBP", "MAN", "EDI", "LGW", "KEF", "ORY", "NCE", "LYS", "GVA", "VCE", "NAP",
]  # fmt: skip
_PLACED = {"airport": 2500.0, "natural_feature": 15_000.0, "neighborhood": 800.0, "national_park": 20_000.0}


def find(text: str) -> GeocodeMatch | None:
    """The airport or spot that a text names, if there is one."""
    return _airport(text) or _spot(text)


def exactly(text: str) -> GeocodeMatch | None:
    """The spot that has just this name."""
    for record in _by_name().get(_key(text), ()):
        return _match(record, record["type"])
    return None


def _spot(text: str) -> GeocodeMatch | None:
    whole = _key(text)
    if len(whole) < 3:
        return None
    if found := exactly(text):
        return found
    parts = [part for part in re.split(r"[,;]", text) if part.strip()]
    if len(parts) > 1:
        return _around(_key(parts[0]), parts[1:])
    asked = whole.split()
    for count in (1, 2):
        if len(asked) > count and (found := _around(" ".join(asked[:-count]), [" ".join(asked[-count:])])):
            return found
    if len(whole) >= _LONG_NAME and not any(letter.isdigit() for letter in whole):
        near = process.extractOne(whole, list(_by_name()), scorer=fuzz.ratio, score_cutoff=_SPELLED_ALIKE)
        if near:
            record = _by_name()[near[0]][0]
            return _match(record, record["type"])
    return None


def _around(name: str, behind: list[str]) -> GeocodeMatch | None:
    """The spot of a name that lies where the other words say."""
    for record in _by_name().get(name, ()):
        point = Point(record["lat"], record["lng"])
        if all(_lies(point, record["country"], part.strip()) for part in behind):
            return _match(record, record["type"])
    return None


def _lies(point: Point, country: str, part: str) -> bool:
    if settlements.country_names().get(fold(part)) == country:
        return True
    town = settlements.exact(part, country)
    return town is not None and geo.distance(town.point, point) <= NEAR_M


@cache
def _by_name() -> dict[str, list[Record]]:
    named: dict[str, list[Record]] = {}
    for record in tables.load("wellknown"):
        for name in (record["name"], *record.get("aliases", ())):
            named.setdefault(_key(name), []).append(record)
    return named


def _key(text: str) -> str:
    return " ".join(words(text))


def _airport(text: str) -> GeocodeMatch | None:
    if re.fullmatch(r"[A-Z]{3}", text.strip()):
        record = _airports().get(text.strip())
        return _match(record, "airport") if record else None
    asked = words(text)
    if not _AIRPORT & set(asked):
        return None
    core = [word for word in asked if word not in _AIRPORT and word not in _FILLING]
    if len(core) == 1 and len(core[0]) == 3 and core[0].upper() in _airports():
        return _match(_airports()[core[0].upper()], "airport")
    fitting = [record for record in _airports().values() if core and set(core) <= _airport_words(record)]
    town = settlements.exact(" ".join(core))
    if town and not any(record["id"] in _HUBS for record in fitting):
        around = [record for record in _airports().values() if _off(record, town.point) <= CITY_M]
        fitting = sorted(around, key=lambda record: _off(record, town.point)) or fitting
    if not fitting:
        return None
    return _match(min(fitting, key=lambda record: _standing(record, core)), "airport")


def _off(record: Record, point: Point) -> float:
    return geo.distance(Point(record["lat"], record["lng"]), point)


def _airport_words(record: Record) -> set[str]:
    country = settlements.countries()[record["country"]]
    return {*words(record["name"]), *words(record["city"]), *words(country.name), *words(country.short)}


def _standing(record: Record, core: list[str]) -> tuple[int, int, int, str]:
    """Large airports first, then those that bear the name themselves, then those of large cities."""
    hub = _HUBS.index(record["id"]) if record["id"] in _HUBS else len(_HUBS)
    named = set(core) <= set(words(record["name"]))
    town = settlements.exact(record["city"], record["country"])
    return hub, 0 if named else 1, -(town.people if town else 0), record["id"]


@cache
def _airports() -> dict[str, Record]:
    return {record["id"]: record for record in tables.load("airports")}


def _match(record: Record, kind: str) -> GeocodeMatch:
    point = Point(record["lat"], record["lng"])
    town = settlements.nearest(point, 60_000)
    town = town if town and town.country == record["country"] else None
    short = settlements.countries()[record["country"]].short
    name = f"{record['name']} ({record['id']})" if kind == "airport" else record["name"]
    inside = [town.name] if town and town.name not in name else []
    return GeocodeMatch(
        id=placeids.point_id(point, "address"),
        point=point,
        address=", ".join([name, *inside, short]),
        types=(kind, "establishment", "point_of_interest") if kind not in ("route", "locality") else (kind,),
        country=record["country"],
        region=town.region if town else "",
        town=town.name if town else "",
        name=name,
        precision="APPROXIMATE" if kind == "natural_feature" else "GEOMETRIC_CENTER",
        reach_m=_PLACED.get(kind, 150.0),
    )
