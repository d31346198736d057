"""Boxes of medicine: what they are, who makes them, and what a shop asks for the same substance."""

import json
import random
import re
from collections.abc import Sequence

from m3bench.tasks.answers.fields import Field, File, Integer, Money, Name, Number, Table, YesNo
from m3bench.tasks.answers.office import WorkbookRows
from m3bench.tasks.families import medicines, tool_answers
from m3bench.tasks.families.base import Composition, Family, Kit, Script, Solution, call, need
from m3bench.tasks.families.medicines import Medicine, medicine_box
from m3bench.tasks.json_types import Record
from m3bench.tasks.render import backdrops, pen
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.task import ReferenceCall

OFFERS = 3
_SHOPS = {
    "amazon.com": "USD", "amazon.co.uk": "GBP", "amazon.ca": "CAD", "amazon.com.au": "AUD", "amazon.sg": "SGD",
}  # fmt: skip
_NOT_SOLD = {
    "Naloxone hydrochloride",
    "Levonorgestrel",
    "Cholecalciferol",
    "Ferrous sulfate",
    "Pseudoephedrine hydrochloride",
}
_BUDGETS = range(20, 81, 5)
_COLUMNS = 5
_KIND = re.compile(r" (?:Allergy Relief|Arthritis Pain|Allergy|AC|OTC|IB|A-D|DS)$")
"""What people leave out of a brand's name."""
_CLOSE = 0.05
"""The share by which prices that are compared must differ."""


