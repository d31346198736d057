"""Cities and towns as one list: what is nearest to a point, and what a name means.

Cities are described by ourselves, towns come from GeoNames; both have a name, a country, a position, a time
zone and a number of people. Which US state or Canadian province a place is in is its `region`; `states` has the names
that addresses write short.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from sys import intern

import numpy as np
import numpy.typing as npt

from m3bench.sandboxes.world import geo, tables
from m3bench.sandboxes.world.geo import Point
from m3bench.sandboxes.world.search import SearchIndex, fold
from m3bench.sandboxes.world.tables import Record

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True)
class Settlement:
    """A city or town."""

    name: str
    country: str
    """ISO code of two letters."""
    region: str
    """State or province where that is part of an address; otherwise empty or a wider area's name."""
    point: Point
    people: int
    zone: str
    city_id: str | None = None
    """Id in the table of cities; None for a town."""
    aliases: tuple[str, ...] = ()

    @property
    def radius_m(self) -> float:
        """How far the built-up area reaches, from the number of people."""
        return 400 + 11 * math.sqrt(max(100, self.people))


@dataclass(frozen=True, kw_only=True, slots=True)
class Country:
    """A country."""

    code: str
    name: str
    short: str
    """As addresses write it: USA, UK."""
    capital: str
    continent: str
    languages: tuple[str, ...]


@cache
def countries() -> dict[str, Country]:
    """Countries by ISO code."""
    return {
        record["id"]: Country(
            code=record["id"],
            name=record["name"],
            short=record["short"],
            capital=record["capital"],
            continent=record["continent"],
            languages=tuple(record["languages"]),
        )
        for record in tables.load("countries")
    }


@cache
def country_names() -> dict[str, str]:
    """What people write for a country, folded, to its ISO code."""
    names: dict[str, str] = {}
    for record in tables.load("countries"):
        for name in (record["name"], record["short"], record["iso3"]):
            names.setdefault(fold(name), record["id"])
    more = {
        "u s a": "US", "u s": "US", "us": "US", "america": "US", "united states of america": "US", "uk": "GB",
        "great britain": "GB", "england": "GB", "scotland": "GB", "wales": "GB", "northern ireland": "GB",
        "holland": "NL", "the netherlands": "NL", "turkey": "TR", "czech republic": "CZ", "south korea": "KR",
        "korea": "KR", "russia": "RU", "vietnam": "VN", "uae": "AE", "deutschland": "DE", "espana": "ES",
        "italia": "IT", "brasil": "BR", "danmark": "DK", "sverige": "SE", "norge": "NO", "suomi": "FI",
        "polska": "PL", "osterreich": "AT", "schweiz": "CH", "suisse": "CH", "belgique": "BE", "ireland": "IE",
        "eire": "IE", "burma": "MM", "ivory coast": "CI", "vatican": "VA", "prc": "CN", "nippon": "JP",
    }  # fmt: skip
    return {**names, **more}


@cache
def settlements() -> tuple[Settlement, ...]:
    """Cities first, then towns."""
    return tuple(_settlement(record) for name in ("cities", "towns") for record in tables.stream(name))


@cache
def by_city() -> dict[str, Settlement]:
    """Cities by id."""
    return {place.city_id: place for place in settlements() if place.city_id is not None}


def nearest(point: Point, most_m: float = 2e7, least_people: int = 0) -> Settlement | None:
    """The settlement whose edge is nearest; the larger of two that both reach the point."""
    found = around(point, 12)
    best: tuple[float, Settlement] | None = None
    for place in found:
        if place.people < least_people:
            continue
        off = geo.distance(point, place.point)
        # A point inside a large city belongs to it although a suburb's centre may be nearer.
        score = off / place.radius_m if off < 4 * place.radius_m else off / place.radius_m * 2
        if off <= most_m and (best is None or score < best[0]):
            best = (score, place)
    return best[1] if best else None


def around(point: Point, count: int) -> list[Settlement]:
    """The settlements with the nearest centres, nearest first."""
    vectors = _vectors()
    closeness = vectors @ unit_vector(point)
    count = min(count, len(closeness))
    rows = np.argpartition(-closeness, count - 1)[:count]
    return [settlements()[row] for row in sorted(rows, key=lambda row: (-closeness[row], row))]


def unit_vector(point: Point) -> Array:
    """A position on the unit sphere."""
    lat, lng = math.radians(point.lat), math.radians(point.lng)
    return np.array([math.cos(lat) * math.cos(lng), math.cos(lat) * math.sin(lng), math.sin(lat)])


def find(name: str, limit: int = 5, *, country: str | None = None, region: str | None = None) -> list[Settlement]:
    """Settlements that a name may mean, likeliest first."""

    def keep(record: Record) -> bool:
        place = settlements()[record["row"]]
        return (country is None or place.country == country) and (region is None or place.region == region)

    return [settlements()[record["row"]] for _, record in _index().search(name, limit, keep=keep)]


def exact(name: str, country: str | None = None, region: str | None = None) -> Settlement | None:
    """The largest settlement of exactly this name, but for case and accents."""
    found = [
        place
        for place in _by_name().get(fold(name), ())
        if (country is None or place.country == country) and (region is None or place.region == region)
    ]
    return max(found, key=lambda place: place.people, default=None)


@cache
def _index() -> SearchIndex[Record]:
    return SearchIndex(
        ({"name": place.name, "aliases": place.aliases, "row": row} for row, place in enumerate(settlements())),
        {"name": 3, "aliases": 3},
        prior=lambda record: _prominence(settlements()[record["row"]]),
        coverage=0.6,
    )


def _prominence(place: Settlement) -> float:
    return min(1.0, math.log10(1 + place.people) / 7.5 + (0.05 if place.city_id else 0))


@cache
def _by_name() -> dict[str, list[Settlement]]:
    names: dict[str, list[Settlement]] = {}
    for place in settlements():
        for name in dict.fromkeys(map(fold, (place.name, *place.aliases))):
            names.setdefault(name, []).append(place)
    for record in tables.stream("exonyms"):
        alike = list(dict.fromkeys(map(fold, record["names"])))
        meant = [place for name in alike for place in names.get(name, ()) if place.country == record["country"]]
        city = max(meant, key=lambda place: place.people, default=None)
        for name in alike:
            if city is not None and city not in names.get(name, ()):
                names.setdefault(name, []).append(city)
    return names


@cache
def _vectors() -> Array:
    lats = np.radians([place.point.lat for place in settlements()])
    lngs = np.radians([place.point.lng for place in settlements()])
    return np.stack([np.cos(lats) * np.cos(lngs), np.cos(lats) * np.sin(lngs), np.sin(lats)], axis=1)


def _settlement(record: Record) -> Settlement:
    return Settlement(
        name=record["name"],
        # Thousands share these: one copy of each is kept.
        country=intern(record["country"]),
        region=intern(record.get("region", "")),
        point=Point(record["lat"], record["lng"]),
        people=record["people"],
        zone=intern(record["zone"]),
        city_id=record["id"] if "geonames" in record else None,
        aliases=tuple(record.get("aliases", ())),
    )


COUNTRIES = ("US", "CA", "AU")


@cache
def states(country: str) -> Mapping[str, str]:
    """The short name of each state of a country, and its full one; none for other countries."""
    return {record["short"]: record["name"] for record in tables.load("states") if record["country"] == country}
