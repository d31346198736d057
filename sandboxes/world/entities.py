"""What the encyclopedia can tell from tables of facts alone: every entity by its names, its article when asked for.

The table `entities` has lists made for this purpose: rivers, people, languages and so on. The tables of other servers
are read as entities too: films, books, companies, medicines, parks and works of art, and the people who made such. The
lines are kept as they are on disk; a record is turned into facts for a sentence plan, and that into an article, when
the article is asked for. A name that a written article has leads there and not here.
"""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Set
from functools import cache
from typing import NamedTuple

from m3bench.sandboxes.world import fact_articles, gazetteer_articles, sentence_plans, settlements, tables
from m3bench.sandboxes.world.search import STOP, SearchIndex, fold, words
from m3bench.sandboxes.world.sentence_plans import listed
from m3bench.sandboxes.world.tables import Record

MOST_WORKS = 6


def _known(**facts: object) -> Record:
    """Facts without those that are not known."""
    return {key: value for key, value in facts.items() if value not in (None, "", [], ())}


def _film(film: Record) -> Record:
    original = film.get("original_title")
    return _known(
        kind="film",
        title=film["title"],
        names=[f"{film['title']} (film)", f"{film['title']} ({film['released'][:4]} film)", original or ""],
        original=original if original != film["title"] else None,
        year=film["released"][:4],
        released=film["released"],
        minutes=film.get("minutes"),
        genres=[genre.lower() for genre in film.get("genres", ())],
        directors=film.get("directors"),
        cast=film.get("cast"),
        overview=film.get("overview"),
    )


def _book(book: Record) -> Record:
    return _known(
        kind="book",
        title=book["title"],
        names=[f"{book['title']} (book)"],
        authors=book.get("authors"),
        subjects=[subject.lower() for subject in book.get("subjects", ())][:4],
        year=book.get("year"),
        publisher=book.get("publisher"),
        pages=book.get("pages"),
        story=book.get("description"),
        isbn=book["id"],
    )


_ENDINGS = (
    " Inc.",
    " Corporation",
    " Company",
    " plc",
    " Corp.",
    " Co.",
    " SE",
    " AG",
    ", Inc",
    " N.V.",
    " S.A.",
    " Ltd.",
)


def _company(company: Record) -> Record:
    name = company["name"]
    short = name
    for _ in range(2):
        for ending in _ENDINGS:
            short = short.removesuffix(ending).rstrip(",")
    place = ", ".join(filter(None, (company.get("city"), company.get("state") or company.get("country"))))
    chief = next(
        (
            person["name"]
            for person in company.get("officers", ())
            if "CEO" in person["title"] or "Chief Exec" in person["title"]
        ),
        None,
    )
    return _known(
        kind="company",
        title=name,
        names=[short, f"{short} (company)", f"{company['id']} stock", company["id"]],
        industry=company.get("industry"),
        sector=company.get("sector"),
        place=place,
        country=company.get("country"),
        employees=company.get("employees") or None,
        ticker=company["id"],
        chief=chief,
        about=company.get("summary"),
        website=company.get("website"),
    )


def _medicine(medicine: Record) -> Record:
    return _known(
        kind="medicine",
        title=medicine["generic"],
        names=[*medicine.get("brands", ()), *medicine.get("aliases", ())],
        brands=medicine.get("brands"),
        drug_class=medicine.get("class"),
        indications=medicine.get("indications"),
        access=medicine.get("access"),
        reactions=medicine.get("reactions"),
    )


def _park(park: Record) -> Record:
    states = settlements.states("US")
    where = [states.get(state, state) for state in park["states"]]
    name = park["name"]
    short = name.partition(" National ")[0]
    return _known(
        kind="park",
        title=name,
        names=[short] if name.endswith(" National Park") else [],
        designation=park["designation"].lower() if park["designation"] else "unit of the National Park Service",
        states=where,
        about=park.get("description"),
        activities=[activity.lower() for activity in park.get("activities", ())][:6],
        lat=f"{park['lat']:.2f}" if "lat" in park else None,
        lng=f"{-park['lng']:.2f}" if "lng" in park else None,
    )


def _work_of_art(work: Record) -> Record | None:
    if not work.get("artist"):
        return None
    return _known(
        kind="work_of_art",
        title=work["title"],
        names=[f"{work['title']} ({work['artist']})"],
        artist=work["artist"],
        date=work.get("date"),
        medium=work.get("medium", "").lower(),
        culture=work.get("culture"),
        what=work.get("kind"),
        number=work["id"],
    )


@cache
def _country_names() -> Mapping[str, str]:
    titles = {facts["id"]: facts["names"][0] for facts in tables.load("country_facts") if facts["names"]}
    return {code: titles.get(code, country.name) for code, country in settlements.countries().items()}


def _country(code: str) -> str | None:
    return _country_names().get(code) if code != "AQ" else "Antarctica"


_KINDS = {"attraction": "attraction", "government": "seat of government", "natural": "natural sight"}


