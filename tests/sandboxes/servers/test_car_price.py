"""The `car-price` server lists makers and prices every variant of a model in the manner of the FIPE table."""

import re
from itertools import pairwise

import pytest

from m3bench.sandboxes.world import cars, clock
from tests.sandboxes.servers.conftest import Bench

LIST = "car-price/get_car_brands"
SEARCH = "car-price/search_brand_model_price"
CARS = [car for brand in cars.brands() for car in brand.cars]

BLOCK = re.compile(
    r"(?P<number>\d+)\. (?P<name>.+)\n"
    r"   Year: (?P<year>\d+)\n"
    r"   Fuel: (?P<fuel>\w+)\n"
    r"   Price: R\$ (?P<price>[\d.]+),00\n"
    r"   FIPE Code: (?P<code>\d{6}-\d)\n"
    r"   Reference: novembro de 2025"
)

POPULAR = [
    ("Volkswagen", ("Gol", "Polo", "Golf", "T-Cross", "Virtus", "Nivus", "Saveiro", "Fox", "Jetta", "Fusca", "Kombi")),
    ("Fiat", ("Uno", "Palio", "Argo", "Mobi", "Strada", "Toro", "Cronos", "Pulse", "Fastback", "Siena", "Punto")),
    ("Chevrolet", ("Onix", "Corsa", "Cruze", "Tracker", "S10", "Spin", "Montana", "Prisma", "Equinox", "Vectra")),
    ("Toyota", ("Corolla", "Corolla Cross", "Hilux", "SW4", "Yaris", "Etios", "RAV4")),
    ("Honda", ("Civic", "City", "Fit", "HR-V", "CR-V", "Accord")),
    ("Hyundai", ("HB20", "HB20S", "Creta", "Tucson")),
    ("Jeep", ("Renegade", "Compass", "Commander", "Wrangler", "Grand Cherokee")),
    ("Ford", ("Ka", "Fiesta", "Focus", "EcoSport", "Ranger", "Fusion", "Mustang")),
    ("Renault", ("Kwid", "Sandero", "Logan", "Duster", "Captur", "Clio")),
    ("Nissan", ("Kicks", "Versa", "March", "Sentra", "Frontier")),
    ("BMW", ("320iA", "X1", "X3", "X4", "X5")),
    ("Mercedes", ("A-200", "C-180", "GLA-200")),
    ("Audi", ("A3", "A4", "A5", "Q3", "Q5", "Q7")),
    ("Peugeot", ("208", "2008")),
    ("Citroën", ("C3", "C4 Cactus", "AIRCROSS")),
    ("Porsche", ("911", "Cayenne", "Macan", "Taycan", "Panamera")),
    ("Land Rover", ("Defender", "Discovery Sport", "Evoque", "Range Rover Sport")),
    ("Volvo", ("XC40", "XC60", "XC90")),
    ("Mitsubishi", ("L200", "Pajero")),
    ("GWM", ("Haval H6",)),
    ("RAM", ("Rampage",)),
    ("MINI", ("Cooper",)),
]


def found(bench: Bench, brand: str, keyword: str) -> list[dict[str, str]]:
    head, *blocks = bench.text(SEARCH, brand_name=brand, model_keyword=keyword).split("\n\n")
    assert head.startswith("Matched Models for ")
    read = [BLOCK.fullmatch(block) for block in blocks]
    assert all(read), blocks
    return [match.groupdict() for match in read if match]


def test_the_first_twenty_brands_are_shown_with_the_total(bench: Bench) -> None:
    lines = bench.text(LIST).splitlines()
    assert lines[:4] == ["Car Brands Available", "", "- Acura (Code: 1)", "- Agrale (Code: 2)"]
    assert lines[22:] == ["", f"Total brands: {len(cars.brands())}"]
    assert all(re.fullmatch(r"- .+ \(Code: \d+\)", line) for line in lines[2:22])


def test_variants_come_in_numbered_blocks(bench: Bench) -> None:
    text = bench.text(SEARCH, brand_name="seres", model_keyword="seres 5")
    assert re.fullmatch(
        r"Matched Models for SERES — 'seres 5'\n\n1\. Seres 5 GT AWD \(Elétrico\)\n   Year: 2025\n   Fuel: Elétrico\n"
        r"   Price: R\$ 4\d\d\.\d{3},00\n   FIPE Code: \d{6}-\d\n   Reference: novembro de 2025",
        text,
    )
    variants = found(bench, "BMW", "X4")
    assert [variant["number"] for variant in variants] == [str(number) for number in range(1, len(variants) + 1)]
    assert {variant["fuel"] for variant in variants} == {"Gasolina"}


