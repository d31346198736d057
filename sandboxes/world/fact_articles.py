"""Articles composed from tables of facts: countries and territories, states, presidents, elements, the Solar System.

Each kind has sentence plans of its own, and an entity's name decides between the ways of saying a thing. Where the
encyclopedia has a written article of the same title, the facts follow what is written. Towns and airports are in
`gazetteer_articles`: there are too many of them to be composed before they are asked for.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from functools import cache

from m3bench.sandboxes.world import noise, tables
from m3bench.sandboxes.world.search import fold
from m3bench.sandboxes.world.tables import Record

Article = Record

_CONTINENTS = {
    "AF": "Africa",
    "AS": "Asia",
    "EU": "Europe",
    "NA": "North America",
    "OC": "Oceania",
    "SA": "South America",
    "AN": "the Antarctic",
}
_WITH_ARTICLE = (
    *("Central African", "Collectivity", "Comoros", "Czech Republic", "Democratic", "Dominican Republic", "Federated"),
    *(
        "French Southern",
        "Isle of Man",
        "Maldives",
        "Netherlands",
        "Philippines",
        "Republic of",
        "Seychelles",
        "United",
    ),
)
_ABSOLUTE_ZERO = 273.15


@cache
def articles() -> Sequence[Article]:
    """All articles of the encyclopedia: the written ones in their order, with facts where there are some, then others.

    A name that a written article has leads there and nowhere else.
    """
    written = tables.load("articles")
    composed = {fold(article["title"]): article for article in _composed()}
    taken = {fold(name) for article in written for name in (article["title"], *article.get("aliases", ()))}
    taken |= composed.keys()
    for key, article in composed.items():
        aliases = [alias for alias in article["aliases"] if fold(alias) not in taken]
        taken |= set(map(fold, aliases))
        composed[key] = {**article, "aliases": aliases}
    whole = [_with_facts(article, composed.pop(fold(article["title"]), None)) for article in written]
    return [*whole, *composed.values()]


def count() -> int:
    """How many of them are not written by hand."""
    return len(articles()) - len(tables.load("articles"))


def _with_facts(article: Article, facts: Article | None) -> Article:
    if facts is None or article.get("disambiguation"):
        return article
    aliases = [*article.get("aliases", ()), *facts["aliases"]]
    return {**article, "aliases": aliases, "extract": f"{article['extract']} {facts['extract']}"}


def _composed() -> Iterator[Article]:
    kinds: Mapping[str, Callable[[Record], Article]] = {
        "country_facts": _country,
        "state_facts": _state,
        "presidents": _president,
        "element_facts": _element,
        "solar_system": _body,
    }
    for table, compose in kinds.items():
        yield from map(compose, tables.load(table))


def _article(title: str, aliases: Sequence[str], description: str, sentences: Sequence[str]) -> Article:
    return {"title": title, "aliases": list(aliases), "description": description, "extract": " ".join(sentences)}


@cache
def _countries() -> Mapping[str, Record]:
    return {record["id"]: record for record in tables.load("countries")}


@cache
def _titles() -> Mapping[str, str]:
    """Codes of countries to the titles of their articles."""
    facts = {record["id"]: record["names"] for record in tables.load("country_facts")}
    return {
        code: facts[code][0] if facts.get(code) else record["name"].strip() for code, record in _countries().items()
    }


def _country(facts: Record) -> Article:
    code, country = facts["id"], _countries()[facts["id"]]
    title = _titles()[code]
    name = _the(title.removesuffix(" (country)"))
    where = _CONTINENTS[country["continent"]]
    owner = facts.get("belongs_to")
    kind = f"Territory of {_the(_titles()[owner])}" if owner else "Country" if owner is None else "Disputed territory"
    capital = facts.get("capital") or country["capital"].strip()
    sentences = [f"{_upper(name)} is a {kind[:1].lower() + kind[1:]} in {where}."]
    if capital:
        ways = (f"Its capital is {capital}.", f"The capital is {capital}.")
        sentences.append(noise.pick(ways, "capital", code))
    size = f"an area of {_number(facts['area_km2'])} square kilometres"
    if facts["people"]:
        people = f"about {_people(facts['people'])} inhabitants"
        told = (f"It has {size} and {people}.", f"With {people} it covers {size}.", f"It has {people} on {size}.")
        sentences.append(noise.pick(told, "size", code))
    else:
        sentences.append(f"It has {size} and no permanent population.")
    sentences += _borders(code, country)
    if facts["languages"]:
        spoken = _listed(facts["languages"])
        sentences.append(
            noise.pick((f"Languages in use include {spoken}.", f"People there speak {spoken}."), "languages", code)
            if len(facts["languages"]) > 1
            else f"Its language is {spoken}."
        )
    domain = f", and its Internet domain is {facts['domain']}" if facts["domain"] else ""
    sentences.append(f"The currency is the {facts['currency_name']} ({country['currency']}){domain}.")
    names = (*facts["names"][1:], country["short"].strip(), country["name"].strip())
    return _article(title, [alias for alias in dict.fromkeys(names) if alias != title], f"{kind} in {where}", sentences)


def _borders(code: str, country: Record) -> list[str]:
    near = [_the(_titles()[other].partition(" (")[0]) for other in country["neighbours"] if other in _titles()]
    if not near:
        return [noise.pick(("It has no land borders.", "It borders no other country by land."), "borders", code)]
    ways = (f"It borders {_listed(near)}.", f"Its neighbours are {_listed(near)}.")
    return [noise.pick(ways[: len(near)], "borders", code)]


_SHARED_NAMES = {"Georgia": "Georgia (U.S. state)", "Washington": "Washington (state)", "New York": "New York (state)"}


@cache
def _states() -> Mapping[str, str]:
    return {record["id"]: record["name"] for record in tables.load("states")}


def _state(facts: Record) -> Article:
    name = _states()[facts["id"]]
    day = date.fromisoformat(facts["admitted"])
    original = day < date(1790, 6, 1)
    joined = (
        f"It was one of the thirteen original states and ratified the Constitution on {_day(day)}."
        if original
        else noise.pick(
            (f"It joined the Union on {_day(day)}.", f"It was admitted to the Union on {_day(day)}."), "joined", name
        )
    )
    near = [_the(_states()[other]) for other in facts["neighbours"]]
    cities = (
        f"{facts['capital']} is its capital and largest city."
        if facts["capital"] == facts["largest_city"]
        else f"{facts['capital']} is its capital, {facts['largest_city']} its largest city."
    )
    sentences = [
        f"{name} is a state of the United States, called the {facts['nickname'].removeprefix('The ')}.",
        cities,
        joined,
        f"It has an area of {_number(facts['area_km2'])} square kilometres and had {facts['people']:,} inhabitants "
        "in the census of 2020.",
        f"It borders {_listed(near)}." if near else "It borders no other state.",
    ]
    title = _SHARED_NAMES.get(name, name)
    aliases = [f"State of {name}", f"{name} (state)", f"{name}, USA", facts["nickname"]]
    return _article(title, aliases, "State of the United States", sentences)


def _president(facts: Record) -> Article:
    name, last = facts["name"], facts["name"].split()[-1]
    born, place = date.fromisoformat(facts["born"]), facts["birthplace"]
    numbers = " and ".join(_ordinal(number) for number in facts["numbers"])
    terms = " and ".join(_term(begin, end) for begin, end in facts["terms"])
    life = f"{born.year}–{facts['died'][:4]}" if "died" in facts else f"born {born.year}"
    belongs = "belonged" if "died" in facts else "belongs"
    party = "belonged to no party" if facts["party"] == "none" else f"{belongs} to the {facts['party']} Party"
    if "then" in facts["party"]:
        party = f"was {facts['party'].replace('none', 'of no party')}"
    second = f"{last} was born in {place} on {_day(born)}"
    second += f" and died on {_day(date.fromisoformat(facts['died']))}." if "died" in facts else "."
    vice = _listed(facts["vice_presidents"])
    sentences = [
        f"{name} ({life}) was the {numbers} president of the United States, {terms}."
        if facts["terms"][-1][1]
        else f"{name} ({life}) is the {numbers} president of the United States, {terms}.",
        second,
        noise.pick((f"He {party}.", f"{last} {party}."), "party", name),
        f"He {facts['known']}.",
        (
            f"His vice president was {vice}."
            if len(facts["vice_presidents"]) == 1
            else f"His vice presidents were {vice}."
        )
        if vice
        else "He had no vice president.",
    ]
    aliases = [f"President {last}"] if last not in ("Adams", "Harrison", "Johnson", "Roosevelt", "Bush") else []
    aliases += _INITIALS.get(name, [])
    return _article(name, aliases, f"{_upper(numbers)} president of the United States", sentences)


_INITIALS = {
    "John F. Kennedy": ["JFK", "John Kennedy", "John Fitzgerald Kennedy"],
    "Franklin D. Roosevelt": ["FDR", "Franklin Roosevelt", "Franklin Delano Roosevelt"],
    "Lyndon B. Johnson": ["LBJ", "Lyndon Johnson"],
    "Theodore Roosevelt": ["Teddy Roosevelt"],
    "Dwight D. Eisenhower": ["Dwight Eisenhower", "Eisenhower"],
    "Harry S. Truman": ["Harry Truman"],
    "Ulysses S. Grant": ["Ulysses Grant"],
    "George H. W. Bush": ["George Bush senior", "George H.W. Bush"],
    "Richard Nixon": ["Richard M. Nixon", "Nixon"],
    "Donald Trump": ["Donald J. Trump", "Trump"],
    "Barack Obama": ["Obama", "Barack Hussein Obama"],
    "Joe Biden": ["Joseph R. Biden", "Biden"],
    "Bill Clinton": ["William J. Clinton"],
    "Jimmy Carter": ["James Earl Carter"],
    "Ronald Reagan": ["Reagan"],
    "Thomas Jefferson": ["Jefferson"],
    "James K. Polk": ["James Polk"],
    "Rutherford B. Hayes": ["Rutherford Hayes"],
    "James A. Garfield": ["James Garfield"],
    "Chester A. Arthur": ["Chester Arthur"],
    "Warren G. Harding": ["Warren Harding"],
}


def _term(begin: str, end: str) -> str:
    start = date.fromisoformat(begin)
    if not end:
        return f"since {_day(start)}"
    return f"from {_day(start)} to {_day(date.fromisoformat(end))}"


def _element(facts: Record) -> Article:
    title, symbol, number = facts["title"], facts["symbol"], facts["number"]
    kind = facts["series"]
    article = "an" if kind[0] in "aeiou" else "a"
    ways = (
        f"{title} is a chemical element with the symbol {symbol} and the atomic number {number}.",
        f"{title} (symbol {symbol}) is the chemical element of atomic number {number}.",
    )
    group = f"group {facts['group']}, " if "group" in facts else ""
    sentences = [
        noise.pick(ways, "element", title),
        f"It is {article} {kind} in {group}period {facts['period']} and the {facts['block']} block.",
        f"Its most stable known isotope has the mass number {facts['weight']:.0f}."
        if facts["radioactive"] and facts["weight"] == round(facts["weight"])
        else f"Its standard atomic weight is {facts['weight']:g}.",
    ]
    if facts["radioactive"]:
        sentences.append("All its isotopes are radioactive.")
    if "melting_k" in facts and number < _HARDLY_MADE:
        melts = f"It melts at {_celsius(facts['melting_k'])}"
        boils = f" and boils at {_celsius(facts['boiling_k'])}" if "boiling_k" in facts else ""
        sentences.append(f"{melts}{boils}.")
    elif "boiling_k" in facts and number < _HARDLY_MADE:
        sentences.append(f"It boils at {_celsius(facts['boiling_k'])}.")
    sentences.append(
        noise.pick(
            (f"It was discovered in {facts['discovered']}.", f"Its discovery dates from {facts['discovered']}."), title
        )
        if "discovered" in facts
        else "It has been known since antiquity or the Middle Ages."
    )
    full = "Mercury (element)" if title == "Mercury" else title
    aliases = [*facts["aliases"], f"Element {number}", f"{title} (element)", f"{symbol} (element)"]
    return _article(full, aliases, "Chemical element", sentences)


_HARDLY_MADE = 100
"""From this atomic number on nobody has seen enough of an element to melt it."""


def _celsius(kelvin: float) -> str:
    return f"{_number(round(kelvin - _ABSOLUTE_ZERO, 1)).replace('-', '−')} °C"


def _body(facts: Record) -> Article:
    title, kind = facts["title"], facts["kind"]
    name = title.partition(" (")[0]
    subject = f"The {name}" if name in ("Moon", "Sun") else name
    size = f"a diameter of {_number(facts['diameter_km'])} kilometres"
    if kind == "star":
        sentences = [f"{subject} is the star of the Solar System, with {size}.", f"{_upper(facts['known'])}."]
        return _article(title, facts.get("aliases", ()), "Star of the Solar System", sentences)
    around = facts["around"]
    what = f"{_ordinal(facts['place'])} planet from the Sun" if "place" in facts else f"{kind} of the Solar System"
    what = f"moon of {_the_body(around)}" if kind == "moon" else what
    article = "the" if "place" in facts else "a"
    orbit = f"It goes around {_the_body(around)} in {_period(facts['orbit_days'])} at a mean distance of "
    orbit += f"{_far(facts['orbit_km'])}."
    found = facts.get("discovered")
    sentences = [f"{subject} is {article} {what}, with {size}.", orbit, f"{_upper(facts['known'])}."]
    if found:
        year, _, who = found.partition(", ")
        sentences.append(f"{who} discovered it in {year}." if who else f"It was discovered in {year}.")
    return _article(title, facts.get("aliases", ()), _upper(what), sentences)


def _the_body(name: str) -> str:
    return f"the {name}" if name in ("Sun", "Earth", "Moon") else name


def _period(days: float) -> str:
    return f"{days / 365.25:.1f} years" if days > 800 else f"{days:g} days"


def _far(km: float) -> str:
    return f"{km / 1e6:,.1f} million kilometres" if km >= 1e7 else f"{km:,.0f} kilometres"


def _the(name: str) -> str:
    plural = name.endswith(("Islands", "Territory", "Lands")) and name != "Northern Mariana Islands"
    if name.startswith("The "):
        return "the " + name.removeprefix("The ")
    return f"the {name}" if name.startswith(_WITH_ARTICLE) or plural or name == "District of Columbia" else name


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == round(value) else f"{value:,g}" if abs(value) < 1000 else f"{value:,.1f}"


def _people(people: int) -> str:
    if people >= 1_000_000_000:
        return f"{people / 1e9:.2f} billion"
    return f"{people / 1e6:.3g} million" if people >= 1_000_000 else f"{people:,}"


def _day(day: date) -> str:
    return f"{day.day} {day:%B} {day.year}"


def _ordinal(number: int) -> str:
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