class Drug(Family):
    """Label facts and shop offers for medicines."""

    name = "drug"
    servers = ("healthcare-mcp", "amazon", "excel", "math")

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Two shelves of cartons; three or four are circled, those from left to right."""
        known = [
            medicine
            for medicine in kit.world("medicines")
            if medicine["access"] == "OTC" and medicine["generic"] not in _NOT_SOLD
        ]
        chosen = rng.sample(known, rng.choice((3, 4)))
        others = rng.sample([medicine for medicine in known if medicine not in chosen], 2 * _COLUMNS - len(chosen))
        columns = sorted(rng.sample(range(_COLUMNS), len(chosen)))
        stood = {(column, rng.randrange(2)): one for column, one in zip(columns, chosen, strict=True)}
        left = [(column, row) for row in range(2) for column in range(_COLUMNS) if (column, row) not in stood]
        stood |= dict(zip(left, others, strict=True))
        canvas = Canvas(kit.art, 1600, 900)
        edges = backdrops.shelves(canvas, rng, 2)
        facts, boxes = {}, {}
        for (column, row), medicine in sorted(stood.items()):
            generic, brand = medicine["generic"], rng.choice(medicine["brands"])
            boxes[generic] = medicine_box(
                canvas, rng, 190 + column * 305 + rng.uniform(-8, 8), edges[row], 258,
                rng.uniform(290, 320), Medicine(brand, generic, _form(medicine["forms"])),
            )  # fmt: skip
            facts[generic] = {"brand": brand, "generic": generic, "aliases": medicine.get("aliases", ())}
        canvas.light(rng, 0.7)
        pen.circle(
            canvas,
            rng,
            [boxes[medicine["generic"]] for medicine in chosen],
            [boxes[medicine["generic"]] for medicine in others],
        )
        return Composition.of(canvas, medicines=[facts[medicine["generic"]] for medicine in chosen])

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Facts from the label, prices from the shop."""
        goals = {"sheet": self._sheet, "ends": self._ends, "budget": self._budget}
        return await goals[play.goal](rng, composition, path, play)

    async def _sheet(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Labels, offers and an empty workbook at once; then the rows."""
        boxes, shop = composition.facts["medicines"], rng.choice(tuple(_SHOPS))
        book = path.replace(".png", ".xlsx")
        count = len(boxes)
        texts = await play.step(
            *map(_label, boxes),
            *(_offers(box, shop, OFFERS) for box in boxes),
            call("excel/create_workbook", {"filepath": book}, free=("filepath",)),
        )
        makers = [_maker(text) for text in texts[:count]]
        prices = [min(_prices(text)) for text in texts[count : 2 * count]]
        for one, mine in zip(boxes, texts[count : 2 * count], strict=True):
            await _sure(play, one, shop, mine)
        rows = [[one["brand"], one["generic"], *rest] for one, *rest in zip(boxes, makers, prices, strict=True)]
        data = [["Brand", "Active ingredient", "Manufacturer", "Lowest price"], *rows]
        await play.step(
            call(
                "excel/write_data_to_excel", {"filepath": book, "sheet_name": "Sheet1", "data": data, "start_cell": "A1"},
                free=("filepath", "sheet_name", "start_cell", "data"),
            )
        )  # fmt: skip
        order = _by_price(prices)
        cheapest = boxes[order[0]]
        listed = "; ".join(f"{brand}: {generic} by {firm}, from {price:.2f}" for brand, generic, firm, price in rows)
        return Solution(
            given={"shop": shop},
            wording=f"Look up every medicine circled in red in {path} at the FDA, search {shop} for its active ingredient, compare in a workbook.",
            answer=f"{listed}. The cheapest substitute is the one for {cheapest['brand']} at {prices[order[0]]:.2f}. The table is in {book}.",
            fields=(
                Field(
                    name="workbook",
                    meaning=f"for each box its brand, active ingredient, manufacturer and lowest price on {shop}",
                    value=File(
                        form="xlsx",
                        value=book,
                        holds=(
                            WorkbookRows(
                                rows=tuple(
                                    (_brand(one, boxes), _ingredient(one, boxes), medicines.maker(firm, makers), Money(value=price, unit=_SHOPS[shop]))
                                    for one, firm, price in zip(boxes, makers, prices, strict=True)
                                )
                            ),
                        ),
                    ),
                ),
                Field(
                    name="cheapest",
                    meaning="the brand of the box whose substitute costs least",
                    value=_brand(cheapest, boxes),
                    compared=tuple(prices[number] for number in order),
                    derived=tuple(prices),
                ),
                Field(name="price", meaning="what that substitute costs", value=Money(value=prices[order[0]], unit=_SHOPS[shop])),
            ),
        )  # fmt: skip

    async def _ends(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Who makes the boxes at both ends, and the cheapest offer for what is in one of them."""
        boxes, shop = composition.facts["medicines"], rng.choice(tuple(_SHOPS))
        side = rng.choice(("left", "right"))
        ends = [boxes[0], boxes[-1]]
        box = ends[0] if side == "left" else ends[1]
        *labels, sold = await play.step(*map(_label, ends), _offers(box, shop, OFFERS))
        makers = [_maker(text) for text in labels]
        need(makers[0] != makers[1], "one firm makes both")
        prices = _prices(sold)
        need(len(prices) > 1, "there is one offer alone")
        order = _by_price(prices)
        await _sure(play, box, shop, sold)
        asin = _asins(sold)[order[0]]
        (page,) = await play.step(
            call("amazon/get_product", {"asin": asin, "amazon_domain": shop}, free=("amazon_domain",))
        )
        rated = re.search(r"Rated ([\d.]+) out of 5 by ([\d,]+) customers", page)
        need(rated is not None, "nobody has rated it")
        assert rated
        stars, people = float(rated[1]), int(rated[2].replace(",", ""))
        told = " and ".join(f"{one['brand']} is made by {firm}" for one, firm in zip(ends, makers, strict=True))
        return Solution(
            given={"shop": shop, "side": side},
            wording=f"Look up who makes the first and the last box in {path}; search {shop} for the active ingredient of the one on the {side} and open "
            "the cheapest of the first three offers.",
            answer=f"{told}. The cheapest offer for {box['generic']} costs {prices[order[0]]:.2f} and is rated {stars} by {people} customers.",
            fields=(
                Field(
                    name="makers",
                    meaning="the outermost of the circled boxes: brand and manufacturer",
                    value=Table(
                        columns=("brand", "manufacturer"),
                        rows=tuple((_brand(one, boxes), medicines.maker(firm, makers)) for one, firm in zip(ends, makers, strict=True)),
                    ),
                ),
                Field(name="price", meaning="what the cheapest of the first three offers costs", value=Money(value=prices[order[0]], unit=_SHOPS[shop]), compared=tuple(prices[number] for number in order)),
                Field(name="rating", meaning="the stars of that offer", value=Number(value=stars, within=0.05)),
                Field(name="reviews", meaning="how many customers rated it", value=Integer(value=people)),
            ),
            alternatives=(play.varied("the labels at the end", {0: [play.steps[0][-1]], 1: [*play.steps[1], *play.steps[0][:-1]]}),),
        )  # fmt: skip

    async def _budget(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """What the first offers cost together, and who makes the dearest."""
        boxes, shop = composition.facts["medicines"], rng.choice(tuple(_SHOPS))
        budget = rng.choice(_BUDGETS)
        texts = await play.step(*(_offers(box, shop, 1) for box in boxes))
        for one, mine in zip(boxes, texts, strict=True):
            await _sure(play, one, shop, mine)
        prices = [_prices(text)[0] for text in texts]
        order = _by_price([-price for price in prices])
        dearest = boxes[order[0]]
        total, label = await play.step(call("math/sum", {"numbers": prices}), _label(dearest))
        cost, firm = round(float(total), 2), _maker(label)
        need(abs(cost - budget) >= _CLOSE * budget, "it is neither in the budget nor above it")
        listed = "; ".join(f"{one['generic']} {price:.2f}" for one, price in zip(boxes, prices, strict=True))
        return Solution(
            given={"shop": shop, "budget": str(budget), "currency": _SHOPS[shop]},
            wording=f"Add up the first offers on {shop} for the active ingredients in {path}, compare with {budget}, and look up who makes the dearest.",
            answer=f"{listed}: {cost:.2f} together, which is {'more' if cost > budget else 'not more'} than {budget}. "
            f"The dearest is that for {dearest['brand']}, made by {firm}.",
            fields=(
                Field(name="total", meaning="what the first offers cost together", value=Money(value=cost, unit=_SHOPS[shop]), derived=tuple(prices)),
                Field(name="within_budget", meaning="whether that is within the budget", value=YesNo(value=cost <= budget)),
                Field(
                    name="dearest",
                    meaning="the brand of the box whose offer is the most expensive",
                    value=_brand(dearest, boxes),
                    compared=tuple(prices[number] for number in order),
                    derived=tuple(prices),
                ),
                Field(name="manufacturer", meaning="who makes that brand, by its official label", value=medicines.maker(firm)),
            ),
            alternatives=(play.varied("added up without a tool", {1: [_label(dearest)]}),),
        )  # fmt: skip


def _label(box: Record) -> ReferenceCall:
    return call(
        "healthcare-mcp/fda_drug_lookup", {"drug_name": box["brand"], "search_type": "label"},
        either={"drug_name": (box["brand"], box["generic"]), "search_type": ("label", "general", None)},
    )  # fmt: skip


def _offers(box: Record, shop: str, count: int, words: str = "") -> ReferenceCall:
    """A search for what is in a box; more offers than needed do no harm."""
    return call(
        "amazon/search_products", {"keywords": words or medicines.substance(box["generic"]), "n": count, "amazon_domain": shop},
        words={"keywords": box["generic"].split()[:1]}, free=("n",),
    )  # fmt: skip


async def _sure(play: Script, box: Record, shop: str, mine: str) -> None:
    """Whoever searches for the full name finds the same offers, or none and tries again."""
    found = _asins(mine)[:OFFERS]
    (text,) = await play.play([_offers(box, shop, OFFERS, box["generic"])])
    need(_asins(text)[: len(found)] in ([], found), "the offers hang on how the substance is written")


def _maker(label: str) -> str:
    return str(json.loads(label)["drugs"][0]["labeler_name"])


def _prices(text: str) -> list[float]:
    """The prices of the first offers, of which there must be one."""
    found = tool_answers.prices(text)[:OFFERS]
    need(bool(found), "nobody sells it")
    return found


def _asins(text: str) -> list[str]:
    return re.findall(r"/dp/(\w+)", text)


def _by_price(prices: Sequence[float]) -> list[int]:
    """The places of prices, the lowest first, which must be clear."""
    order = sorted(range(len(prices)), key=lambda number: prices[number])
    first, second = (abs(prices[number]) for number in order[:2])
    need(abs(first - second) >= _CLOSE * max(first, second), "two cost nearly the same")
    return order


def _brand(box: Record, boxes: Sequence[Record]) -> Name:
    others = tuple(other["brand"] for other in boxes if other is not box)
    context = (box["generic"], *box["aliases"], "brand box")
    return Name(value=box["brand"], aliases=(_KIND.sub("", box["brand"]),), others=others, context=context)


def _ingredient(box: Record, boxes: Sequence[Record]) -> Name:
    return medicines.ingredient(box["generic"], box["aliases"], (other["generic"] for other in boxes))


def _form(forms: str) -> str:
    """The first form and strength on the label."""
    return forms.split(";")[0].split(",")[0].split(" (")[0]
