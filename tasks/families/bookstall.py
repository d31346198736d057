"""A page of a publisher's list and a photograph of a stall: which books of the page lie there, known by their covers alone."""

import random
from collections.abc import Sequence
from typing import NamedTuple

from m3bench.tasks.families import tally, tool_answers
from m3bench.tasks.families.base import Composition, Family, Kit, Script, Solution, call, need
from m3bench.tasks.families.reading_list import pages, shorter
from m3bench.tasks.families.tally import TalliedThing, TallyGoal
from m3bench.tasks.render import backdrops
from m3bench.tasks.render.art import Art
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.phone import Snapshot, snapshot
from m3bench.tasks.render.shapes import ellipse, fade, line, mix, polygon, rect
from m3bench.tasks.task import ReferenceCall

COLOURS = ("#b23a35", "#27588f", "#2e7048", "#d9a02b", "#6b4590", "#d8703a", "#1f7f83", "#3b3f4a", "#e6dcc4", "#c8708f")
PATTERNS = ("stripes", "dots", "rays", "frame", "bands", "checks")
MOTIFS = (
    "sailboat", "owl", "rose", "key", "castle", "cat", "fox", "bicycle", "crown", "compass", "whale", "violin", "umbrella",
    "lantern", "butterfly", "anchor", "hourglass", "teapot", "elephant", "mountain", "telescope", "horse", "piano", "cactus",
)  # fmt: skip
WIDTH, HEIGHT = 204, 280


class Cover(NamedTuple):
    """What a cover looks like."""

    motif: str
    colour: str
    pattern: str


def cover(art: Art, look: Cover) -> Canvas:
    """A cover on a canvas of its own."""
    canvas = Canvas(art, WIDTH, HEIGHT, look.colour)
    canvas.draw(
        fade("g", mix(look.colour, "#ffffff", 0.1), mix(look.colour, "#000000", 0.12)),
        rect(0, 0, WIDTH, HEIGHT, "url(#g)"),
    )
    canvas.draw(*_pattern(look.pattern, mix(look.colour, "#ffffff" if look.colour != "#e6dcc4" else "#7a6a4a", 0.38)))
    canvas.draw(
        ellipse(WIDTH / 2, HEIGHT * 0.47, 76, 76, "#fbf6ea"),
        rect(34, HEIGHT - 66, WIDTH - 68, 44, "#fbf6ea", 3),
        # Lettering that is too small to be read.
        *(line(46, y, right, y, "#6d675c", 3) for y, right in ((HEIGHT - 52, 158), (HEIGHT - 42, 132), (HEIGHT - 32, 148))),
        rect(0, 0, 9, HEIGHT, "#000000", 0, 'opacity="0.22"'),
        line(13, 0, 13, HEIGHT, "#ffffff", 2, 'opacity="0.25"'),
    )  # fmt: skip
    canvas.place(look.motif, WIDTH / 2, HEIGHT * 0.47 + 54, 108, shadow=False, note=False)
    canvas.draw(rect(0, 0, WIDTH, HEIGHT, "none", 0, 'stroke="#000000" stroke-opacity="0.3" stroke-width="2"'))
    return canvas


def unlike(rng: random.Random, looks: Sequence[Cover], like: Cover, *, motif: bool) -> Cover:
    """A cover that shares its motif, or else its colour and pattern, with one and is not one of those that exist."""
    if motif:
        colour = rng.choice(
            [candidate for candidate in COLOURS if candidate not in {look.colour for look in looks if look == like}]
        )
        return Cover(like.motif, colour, rng.choice([pattern for pattern in PATTERNS if pattern != like.pattern]))
    used = {look.motif for look in looks}
    return Cover(rng.choice([motif for motif in MOTIFS if motif not in used]), like.colour, like.pattern)


def _pattern(name: str, ink: str) -> list[str]:
    if name == "stripes":
        return [rect(x, 0, 12, HEIGHT, ink) for x in range(14, WIDTH, 30)]
    if name == "dots":
        return [
            ellipse(x + (row % 2) * 17, y, 6, 6, ink)
            for row, y in enumerate(range(16, HEIGHT, 28))
            for x in range(12, WIDTH, 34)
        ]
    if name == "rays":
        middle = (WIDTH / 2, HEIGHT * 0.47)
        ends = [(-60, 20), (-60, 120), (-60, 240), (20, 330), (110, 330), (200, 330), (270, 240), (270, 120), (270, 20)]
        ends += [(200, -50), (110, -50), (20, -50)]
        return [polygon([middle, (x - 14, y - 14), (x + 14, y + 14)], ink) for x, y in ends]
    if name == "frame":
        return [
            rect(18, 14, WIDTH - 32, HEIGHT - 28, "none", 0, f'stroke="{ink}" stroke-width="7"'),
            rect(30, 26, WIDTH - 56, HEIGHT - 52, "none", 0, f'stroke="{ink}" stroke-width="3"'),
        ]
    if name == "bands":
        return [rect(0, y, WIDTH, 18, ink) for y in (16, 48, HEIGHT - 96)]
    return [
        rect(x, y, 24, 24, ink)
        for row, y in enumerate(range(0, HEIGHT, 24))
        for x in range(24 * (row % 2), WIDTH, 48)
    ]  # fmt: skip


_LISTED = 9
_HEADINGS = ("Spring list", "New this autumn", "From our shelves", "Winter reading", "Summer list")
_CLUTTER = ("coffee", "camera", "purse", "scarf", "basket", "gloves", "radio", "potted plant")
_PLACES = tuple((x, y) for y in (235, 555, 795) for x in (200, 460, 720, 980))
"""Where books may lie on the stall; the row at the front overlaps the one behind it."""


class Bookstall(Family):
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
            TalliedThing(title, shorter(title), key=number)
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
        rng.sample(_CLUTTER, 2), rng.sample([place for place in _PLACES if place not in places], 2), strict=True
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


def _book(thing: TalliedThing) -> ReferenceCall:
    return call("openlibrary_mcp/get_book_info", {"isbn": thing.key})


def _offer(thing: TalliedThing) -> ReferenceCall:
    return call("amazon/search_products", {"keywords": thing.key}, free=("n",), words={"keywords": (thing.key,)})


def _price(text: str) -> float:
    found = tool_answers.prices(text)
    need(len(found) == 1, "the shop has not one such book")
    return found[0]


_TALLIES = {
    "pages": TallyGoal(
        look_up=_book,
        figure=pages,
        unit="pages",
        meant=("books", "the titles of the listed books that lie on the stall"),
        most=("longest", "the one of those with the most pages"),
        total=("pages", "how many pages those books have together"),
        wording="Find the books of the page that lie on the stall by their covers, look them up by their numbers, and add up their pages.",
    ),
    "prices": TallyGoal(
        look_up=_offer,
        figure=_price,
        unit="USD",
        meant=("found", "the titles of the listed books that lie on the stall"),
        most=("dearest", "the one of those that costs the most new"),
        total=("total", "what those books cost together when bought new"),
        wording="Find the books of the page that lie on the stall by their covers, look up what they cost by their numbers, and add it up.",
    ),
}
