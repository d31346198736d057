"""Searches of the encyclopedia, the library and the museum find what was meant, by queries made by rule."""

import json
import random
import re
from collections.abc import Callable, Iterator

import pytest

from m3bench.sandboxes.world import tables
from tests.sandboxes.servers.conftest import Bench

Search = Callable[[Bench, str], list[str]]

QUERIES = 30
NONSENSE = ["qwxzvk", "blorfgan wubbalub", "zzzz", "xkcdqq-frobnicatrix", "gnurfl 0xq"]


def articles(bench: Bench, query: str) -> list[str]:
    return re.findall(r"^- (.+)$", bench.text("wiki/search", query=query, n=3), re.M)


def books(bench: Bench, query: str) -> list[str]:
    """The one book that a title search shows."""
    return [json.loads(bench.text("openlibrary_mcp/get_book_info", title=query))["metadata"]["title"]]


def objects(bench: Bench, query: str) -> list[str]:
    numbers = bench.text("metmuseum-mcp/search-museum-objects", q=query).partition("Object IDs: ")[2].split(", ")[:3]
    return [OBJECTS[int(number)] for number in numbers if number]


OBJECTS = {thing["id"]: thing["title"] for thing in (*tables.load("met_objects"), *tables.load("more_met_objects"))}
TITLES: dict[Search, str] = {articles: "articles", books: "books", objects: "met_objects"}


def by_rule(title: str, draws: random.Random) -> Iterator[str]:
    """The title as it is, shouted, without capitals, in another order, cut short, and with a slip of the keys."""
    parts = re.findall(r"[\w'’]+", title)
    yield title
    yield title.upper()
    yield title.lower()
    yield " ".join(reversed(parts))
    longest = max(parts, key=len)
    if len(longest) >= 6:
        yield " ".join(parts).replace(longest, longest[:-2])
        at = draws.randrange(1, len(longest) - 2)
        swapped = longest[:at] + longest[at + 1] + longest[at] + longest[at + 2 :]
        yield " ".join(parts).replace(longest, draws.choice([swapped, longest[:at] + longest[at + 1 :]]))


@pytest.mark.parametrize("search", TITLES)
def test_what_is_meant_is_among_the_first_three(bench: Bench, search: Search) -> None:
    draws = random.Random(search.__name__)
    titles = draws.sample(sorted({record["title"] for record in tables.load(TITLES[search])}), QUERIES)
    asked = [(title, query) for title in titles for query in by_rule(title, draws)]
    missed = [(title, query) for title, query in asked if title not in search(bench, query)]
    assert len(missed) <= 0.1 * len(asked), missed


@pytest.mark.parametrize("query", NONSENSE)
def test_nonsense_is_no_article(bench: Bench, query: str) -> None:
    assert bench.text("wiki/search", query=query) == "No results."


@pytest.mark.parametrize("query", NONSENSE)
def test_nonsense_is_no_book(bench: Bench, query: str) -> None:
    message = json.loads(bench.error("openlibrary_mcp/get_book_info", title=query))
    assert message == {"message": f"No book found for query '{query}'."}


@pytest.mark.parametrize("query", NONSENSE)
def test_nonsense_is_no_museum_object(bench: Bench, query: str) -> None:
    assert bench.text("metmuseum-mcp/search-museum-objects", q=query) == "No objects found"
