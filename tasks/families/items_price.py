"""A shelf in a shop: find the packs that are circled on Amazon, and compare prices, ratings or boards."""

import random
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from m3bench.tasks.answers.fields import Field, File, Integer, Money, Name, Number, Table
from m3bench.tasks.answers.sheets import WorkbookRows
from m3bench.tasks.checks import WorkbookCells
from m3bench.tasks.families import offers
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call, need
from m3bench.tasks.families.texts import Tables, tables
from m3bench.tasks.render import backdrops, pen
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.packs import COLOURS, pack
from m3bench.tasks.task import ReferenceCall

_WIDTHS = {"box": 330, "bag": 320, "jar": 290, "can": 270, "bottle": 270, "tube": 280}
_HEIGHTS = {
    "box": (395, 425),
    "bag": (395, 425),
    "jar": (355, 395),
    "can": (355, 395),
    "bottle": (415, 445),
    "tube": (355, 395),
}
_ROW = 3
"""Packs on a board."""
_BOOK, _SHEET = "./shelf_prices.xlsx", "Prices"


class _Tables(Tables):
    categories: tuple[str, ...]
    shapes: dict[str, str]
    pictures: tuple[tuple[str, str], ...]


_tables = tables("items_price", _Tables)


class ItemsPrice:
    """Read the packs, search each, then add up, compare, or write a sheet."""

    name = "items_price"
    servers = ("amazon", "math", "excel")

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Six packs on two boards; three to five of them are circled in red, at least one on each board."""
        canvas = Canvas(kit.art, 1440, 980)
        goods = _goods(canvas, kit)
        chosen: list[dict[str, Any]] = []
        for item in rng.sample(goods, len(goods)):
            if item["brand"] not in {other["brand"] for other in chosen}:
                chosen.append(item)
            if len(chosen) == 2 * _ROW:
                break
        boards = backdrops.shelves(canvas, rng, 2)
        colours, boxes = rng.sample(COLOURS, len(chosen)), []
        for foot, row in zip(boards, (chosen[:_ROW], chosen[_ROW:]), strict=True):
            widths = [_WIDTHS[item["shape"]] * rng.uniform(0.97, 1.06) for item in row]
            gap = (canvas.width - 60 - sum(widths)) / (len(row) + 1)
            left = 30 + gap
            for item, width in zip(row, widths, strict=True):
                tall = rng.uniform(*_HEIGHTS[item["shape"]]) * (0.86 if _small(item) else 1)
                box = pack(
                    canvas, rng, left + width / 2, foot, width, tall, brand=item["brand"], name=item["name"], size=item["size"],
                    shape=item["shape"], colour=colours.pop(), picture=item["picture"], plate=True,
                )  # fmt: skip
                boxes.append(box)
                left += width + gap
        canvas.light(rng, 0.8)
        places = range(len(chosen))
        sure = [rng.randrange(_ROW), _ROW + rng.randrange(_ROW)]
        more = rng.sample([place for place in places if place not in sure], rng.choice((1, 2, 3)))
        meant = sorted([*sure, *more])
        rest = [place for place in places if place not in meant]
        pen.circle(canvas, rng, [boxes[place] for place in meant], [boxes[place] for place in rest])
        printed = [(item["brand"], item["name"], item["size"]) for item in chosen]
        return Composition.of(
            canvas,
            upper=[printed[place] for place in meant if place < _ROW],
            lower=[printed[place] for place in meant if place >= _ROW],
            rest=[printed[place] for place in rest],
        )

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Every plan begins with prices from the shop that the question names."""
        plan = {"sheet": _sheet, "ratings": _ratings, "shelves": _shelves}[play.goal]
        return await plan(rng, composition, play)


