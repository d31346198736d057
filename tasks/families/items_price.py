"""A shelf in a shop: find the packs that are circled on Amazon, and compare prices, ratings or boards."""

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from m3bench.tasks.answers.fields import Field, File, Integer, Money, Name, Number, Table
from m3bench.tasks.answers.office import WorkbookRows
from m3bench.tasks.checks import WorkbookCells
from m3bench.tasks.families import tool_answers
from m3bench.tasks.families.base import Composition, Family, Kit, Script, Solution, call, need, table, words
from m3bench.tasks.json_types import Record
from m3bench.tasks.render import backdrops, pen
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.shapes import ellipse, fade, mix, on, path, rect
from m3bench.tasks.scene import Box
from m3bench.tasks.task import ReferenceCall

SHAPES = ("box", "bottle", "can", "jar", "bag", "tube")
COLOURS = ("#c8322f", "#1f5fa8", "#2f7d4f", "#e0a21b", "#6c3f8f", "#d9682b", "#16807f", "#b0305f", "#3d4a5c", "#7a4a2b")
_KERNELS = {"almond": "#b8743c", "pistachio": "#a3b553"}
"""Nuts that the art has no object for, and their colours."""


@dataclass(frozen=True, kw_only=True)
class Pack:
    """What a pack looks like."""

    brand: str
    """Written large."""
    name: str
    """What it is, below."""
    size: str = ""
    """Such as "500 g", at the foot."""
    shape: str = "box"
    """One of `SHAPES`."""
    colour: str | None = None
    """Chosen when left out."""
    picture: str | None = None
    """What is printed on it: an object of the art, an almond or a pistachio."""
    plate: bool = False
    """The writing stands dark on a light label, which is easiest to read."""


def pack(canvas: Canvas, rng: random.Random, x: float, foot: float, width: float, height: float, look: Pack) -> Box:
    """Put down one pack, the middle of its foot at `(x, foot)`; brand, name and size stand on it."""
    shape, plate = look.shape, look.plate
    colour = look.colour or rng.choice(COLOURS)
    ink = mix(colour, "#101318", 0.6) if plate else on(colour)
    left, top = x - width / 2, foot - height
    key = f"p{round(left)}-{round(top)}"
    shine = fade(key, mix(colour, "#ffffff", 0.22), colour, mix(colour, "#000000", 0.22), across=True)
    box = canvas.thing(
        shape,
        shine, *_body(shape, left, top, width, height, colour, f"url(#{key})"),
        shadow=True, score=round(rng.uniform(0.86, 0.97), 2),
    )  # fmt: skip
    area_top, area_bottom = _label_area(shape, top, height)
    tall = area_bottom - area_top
    wide = width * (0.86 if shape in ("box", "bag") else 0.9)
    if plate:
        across, down = wide * (0.92 if shape == "tube" else 1), tall * 0.94
        canvas.draw(rect(x - across / 2, area_top + tall * 0.03, across, down, "#fbf8ef", 10))
        wide, area_bottom = across * 0.94, area_bottom - tall * 0.03
    _write(canvas, look, _Label(x, area_top, area_bottom, tall, wide, ink), width)
    return box


class _Label(NamedTuple):
    """Where a pack is written on, and in which colour."""

    x: float
    """Its middle."""
    top: float
    bottom: float
    tall: float
    """How tall the whole label is, with its margin."""
    wide: float
    ink: str


def _write(canvas: Canvas, look: Pack, label: _Label, width: float) -> None:
    """Write brand, name and size on a pack of this width, with its picture between them."""
    x, area_top, area_bottom, tall, wide, ink = label
    canvas.text(
        look.brand,
        x,
        area_top + min(tall * 0.2, 62),
        min(tall * 0.17, 44),
        face="sans black",
        fill=ink,
        anchor="middle",
        width=wide,
    )
    lines = canvas.lines(look.name, wide, min(tall * 0.13, 30), "sans bold")[:3]
    y = area_top + min(tall * 0.36, 106)
    for text in lines:
        canvas.text(text, x, y, min(tall * 0.13, 30), face="sans bold", fill=ink, anchor="middle", width=wide)
        y += min(tall * 0.14, 33)
    y -= min(tall * 0.07, 17)
    room = area_bottom - tall * 0.14 - y
    if look.picture and room > 36:
        high = min(room, width * 0.5)
        _print(canvas, look.picture, x, y + room / 2 + high / 2, high)
    if look.size:
        canvas.text(
            look.size,
            x,
            area_bottom - tall * 0.04,
            min(tall * 0.1, 28),
            face="sans bold",
            fill=ink,
            anchor="middle",
            width=wide,
        )


