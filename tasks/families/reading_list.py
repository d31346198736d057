"""Books face down on a table, some of them circled: which a library may lend or buy by its rules, and how much of it falls to whom."""

import json
import random
import re

from m3bench.tasks.families import errands, tool_answers
from m3bench.tasks.families.barcode_lookup import BarcodeLookup
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call, need, words
from m3bench.tasks.families.errands import CircledThing, DeskFamily, ErrandGoal
from m3bench.tasks.task import ReferenceCall


class _Books(BarcodeLookup):
    # So many that nobody without eyes hits the right ones: the rules leave some out of any choice.
    circled = (4, 5)
    columns, pitch = 4, 400


class ReadingList(DeskFamily):
    """Ask, read the rule, scan and look the books up; then add up pages or prices."""

    name = "reading_list"
    servers = ("desk", "pyzbar-mcp", "openlibrary_mcp", "amazon", "math")
    readers = words()
    funds = words()
    rooms = words()

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Eight books with their codes; red is drawn around four or five."""
        composition = _Books().compose(rng, kit)
        books = {book["id"]: book["title"] for book in kit.world("books")}
        meant = [(books[number], number) for number in composition.facts["meant"]]
        shown = [books[number] for number in composition.facts["numbers"]]
        fund, other = rng.sample(self.funds, 2)
        return errands.with_desk(
            Composition(picture=composition.picture, scene=composition.scene, facts={"meant": meant, "shown": shown}),
            rng,
            self,
            {
                "weeks": errands.changed(rng, range(11, 30)),
                "reader": (rng.choice(self.readers),),
                "copies": (str(rng.randrange(11, 40)),),
                "fund": (fund, other),
                "evenings": errands.changed(rng, range(12, 45)),
                "room": (rng.choice(self.rooms),),
            },
            {
                "lengths": errands.limits(rng, self.readers, range(180, 620, 10), "{value} pages"),
                "buying": errands.limits(rng, self.funds, range(1100, 4200, 50), "${value} a copy", 100),
                "ages": errands.limits(rng, self.rooms, range(1965, 2016), "{value} or later"),
            },
        )  # fmt: skip

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Everything by goal."""
        things = [CircledThing(title, shorter(title), key=number) for title, number in composition.facts["meant"]]
        scan = call("pyzbar-mcp/scan_barcode", {"image_paths": path})
        return await errands.run(_ERRANDS[play.goal], things, self, rng, path, play, read=scan)


def shorter(title: str) -> tuple[str, ...]:
    """A title without what follows the colon."""
    short = title.partition(":")[0]
    return (short,) if short != title else ()


def _book(thing: CircledThing) -> ReferenceCall:
    return call("openlibrary_mcp/get_book_info", {"isbn": thing.key})


def pages(text: str) -> float:
    """How many pages a book has, as its entry says."""
    counted = json.loads(text)["metadata"].get("pages")
    need(isinstance(counted, int), "nobody counted its pages")
    return float(counted)


def _year(text: str) -> float:
    found = re.findall(r"\b(?:1[5-9]|20)\d\d\b", json.loads(text)["metadata"].get("publish_date", ""))
    need(len(found) == 1, "nobody knows when it came out")
    return float(found[0])


def _offer(thing: CircledThing) -> ReferenceCall:
    return call("amazon/search_products", {"keywords": thing.key}, free=("n",), words={"keywords": (thing.key,)})


def _price(text: str) -> float:
    found = tool_answers.prices(text)
    need(len(found) == 1, "the shop has not one such book")
    return found[0]


_ERRANDS = {
    "course": ErrandGoal(
        count="weeks",
        case="reader",
        paper="lengths",
        look_up=_book,
        figure=pages,
        allowed=errands.at_most(pages),
        shared=True,
        unit="pages",
        kept=("lent", "the titles of the circled books that they may have"),
        total=("pages", "how many pages those have together"),
        result=("pages_a_week", "how many pages that is in one week"),
        wording="Look every book up by its ISBN, leave out those that are longer than the rules allow, add up the pages of the others and divide them by the number of weeks.",
    ),
    "purchase": ErrandGoal(
        count="copies",
        case="fund",
        paper="buying",
        look_up=_offer,
        figure=_price,
        allowed=errands.at_most(_price),
        shared=False,
        unit="USD",
        kept=("bought", "the titles of the circled books that may be bought"),
        total=("one_of_each", "what one copy of each of those costs together"),
        result=("bill", "what all copies cost"),
        wording="Find every book on amazon.com by its ISBN, leave out those that are dearer than the rules allow, add up the others and multiply the sum by the number of copies.",
    ),
    "recital": ErrandGoal(
        count="evenings",
        case="room",
        paper="ages",
        look_up=_book,
        figure=pages,
        allowed=errands.at_least(_year, close=0.4),
        shared=True,
        unit="pages",
        kept=("taken", "the titles of the circled books that may go there"),
        total=("pages", "how many pages those have together"),
        result=("pages_an_evening", "how many pages that is in one evening"),
        wording="Look every book up by its ISBN, leave out those that are older than the rules allow, add up the pages of the others and divide them by the number of evenings.",
    ),
}
