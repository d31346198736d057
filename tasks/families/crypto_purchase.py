"""Things in a room or a yard: what the largest costs, and how much of the jumpiest coin that is."""

import json
import random
from collections.abc import Mapping, Sequence
from typing import Any

from m3bench.tasks.checks import AnswerNames, AnswerNumber
from m3bench.tasks.families import offers
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call, need
from m3bench.tasks.families.detections import area_of, read_objects
from m3bench.tasks.families.texts import Tables, tables
from m3bench.tasks.render import backdrops
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.shapes import ellipse, line, polygon

_GROUNDS = ("room", "room", "meadow", "sand")
_LEAST_VALUE = 0.05
"""Dollars; cheaper coins would give millions of coins, which people write in too many ways."""


class _Tables(Tables):
    things: dict[str, tuple[str, ...]]


_tables = tables("crypto_purchase", _Tables)


class CryptoPurchase:
    """Detect the largest thing, find its price and the jumpiest coin, then divide."""

    name = "crypto_purchase"
    servers = ("dinox-mcp", "amazon", "okx", "math")

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """One large thing among small ones."""
        canvas = Canvas(kit.art, 1320, 880)
        ground = rng.choice(_GROUNDS)
        level = _ground(canvas, rng, ground)
        names = rng.sample(tuple(_tables().things), rng.randint(4, 6))
        for name, x, foot, height in _arranged(rng, kit, names, canvas, level):
            canvas.place(
                name, x, foot, height, score=round(rng.uniform(0.84, 0.97), 2), aliases=_tables().things[name],
                description=f"a {name} standing on the {'floor' if ground == 'room' else 'ground'}",
            )  # fmt: skip
        canvas.light(rng)
        coins = [coin for coin in kit.world("coins") if coin["kind"] == "coin" and "USDT" in coin["pairs"]]
        return Composition.of(
            canvas,
            largest=names[0],
            coins=[(coin["id"], coin["name"]) for coin in coins if coin["value"] >= _LEAST_VALUE],
        )

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Detect, then price and candles together, then the rate, then the division."""
        coins = rng.sample(composition.facts["coins"], rng.choice((3, 4, 4, 5)))
        detect = call(
            "dinox-mcp/detect-all-objects",
            {"imageFileUri": path, "includeDescription": False},
            free=("includeDescription",),
        )
        (text,) = await play.step(detect)
        thing = max(read_objects(text), key=lambda found: area_of(found.box)).name
        need(thing == composition.facts["largest"], "the largest thing must be plain")
        search = call(
            "amazon/search_products",
            {"keywords": thing, "n": 1},
            words={"keywords": (thing,)},
            either={"n": (None, *range(1, 11))},
        )
        offer, *candles = await play.step(
            search,
            *(call("okx/get_candlesticks", {"instrument": f"{id}-USDT", "bar": "1H", "limit": 24}) for id, _ in coins),
        )
        swings = [_swing(json.loads(text)) for text in candles]
        id, name = coins[swings.index(max(swings))]
        title, price = offer.split("\n")[0].removeprefix("- "), offers.prices(offer)[0]
        (ticker,) = await play.step(call("okx/get_price", {"instrument": f"{id}-USDT"}))
        rate = float(json.loads(ticker)["lastPrice"])
        (quotient,) = await play.step(call("math/division", {"numerator": price, "denominator": rate}))
        amount = float(quotient)
        tickers = [search, *(call("okx/get_price", {"instrument": f"{coin}-USDT"}) for coin, _ in coins)]
        return Solution(
            wording=f"Detect the largest object in {path}, take the first amazon.com hit for it, find which of "
            f"{', '.join(coin for coin, _ in coins)} has the widest 24-hour range in percent of its low, and divide the price by its "
            "last price in USDT.",
            answer=f"The largest thing is the {thing}; Amazon's first hit is {title} at ${price:.2f}. {name} ({id}) swung most, by "
            f"{max(swings) * 100:.2f} % from low to high. At {rate:g} USDT that buys about {_written(amount)} {id}.",
            checks=(
                AnswerNames(all_of=((thing, *_tables().things[thing], *_plain(title)), (id, name))),
                AnswerNumber(value=price, tolerance=0.011, what="the price of the thing"),
                AnswerNumber(value=amount, tolerance=float(f"{amount * 0.008:.3g}"), what="how many coins that is"),
            ),
            given={"coins": _listed([f"{coin_name} ({coin})" for coin, coin_name in coins])},
            alternatives=(play.varied("the day's high and low stand in the tickers too", {1: tickers, 2: ()}),),
        )


def _ground(canvas: Canvas, rng: random.Random, ground: str) -> float:
    """Draw what things stand on; returns where it begins."""
    colour = rng.choice(("#b5524a", "#3f6f8f", "#5d7f58", "#8a6a9a", "#c2954a"))
    if ground != "room":
        level = backdrops.outdoors(canvas, rng, ground, rng.uniform(0.3, 0.38))
        _blanket(canvas, level, colour)
        return level
    level = backdrops.room(canvas, rng, rng.uniform(0.46, 0.54))
    for number in range(1, 24):
        canvas.draw(
            line(canvas.width * number / 24, 0, canvas.width * number / 24, level - 16, colour, 9, 'opacity="0.1"')
        )
    middle, deep = level + (canvas.height - level) * 0.52, (canvas.height - level) * 0.42
    canvas.draw(
        ellipse(canvas.width / 2, middle, canvas.width * 0.46, deep, colour, 'opacity="0.55"'),
        ellipse(
            canvas.width / 2,
            middle,
            canvas.width * 0.42,
            deep * 0.88,
            "none",
            'stroke="#fff6e5" stroke-width="5" opacity="0.6"',
        ),
    )
    return level


def _blanket(canvas: Canvas, level: float, colour: str) -> None:
    """A striped blanket on the ground, as at a yard sale."""
    top, bottom, width = level + 44, canvas.height - 14, canvas.width
    canvas.draw(polygon([(width * 0.14, top), (width * 0.86, top), (width - 14, bottom), (14, bottom)], "#f3e9d4"))
    for number in range(0, 12, 2):
        near, far = (
            [14 + (width - 28) * edge / 12 for edge in (number, number + 1)],
            [width * (0.14 + 0.06 * edge) for edge in (number, number + 1)],
        )
        canvas.draw(
            polygon([(far[0], top), (far[1], top), (near[1], bottom), (near[0], bottom)], colour, 'opacity="0.6"')
        )


def _arranged(
    rng: random.Random, kit: Kit, names: Sequence[str], canvas: Canvas, level: float
) -> list[tuple[str, float, float, float]]:
    """Name, place and height of each thing, the farthest first; the first name becomes by far the largest."""
    shapes = {name: kit.art.object(name).size for name in names}
    found: list[tuple[str, float, float, float]] = []
    boxes: list[tuple[float, float, float, float]] = []
    tries = 0
    while len(found) < len(names):
        name = names[len(found)]
        nearness = rng.uniform(0.1, 1) if found else rng.uniform(0.9, 1)
        side = rng.uniform(130, 150) + 75 * nearness if found else rng.uniform(370, 415)
        wide, tall = shapes[name]
        height = min(460, side * (tall / wide) ** 0.5)
        width = height * wide / tall
        x, foot = (
            rng.uniform(40 + width / 2, canvas.width - 40 - width / 2),
            level + 45 + (canvas.height - 85 - level) * nearness,
        )
        box = (x - width / 2 - 16, foot - height - 10, x + width / 2 + 16, foot + 22)
        tries += 1
        if not any(_meet(box, other) for other in boxes):
            found.append((name, x, foot, height))
            boxes.append(box)
        elif tries % 200 == 0:
            found, boxes = [], []
    return sorted(found, key=lambda item: item[2])


def _meet(one: Sequence[float], other: Sequence[float]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _swing(candles: Sequence[Mapping[str, Any]]) -> float:
    low = min(float(candle["low"]) for candle in candles)
    return (max(float(candle["high"]) for candle in candles) - low) / low


def _plain(title: str) -> tuple[str, ...]:
    """What a product is called without its variety."""
    return (title, title.split(",")[0])


def _written(amount: float) -> str:
    return f"{amount:,.2f}" if amount >= 100 else f"{amount:.4g}"


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"