def _print(canvas: Canvas, picture: str, x: float, foot: float, high: float) -> None:
    """What is in a pack, printed on it."""
    if picture not in _KERNELS:
        canvas.place(picture, x, foot, high, shadow=False, note=False)
        return
    colour = _KERNELS[picture]
    dark, half, wide = mix(colour, "#000000", 0.35), high * 0.34, high * 0.23
    for across, down, turn in ((-0.36, 0.5, -24), (0.36, 0.5, 24), (0, 0.62, 0)):
        middle, y = x + across * high, foot - high + down * high
        almond = f"M{middle} {y - half} C{middle + wide * 1.5} {y - half * 0.1} {middle + wide} {y + half} {middle} {y + half} "
        almond += f"C{middle - wide} {y + half} {middle - wide * 1.5} {y - half * 0.1} {middle} {y - half} Z"
        grooves = "".join(
            f"M{middle + side * wide * 0.3} {y - half * 0.45} q{side * wide * 0.5} {half * 0.6} 0 {half * 1.1} "
            for side in (-1, 0, 1)
        )
        canvas.draw(
            f'<g transform="rotate({turn} {middle} {y})">'
            + path(almond, colour, f'stroke="{dark}" stroke-width="2"')
            + path(grooves, more=f'stroke="{dark}" stroke-width="2" stroke-linecap="round" opacity="0.7"')
            + "</g>"
        )


def _body(shape: str, left: float, top: float, width: float, height: float, colour: str, fill: str) -> list[str]:
    right, foot, middle = left + width, top + height, left + width / 2
    dark = mix(colour, "#000000", 0.35)
    if shape == "bottle":
        neck, shoulder = width * 0.18, top + height * 0.19
        body = (
            f"M{middle - neck} {top + height * 0.06} L{middle - neck} {top + height * 0.11} C{middle - neck} {shoulder} {left} "
            f"{shoulder - 6} {left} {shoulder + 18} L{left} {foot - 12} Q{left} {foot} {left + 12} {foot} L{right - 12} {foot} "
            f"Q{right} {foot} {right} {foot - 12} L{right} {shoulder + 18} C{right} {shoulder - 6} {middle + neck} {shoulder} "
            f"{middle + neck} {top + height * 0.11} L{middle + neck} {top + height * 0.06} Z"
        )
        return [path(body, fill), rect(middle - neck * 1.15, top, neck * 2.3, height * 0.075, dark, 4)]
    if shape == "can":
        return [
            rect(left, top + 8, width, height - 16, fill, 10),
            ellipse(middle, top + 9, width / 2, 9, "#c9ced3"),
            ellipse(middle, foot - 9, width / 2, 9, mix(colour, "#000000", 0.3)),
        ]
    if shape == "jar":
        return [
            rect(left, top + height * 0.14, width, height * 0.86, fill, width * 0.14),
            rect(left + width * 0.06, top, width * 0.88, height * 0.15, dark, 6),
        ]
    if shape == "bag":
        teeth = "".join(
            f"L{left + width * (i + 0.5) / 12:.1f} {top} L{left + width * (i + 1) / 12:.1f} {top + 8} "
            for i in range(12)
        )
        body = f"M{left} {top + 8} {teeth}Q{right + 6} {top + height / 2} {right} {foot} L{left} {foot} Q{left - 6} {top + height / 2} {left} {top + 8} Z"
        return [path(body, fill), rect(left, top + 18, width, 5, "#ffffff", 0, 'opacity="0.35"')]
    if shape == "tube":
        body = f"M{left} {top} L{right} {top} L{right - width * 0.08} {foot - height * 0.12} L{left + width * 0.08} {foot - height * 0.12} Z"
        return [
            path(body, fill),
            rect(middle - width * 0.22, foot - height * 0.12, width * 0.44, height * 0.12, dark, 5),
        ]
    return [
        rect(left, top, width, height, fill, 5),
        rect(left, top, width * 0.07, height, "#000000", 5, 'opacity="0.14"'),
    ]


