"""The `openlibrary_mcp` server: what a book is, by ISBN or by title.

An ISBN may be of ten or thirteen digits, with or without dashes; both forms of one edition give the same book. A
title is searched for with the author's words and answered with the best edition, without its pages. Of many books only
title, author and first year are known: of these the number is null. Every failure is an ordinary result with a
`message` or an `error`.
"""

import re
from collections.abc import Mapping
from functools import cache

from m3bench.sandboxes.gaps import gap
from m3bench.sandboxes.identifiers import is_isbn
from m3bench.sandboxes.toolserver import ToolServer
from m3bench.sandboxes.world import tables
from m3bench.sandboxes.world.search import SearchIndex
from m3bench.sandboxes.world.tables import Record
from m3bench.tasks.errors import SoftError

server = ToolServer("openlibrary_mcp")

Book = Record

_SEPARATORS = re.compile(r"[\s\-\u2010-\u2015]+")


@server.tool
async def get_book_info(
    isbn: str | None = None, title: str | None = None, author: str | None = None
) -> dict[str, object]:
    if isbn and isbn.strip():
        return _by_number(isbn.strip())
    if title and title.strip():
        return _by_title(" ".join(f"{title} {author or ''}".split()))
    raise SoftError({"error": "Please provide either an ISBN or a title."}, outcome="invalid_arguments")


def _by_number(asked: str) -> dict[str, object]:
    number = _SEPARATORS.sub("", asked).upper()
    if len(number) == 13 and number.startswith("0"):
        number = "978" + number[3:]
    book = _numbers().get(number)
    if book is None:
        raise SoftError(
            {"message": f"Book not found for ISBN {number}."}, outcome="gap" if is_isbn(number) else "not_found"
        )
    return {"query_type": "isbn", "metadata": {**_card(book, number), "pages": book["pages"]}}


def _by_title(query: str) -> dict[str, object]:
    found = _index().search(query, 1)
    if not found:
        raise gap({"message": f"No book found for query '{query}'."})
    book = found[0][1]
    return {"query_type": "search", "query": query, "metadata": _card(book, book.get("id"))}


def _card(book: Book, number: str | None) -> dict[str, object]:
    card = {
        "isbn": number,
        "title": book["title"],
        "authors": book["authors"],
        "publish_date": str(book["year"]) if "year" in book else None,
        "publisher": [book["publisher"]] if "publisher" in book else None,
    }
    if number is None:
        card["not_covered"] = " ".join(name for name, value in card.items() if value is None)
    return card


@cache
def _numbers() -> Mapping[str, Book]:
    return {number: book for book in tables.load("books") for number in (book["id"], book["isbn10"])}


@cache
def _index() -> SearchIndex[Book]:
    books = (*tables.load("books"), *tables.load("more_books"))
    return SearchIndex(books, {"title": 3.0, "also": 3.0, "authors": 2.5, "publisher": 1.0, "subjects": 0.5})