async def _sheet(rng: random.Random, composition: Composition, play: Script) -> Solution:
    """All prices, their sum and a share, and a workbook with them."""
    goods = _meant(composition)
    shop, people = rng.choice(tuple(offers.SHOPS)), rng.randint(3, 9)
    found = await _offers(goods, shop, play)
    prices = [offer.price for offer in found]
    (text,) = await play.step(call("math/sum", {"numbers": prices}))
    total = round(float(text), 2)
    divide = call("math/division", {"numerator": total, "denominator": people})
    text, _ = await play.step(divide, call("excel/create_workbook", {"filepath": _BOOK}, free=("filepath",)))
    each = round(float(text), 2)
    rows: list[list[str | float]] = [["Product", "Price"], ["Total", total]]
    rows[1:1] = [[offer.title, offer.price] for offer in found]
    await play.step(
        call(
            "excel/write_data_to_excel",
            {"filepath": _BOOK, "sheet_name": _SHEET, "data": rows},
            free=("filepath", "sheet_name", "start_cell"),
        )
    )
    unit = offers.SHOPS[shop][1]
    spelled = _spelled(composition)
    holds = (
        WorkbookRows(
            rows=tuple(
                (_product(number, found, spelled), Money(value=offer.price, unit=unit))
                for number, offer in enumerate(found)
            )
        ),
        WorkbookCells(values=(total,), tolerance=0.011),
    )
    listed = "; ".join(f"{offer.title}: {offer.price:.2f}" for offer in found)
    return Solution(
        wording=f"Find each of the products circled in red on {offers.SHOPS[shop][0]}, add the prices up, divide by {people}, and write products, "
        "prices and total to a workbook.",
        answer=f"{listed}. Together they cost {total:.2f} {unit}, which is {each:.2f} {unit} for each of {people}. The sheet is {_BOOK}.",
        fields=(
            Field(name="total", meaning="what one of each costs", value=Money(value=total, unit=unit), derived=tuple(prices)),
            Field(name="share", meaning="what each of the people pays", value=Money(value=each, unit=unit), derived=tuple(prices)),
            Field(name="workbook", meaning="a sheet with products, prices and the total",
                  value=File(form="xlsx", value=_BOOK, holds=holds)),
        ),
        given={"shop": shop, "people": str(people)},
    )  # fmt: skip


async def _ratings(rng: random.Random, composition: Composition, play: Script) -> Solution:
    """How the products are rated, by what stands on their pages, and the best rated of them."""
    shop = rng.choice(tuple(offers.SHOPS))
    found = await _offers(_meant(composition), shop, play)
    domain, unit = offers.SHOPS[shop]
    pages = await play.step(
        *(
            call(
                "amazon/get_product",
                {"asin": offer.asin, "amazon_domain": domain},
                either={"amazon_domain": offers.hosts(domain)},
            )
            for offer in found
        )
    )
    rated = [offers.rated(text) for text in pages]
    order = sorted(range(len(found)), key=lambda number: -rated[number][0])
    (rating, reviews), best = rated[order[0]], order[0]
    need(rating >= rated[order[1]][0] + 0.1, "two are rated alike")
    need(reviews < max(count for _, count in rated), "the best rated is also the most reviewed")
    spelled = _spelled(composition)
    rows = tuple(
        (_product(number, found, spelled), Number(value=stars, within=0.04)) for number, (stars, _) in enumerate(rated)
    )
    listed = "; ".join(f"{offer.title}: {stars} of 5" for offer, (stars, _) in zip(found, rated, strict=True))
    return Solution(
        wording=f"Find the products circled in red on {domain}, open their pages, and tell how each is rated and which is best.",
        answer=f"{listed}. The best rated is {found[best].title}, by {reviews:,} customers; it costs {found[best].price:.2f} {unit}.",
        fields=(
            Field(
                name="ratings",
                meaning="each of the circled products, and its rating out of 5",
                value=Table(columns=("product", "rating"), rows=rows),
            ),
            Field(
                name="best_rated",
                meaning="the product with the highest rating",
                value=_product(best, found, spelled),
                compared=tuple(rated[number][0] for number in order),
            ),
            Field(name="reviews", meaning="how many customers rated it", value=Integer(value=reviews)),
            Field(name="price", meaning="its price", value=Money(value=found[best].price, unit=unit)),
        ),
        given={"shop": shop},
    )


async def _shelves(rng: random.Random, composition: Composition, play: Script) -> Solution:
    """What each board costs, and what the dearest of all is."""
    shop = rng.choice(tuple(offers.SHOPS))
    rows = [composition.facts["upper"], composition.facts["lower"]]
    found = await _offers(_meant(composition), shop, play)
    unit, split = offers.SHOPS[shop][1], len(rows[0])
    parts = [[offer.price for offer in found[:split]], [offer.price for offer in found[split:]]]
    sums = [round(float(text), 2) for text in await play.step(*(call("math/sum", {"numbers": part}) for part in parts))]
    need(max(sums) > min(sums) * 1.03, "both boards cost about the same")
    (text,) = await play.step(call("math/subtract", {"minuend": max(sums), "subtrahend": min(sums)}))
    difference = round(float(text), 2)
    order = sorted(range(len(found)), key=lambda number: -found[number].price)
    need(found[order[0]].price > found[order[1]].price * 1.03, "two are the dearest")
    spelled = _spelled(composition)
    dearest = order[0]
    side = ("upper", "lower")[sums.index(max(sums))]
    return Solution(
        wording=f"Find the products circled in red on {offers.SHOPS[shop][0]}; add up the prices of each board, and tell which is dearer and by how "
        "much, and which product is the dearest.",
        answer=f"The upper shelf costs {sums[0]:.2f} {unit}, the lower one {sums[1]:.2f} {unit}: the {side} one costs {difference:.2f} {unit} "
        f"more. The most expensive is {found[dearest].title}.",
        fields=(
            Field(name="upper_total", meaning="what one of each circled on the upper shelf costs", value=Money(value=sums[0], unit=unit),
                  derived=tuple(parts[0])),
            Field(name="lower_total", meaning="what one of each circled on the lower shelf costs", value=Money(value=sums[1], unit=unit),
                  derived=tuple(parts[1])),
            Field(name="difference", meaning="how much more one of the shelves costs", value=Money(value=difference, unit=unit),
                  derived=(*parts[0], *parts[1])),
            Field(
                name="dearest",
                meaning="the most expensive of the circled products",
                value=_product(dearest, found, spelled),
                compared=tuple(found[number].price for number in order),
            ),
        ),
        given={"shop": shop},
    )  # fmt: skip