def _landmark(landmark: Record) -> Record:
    return _known(
        kind="landmark",
        title=landmark["name"],
        names=landmark.get("aliases"),
        what=_KINDS.get(landmark["kind"], landmark["kind"]),
        country=_country(landmark["country"]),
        fact=landmark["fact"],
        address=landmark["address"],
        year=landmark.get("year"),
        height=landmark.get("height"),
        **_position(landmark),
    )


_SUMMIT = re.compile(
    r"^(?:Mount|Mont|Monte|Pico|Piz|Cerro|Volcán|Nevado|Ben|Gunung|Jebel) "
    r"|(?:horn|spitze|kogel| Peak| Mountain| Butte)$"
)
"""Names of mountains: the table holds camps, passes and other points of known height too."""


def _peak(peak: Record) -> Record | None:
    if peak.get("flat") or not _SUMMIT.search(peak["name"]):
        return None
    return _known(
        kind="peak",
        title=peak["name"],
        names=[],
        metres=peak["metres"],
        country=_country(peak.get("country", "")),
        **_position(peak),
    )


def _position(record: Record) -> dict[str, str]:
    lat, lng = record["lat"], record["lng"]
    north, east = "north" if lat >= 0 else "south", "east" if lng >= 0 else "west"
    return {"position": f"{abs(lat):.2f}° {north} and {abs(lng):.2f}° {east}"}


def _coin(coin: Record) -> Record:
    return _known(
        kind="coin", title=coin["name"], names=[f"{coin['name']} (cryptocurrency)", coin["id"]], symbol=coin["id"]
    )


def _food(food: Record) -> Record:
    return _known(
        kind="nutrition",
        title=food["name"],
        names=[],
        group=food["group"].lower(),
        energy=food.get("energy"),
        protein=food.get("protein"),
        fat=food.get("fat"),
        carbohydrate=food.get("carbohydrate"),
    )


def _exoplanet(planet: Record) -> Record:
    return _known(
        kind="exoplanet",
        title=planet["name"],
        host=planet["host"],
        method=planet["method"].lower(),
        year=planet["year"],
        period=planet.get("period_days"),
        mass=planet.get("mass_earths"),
        distance=planet.get("distance_pc"),
    )


def _asteroid(asteroid: Record) -> Record | None:
    if not asteroid.get("name") or not asteroid.get("number"):
        return None
    return _known(
        kind="asteroid",
        title=f"{asteroid['number']} {asteroid['name']}",
        names=[asteroid["name"], f"{asteroid['name']} (asteroid)"],
        number=asteroid["number"],
        axis=asteroid.get("axis_au"),
        inclination=asteroid.get("inclination"),
        designation=asteroid.get("designation"),
    )


ADAPTERS: Mapping[str, Callable[[Record], Record | None]] = {
    "landmarks": _landmark,
    "parks": _park,
    "park_units": _park,
    "companies": _company,
    "medicines": _medicine,
    "books": _book,
    "films": _film,
    "peaks": _peak,
    "coins": _coin,
    "met_objects": _work_of_art,
    "asteroids": _asteroid,
    "exoplanets": _exoplanet,
    "foods": _food,
}
"""Tables and how one of their records becomes an entity; None for records that have no article."""


