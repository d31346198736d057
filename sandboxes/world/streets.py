"""Streets: straight stretches with house numbers, from which addresses get positions and positions addresses.

A street of the table has a middle, a bearing, a length and the range of its numbers; odd and even numbers face
each other. How a number and a name are written together differs from country to country.
"""

import math
import re
from dataclasses import dataclass
from functools import cache

from m3bench.sandboxes.world import geo, tables
from m3bench.sandboxes.world.geo import Point

NUMBER_FIRST = frozenset(
    [
        *("US", "CA", "GB", "IE", "FR", "AU", "NZ", "IN", "LK", "NP", "ZA", "KE", "NG", "GH", "ET", "SG", "MY"),
        *("TH", "PH", "HK", "CN", "KR", "TW", "VN", "EG", "FJ", "BM", "AQ"),
    ]
)
"""Countries that write the house number before the street."""
SIDE_M = 9.0
_CHOME = re.compile(r"(\d+-chome) (.*)")


@dataclass(frozen=True, kw_only=True)
class Street:
    """One street."""

    id: str
    name: str
    country: str
    city_id: str | None
    postcode: str
    tail: str
    """What follows the street in an address: post code and town as that country writes them."""
    middle: Point
    bearing: float
    length: float
    low: int
    high: int

    def position(self, number: int) -> Point:
        """Where a house stands; numbers outside the range stand at the ends."""
        share = (min(max(number, self.low), self.high) - self.low) / max(1, self.high - self.low)
        along = geo.destination(self.middle, self.bearing, (share - 0.5) * self.length)
        return geo.destination(along, self.bearing + 90, SIDE_M if number % 2 else -SIDE_M)

    def locate(self, point: Point) -> tuple[float, float]:
        """Metres along from the start, and metres off to the right, of a point."""
        far = geo.distance(self.middle, point)
        turn = math.radians(geo.bearing(self.middle, point) - self.bearing)
        return far * math.cos(turn) + self.length / 2, far * math.sin(turn)

    def distance(self, point: Point) -> float:
        """Metres from a point to the street."""
        along, off = self.locate(point)
        over = max(0.0, -along, along - self.length)
        return math.hypot(over, off)

    def number_at(self, point: Point) -> int:
        """The house number nearest to a point, on the point's side of the street."""
        along, off = self.locate(point)
        share = min(1.0, max(0.0, along / self.length))
        number = round(self.low + share * (self.high - self.low))
        if number % 2 != (off > 0):
            number += 1 if number < self.high else -1
        return number

    def address(self, number: int | None) -> str:
        """Street, number and town, without the country."""
        return f"{written(self.name, number, self.country)}, {self.tail}"


def written(name: str, number: int | None, country: str) -> str:
    """A street with a house number as the country writes it; a district after a comma stays behind both."""
    if number is None:
        return name
    if ", " in name:
        street, district = name.split(", ", 1)
        return f"{written(street, number, country)}, {district}"
    chome = _CHOME.fullmatch(name)
    if chome:
        return f"{chome[1]}-{number // 10 + 1}-{number % 10 + 1} {chome[2]}"
    match country:
        case "TR":
            return f"{name} No:{number}"
        case "IT" | "ES" | "RU" | "BR":
            return f"{name}, {number}"
        case "TW":
            return f"No. {number}, {name}"
        case _:
            return f"{number} {name}" if country in NUMBER_FIRST else f"{name} {number}"


@cache
def streets() -> tuple[Street, ...]:
    """Every street of the table."""
    return tuple(
        Street(
            id=record["id"],
            name=record["name"],
            country=record["country"],
            city_id=record.get("city_id"),
            postcode=record["postcode"],
            tail=record["tail"],
            middle=Point(record["lat"], record["lng"]),
            bearing=record["bearing"],
            length=record["length"],
            low=record["low"],
            high=record["high"],
        )
        for record in tables.load("streets")
    )
