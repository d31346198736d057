"""Articles that the world's own tables say: one for each town and airport that the encyclopedia does not write of.

They hold nothing but the facts of the tables, in a sentence or two, and are made when a title or name is asked for: no
text is kept. A town whose name others share is told by its country and, where addresses have one, by its region.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache

from m3bench.sandboxes.world import settlements, tables
from m3bench.sandboxes.world.search import fold
from m3bench.sandboxes.world.settlements import Settlement, states
from m3bench.sandboxes.world.tables import Record

Article = Record

CITY = 100_000


def article(title: str) -> Article | None:
    """The article of a title, without regard to case and accents; None when no table speaks of it."""
    town = _towns().get(fold(title))
    if town is not None:
        return _of_town(*town)
    airport = _airports().get(fold(title))
    if airport:
        return _of_airport(airport)
    # A city under another name of it, such as Cologne.
    other = settlements.exact(title) if fold(title) not in _named() else None
    return _of_town(_title(other), other) if other else None


def titles(name: str) -> list[str]:
    """The titles of articles on what bears exactly this name, the best known first."""
    found = [title for title, _ in sorted(_named().get(fold(name), ()), key=lambda entry: -entry[1])]
    if not found and (single := article(name)):
        return [single["title"]]
    return found


def own_titles() -> Iterator[str]:
    """The folded titles and other names that lead to one of these articles."""
    yield from _towns()
    yield from _airports()


def count() -> int:
    """How many articles there are."""
    return len({title for title, _ in _towns().values()}) + len(_airports())


@cache
def _towns() -> dict[str, tuple[str, Settlement]]:
    """Folded titles, and those with the place behind them, to the title and its town."""
    found: dict[str, tuple[str, Settlement]] = {}
    for town in sorted(settlements.settlements(), key=lambda town: town.people):
        found[fold(f"{town.name}, {_where(town)}")] = (_title(town), town)
    return found | {fold(title): (title, town) for title, town in found.values()}


@cache
def _named() -> dict[str, list[tuple[str, int]]]:
    """Folded names to the titles of the towns that bear them, with the number of people."""
    named: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
    for title, town in dict(_towns().values()).items():
        for name in dict.fromkeys(map(fold, (town.name, *town.aliases))):
            named[name].append((title, town.people))
    return named


def _title(town: Settlement) -> str:
    """The bare name of a town that is far larger than all others of that name, else with the place behind it."""
    alike = _alike()[fold(town.name)]
    clear = town.people == alike[0] and (len(alike) == 1 or alike[0] >= 5 * alike[1])
    return town.name if clear else f"{town.name}, {_where(town)}"


@cache
def _alike() -> Mapping[str, list[int]]:
    """How many people live in the towns of each name, the largest first."""
    found: defaultdict[str, list[int]] = defaultdict(list)
    for town in settlements.settlements():
        found[fold(town.name)].append(town.people)
    return {name: sorted(people, reverse=True) for name, people in found.items()}


def _where(town: Settlement) -> str:
    country = settlements.countries()[town.country].name
    region = states(town.country).get(town.region, "") if town.region else ""
    return region or country


def _of_town(title: str, town: Settlement) -> Article:
    country = settlements.countries()[town.country].name
    region = states(town.country).get(town.region, "") if town.region else ""
    kind = "City" if town.people >= CITY else "Town"
    where = f"{region}, {country}" if region else country
    lat = f"{abs(town.point.lat):.2f}° {'north' if town.point.lat >= 0 else 'south'}"
    lng = f"{abs(town.point.lng):.2f}° {'east' if town.point.lng >= 0 else 'west'}"
    people = f" and has about {town.people:,} inhabitants" if town.people else ""
    return {
        "title": title,
        "description": f"{kind} in {where}",
        "extract": f"{town.name} is a {kind.lower()} in {where}. It lies at {lat} and {lng}{people}. "
        f"Its clocks follow the time zone {town.zone}.",
    }


@cache
def _airports() -> dict[str, Record]:
    return {fold(record["name"]): record for record in tables.load("airports") if "airport" in fold(record["name"])}


def _of_airport(record: Record) -> Article:
    country = settlements.countries()[record["country"]].name
    city = f" and serves {record['city']}" if record["city"] else ""
    return {
        "title": record["name"],
        "description": f"Airport in {country}",
        "extract": f"{record['name']} has the IATA code {record['id']}{city}, {country}. "
        f"It lies {record['metres']} metres above the sea.",
    }