class _Offer(NamedTuple):
    title: str
    asin: str
    price: float


async def _offers(goods: Sequence[tuple[str, str, str]], shop: str, play: Script) -> list[_Offer]:
    """The first offer for each product; it must be that product."""
    found = []
    for (brand, name, size), text in zip(
        goods, await play.step(*(_search(*item, offers.SHOPS[shop][0]) for item in goods)), strict=True
    ):
        title = offers.title(text)
        need(title == f"{brand} {name}, {size}", f"{title} is not what was looked for")
        found.append(_Offer(title, offers.asin(text), offers.prices(text)[0]))
    return found


def _meant(composition: Composition) -> list[tuple[str, str, str]]:
    return [*composition.facts["upper"], *composition.facts["lower"]]


def _spelled(composition: Composition) -> list[tuple[str, ...]]:
    """The ways to say each product on the shelf, those that are meant first."""
    return [_name(*goods) for goods in (*_meant(composition), *composition.facts["rest"])]


def _name(brand: str, name: str, size: str) -> tuple[str, ...]:
    """The ways to say a product: no two on a shelf have one brand."""
    return (f"{brand} {name}", name, brand)


def _product(number: int, found: Sequence[_Offer], spelled: Sequence[tuple[str, ...]]) -> Name:
    """One of the products, and none of the others in the picture."""
    others = [name for place, names in enumerate(spelled) if place != number for name in names]
    title = found[number].title
    return Name(value=spelled[number][0], aliases=(*spelled[number][1:], title), others=tuple(others), context=(title,))


def _goods(canvas: Canvas, kit: Kit) -> list[dict[str, Any]]:
    """The products whose brand, name and size can stand legibly on a pack."""
    found = []
    for product in kit.world("products"):
        if product.get("category") not in _tables().categories:
            continue
        brand, size = product["brand"], product["size"]
        shape = _tables().shapes.get(size.split()[-1].casefold())
        name = product["title"].removeprefix(brand).removesuffix(size).strip(" ,")
        if shape and name and product["title"] == f"{brand} {name}, {size}" and _fits(canvas, shape, brand, name):
            found.append({"brand": brand, "name": name, "size": size, "shape": shape, "picture": _picture(product)})
    return found


def _fits(canvas: Canvas, shape: str, brand: str, name: str) -> bool:
    wide = _WIDTHS[shape] * 0.78
    words = max(canvas.art.width(word, 30, "sans bold") for word in name.split())
    lines = canvas.lines(name, wide, 30, "sans bold")
    return len(lines) <= 3 and words <= wide and canvas.art.width(brand, 34, "sans black") <= wide


def _picture(product: Mapping[str, Any]) -> str | None:
    kind = product["kind"].casefold()
    return next((art for word, art in _tables().pictures if word in kind), None)


def _small(item: Mapping[str, Any]) -> bool:
    """Whether less than ten ounces are in it, none of them air as in bags."""
    return item["shape"] not in ("box", "bag") and bool(re.match(r"\d(\.\d+)? (fl )?oz", item["size"]))


def _search(brand: str, name: str, size: str, domain: str) -> ReferenceCall:
    arguments: dict[str, Any] = {"keywords": f"{brand} {name} {size}".replace(",", ""), "n": 1, "amazon_domain": domain}
    return call(
        "amazon/search_products",
        arguments,
        words={"keywords": tuple(re.findall(r"\w+", f"{brand} {name}"))},
        either={"n": (None, *range(1, 11)), "amazon_domain": offers.hosts(domain)},
    )
