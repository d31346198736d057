"""Backs of books: decode the codes of those that are circled and look the books up, to count pages, buy or list them."""

import json
import random
import re
from collections.abc import Sequence

from m3bench.tasks.answers.fields import Date, Field, File, Integer, Money, Name, Table
from m3bench.tasks.answers.office import WorkbookRows
from m3bench.tasks.families.base import Composition, Family, Kit, Script, Solution, call, need
from m3bench.tasks.json_types import Record
from m3bench.tasks.render import backdrops, pen
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.codes import code
from m3bench.tasks.render.shapes import fade, mix, rect
from m3bench.tasks.scene import Box
from m3bench.tasks.task import ReferenceCall

_BUDGETS = range(60, 125, 5)
_ROWS = 2
_WIDE = 300
_COVERS = ("#26465a", "#6a2c3c", "#3c5434", "#4a3a68", "#7a5a2e", "#1f5c5a", "#8a3b2a", "#34405c")


class BarcodeLookup(Family):
    """Decode bar codes, look up the books; then add up, or write a list."""

    name = "barcode_lookup"
    servers = ("pyzbar-mcp", "openlibrary_mcp", "math", "amazon", "excel")
    circled = (2, 3)
    """How many may be."""
    columns = 3
    """Of books on the table."""
    pitch = 480
    """Pixels from one column to the next."""

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Six books on a table, face down; two or three are circled."""
        known = [book for book in kit.world("books") if book.get("pages")]
        meant = rng.sample(known, rng.choice(self.circled))
        others = [book for book in known if book not in meant]
        books = [*meant, *rng.sample(others, _ROWS * self.columns - len(meant))]
        rng.shuffle(books)
        canvas = Canvas(kit.art, self.columns * self.pitch, 1060)
        backdrops.table(canvas, rng)
        boxes = {}
        for number, book in enumerate(books):
            left = self.pitch / 2 + number % self.columns * self.pitch - _WIDE / 2 + rng.uniform(-26, 26)
            top = 44 + number // self.columns * 516 + rng.uniform(-12, 12)
            boxes[book["id"]] = _back(canvas, rng, book, left, top, rng.uniform(440, 456))
        canvas.light(rng, 0.6)
        chosen = [book["id"] for book in meant]
        pen.circle(
            canvas, rng, [boxes[book] for book in chosen], [box for book, box in boxes.items() if book not in chosen]
        )
        return Composition.of(canvas, numbers=[book["id"] for book in books], meant=chosen)

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Scan once; what is looked up depends on the goal."""
        (text,) = await play.step(call("pyzbar-mcp/scan_barcode", {"image_paths": path}))
        numbers = [result["data"] for result in json.loads(text)["metadata"]["results"]]
        need(sorted(numbers) == sorted(composition.facts["numbers"]), "the codes must be legible")
        numbers = [number for number in numbers if number in composition.facts["meant"]]
        goals = {"buy": self._buy, "catalogue": self._catalogue, "pages": self._pages}
        return await goals[play.goal](rng, numbers, path, play)

    async def _pages(self, rng: random.Random, numbers: Sequence[str], path: str, play: Script) -> Solution:
        """Look all up together, then add."""
        books = await _looked_up(numbers, play)
        pages = [int(book["pages"]) for book in books]
        (total,) = await play.step(call("math/sum", {"numbers": pages}))
        listed = "; ".join(f"{book['title']} by {_author(book)} ({book['pages']} pages)" for book in books)
        return Solution(
            wording=f"Decode the bar codes in {path}, and of the books circled in red look each ISBN up in Open Library and add up the pages.",
            answer=f"The books are {listed}. Together they have {sum(pages)} pages.",
            fields=(
                Field(
                    name="books",
                    meaning="each book: title and author",
                    value=Table(
                        columns=("title", "author"),
                        rows=tuple((_title(book, books), _by(book, books)) for book in books),
                    ),
                ),
                Field(
                    name="total_pages",
                    meaning="how many pages they have together",
                    value=Integer(unit="pages", value=int(float(total))),
                    derived=tuple(pages),
                ),
            ),
            alternatives=(play.varied("added up without a tool", {2: ()}),),
        )

    async def _buy(self, rng: random.Random, numbers: Sequence[str], path: str, play: Script) -> Solution:
        """What each costs, the sum, and what is left of a budget."""
        budget = rng.choice(_BUDGETS)
        texts = await play.step(
            *(
                call("amazon/search_products", {"keywords": number}, free=("n",), words={"keywords": (number,)})
                for number in numbers
            )
        )
        offers = [_offer(text) for text in texts]
        prices = [price for _, price in offers]
        top, *rest = sorted(prices, reverse=True)
        need(top > rest[0], "two books are the most expensive")
        (text,) = await play.step(call("math/sum", {"numbers": prices}))
        total = round(float(text), 2)
        need(
            total + 1 <= budget and len({*prices, total, round(budget - total, 2)}) == len(prices) + 2,
            "two sums are one",
        )
        (text,) = await play.step(call("math/subtract", {"minuend": budget, "subtrahend": total}))
        books = [{"title": title} for title, _ in offers]
        dearest = prices.index(top)
        return Solution(
            wording=f"Decode the bar codes in {path}, and of the books circled in red look each ISBN up in the shop, add up the prices and subtract them from {budget} dollars.",
            answer=f"They cost {total:.2f} dollars, so {budget - total:.2f} of {budget} are left.",
            fields=(
                Field(
                    name="prices",
                    meaning="each book and what it costs in the US shop",
                    value=Table(
                        columns=("title", "price"),
                        rows=tuple(
                            (_title(book, books), Money(unit="USD", value=price))
                            for book, price in zip(books, prices, strict=True)
                        ),
                    ),
                ),
                Field(
                    name="most_expensive",
                    meaning="the title of the most expensive one",
                    value=_title(books[dearest], books),
                    compared=(top, *rest),
                    derived=tuple(prices),
                ),
                Field(name="total", meaning="what they cost together", value=Money(unit="USD", value=total), derived=tuple(prices)),
                Field(
                    name="left",
                    meaning="how much of the money is left",
                    value=Money(unit="USD", value=round(budget - total, 2)),
                    derived=tuple(prices),
                ),
            ),
            given={"budget": str(budget)},
            alternatives=(
                play.varied("the difference without a tool", {3: ()}),
                play.varied("added up without a tool", {2: (), 3: ()}),
            ),
        )  # fmt: skip

    async def _catalogue(self, rng: random.Random, numbers: Sequence[str], path: str, play: Script) -> Solution:
        """Look all up, with an empty workbook beside it, then write a row for each."""
        file = f"./books_{numbers[0][-5:]}.xlsx"
        books = await _looked_up(numbers, play, call("excel/create_workbook", {"filepath": file}, free=("filepath",)))
        years = [int(book["publish_date"][-4:]) for book in books]
        first, *later = sorted(years, reverse=True)
        need(first > later[0] + 10, "two editions are about as new")
        rows = [
            ["Title", "Author", "Year", "Pages"],
            *(
                [book["title"], _author(book), year, int(book["pages"])]
                for book, year in zip(books, years, strict=True)
            ),
        ]
        await play.step(
            call(
                "excel/write_data_to_excel",
                {"filepath": file, "sheet_name": "Sheet1", "data": rows, "start_cell": "A1"},
                free=("filepath", "sheet_name", "start_cell", "data"),
            )
        )
        newest = years.index(first)
        publisher = books[newest]["publisher"]
        publisher = str(publisher[0] if isinstance(publisher, list) else publisher)
        return Solution(
            wording=f"Decode the bar codes in {path}, and of the books circled in red look each ISBN up in Open Library and write title, author, year and pages into a workbook.",
            answer=f"The list is in {file}. The newest edition is {books[newest]['title']}, published by {publisher}.",
            fields=(
                Field(
                    name="workbook",
                    meaning="the Excel file with a row for each book: title, author, year of this edition, pages",
                    value=File(
                        form="xlsx",
                        value=file,
                        holds=(
                            WorkbookRows(
                                rows=tuple(
                                    (_title(book, books), _by(book, books), Date(value=str(year), precision="year"), Integer(value=int(book["pages"])))
                                    for book, year in zip(books, years, strict=True)
                                )
                            ),
                        ),
                    ),
                ),
                Field(
                    name="newest",
                    meaning="the title of the newest edition",
                    value=_title(books[newest], books),
                    compared=(float(first), *map(float, later)),
                    derived=tuple(float(year) for year in years),
                ),
                Field(name="publisher", meaning="who published it", value=Name(value=publisher, context=("publisher publishing books press",))),
            ),
        )  # fmt: skip


