"""What geocoding finds: a match, how it is written as an address, and its shape in the legacy results."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from m3bench.sandboxes.servers.google_maps import pluscodes
from m3bench.sandboxes.world import geo, placeids, settlements
from m3bench.sandboxes.world.geo import Box, Point
from m3bench.sandboxes.world.places import Place
from m3bench.sandboxes.world.settlements import Settlement, states
from m3bench.sandboxes.world.streets import Street

_REACHES = {"national_park": 20_000.0, "airport": 2500.0, "mountain_peak": 3000.0, "neighborhood": 500.0, "park": 700.0}
POSTAL_FIRST_STATES = frozenset(("US", "CA", "AU"))


@dataclass(frozen=True, kw_only=True)
class GeocodeMatch:
    """A position with a name."""

    id: str
    point: Point
    address: str
    types: tuple[str, ...]
    country: str = ""
    region: str = ""
    town: str = ""
    postcode: str = ""
    street: str = ""
    number: str = ""
    name: str = ""
    precision: str = "APPROXIMATE"
    """ROOFTOP, RANGE_INTERPOLATED, GEOMETRIC_CENTER or APPROXIMATE."""
    reach_m: float = 150.0
    """How far the view around it goes."""
    partial: bool = False
    """Whether a part of what was asked for was not understood."""

    def as_partial(self) -> "GeocodeMatch":
        """The same, found only in part."""
        return replace(self, partial=True)

    def legacy(self) -> dict[str, object]:
        """The entry in the results of the geocoding service."""
        entry: dict[str, object] = {
            "address_components": self._components(),
            "formatted_address": self.address,
            "geometry": {
                "location": location(self.point),
                "location_type": self.precision,
                "viewport": viewport(self.point, self.reach_m),
            },
            "place_id": self.id,
            "types": list(self.types),
        }
        if self.partial:
            entry["partial_match"] = True
        if self.precision != "APPROXIMATE":
            entry["plus_code"] = {"global_code": pluscodes.encode(self.point)}
        return entry

    def _components(self) -> list[dict[str, Sequence[str]]]:
        country = settlements.countries().get(self.country)
        parts = [
            (self.name, self.name, self.types[:1]) if self.name and not self.street else ("", "", ()),
            (self.number, self.number, ("street_number",)),
            (self.street, self.street, ("route",)),
            (self.town, self.town, ("locality", "political")),
            (region_name(self.country, self.region), self.region, ("administrative_area_level_1", "political")),
            (country.name if country else "", self.country, ("country", "political")),
            (self.postcode, self.postcode, ("postal_code",)),
        ]
        seen: set[str] = set()
        components = []
        for long, short, types in parts:
            if long and long not in seen:
                seen.add(long)
                components.append({"long_name": long, "short_name": short, "types": list(types)})
        return components


def of_place(place: Place) -> GeocodeMatch:
    """A business, institution or landmark."""
    city = settlements.by_city().get(place.city_id or "") or settlements.nearest(place.point, 60_000)
    return GeocodeMatch(
        id=place.id,
        point=place.point,
        address=place.full_address,
        types=place.types,
        country=place.country,
        region=city.region if city and city.country == place.country else "",
        town=city.name if city and city.country == place.country else "",
        name=place.name,
        precision="ROOFTOP",
        reach_m=_REACHES.get(place.types[0], 150.0),
    )


def of_street(street: Street, number: int | None) -> GeocodeMatch:
    """A house or a whole street."""
    point = street.middle if number is None else street.position(number)
    point = Point(round(point.lat, 7), round(point.lng, 7))
    city = settlements.by_city().get(street.city_id or "") or settlements.nearest(point, 60_000)
    short = settlements.countries()[street.country].short
    return GeocodeMatch(
        id=placeids.point_id(point, "address"),
        point=point,
        address=street.address(number) if street.tail.endswith(short) else f"{street.address(number)}, {short}",
        types=("route",) if number is None else ("street_address",),
        country=street.country,
        region=city.region if city else "",
        town=city.name if city else "",
        postcode=street.postcode,
        street=street.name,
        number="" if number is None else str(number),
        precision="GEOMETRIC_CENTER" if number is None else "RANGE_INTERPOLATED",
        reach_m=street.length / 2 if number is None else 150.0,
    )


def of_town(town: Settlement) -> GeocodeMatch:
    """A city or town."""
    return GeocodeMatch(
        id=placeids.point_id(town.point, "town"),
        point=town.point,
        address=town_address(town),
        types=("locality", "political"),
        country=town.country,
        region=town.region,
        town=town.name,
        reach_m=town.radius_m,
    )


def of_postcode(postcode: str, point: Point, town: str, region: str, country: str) -> GeocodeMatch:
    """The area of a post code."""
    short = settlements.countries()[country].short
    written = f"{town}, {region} {postcode}" if country in POSTAL_FIRST_STATES else f"{postcode} {town}"
    return GeocodeMatch(
        id=placeids.point_id(point, "address"),
        point=point,
        address=f"{written.strip()}, {short}",
        types=("postal_code",),
        country=country,
        region=region,
        town=town,
        postcode=postcode,
        reach_m=2500.0,
    )


def of_code(code: str, point: Point, town: Settlement | None) -> GeocodeMatch:
    """The cell of a plus code."""
    return GeocodeMatch(
        id=placeids.point_id(point, "address"),
        point=point,
        address=f"{code} {town_address(town)}" if town else code,
        types=("plus_code",),
        country=town.country if town else "",
        region=town.region if town else "",
        town=town.name if town else "",
        precision="GEOMETRIC_CENTER",
        reach_m=120.0,
    )


def of_country(code: str) -> GeocodeMatch:
    """A whole country, at its capital."""
    country = settlements.countries()[code]
    capital = settlements.exact(country.capital, code) if country.capital else None
    largest = capital or max(
        (place for place in settlements.settlements() if place.country == code),
        key=lambda place: place.people,
        default=None,
    )
    point = largest.point if largest else Point(0.0, 0.0)
    return GeocodeMatch(
        id=placeids.point_id(point, "country"),
        point=point,
        address=country.name,
        types=("country", "political"),
        country=code,
        reach_m=400_000.0,
    )


@cache
def of_region(country: str, region: str) -> GeocodeMatch:
    """A state or province, in the middle of its towns."""
    towns = [place.point for place in settlements.settlements() if (place.country, place.region) == (country, region)]
    middle = Point(
        round(sum(town.lat for town in towns) / len(towns), 4), round(sum(town.lng for town in towns) / len(towns), 4)
    )
    return GeocodeMatch(
        id=placeids.point_id(middle, "region"),
        point=middle,
        address=f"{region_name(country, region)}, {settlements.countries()[country].short}",
        types=("administrative_area_level_1", "political"),
        country=country,
        region=region,
        reach_m=max(20_000.0, *(geo.distance(middle, town) for town in towns)),
    )


def town_address(town: Settlement) -> str:
    """A town as the country writes it."""
    short = settlements.countries()[town.country].short
    if town.country == "AU" and town.region:
        return f"{town.name} {town.region}, {short}"
    if not town.region or town.region == town.name or town.name == short:
        return short if town.name == short else f"{town.name}, {short}"
    return f"{town.name}, {town.region}, {short}"


def region_name(country: str, region: str) -> str:
    """A state or province in full."""
    return states(country).get(region, region)


def location(point: Point) -> dict[str, float]:
    """A position in the legacy results."""
    return {"lat": round(point.lat, 7), "lng": round(point.lng, 7)}


def viewport(point: Point, reach_m: float) -> dict[str, dict[str, float]]:
    """The box that shows a circle."""
    box = Box.around(point, reach_m)
    return {
        "northeast": location(Point(box.north, box.east)),
        "southwest": location(Point(box.south, box.west)),
    }
