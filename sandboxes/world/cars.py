"""Cars sold in Brazil and what one of them costs, in the manner of the FIPE price table.

A car is one variant of a model. The table has its price as if it were new today; a car that is no longer made is
worth what the years since have left of it, in whole reais and with a little of its own above or below.
"""

from dataclasses import dataclass
from functools import cache
from typing import Literal

from m3bench.sandboxes.world import clock, noise, tables
from m3bench.sandboxes.world.tables import Record

Fuel = Literal["Gasolina", "Álcool", "Flex", "Diesel", "Elétrico", "Híbrido"]

ZERO_KILOMETRES = 32000
"""The model year that stands for a car not yet driven."""

_FIRST_YEAR_PERMILLE = 960
_YEARLY_PERMILLE = 960
_LATE_YEARLY_PERMILLE = 950
_LATE_AGE = 10
_LEAST_PERMILLE = 200
_SPREAD = 90
"""How far a price may lie from the rule, in hundredths of a per cent."""


@dataclass(frozen=True, kw_only=True)
class Car:
    """One variant."""

    id: str
    """Its FIPE code."""
    name: str
    fuel: Fuel
    first: int
    """The first model year."""
    last: int | None
    """The last model year; None while it is made."""
    new: int
    """Reais, if it were new today."""

    @property
    def newest(self) -> int:
        """The newest model year in the table."""
        return self.last or ZERO_KILOMETRES

    def price(self, year: int) -> int:
        """Reais for a model year."""
        age = None if year == ZERO_KILOMETRES else max(0, clock.NOW.year - year)
        own = 10_000 + noise.integer(-_SPREAD, _SPREAD, "car price", self.id)
        return self.new * kept(age) * own // 10_000_000


@dataclass(frozen=True, kw_only=True)
class Brand:
    """A maker with its cars in the order of their names."""

    id: str
    name: str
    cars: tuple[Car, ...]


def kept(age: int | None) -> int:
    """The thousandths of its price that a car keeps after so many years; None is a car not yet driven."""
    if age is None:
        return 1000
    share = _FIRST_YEAR_PERMILLE
    for year in range(age):
        share = share * (_YEARLY_PERMILLE if year < _LATE_AGE else _LATE_YEARLY_PERMILLE) // 1000
    return max(_LEAST_PERMILLE, share)


@cache
def brands() -> tuple[Brand, ...]:
    """Every maker, in the order of the alphabet."""
    made: dict[str, list[Car]] = {}
    for record in tables.load("cars"):
        made.setdefault(record["car_brand_id"], []).append(_car(record))
    return tuple(
        Brand(id=record["id"], name=record["name"], cars=tuple(made[record["id"]]))
        for record in tables.load("car_brands")
    )


def _car(record: Record) -> Car:
    return Car(
        id=record["id"],
        name=record["name"],
        fuel=record["fuel"],
        first=record["from"],
        last=record.get("to"),
        new=record["new"],
    )
