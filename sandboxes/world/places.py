"""Places: businesses, institutions, landmarks and national parks, by id, by name and by nearness.

Landmarks are places with a story, parks have tables of their own; here all are one list. What a place is, its
types say, the most telling first.
"""

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from m3bench.sandboxes.world import geo, noise, placeids, settlements, tables
from m3bench.sandboxes.world.fields import Array
from m3bench.sandboxes.world.geo import Point
from m3bench.sandboxes.world.search import SearchIndex
from m3bench.sandboxes.world.tables import Record

_SIGHT = ("tourist_attraction", "point_of_interest", "establishment")
_LANDMARK_TYPES = {
    "attraction": ("tourist_attraction", "amusement_center"),
    "bridge": ("bridge",),
    "castle": ("castle", "historical_landmark"),
    "church": ("church", "place_of_worship"),
    "government": ("government_office",),
    "hotel": ("hotel", "lodging"),
    "lighthouse": ("lighthouse", "historical_landmark"),
    "monument": ("monument", "historical_landmark"),
    "mosque": ("mosque", "place_of_worship"),
    "mountain": ("mountain_peak", "natural_feature"),
    "museum": ("museum",),
    "natural": ("natural_feature",),
    "neighborhood": ("neighborhood", "political"),
    "palace": ("palace", "historical_landmark"),
    "park": ("park",),
    "research": ("research_institute",),
    "station": ("train_station", "transit_station"),
    "temple": ("temple", "place_of_worship"),
    "theatre": ("performing_arts_theater",),
    "tower": ("tower", "historical_landmark"),
    "university": ("university",),
    "viewpoint": ("scenic_point",),
    "waterfall": ("waterfall", "natural_feature"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """One place."""

    id: str
    name: str
    aliases: tuple[str, ...]
    types: tuple[str, ...]
    point: Point
    address: str
    """Street, post code and town, without the country."""
    country: str
    city_id: str | None
    rating: float | None
    ratings: int
    price: int | None
    hours: str
    phone: str
    fact: str

    @property
    def full_address(self) -> str:
        """The address with the country."""
        if self.country == "AQ":
            return self.address if self.address.endswith("Antarctica") else f"{self.address}, Antarctica"
        short = settlements.countries()[self.country].short
        return self.address if self.address.endswith(short) else f"{self.address}, {short}"

    @property
    def fame(self) -> float:
        """How well known it is, in [0, 1]."""
        return min(1.0, math.log10(1 + self.ratings) / 5)


@cache
def places() -> tuple[Place, ...]:
    """Landmarks first, then parks with their camps and visitor centers, then all others."""
    return (
        *(_landmark(record) for record in tables.load("landmarks")),
        *_parks(),
        *(_place(record) for record in tables.stream("places")),
    )


@cache
def by_id() -> dict[str, Place]:
    """Places by id."""
    return {place.id: place for place in places()}


def within(centre: Point, radius_m: float) -> list[tuple[float, Place]]:
    """Distance and place of all within a circle, nearest first."""
    vectors = _vectors()
    reach = math.cos(min(math.pi, (radius_m + 50) / geo.EARTH_RADIUS_M))
    rows = np.flatnonzero(vectors @ settlements.unit_vector(centre) >= reach - 1e-12)
    found = [(geo.distance(centre, places()[row].point), int(row)) for row in rows]
    return [(off, places()[row]) for off, row in sorted(found) if off <= radius_m]


def find(query: str, limit: int, *, rows: Collection[int] | None = None) -> list[tuple[float, Place]]:
    """Places by name, with what is around the name as a help; only the given rows when there are any."""
    keep = None if rows is None else lambda record: record["row"] in rows
    return [(score, places()[record["row"]]) for score, record in _index().search(query, limit, keep=keep)]


def rows_within(centre: Point, radius_m: float) -> frozenset[int]:
    """Which rows of `places` lie within a circle."""
    reach = math.cos(min(math.pi, radius_m / geo.EARTH_RADIUS_M))
    return frozenset(np.flatnonzero(_vectors() @ settlements.unit_vector(centre) >= reach).tolist())


@cache
def _index() -> SearchIndex[Record]:
    return SearchIndex(
        (
            {"row": row, "name": place.name, "aliases": place.aliases, "around": _around(place)}
            for row, place in enumerate(places())
        ),
        {"name": 3, "aliases": 3, "around": 1.2},
        prior=lambda record: places()[record["row"]].fame,
        coverage=0.66,
    )


def _around(place: Place) -> str:
    """What stands around a place's name: address, city in all its names, country, kind; each word once."""
    country = settlements.countries().get(place.country)
    city = settlements.by_city().get(place.city_id or "")
    names = (city.name, city.region, *city.aliases) if city else ()
    kinds = " ".join(place.types[:2]).replace("_", " ")
    text = " ".join((place.full_address, kinds, *names, country.name if country else ""))
    return " ".join(dict.fromkeys(text.split()))


@cache
def _vectors() -> Array:
    lats = np.radians([place.point.lat for place in places()])
    lngs = np.radians([place.point.lng for place in places()])
    return np.stack([np.cos(lats) * np.cos(lngs), np.cos(lats) * np.sin(lngs), np.sin(lats)], axis=1)


def _landmark(record: Record) -> Place:
    return Place(
        id=record["map_id"],
        name=record["name"],
        aliases=tuple(record["aliases"]),
        types=tuple(dict.fromkeys((*_LANDMARK_TYPES[record["kind"]], *_SIGHT))),
        point=Point(record["lat"], record["lng"]),
        address=record["address"],
        country=record["country"],
        city_id=record.get("city_id"),
        rating=record["rating"],
        ratings=record["ratings"],
        price=None,
        hours="",
        phone="",
        fact=record["fact"],
    )


def _place(record: Record) -> Place:
    iata = record.get("iata")
    return Place(
        id=record["id"],
        name=record["name"],
        aliases=(iata, f"{iata} airport") if iata else (),
        types=tuple(record["types"]),
        point=Point(record["lat"], record["lng"]),
        address=record["address"],
        country=record["country"],
        city_id=record.get("city_id"),
        rating=record.get("rating"),
        ratings=record.get("ratings", 0),
        price=record.get("price"),
        hours=record.get("hours", ""),
        phone=record.get("phone", ""),
        fact="",
    )


def _parks() -> Iterator[Place]:
    addresses: dict[str, str] = {}
    for record in tables.load("parks"):
        post = record["address"]
        addresses[record["id"]] = f"{record['name']}, {post['state']} {post['zip']}"
        lines = ", ".join(line for line in (post["line1"], post["city"]) if line)
        yield _of_park(record, ("national_park", "park", *_SIGHT), f"{lines}, {post['state']} {post['zip']}", 8000)
    for table, kinds in (
        ("park_campgrounds", ("campground", "lodging", *_SIGHT[1:])),
        ("park_visitor_centers", ("visitor_center", "tourist_information_center", *_SIGHT[1:])),
    ):
        for record in tables.load(table):
            yield _of_park(record, kinds, addresses[record["park_id"]], 500)


def _of_park(record: Record, types: tuple[str, ...], address: str, crowd: int) -> Place:
    point, name = Point(record["lat"], record["lng"]), record["name"]
    key = ("park place", record["id"])
    return Place(
        id=placeids.place_id(point, name),
        name=name,
        aliases=(name.removesuffix(" National Park"),) if name.endswith(" National Park") else (),
        types=types,
        point=point,
        address=address,
        country="US",
        city_id=None,
        rating=round(min(4.9, max(3.9, 4.6 + 0.16 * noise.normal("rating", *key))), 1),
        ratings=round(crowd * math.exp(0.7 * noise.normal("count", *key))),
        price=None,
        hours="",
        phone="",
        fact=record["description"] if "designation" in record else "",
    )
