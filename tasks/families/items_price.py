"""A shelf in a shop: read every pack, find what each costs on Amazon, and make a sheet with the sum."""

import random
import re
from collections.abc import Mapping
from typing import Any

from m3bench.tasks.checks import AnswerNumber, CallMade, WorkbookCells
from m3bench.tasks.families import offers
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call
from m3bench.tasks.render import backdrops
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.packs import COLOURS, pack
from m3bench.tasks.task import ReferenceCall

_CATEGORIES = (
    "Chips & Crisps", "Cookies & Biscuits", "Candy & Chocolate", "Popcorn, Pretzels & Nuts", "Crackers",
    "Breakfast Cereal", "Soft Drinks", "Water & Juice", "Coffee", "Tea & Cocoa", "Sauces & Condiments", "Canned Goods",
    "Spreads & Baking", "Pasta & Rice", "Laundry", "Cleaning Supplies", "Paper & Bags", "Oral Care", "Hair & Bath",
    "Skin Care & Cosmetics", "Milk & Plant Drinks",
)  # fmt: skip
_SHAPES = {
    "bag": "bag", "pouch": "bag", "bottle": "bottle", "jug": "bottle", "spray": "bottle", "can": "can", "canister": "can",
    "tin": "can", "jar": "jar", "tub": "jar", "tube": "tube", "box": "box", "pack": "box", "carton": "box", "brick": "box",
    "count": "box", "boxes": "box", "cans": "box", "bottles": "box", "cups": "box", "rolls": "box", "packets": "box",
}  # fmt: skip
_WIDTHS = {"box": 330, "bag": 320, "jar": 290, "can": 270, "bottle": 270, "tube": 280}
_PICTURES = (
    ("chip", "potato"), ("crisp", "potato"), ("popcorn", "popcorn"), ("pretzel", "pretzel"), ("peanut", "peanuts"),
    ("cookie", "cookie"), ("biscuit", "cookie"), ("cracker", "rice cracker"), ("chocolate", "chocolate"), ("candy", "candy"),
    ("gum", "candy"), ("lollipop", "lollipop"), ("cereal", "cereal bowl"), ("oatmeal", "cereal bowl"), ("water", "water"),
    ("juice", "juice box"), ("drink", "soft drink"), ("coffee", "coffee"), ("tea", "tea"), ("cocoa", "chocolate"),
    ("pasta", "spaghetti"), ("noodle", "ramen"), ("rice", "rice"), ("soup", "stew"), ("bean", "beans"), ("tomato", "tomato"),
    ("ketchup", "tomato"), ("salsa", "tomato"), ("tuna", "fish"), ("sardine", "fish"), ("corn", "corn"), ("peach", "peach"),
    ("pineapple", "pineapple"), ("mustard", "hot dog"), ("hot sauce", "chili pepper"), ("olive oil", "olive"),
    ("honey", "honey"), ("syrup", "pancakes"), ("pancake", "pancakes"), ("jam", "strawberry"), ("flour", "bread"),
    ("cake", "cupcake"), ("salt", "salt"), ("milk", "milk"), ("soap", "soap"), ("sponge", "sponge"), ("tooth", "tooth"),
    ("floss", "tooth"), ("toilet paper", "toilet paper"), ("shampoo", "lotion bottle"), ("cream", "lotion bottle"),
    ("moisturizer", "lotion bottle"), ("laundry", "t-shirt"), ("softener", "t-shirt"), ("dish", "plate"),
    ("cleaner", "broom"), ("battery", "battery"), ("sunscreen", "sun"), ("lip", "lipstick"), ("mouthwash", "tooth"),
    ("almond", "chestnut"), ("nuts", "peanuts"), ("pistachio", "peanuts"), ("wipes", "soap"), ("sanitizer", "soap"),
    ("body wash", "shower"), ("polish", "couch"), ("meat", "bacon"), ("dressing", "salad"), ("vinegar", "salad"),
    ("mayonnaise", "sandwich"), ("cheese", "cheese"), ("soy sauce", "sushi"), ("barbecue", "steak"), ("oil", "fries"),
    ("bars", "chocolate"), ("pastries", "strawberry"), ("bleach", "bucket"), ("stain", "t-shirt"), ("dryer", "t-shirt"),
    ("bags", "package"), ("foil", "sandwich"), ("razor", "razor"), ("shaving", "razor"), ("conditioner", "lotion bottle"),
    ("mints", "candy"), ("wafers", "waffle"), ("shortbread", "cookie"), ("soda", "soft drink"), ("sugar", "cupcake"),
)  # fmt: skip
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


class ItemsPrice:
    """Read the packs, search each, add up, share out, and write a sheet."""

    name = "items_price"
    servers = ("amazon", "math", "excel")
    questions = (
        "Snapped this in the shop. What would one of everything cost me on Amazon's {shop} site? Make a spreadsheet "
        "listing product and price with the total at the end and {touch}, then tell me that total and each share if "
        "{people} of us chip in.",
        "We restock our office kitchen online instead of here. For every item shown, find its going rate at the {shop} "
        "Amazon, save them as an Excel file ({touch}, please, and a sum), and divide the bill by {people} colleagues.",
        "hey, can u price up my photo? {shop} amazon only. need an xlsx w/ names, amounts, grand total, plus {touch}. "
        "also: split {people} ways = how much per head??",
        "I'm comparing this aisle with the web. Look up all goods pictured in Amazon's {shop} store, record your findings in "
        "a workbook that has {touch} and closes on the overall figure, and say what a household of {people} pays per person.",
        "Student flat, empty cupboards, {people} hungry people sharing costs equally! If we ordered exactly these things, one "
        "each, through {shop} Amazon: what's the damage altogether and individually? A tidy sheet with {touch} would settle "
        "arguments.",
        "Please act as my purchasing assistant. Identify each article on display, obtain its current {shop} Amazon quotation, "
        "compile an itemised Excel document including {touch} and the aggregate amount, and state both aggregate and "
        "quotient for {people} payers.",
        "Grandma wants whatever stands on these boards delivered. Check at Amazon ({shop} branch) how expensive every piece "
        "is, keep notes in a table file featuring {touch} and a final sum, then work out what her {people} grandchildren owe.",
        "Budget nerd here: build a .xlsx from the picture, one row per packet, second column its cost according to {shop} "
        "Amazon, last row adding them up, {touch} as decoration. Report that bottom line along with it divided by {people}.",
        "The charity hamper should contain a single unit of each thing you can see. Which prices does Amazon's {shop} shop "
        "ask? Prepare accounts for our treasurer, namely a spreadsheet having {touch} and totals, since {people} donors split "
        "it evenly.",
        "Is buying online cheaper than this supermarket? I need {shop} Amazon's price for all of them, written to Excel beside "
        "their names, total underneath, {touch} too. There are {people} roommates, me included: what does everybody contribute?",
    )

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
        if product.get("category") not in _CATEGORIES:
            continue
        brand, size = product["brand"], product["size"]
        shape = _SHAPES.get(size.split()[-1].casefold())
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
    return next((art for word, art in _PICTURES if word in kind), None)


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
