"""The `openlibrary_mcp` server knows a book by either of its numbers and by its title."""

import json
from typing import Any

import pytest

from m3bench.sandboxes.world import clock, tables
from tests.sandboxes.servers.conftest import Bench

BOOKS = tables.load("books")
TOOL = "openlibrary_mcp/get_book_info"


def info(bench: Bench, **arguments: Any) -> Any:
    return json.loads(bench.text(TOOL, arguments))


def problem(bench: Bench, **arguments: Any) -> Any:
    reply = bench.reply(TOOL, arguments)
    assert reply.outcome != "success"
    assert reply.result["isError"] is False
    return json.loads(reply.result["content"][0]["text"])


def test_an_isbn_gives_the_whole_card(bench: Bench) -> None:
    assert info(bench, isbn="9780670856688") == {
        "query_type": "isbn",
        "metadata": {
            "isbn": "9780670856688",
            "title": "The Discovery of Heaven",
            "authors": ["Harry Mulisch"],
            "publish_date": "1996",
            "publisher": ["Viking"],
            "pages": 730,
        },
    }


@pytest.mark.parametrize("isbn", ["978-0-670-85668-8", "0-670-85668-1", " 0670856681 ", "0000670856688"])
def test_both_lengths_and_dashes_lead_to_the_same_book(bench: Bench, isbn: str) -> None:
    assert info(bench, isbn=isbn)["metadata"]["title"] == "The Discovery of Heaven"


def test_a_title_search_has_no_pages(bench: Bench) -> None:
    found = info(bench, title="old man sea", author="Hemingway")
    assert found["query_type"] == "search"
    assert found["query"] == "old man sea Hemingway"
    assert found["metadata"]["title"] == "The Old Man and the Sea"
    assert "pages" not in found["metadata"]


def test_the_isbn_goes_before_the_title(bench: Bench) -> None:
    assert info(bench, isbn="9780441172719", title="Emma")["metadata"]["title"] == "Dune"


def test_failures_are_messages_without_the_error_flag(bench: Bench) -> None:
    assert problem(bench, isbn="9780000000002") == {"message": "Book not found for ISBN 9780000000002."}
    assert problem(bench, title="qwxzvk blorfgan") == {"message": "No book found for query 'qwxzvk blorfgan'."}
    assert problem(bench) == {"error": "Please provide either an ISBN or a title."}
    assert problem(bench, author="Jane Austen") == {"error": "Please provide either an ISBN or a title."}


def test_every_book_is_found_by_both_numbers(bench: Bench) -> None:
    for book in BOOKS[::10]:
        for number in (book["id"], book["isbn10"]):
            assert info(bench, isbn=number)["metadata"]["title"] == book["title"]


def test_checksums_hold() -> None:
    for book in BOOKS:
        long, short = book["id"], book["isbn10"]
        assert sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(long)) % 10 == 0, long
        values = [10 if digit == "X" else int(digit) for digit in short]
        assert sum(value * (10 - place) for place, value in enumerate(values)) % 11 == 0, short
        assert long[3:12] == short[:9]


def test_the_library_is_large_and_its_facts_are_whole() -> None:
    assert len(BOOKS) >= 150
    assert len({book["description"] for book in BOOKS}) == len(BOOKS)
    for book in BOOKS:
        assert 1450 < book["year"] <= clock.NOW.year
        assert book["pages"] > 0
        assert book["authors"]
        assert book["subjects"]


@pytest.mark.parametrize(
    ("title", "author", "found", "year"),
    [
        ("Ulysses", None, "Ulysses", "1922"),
        ("les miserables", "hugo", "Les Misérables", "1862"),
        ("The Testaments", "Margaret Atwood", "The Testaments", "2019"),
        ("oliver twist", None, "Oliver Twist", "1838"),
    ],
)
def test_a_book_of_which_no_edition_is_known_has_no_number(
    bench: Bench, title: str, author: str | None, found: str, year: str
) -> None:
    card = info(bench, title=title, **({"author": author} if author else {}))["metadata"]
    assert (card["title"], card["publish_date"], card["isbn"]) == (found, year, None)
    assert card["not_covered"] == "isbn publisher"


def test_a_title_that_has_an_edition_still_gives_it(bench: Bench) -> None:
    for book in BOOKS:
        assert info(bench, title=book["title"], author=book["authors"][0])["metadata"]["isbn"], book["title"]
