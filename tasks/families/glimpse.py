"""A film in which numbers of books flash up for a third of a second each; how long those books are, or how old."""

import random

from m3bench.tasks.families import tally, tool_answers
from m3bench.tasks.families.base import Composition, Family, Kit, Script, Solution, call, need
from m3bench.tasks.families.reading_list import pages, shorter
from m3bench.tasks.families.tally import TalliedThing, TallyGoal
from m3bench.tasks.sound_and_film import FilmSign, SilentFilm
from m3bench.tasks.task import ReferenceCall

_FLASHES = 3
_SHOWN = 3
"""Pictures, of which there are ten in a second."""
_PICTURES = 80


class Glimpse(Family):
    """Find the moments at which something flashes up, read it, look up the books and add up."""

    name = "glimpse"
    servers = ("recordings", "openlibrary_mcp", "math")

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Three numbers of books, each at a moment of its own."""
        books = {book["id"]: book["title"] for book in kit.world("books") if len(book["id"]) == 13}
        numbers = rng.sample(sorted(books), _FLASHES)
        starts = sorted(rng.sample(range(6, _PICTURES - 8, 6), _FLASHES))
        signs = [FilmSign(number, start, start + _SHOWN) for number, start in zip(numbers, starts, strict=True)]
        film = SilentFilm(signs=tuple(signs), pictures=_PICTURES, seed=rng.randrange(10_000))
        titles = sorted(set(books.values()))
        return Composition.recorded(
            film, numbers=numbers, signs=signs, titles=[books[number] for number in numbers], books=titles
        )

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """What is read must be what was shown."""
        numbers, titles = composition.facts["numbers"], composition.facts["titles"]
        need(len(set(titles)) == len(titles), "two books have one title")
        texts = await tool_answers.read_signs(path, composition.facts["signs"], play)
        for number, text in zip(numbers, texts, strict=True):
            need(number in text.split(), "a number cannot be read")
        things = [
            TalliedThing(title, shorter(title), key=number) for title, number in zip(titles, numbers, strict=True)
        ]
        others = [title for title in composition.facts["books"] if title not in titles]
        return await tally.run(_TALLIES[play.goal], things, play, others=others)


def _book(thing: TalliedThing) -> ReferenceCall:
    return call("openlibrary_mcp/get_book_info", {"isbn": thing.key})


def _sheets(text: str) -> float:
    return pages(text) / 2


_TALLIES = {
    "pages": TallyGoal(
        look_up=_book,
        figure=pages,
        unit="pages",
        meant=("titles", "the titles of the books whose numbers flash up"),
        most=("longest", "the one of those with the most pages"),
        total=("pages", "how many pages those books have together"),
        wording="Find the three numbers that flash up in the film, look up the books, and add up their pages.",
    ),
    "sheets": TallyGoal(
        look_up=_book,
        figure=_sheets,
        unit="sheets",
        meant=("books", "the titles of the books whose numbers flash up"),
        most=("thickest", "the one of those with the most sheets"),
        total=("sheets", "how many sheets of paper those books have together, with two pages on each"),
        wording="Find the three numbers that flash up in the film, look up the books, halve their pages and add them up.",
    ),
}