@pytest.mark.parametrize(("brand", "models"), POPULAR, ids=[brand for brand, _ in POPULAR])
def test_popular_models_have_many_variants(bench: Bench, brand: str, models: tuple[str, ...]) -> None:
    for model in models:
        names = [variant["name"] for variant in found(bench, brand, model)]
        assert len(names) >= 8, (model, names)
        assert all(model.casefold() in name.casefold() for name in names)


@pytest.mark.parametrize(
    ("asked", "brand"),
    [
        ("vw", "VW - VolksWagen"),
        ("chevrolet", "GM - Chevrolet"),
        ("citroen", "Citroën"),
        ("Mercedes Benz", "Mercedes-Benz"),
        ("  Kia ", "Kia Motors"),
        ("rover", "Land Rover"),
    ],
)
def test_a_brand_is_the_first_that_contains_what_was_asked(bench: Bench, asked: str, brand: str) -> None:
    text = bench.error(SEARCH, brand_name=asked, model_keyword="no such model")
    assert text.startswith(f"No models matching 'no such model' under brand '{brand}'.\nExamples: ['")


def test_cars_still_made_are_of_the_year_for_new_cars(bench: Bench) -> None:
    years = {variant["name"]: variant["year"] for variant in found(bench, "Nissan", "Versa")}
    assert years["Versa Exclusive 1.6 16V Flex Aut."] == "32000"
    assert years["Versa V-Drive 1.6 16V Flex Fuel 4p Aut."] == "2022"


def test_failures_are_sentences_without_the_error_flag(bench: Bench) -> None:
    for brand, keyword, sentence in (
        ("Zaporozhets", "968", "Brand 'Zaporozhets' not found."),
        (" ", "Gol", "Please provide brand_name."),
        ("Fiat", "", "Please provide model_keyword."),
        ("Fiat", " - ", "Please provide model_keyword."),
        (
            "troller",
            "Beetle",
            "No models matching 'Beetle' under brand 'Troller'.\n"
            f"Examples: {[car.name for car in next(b for b in cars.brands() if b.name == 'Troller').cars[:5]]}",
        ),
    ):
        reply = bench.reply(SEARCH, brand_name=brand, model_keyword=keyword)
        assert reply.outcome != "success"
        assert bench.error(SEARCH, brand_name=brand, model_keyword=keyword) == sentence
        assert reply.result["isError"] is False


def test_every_variant_is_found_by_its_own_name(bench: Bench) -> None:
    for brand in cars.brands():
        car = brand.cars[-1]
        if brand.name == "Rover":
            continue  # Land Rover comes first
        assert car.id in bench.text(SEARCH, brand_name=brand.name, model_keyword=car.name), car.name


def test_a_car_loses_value_every_year_but_never_all_of_it() -> None:
    shares = [cars.kept(age) for age in (None, *range(60))]
    assert all(later <= earlier for earlier, later in pairwise(shares))
    assert shares[0] == 1000
    assert 0.8 <= shares[2] / shares[0] <= 0.95
    assert shares[-1] >= 200
    civic = next(car for car in CARS if car.name == "Civic Sedan LXR 2.0 Flex 16V Aut.")
    assert civic.price(2014) < civic.price(2015) < civic.price(2016) < civic.new


def test_the_table_is_large_and_its_facts_are_whole() -> None:
    brands = cars.brands()
    assert len(brands) >= 90
    assert len(CARS) >= 2000
    assert len({brand.id for brand in brands}) == len(brands)
    assert len({car.id for car in CARS}) == len(CARS)
    assert {car.fuel for car in CARS} == {
        "Gasolina",
        "Álcool",
        "Flex",
        "Diesel",
        "Elétrico",
        "Híbrido",
    }
    for brand in brands:
        assert brand.cars, brand.name
        assert len({car.name.casefold() for car in brand.cars}) == len(brand.cars), brand.name
        assert len({car.id[:3] for car in brand.cars}) == 1, brand.name
        for car in brand.cars:
            assert 1960 <= car.first <= (car.last or clock.NOW.year + 1) <= clock.NOW.year + 1, car.name
            assert 5_000 <= car.price(car.newest) <= 10_000_000, car.name


def test_fuels_fit_the_names() -> None:
    for car in CARS:
        assert ("(Elétrico)" in car.name) == (car.fuel == "Elétrico"), car.name
        assert ("(Híbrido)" in car.name) == (car.fuel == "Híbrido"), car.name
        if "Diesel" in car.name and "(Híbrido)" not in car.name:
            assert car.fuel == "Diesel", car.name
        if car.fuel == "Flex":
            assert car.newest >= 2003, car.name
        if car.fuel == "Álcool":
            assert car.newest <= 2000, car.name