def _back(canvas: Canvas, rng: random.Random, book: Record, left: float, top: float, tall: float) -> Box:
    """The back of a book with its blurb and its code; returns its box."""
    cover, key = rng.choice(_COVERS), f"b{book['id']}"
    canvas.draw(
        rect(left + 8, top + 11, _WIDE, tall, "#00000055", 6),
        fade(key, mix(cover, "#ffffff", 0.12), mix(cover, "#000000", 0.18), across=True),
        rect(left, top, _WIDE, tall, f"url(#{key})", 6),
        rect(left + _WIDE - 12, top, 12, tall, "#00000030", 4),
    )
    canvas.paragraph(book["description"], left + 28, top + 76, _WIDE - 66, 24, face="serif", fill="#f4efe2")
    canvas.draw(rect(left + _WIDE / 2 - 122, top + tall - 172, 244, 146, "#ffffff", 3))
    code(canvas, book["id"], left + _WIDE / 2, top + tall - 100, kind="ean", scale=2)
    return (round(left), round(top), round(left + _WIDE), round(top + tall))


async def _looked_up(numbers: Sequence[str], play: Script, *others: ReferenceCall) -> list[Record]:
    """What is known of the books, in the order of their numbers."""
    texts = await play.step(*(call("openlibrary_mcp/get_book_info", {"isbn": number}) for number in numbers), *others)
    books = [json.loads(text)["metadata"] for text in texts[: len(numbers)]]
    need(len({_author(book) for book in books}) == len(books), "two books are by one author")
    return books


def _offer(text: str) -> tuple[str, float]:
    """Title and price of the first product that was found."""
    found = re.match(r"- (?P<title>.+?) by .+?\n(?:.*\n)*?  Price: \$(?P<price>[\d.]+)", text)
    need(found is not None and text.count("Price:") == 1, "the shop has not one such book")
    assert found is not None
    return found["title"], float(found["price"])


def _title(book: Record, books: Sequence[Record]) -> Name:
    """A book's title, with or without what follows the colon."""
    title = str(book["title"])
    others = tuple(str(other["title"]) for other in books if other is not book)
    authors = (_author(book),) if "authors" in book else ()
    return Name(value=title, aliases=(title.partition(":")[0],), others=others, context=authors)


def _by(book: Record, books: Sequence[Record]) -> Name:
    """Who wrote a book; the last name is enough."""
    author = _author(book)
    others = tuple(_author(other) for other in books if other is not book)
    all_of = book["authors"] if isinstance(book["authors"], list) else [book["authors"]]
    return Name(value=author, aliases=(author.split()[-1],), others=others, context=tuple(map(str, all_of)))


def _author(book: Record) -> str:
    authors = book["authors"]
    return str(authors[0] if isinstance(authors, list) else authors).split(",")[0]
