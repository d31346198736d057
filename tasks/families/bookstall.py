"""A page of a publisher's list and a photograph of a stall: which books of the page lie there, known by their covers alone."""

import random
from collections.abc import Sequence

from m3bench.tasks.families import offers, tally
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call, need
from m3bench.tasks.families.reading_list import pages, shorter
from m3bench.tasks.families.tally import Tally, Thing
from m3bench.tasks.render import backdrops
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.covers import COLOURS, HEIGHT, MOTIFS, PATTERNS, Cover, cover, unlike
from m3bench.tasks.render.phone import Snapshot, snapshot
from m3bench.tasks.task import ReferenceCall

_LISTED = 9
_HEADINGS = ("Spring list", "New this autumn", "From our shelves", "Winter reading", "Summer list")
_CLUTTER = ("coffee", "camera", "purse", "scarf", "basket", "gloves", "radio", "potted plant")
_PLACES = tuple((x, y) for y in (235, 555, 795) for x in (200, 460, 720, 980))
"""Where books may lie on the stall; the row at the front overlaps the one behind it."""


class Bookstall:
    """Match covers; then look the books up by the numbers on the page, and add up."""

    name = "bookstall"
    servers = ("openlibrary_mcp", "amazon", "math")

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Nine books on the page; three or four of them lie on the stall, among others that look much like the rest."""
        known = {
            book["id"]: book["title"] for book in kit.world("books") if book.get("pages") and len(book["id"]) == 13
        }
        numbers = rng.sample(sorted(known), _LISTED)
        colours = rng.sample(COLOURS, _LISTED)
        looks = [
            Cover(motif, colour, rng.choice(PATTERNS))
            for motif, colour in zip(rng.sample(MOTIFS, _LISTED), colours, strict=True)
        ]
        first = _page(kit, rng, looks, numbers)
        there = sorted(rng.sample(range(_LISTED), rng.choice((3, 3, 4))))
        away = rng.sample([number for number in range(_LISTED) if number not in there], 4)
        shown = [looks[number] for number in there]
        for place, number in enumerate(away):
            shown.append(unlike(rng, [*looks, *shown], looks[number], motif=place < 2))
        rng.shuffle(shown)
        second = _stall(kit, rng, shown)
        return Composition.taken(
            first,
            second,
            meant=[numbers[number] for number in there],
            titles=[known[numbers[number]] for number in there],
            others=[known[number] for place, number in enumerate(numbers) if place not in there],
        )

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Each book is looked up by its number."""
        titles, others = composition.facts["titles"], composition.facts["others"]
        need(len({*titles, *others}) == _LISTED, "two books have one title")
        things = [
            Thing(title, shorter(title), key=number)
            for title, number in zip(titles, composition.facts["meant"], strict=True)
        ]
        return await tally.run(_TALLIES[play.goal], things, play, others=others)


def _page(kit: Kit, rng: random.Random, looks: Sequence[Cover], numbers: Sequence[str]) -> Snapshot:
    """The printed page on a table."""
    canvas = Canvas(kit.art, 1040, 1340)
    backdrops.table(canvas, rng)
    backdrops.paper(canvas, rng, (84, 84, canvas.width - 84, canvas.height - 84))
    canvas.text(rng.choice(_HEADINGS), canvas.width / 2, 150, 44, face="serif bold", anchor="middle")
    for place, (look, number) in enumerate(zip(looks, numbers, strict=True)):
        row, column = divmod(place, 3)
        x, y = canvas.width * 0.5 + (column - 1) * 282, 184 + row * 354
        canvas.lay(cover(kit.art, look), x, y + HEIGHT / 2, label="book", score=round(rng.uniform(0.7, 0.95), 2))
        canvas.text(f"ISBN {number}", x, y + HEIGHT + 34, 25, face="sans bold", anchor="middle")
    return snapshot(canvas, rng, tilt=0.7)


def _stall(kit: Kit, rng: random.Random, looks: Sequence[Cover]) -> Snapshot:
    """Books on a table, this way and that."""
    canvas = Canvas(kit.art, 1180, 1000)
    backdrops.table(canvas, rng)
    places = sorted(rng.sample(_PLACES, len(looks)), key=lambda place: place[1])
    for thing, (x, y) in zip(
        rng.sample(_CLUTTER, 2), rng.sample([one for one in _PLACES if one not in places], 2), strict=True
    ):
        canvas.place(
            thing, x + rng.uniform(-30, 30), y + 40, rng.uniform(110, 150), score=round(rng.uniform(0.7, 0.95), 2)
        )
    for (x, y), look in zip(places, looks, strict=True):
        book = cover(kit.art, look)
        turn = rng.uniform(-24, 24)
        canvas.lay(
            book, x + rng.uniform(-14, 14), y + rng.uniform(-14, 14), turn=turn, label="book", score=round(rng.uniform(0.7, 0.95), 2)
        )  # fmt: skip
    return snapshot(canvas, rng)


def _book(thing: Thing) -> ReferenceCall:
    return call("openlibrary_mcp/get_book_info", {"isbn": thing.key})


def _offer(thing: Thing) -> ReferenceCall:
    return call("amazon/search_products", {"keywords": thing.key}, free=("n",), words={"keywords": (thing.key,)})


def _price(text: str) -> float:
    found = offers.prices(text)
    need(len(found) == 1, "the shop has not one such book")
    return found[0]


_TALLIES = {
    "pages": Tally(
        look_up=_book,
        figure=pages,
        unit="pages",
        meant=("books", "the titles of the listed books that lie on the stall"),
        most=("longest", "the one of those with the most pages"),
        total=("pages", "how many pages those books have together"),
        wording="Find the books of the page that lie on the stall by their covers, look them up by their numbers, and add up their pages.",
    ),
    "prices": Tally(
        look_up=_offer,
        figure=_price,
        unit="USD",
        meant=("found", "the titles of the listed books that lie on the stall"),
        most=("dearest", "the one of those that costs the most new"),
        total=("total", "what those books cost together when bought new"),
        wording="Find the books of the page that lie on the stall by their covers, look up what they cost by their numbers, and add it up.",
    ),
}
