"""What the encyclopedia can tell from tables of facts alone: every entity by its names, its article when asked for.

The table `entities` has lists made for this purpose: rivers, people, languages and so on. `table_entities` reads
the things that other servers know. The lines are kept as they are on disk; an article is composed when it is read. A
name that a written article has leads there and not here.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Set
from functools import cache
from typing import NamedTuple

from m3bench.sandboxes.world import fact_articles, gazetteer_articles, sentence_plans, table_entities, tables
from m3bench.sandboxes.world.search import STOP, SearchIndex, fold, words
from m3bench.sandboxes.world.tables import Record

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


def count() -> int:
    """How many articles there are."""
    return len(_entries())


def articles() -> Iterator[Article]:
    """All of them, composed one after another."""
    return map(_composed, range(count()))


def _composed(number: int) -> Article:
    entry = _entries()[number]
    facts = {**entry.read(), "title": entry.title}
    maker = table_entities.makers().get(entry.title)
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
    yield from table_entities.records()


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