@cache
def makers() -> Mapping[str, Record]:
    """People who made films, books or works of art, with what they made, told as the end of a sentence."""
    made: defaultdict[str, defaultdict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for film in tables.load("films"):
        told = f"{film['title']} ({film['released'][:4]})"
        for name in film.get("directors", ()):
            made[name]["directed"].append(told)
        for name in film.get("cast", ()):
            made[name]["acted in"].append(told)
    for book in tables.load("books"):
        # The others are often translators and illustrators.
        for name in book.get("authors", ())[:1]:
            made[name]["wrote"].append(book["title"])
    for work in tables.load("met_objects"):
        if _is_person(work.get("artist")):
            made[work["artist"]]["made"].append(f"{work['title']} in the Metropolitan Museum of Art")
    return {name: _maker(name, works) for name, works in made.items()}


def _maker(name: str, works: Mapping[str, list[str]]) -> Record:
    callings = {"directed": "film director", "acted in": "actor", "wrote": "author", "made": "artist"}
    said = [f"{verb} {listed(list(dict.fromkeys(titles))[:MOST_WORKS])}" for verb, titles in works.items()]
    return {
        "kind": "maker",
        "title": name,
        "callings": [callings[verb] for verb in works],
        "titles": [title.partition(" (")[0] for titles in works.values() for title in titles],
        "works": "; ".join(said),
    }


def _is_person(name: str | None) -> bool:
    strangers = ("and", "Company", "Workshop", "Unknown", "Manufactory", "Factory", "&", "after", "Attributed", "(")
    return bool(name) and " " in str(name) and not any(word in str(name) for word in strangers)


def _from_tables() -> Iterator[tuple[Record, Callable[[], Record]]]:
    """Every entity with a way to read it again."""
    for table, adapt in ADAPTERS.items():
        for record in tables.load(table):
            adapted = adapt(record)
            if adapted is not None:
                yield adapted, _again(adapt, record)
    for name, maker in makers().items():
        yield maker, lambda name=name: makers()[name]  # type: ignore[misc]


def _again(adapt: Callable[[Record], Record | None], record: Record) -> Callable[[], Record]:
    return lambda: adapt(record) or {}


Article = Record

SHORT = 5
"""Words shorter than this are too easily another word misspelt."""


class _Entry(NamedTuple):
    title: str
    names: tuple[str, ...]
    read: Callable[[], Record]


def article(name: str) -> Article | None:
    """The article of a title or another name, without regard to case and accents."""
    number = _numbers().get(fold(name))
    return None if number is None else _composed(number)


def search(query: str, limit: int) -> list[tuple[float, str]]:
    """Scores and titles of the entities that a query names, best first; short words as they are written."""
    short = {word for word in words(query) if len(word) < SHORT}

    def keep(record: Record) -> bool:
        return short <= set(words(" ".join((record["title"], *record["names"])))) | STOP

    return [(score, record["title"]) for score, record in _index().search(query, limit, keep=keep)]


def title(name: str) -> str | None:
    """The title of the article that exactly this name leads to."""
    number = _numbers().get(fold(name))
    return None if number is None else _entries()[number].title


def names(title: str) -> tuple[str, ...]:
    """The other names of an article."""
    number = _numbers().get(fold(title))
    return () if number is None else _entries()[number].names


def count() -> int:
    """How many articles there are."""
    return len(_entries())


def articles() -> Iterator[Article]:
    """All of them, composed one after another."""
    return map(_composed, range(count()))


def _composed(number: int) -> Article:
    entry = _entries()[number]
    facts = {**entry.read(), "title": entry.title}
    maker = makers().get(entry.title)
    if maker and not any(work in facts.get("known", "") for work in maker["titles"]):
        facts["works"] = maker["works"]
    return sentence_plans.compose(facts)


@cache
def _entries() -> tuple[_Entry, ...]:
    written = {fold(name): article for article in fact_articles.articles() for name in _names_of(article)}
    taken = {*written, *gazetteer_articles.own_titles()}
    titled = []
    own: set[str] = set()
    for record, read in _all():
        title = _title(record, written, own, taken)
        if title is None or fold(title) in own or fold(title) in written:
            continue
        own.add(fold(title))
        titled.append((title, [record["title"], *record.get("names", ()), *_post(record)], read))
    taken |= own
    found = []
    for title, names, read in titled:
        others = tuple(name for name in dict.fromkeys(names) if name and fold(name) not in taken)
        taken.update(map(fold, others))
        found.append(_Entry(title, others, read))
    return tuple(found)


def _post(record: Record) -> tuple[str, ...]:
    """The office that somebody holds today: who asks for it means the person."""
    return (record["office"],) if record.get("verb") == "has been" else ()


def _title(record: Record, written: Mapping[str, Article], own: Set[str], taken: Set[str]) -> str | None:
    """The title of a record's article; None when there is an article on the same thing."""
    title, kind = str(record["title"]), str(record["kind"])
    key = fold(title)
    if key not in taken and key not in own:
        return title
    marked = f"{title} ({sentence_plans.label(kind)})"
    if key in own or kind == "maker":
        return marked if kind in _SHARING else None
    if key in written:
        alike = kind not in _SHARING or _SHARING[kind].search(written[key]["description"])
        return None if alike else marked
    return marked if kind in _YIELDING else title


def _all() -> Iterator[tuple[Record, Callable[[], Record]]]:
    for line in tables.lines("entities"):
        yield json.loads(line), _reader(line)
    yield from _from_tables()


def _reader(line: str) -> Callable[[], Record]:
    return lambda: json.loads(line)


_SHARING = {
    "film": re.compile(r"\b(?:film|movie)\b", re.IGNORECASE),
    "book": re.compile(r"\b(?:book|novel|play|tragedy|epic|poem|tale)\b", re.IGNORECASE),
    "work_of_art": re.compile(r"\b(?:painting|print|work|clock|portrait)\b", re.IGNORECASE),
    "coin": re.compile(r"\bcryptocurrency\b", re.IGNORECASE),
    "asteroid": re.compile(r"\b(?:asteroid|dwarf planet)\b", re.IGNORECASE),
}
"""Kinds whose things often bear the name of something else, and how a written article says that it is the same."""
_YIELDING = (*_SHARING, "peak", "company", "nutrition", "landmark")
"""Kinds that leave their name to a town of that name."""


def _names_of(article: Article) -> Iterator[str]:
    yield article["title"]
    yield from article.get("aliases", ())


@cache
def _numbers() -> Mapping[str, int]:
    return {fold(name): number for number, entry in enumerate(_entries()) for name in (entry.title, *entry.names)}


@cache
def _index() -> SearchIndex[Record]:
    records = ({"title": entry.title, "names": entry.names} for entry in _entries())
    return SearchIndex(records, {"title": 3.0, "names": 2.9}, coverage=0.7)
