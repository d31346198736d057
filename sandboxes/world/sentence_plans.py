"""Sentences from facts: for each kind of thing its sentence plans, which are data, and how they are filled.

A plan is a list of sentences, each said in one of several ways. Of the ways whose facts are all known, those that tell
most are taken, and the name of the thing decides between them; a sentence that no way can say is left out.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from functools import cache

from m3bench.sandboxes.world import noise, tables
from m3bench.sandboxes.world.tables import Record

_BLANK = re.compile(r"\{(\w+)(?::(\w+))?\}")
_VOWEL = re.compile(r"[aeioAEIO](?!uro|ne[ -])|[uU](?!ni|se|ga|tah|kr)|hono|hour|heir|[FHLMNRSX][A-Z]")
LONGEST = 70
"""So many characters has a description at most."""
_SUFFIX = re.compile(r" \([^)]*\)$")


def compose(record: Record) -> Record:
    """The article that a record's facts give: title, description and text.

    Args:
        record: `kind` names the plan, `title` the article; all else are facts.
    """
    plan = plans()[record["kind"]]
    name = _SUFFIX.sub("", record["title"])
    facts = {"name": name, "last": name.split()[-1], **record}
    told = [said for ways in plan["sentences"] if (said := _told(ways, facts))]
    ways = [_filled(way, facts) for way in plan["description"] if _keys(way) <= facts.keys()]
    described = next((way for way in ways if len(way) <= LONGEST), label(record["kind"]))
    return {
        "title": record["title"],
        "description": upper(described),
        "extract": " ".join(map(upper, told)),
    }


def label(kind: str) -> str:
    """What stands in brackets behind a title that another article has too."""
    return str(plans()[kind]["label"])


@cache
def plans() -> Mapping[str, Record]:
    """Plans by kind."""
    return {record["id"]: record for record in tables.load("sentence_plans")}


def _told(ways: Sequence[str], facts: Record) -> str:
    known = [way for way in ways if _keys(way) <= facts.keys()]
    if not known:
        return ""
    most = max(len(_keys(way)) for way in known)
    return _filled(noise.pick([way for way in known if len(_keys(way)) == most], ways[0], facts["title"]), facts)


@cache
def _keys(way: str) -> frozenset[str]:
    return frozenset(key for key, _ in _BLANK.findall(way))


def _filled(way: str, facts: Record) -> str:
    return _BLANK.sub(lambda blank: _written(facts[blank[1]], blank[2] or ""), way)


def _written(value: object, manner: str) -> str:
    if isinstance(value, (list, tuple)):
        return listed([_written(item, manner) for item in value])
    if manner:
        return _MANNERS[manner](value)
    return str(value)


def listed(names: Sequence[str]) -> str:
    """Names in a row: `A, B and C`."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def upper(text: str) -> str:
    """A text with a capital at its beginning, but for names such as `dYdX`."""
    return text if text[1:2].isupper() else text[:1].upper() + text[1:]


def _number(value: object) -> str:
    if not isinstance(value, (int, float)):
        return str(value)
    return f"{value:,.0f}" if value == round(value) else f"{value:,g}"


def _people(value: object) -> str:
    people = float(str(value))
    if people >= 1e9:
        return f"{people / 1e9:.3g} billion"
    return f"{people / 1e6:.3g} million" if people >= 1e6 else f"{people:,.0f}"


def _year(value: object) -> str:
    year = int(str(value))
    return f"{-year} BC" if year < 0 else f"AD {year}" if year < 100 else str(year)


def _day(value: object) -> str:
    day = date.fromisoformat(str(value))
    return f"{day.day} {day:%B} {day.year}"


def with_article(text: object) -> str:
    """A word with its indefinite article."""
    return f"{'an' if _VOWEL.match(str(text)) else 'a'} {text}"


def _named(value: object) -> str:
    """A name as it stands within a sentence: some places have an article."""
    text = _SUFFIX.sub("", str(value))
    if text.startswith("the "):
        return text
    return f"the {text}" if text.startswith(_WITH_ARTICLE) or text.endswith(_PLURAL) else text


_WITH_ARTICLE = (
    *("Bahamas", "Central African", "Comoros", "Czech Republic", "Democratic Republic", "Dominican Republic"),
    *("Gambia", "Maldives", "Netherlands", "Philippines", "Republic of", "Seychelles", "Soviet Union", "United"),
    *("Gulf of", "Bay of", "Isle of", "Arabian Sea", "Republic", "Ottoman", "Roman Empire"),
)
_PLURAL = (" Islands", " Sea", " Ocean", " Mountains", " Alps", " Desert", " Canal", " River", " Peninsula", " Empire")

_MANNERS: Mapping[str, Callable[[object], str]] = {
    "n": _number,
    "people": _people,
    "year": _year,
    "day": _day,
    "a": with_article,
    "the": _named,
    "upper": lambda value: upper(str(value)),
    "lower": lambda value: str(value)[:1].lower() + str(value)[1:],
    "bare": lambda value: _SUFFIX.sub("", str(value)),
}