def _label_area(shape: str, top: float, height: float) -> tuple[float, float]:
    share = {"bottle": (0.28, 0.97), "can": (0.1, 0.9), "jar": (0.22, 0.95), "bag": (0.1, 0.96), "tube": (0.04, 0.84)}
    first, last = share.get(shape, (0.04, 0.96))
    return top + height * first, top + height * last


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


class ItemsPrice(Family):
    """Read the packs, search each, then add up, compare, or write a sheet."""

    name = "items_price"
    servers = ("amazon", "math", "excel")
    categories = words()
    shapes = table(dict[str, str])
    pictures = table(tuple[tuple[str, str], ...])

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Six packs on two boards; three to five of them are circled in red, at least one on each board."""
        canvas = Canvas(kit.art, 1440, 980)
        goods = _goods(canvas, kit)
        chosen: list[Record] = []
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
                look = Pack(**item, colour=colours.pop(), plate=True)
                boxes.append(pack(canvas, rng, left + width / 2, foot, width, tall, look))
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
    shop, people = rng.choice(tuple(tool_answers.SHOPS)), rng.randint(3, 9)
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
    unit = tool_answers.SHOPS[shop][1]
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
        wording=f"Find each of the products circled in red on {tool_answers.SHOPS[shop][0]}, add the prices up, divide by {people}, and write products, "
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
    shop = rng.choice(tuple(tool_answers.SHOPS))
    found = await _offers(_meant(composition), shop, play)
    domain, unit = tool_answers.SHOPS[shop]
    pages = await play.step(
        *(
            call(
                "amazon/get_product",
                {"asin": offer.asin, "amazon_domain": domain},
                either={"amazon_domain": tool_answers.hosts(domain)},
            )
            for offer in found
        )
    )
    rated = [tool_answers.rated(text) for text in pages]
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
    shop = rng.choice(tuple(tool_answers.SHOPS))
    rows = [composition.facts["upper"], composition.facts["lower"]]
    found = await _offers(_meant(composition), shop, play)
    unit, split = tool_answers.SHOPS[shop][1], len(rows[0])
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
        wording=f"Find the products circled in red on {tool_answers.SHOPS[shop][0]}; add up the prices of each board, and tell which is dearer and by how "
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
        goods, await play.step(*(_search(*item, tool_answers.SHOPS[shop][0]) for item in goods)), strict=True
    ):
        title = tool_answers.offer_title(text)
        need(title == f"{brand} {name}, {size}", f"{title} is not what was looked for")
        found.append(_Offer(title, tool_answers.asin(text), tool_answers.prices(text)[0]))
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


def _goods(canvas: Canvas, kit: Kit) -> list[Record]:
    """The products whose brand, name and size can stand legibly on a pack."""
    found: list[Record] = []
    for product in kit.world("products"):
        if product.get("category") not in ItemsPrice.categories:
            continue
        brand, size = product["brand"], product["size"]
        shape = ItemsPrice.shapes.get(size.split()[-1].casefold())
        name = product["title"].removeprefix(brand).removesuffix(size).strip(" ,")
        if shape and name and product["title"] == f"{brand} {name}, {size}" and _fits(canvas, shape, brand, name):
            found.append({"brand": brand, "name": name, "size": size, "shape": shape, "picture": _picture(product)})
    return found


def _fits(canvas: Canvas, shape: str, brand: str, name: str) -> bool:
    wide = _WIDTHS[shape] * 0.78
    words = max(canvas.art.width(word, 30, "sans bold") for word in name.split())
    lines = canvas.lines(name, wide, 30, "sans bold")
    return len(lines) <= 3 and words <= wide and canvas.art.width(brand, 34, "sans black") <= wide


def _picture(product: Record) -> str | None:
    kind = product["kind"].casefold()
    return next((art for word, art in ItemsPrice.pictures if word in kind), None)


def _small(item: Record) -> bool:
    """Whether less than ten ounces are in it, none of them air as in bags."""
    return item["shape"] not in ("box", "bag") and bool(re.match(r"\d(\.\d+)? (fl )?oz", item["size"]))


def _search(brand: str, name: str, size: str, domain: str) -> ReferenceCall:
    arguments: dict[str, object] = {
        "keywords": f"{brand} {name} {size}".replace(",", ""),
        "n": 1,
        "amazon_domain": domain,
    }
    return call(
        "amazon/search_products",
        arguments,
        words={"keywords": tuple(re.findall(r"\w+", f"{brand} {name}"))},
        either={"n": (None, *range(1, 11)), "amazon_domain": tool_answers.hosts(domain)},
    )
