"""The `car-price` server: makers of cars sold in Brazil, and prices of the variants of a model.

Brands and models are found by a part of their name; case, accents and dashes do not count. The first brand that
fits is taken, as on the public server. Failures are ordinary results.
"""

import re

from m3bench.sandboxes.gaps import gap
from m3bench.sandboxes.toolserver import ToolServer
from m3bench.sandboxes.world import cars, clock
from m3bench.sandboxes.world.cars import Brand, Car
from m3bench.sandboxes.world.search import fold
from m3bench.tasks.errors import SoftError

server = ToolServer("car-price")

BRANDS_SHOWN = 20
EXAMPLES_SHOWN = 5

_MONTHS = (
    "janeiro",
    "fevereiro",
    "março",
    "abril",
    "maio",
    "junho",
    "julho",
    "agosto",
    "setembro",
    "outubro",
    "novembro",
    "dezembro",
)
_BETWEEN_WORDS = re.compile(r"[\W_]+")


@server.tool
async def get_car_brands() -> str:
    brands = cars.brands()
    shown = [f"- {brand.name} (Code: {brand.id})" for brand in brands[:BRANDS_SHOWN]]
    return "\n".join(["Car Brands Available", "", *shown, "", f"Total brands: {len(brands)}"])


@server.tool
async def search_brand_model_price(brand_name: str, model_keyword: str) -> str:
    if not _plain(brand_name):
        raise SoftError("Please provide brand_name.", outcome="invalid_arguments")
    if not _plain(model_keyword):
        raise SoftError("Please provide model_keyword.", outcome="invalid_arguments")
    brand = _brand(brand_name)
    keyword = model_keyword.strip()
    found = [car for car in brand.cars if _plain(keyword) in _plain(car.name)]
    if not found:
        examples = [car.name for car in brand.cars[:EXAMPLES_SHOWN]]
        raise gap(f"No models matching '{keyword}' under brand '{brand.name}'.\nExamples: {examples}")
    blocks = [_block(number, car) for number, car in enumerate(found, 1)]
    return "\n\n".join([f"Matched Models for {brand.name} — '{keyword}'", *blocks])


def _brand(asked: str) -> Brand:
    for brand in cars.brands():
        if _plain(asked) in _plain(brand.name):
            return brand
    raise gap(f"Brand '{asked.strip()}' not found.")


def _block(number: int, car: Car) -> str:
    price = f"{car.price(car.newest):,}".replace(",", ".")
    return "\n".join(
        [
            f"{number}. {car.name}",
            f"   Year: {car.newest}",
            f"   Fuel: {car.fuel}",
            f"   Price: R$ {price},00",
            f"   FIPE Code: {car.id}",
            f"   Reference: {_MONTHS[clock.NOW.month - 1]} de {clock.NOW.year}",
        ]
    )


def _plain(text: str) -> str:
    return _BETWEEN_WORDS.sub(" ", fold(text)).strip()
