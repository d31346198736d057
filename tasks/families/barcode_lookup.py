"""Backs of books: decode their codes, look the books up, and count the pages."""

import json
import random

from m3bench.tasks.checks import AnswerNames, AnswerNumber, CallMade
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call, need
from m3bench.tasks.render import backdrops
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.codes import code
from m3bench.tasks.render.shapes import fade, mix, rect

_COVERS = ("#26465a", "#6a2c3c", "#3c5434", "#4a3a68", "#7a5a2e", "#1f5c5a", "#8a3b2a", "#34405c")


class BarcodeLookup:
    """Decode bar codes, look up the books, add up."""

    name = "barcode_lookup"
    servers = ("pyzbar-mcp", "openlibrary_mcp", "math")

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Two or three books on a table, face down."""
        books = rng.sample([book for book in kit.world("books") if book.get("pages")], rng.choice((2, 3)))
        canvas = Canvas(kit.art, 1400, 900)
        backdrops.table(canvas, rng)
        wide = 400
        gap = (canvas.width - wide * len(books)) / (len(books) + 1)
        for number, book in enumerate(books):
            left, top = gap + number * (wide + gap), rng.uniform(60, 110)
            tall = rng.uniform(700, 760)
            cover = rng.choice(_COVERS)
            canvas.draw(
                rect(left + 10, top + 14, wide, tall, "#00000055", 6),
                fade(f"b{number}", mix(cover, "#ffffff", 0.12), mix(cover, "#000000", 0.18), across=True),
                rect(left, top, wide, tall, f"url(#b{number})", 6),
                rect(left + wide - 14, top, 14, tall, "#00000030", 4),
            )
            canvas.paragraph(book["description"], left + 34, top + 84, wide - 84, 27, face="serif", fill="#f4efe2")
            canvas.draw(rect(left + wide / 2 - 176, top + tall - 226, 352, 192, "#ffffff", 3))
            code(canvas, book["id"], left + wide / 2, top + tall - 130, kind="ean", scale=3)
        return Composition.of(canvas, numbers=[book["id"] for book in books])

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Scan once, look all up together, then add."""
        (text,) = await play.step(call("pyzbar-mcp/scan_barcode", {"image_paths": path}))
        numbers = [result["data"] for result in json.loads(text)["metadata"]["results"]]
        need(sorted(numbers) == sorted(composition.facts["numbers"]), "the codes must be legible")
        texts = await play.step(*(call("openlibrary_mcp/get_book_info", {"isbn": number}) for number in numbers))
        books = [json.loads(text)["metadata"] for text in texts]
        pages = [int(book["pages"]) for book in books]
        (total,) = await play.step(call("math/sum", {"numbers": pages}))
        listed = "; ".join(f"{book['title']} by {_author(book)} ({book['pages']} pages)" for book in books)
        return Solution(
            wording=f"Decode the bar codes in {path}, look each ISBN up in Open Library and add up the pages.",
            answer=f"The books are {listed}. Together they have {sum(pages)} pages.",
            checks=(
                AnswerNames(all_of=tuple((book["title"], book["title"].partition(":")[0]) for book in books)),
                AnswerNames(all_of=tuple((_author(book), _author(book).split()[-1]) for book in books)),
                AnswerNumber(value=float(total), tolerance=0, what="the pages together"),
                CallMade(tool="openlibrary_mcp/get_book_info", times=len(books)),
            ),
            alternatives=(play.varied("added up without a tool", {2: ()}),),
        )


def _author(book: dict[str, object]) -> str:
    authors = book["authors"]
    return str(authors[0] if isinstance(authors, list) else authors).split(",")[0]
