"""A shelf in a shop: read every pack, find what each costs on Amazon, and make a sheet with the sum."""

import random
import re
from collections.abc import Mapping
from typing import Any

from m3bench.tasks.checks import AnswerNumber, CallMade, WorkbookCells
from m3bench.tasks.families import offers
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call
from m3bench.tasks.families.texts import Tables, tables
from m3bench.tasks.render import backdrops
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.packs import COLOURS, pack
from m3bench.tasks.task import ReferenceCall

_WIDTHS = {"box": 330, "bag": 320, "jar": 290, "can": 270, "bottle": 270, "tube": 280}
_SHOPS = {
    "American": "amazon.com",
    "British": "amazon.co.uk",
    "Canadian": "amazon.ca",
    "Australian": "amazon.com.au",
    "Irish": "amazon.ie",
}
_TOUCHES = (
    "an empty second page for notes",
    "a duplicate of the page as backup",
    "a bar chart",
    "filter buttons",
    "a bold heading row",
)
_BOOK, _SHEET = "./shelf_prices.xlsx", "Prices"


class _Tables(Tables):
    categories: tuple[str, ...]
    shapes: dict[str, str]
    pictures: tuple[tuple[str, str], ...]


_tables = tables("items_price", _Tables)


class ItemsPrice:
    """Read the packs, search each, add up, share out, and write a sheet."""

    name = "items_price"
    servers = ("amazon", "math", "excel")

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Four to six packs on two boards."""
        canvas = Canvas(kit.art, 1440, 980)
        goods = _goods(canvas, kit)
        chosen: list[dict[str, Any]] = []
        count = rng.choice((4, 5, 5, 6, 6))
        for item in rng.sample(goods, len(goods)):
            if item["brand"] not in {other["brand"] for other in chosen}:
                chosen.append(item)
            if len(chosen) == count:
                break
        boards = backdrops.shelves(canvas, rng, 2)
        split = (count + rng.randint(0, 1)) // 2
        colours = rng.sample(COLOURS, count)
        for foot, row in zip(boards, (chosen[:split], chosen[split:]), strict=True):
            widths = [_WIDTHS[item["shape"]] * rng.uniform(0.97, 1.06) for item in row]
            gap = (canvas.width - 60 - sum(widths)) / (len(row) + 1)
            left = 30 + gap
            for item, width in zip(row, widths, strict=True):
                tall = rng.uniform(395, 425) if item["shape"] in ("box", "bag", "bottle") else rng.uniform(355, 395)
                pack(
                    canvas, rng, left + width / 2, foot, width, tall, brand=item["brand"], name=item["name"], size=item["size"],
                    shape=item["shape"], colour=colours.pop(), picture=item["picture"], description=f"a {item['shape']} on a shelf", plate=True,
                )  # fmt: skip
                left += width + gap
        canvas.light(rng, 0.8)
        return Composition.of(canvas, goods=[(item["brand"], item["name"], item["size"]) for item in chosen])

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Search all together, add, share out, then the sheet."""
        goods = composition.facts["goods"]
        shop, touch, people = rng.choice(tuple(_SHOPS)), rng.choice(_TOUCHES), rng.randint(3, 9)
        texts = await play.step(*(_search(brand, name, size, _SHOPS[shop]) for brand, name, size in goods))
        titles = [text.split("\n")[0].removeprefix("- ") for text in texts]
        prices = [offers.prices(text)[0] for text in texts]
        (total,) = await play.step(call("math/sum", {"numbers": prices}))
        divide = call("math/division", {"numerator": round(float(total), 2), "denominator": people})
        share, _ = await play.step(divide, call("excel/create_workbook", {"filepath": _BOOK}, free=("filepath",)))
        sum_, each = round(float(total), 2), round(float(share), 2)
        rows: list[list[str | float]] = [["Product", "Price"], ["Total", sum_]]
        rows[1:1] = [[title, price] for title, price in zip(titles, prices, strict=True)]
        await play.step(
            call(
                "excel/write_data_to_excel", {"filepath": _BOOK, "sheet_name": _SHEET, "data": rows},
                free=("filepath", "sheet_name", "start_cell"),
            )
        )  # fmt: skip
        await play.step(_finish(touch, len(goods) + 1))
        listed = "; ".join(f"{title}: {price:.2f}" for title, price in zip(titles, prices, strict=True))
        return Solution(
            wording=f"Read the products in {path}, find each on {_SHOPS[shop]}, add the prices up, divide by {people}, and "
            f"write products, prices and total to a workbook with {touch}.",
            answer=f"{listed}. Together they cost {sum_:.2f}, which is {each:.2f} for each of {people}. The sheet is {_BOOK}.",
            checks=(
                AnswerNumber(value=sum_, tolerance=0.011, what="the total"),
                AnswerNumber(value=each, tolerance=0.011, what="the share of each"),
                WorkbookCells(values=tuple(prices), tolerance=0.011),
                WorkbookCells(values=tuple(brand for brand, _, _ in goods)),
                CallMade(
                    tool="amazon/search_products",
                    containing=_SHOPS[shop] if shop != "American" else "",
                    times=len(goods),
                ),
            ),
            given={"shop": shop, "touch": touch, "people": str(people)},
        )


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


def _search(brand: str, name: str, size: str, domain: str) -> ReferenceCall:
    arguments: dict[str, Any] = {"keywords": f"{brand} {name} {size}".replace(",", ""), "n": 1, "amazon_domain": domain}
    return call(
        "amazon/search_products",
        arguments,
        words={"keywords": tuple(re.findall(r"\w+", f"{brand} {name}"))},
        either={"n": (None, *range(1, 11)), "amazon_domain": (domain, *([None] if domain == "amazon.com" else []))},
    )


def _finish(touch: str, last: int) -> ReferenceCall:
    """The call that makes a sheet as it was wished; `last` is the last row with a product."""
    place: dict[str, Any] = {"filepath": _BOOK, "sheet_name": _SHEET}
    if touch == "a bar chart":
        arguments = {**place, "data_range": f"A1:B{last}", "chart_type": "bar", "target_cell": "D2", "title": "Prices"}
        names = ("filepath", "sheet_name", "data_range", "target_cell", "title", "x_axis", "y_axis")
        return call("excel/create_chart", arguments, free=names)
    if touch == "filter buttons":
        arguments = {**place, "data_range": f"A1:B{last}", "table_name": "Prices"}
        return call("excel/create_table", arguments, free=(*place, "data_range", "table_name", "table_style"))
    if touch == "an empty second page for notes":
        return call(
            "excel/create_worksheet", {"filepath": _BOOK, "sheet_name": "Notes"}, free=("filepath", "sheet_name")
        )
    if touch == "a duplicate of the page as backup":
        arguments = {"filepath": _BOOK, "source_sheet": _SHEET, "target_sheet": "Backup"}
        return call("excel/copy_worksheet", arguments, free=tuple(arguments))
    arguments = {**place, "start_cell": "A1", "end_cell": "B1", "bold": True}
    return call("excel/format_range", arguments, free=(*place, "end_cell", "bg_color", "font_size", "alignment"))
