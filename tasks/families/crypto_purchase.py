"""Things in a room or a yard, of which cues say what is meant: what those cost, and how many coins that is."""

import json
import random
from collections.abc import Sequence
from math import comb

from m3bench.tasks.answers.fields import Choice, Field, Money, Name, Number, Table, YesNo
from m3bench.tasks.families import tool_answers
from m3bench.tasks.families.base import Composition, Family, Kit, Script, Solution, call, need, table
from m3bench.tasks.families.tool_answers import Found, read_objects
from m3bench.tasks.json_types import Record
from m3bench.tasks.render import backdrops
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.cues.selection import Thing, below, choose
from m3bench.tasks.render.proportions import share, turn
from m3bench.tasks.render.shapes import ellipse, line, polygon
from m3bench.tasks.scene import Box
from m3bench.tasks.task import Reference, ReferenceCall

_EDGE = 50
"""Pixels at both sides that a photograph may lack."""
_CUE = 100
"""Pixels of a cue at the foot of a thing; two stand side by side."""


def ground(canvas: Canvas, rng: random.Random, kind: str) -> float:
    """Draw what things stand on; returns where it begins."""
    colour = rng.choice(("#b5524a", "#3f6f8f", "#5d7f58", "#8a6a9a", "#c2954a"))
    if kind != "room":
        level = backdrops.outdoors(canvas, rng, kind, rng.uniform(0.2, 0.26))
        _blanket(canvas, level, colour)
        return level
    level = backdrops.room(canvas, rng, rng.uniform(0.3, 0.36))
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


def put_down(
    canvas: Canvas, rng: random.Random, level: float, things: Sequence[tuple[str, Sequence[str]]]
) -> list[Box]:
    """Put things down in two rows, the farther ones smaller; returns their boxes.

    Args:
        canvas: Where.
        rng: Chooses places and sizes.
        level: Where the ground begins.
        things: Names in the art, each with what else a detector may be asked for.
    """
    columns = len(things) // 2
    slot, boxes = (canvas.width - 2 * _EDGE) / columns, []
    back, front = level + 190, canvas.height - 1.45 * _CUE
    for number, (name, aliases) in enumerate(things):
        row, column = divmod(number, columns)
        aside = rng.uniform(-0.07, 0.07) * slot
        foot = (front if row else back) + rng.uniform(-12, 12)
        drawn = canvas.art.object(name)
        height = (300 if row else 240) * share(name) * rng.uniform(0.95, 1.03)
        height = min(height, slot * 0.76 * drawn.height / drawn.width)
        if row:
            height = min(height, foot - back - 1.15 * _CUE)
        free = max(0, slot / 2 - max(height * drawn.width / drawn.height / 2, 1.06 * _CUE))
        x = _EDGE + slot * (column + 0.5) + min(max(aside, -free), free)
        flip = rng.random() < 0.4
        score = round(rng.uniform(0.84, 0.97), 2)
        boxes.append(
            canvas.place(name, x, foot, height, flip=flip, turn=turn(name, flip), score=score, aliases=tuple(aliases))
        )
    return boxes


GROUNDS = ("room", "room", "meadow", "sand")
_COLUMNS = 5
_LEAST_VALUE = 0.05
"""Dollars; cheaper coins would give millions of coins, which people write in too many ways."""
_CANDLES = {
    "24 hourly": ("1H", 24),
    "48 hourly": ("1H", 48),
    "42 four-hour": ("4H", 42),
    "30 daily": ("1D", 30),
    "96 fifteen-minute": ("15m", 96),
}
_LEAST_SWING = 1.04
"""By which factor the widest swing must be wider than the next."""


def spellings(thing: str) -> tuple[str, ...]:
    """What else people call a thing."""
    return CryptoPurchase.things[thing]


class CryptoPurchase(Family):
    """Detect things, find their prices and those of coins, and compute."""

    name = "crypto_purchase"
    servers = ("dinox-mcp", "amazon", "okx", "math")
    things = table(dict[str, tuple[str, ...]])

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Ten things in two rows; cues say which three are meant, or which two for both ends."""
        canvas = Canvas(kit.art, 1560, 1120)
        level = ground(canvas, rng, rng.choice(GROUNDS))
        names = rng.sample(tuple(self.things), 2 * _COLUMNS)
        boxes = put_down(canvas, rng, level, [(name, self.things[name]) for name in names])
        canvas.light(rng, 0.7)
        ends = kit.goal == "ends"
        columns = rng.sample(range(_COLUMNS), 2)
        meant = (
            [column + _COLUMNS * rng.randrange(2) for column in columns] if ends else rng.sample(range(len(names)), 3)
        )
        meant.sort(key=lambda number: boxes[number][0])
        coins = [coin for coin in kit.world("coins") if coin["kind"] == "coin" and "USDT" in coin["pairs"]]
        return Composition.shown(
            canvas,
            rng,
            choose(rng, kit.cues(self.name), len(names), meant),
            [
                Thing(name=name, label=name, words=self.things[name], box=box, spots=below(box, _CUE, drop=0.9))
                for name, box in zip(names, boxes, strict=True)
            ],
            choices=comb(_COLUMNS, 2) * 4 if ends else 0,
            things=names,
            meant=[names[number] for number in meant],
            coins=[(coin["id"], coin["name"], coin["value"]) for coin in coins if coin["value"] >= _LEAST_VALUE],
        )

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """See what is there, then go for what is asked."""
        detect = call(
            "dinox-mcp/detect-all-objects",
            {"imageFileUri": path, "includeDescription": False},
            free=("includeDescription",),
        )
        (text,) = await play.step(detect)
        found = [thing for thing in read_objects(text) if thing.name in composition.facts["meant"]]
        need(len(found) == len(composition.facts["meant"]), "not everything was found")
        plan = {"swing": _swing, "ends": _ends, "everything": _everything}[play.goal]
        return await plan(rng, composition, found, path, play)


async def _swing(
    rng: random.Random, composition: Composition, found: Sequence[Found], path: str, play: Script
) -> Solution:
    """What the meant things cost together, in the coin that moved most."""
    coins = rng.sample(composition.facts["coins"], rng.choice((3, 4, 4, 5)))
    candles, (bar, count) = rng.choice(tuple(_CANDLES.items()))
    things = [thing.name for thing in found]
    texts = await play.step(
        *map(_search, things),
        *(call("okx/get_candlesticks", {"instrument": f"{id}-USDT", "bar": bar, "limit": count}) for id, *_ in coins),
    )
    prices = [tool_answers.prices(text)[0] for text in texts[: len(things)]]
    ranges = [_range(json.loads(text)) for text in texts[len(things) :]]
    swings = [round((high / low - 1) * 100, 4) for low, high in ranges]
    order = sorted(range(len(coins)), key=lambda number: -swings[number])
    need(swings[order[0]] > swings[order[1]] * _LEAST_SWING, "two coins moved about alike")
    id, name, _ = coins[order[0]]
    added, ticker = await play.step(call("math/sum", {"numbers": prices}), _ticker(id))
    total, rate = round(float(added), 2), float(json.loads(ticker)["lastPrice"])
    (quotient,) = await play.step(call("math/division", {"numerator": total, "denominator": rate}))
    told = ", ".join(f"the {thing} ${price:.2f}" for thing, price in zip(things, prices, strict=True))
    return Solution(
        wording=f"Detect the objects in {path}, add up the first amazon.com hits for the three that are meant, find which of "
        f"{', '.join(coin for coin, *_ in coins)} has the widest range of the last {count} candles of {bar} in percent of its low, and "
        "divide the sum by its last price in USDT.",
        answer=f"At Amazon {told}, ${total:.2f} together. {name} ({id}) moved most, by {swings[order[0]]:.2f} % from "
        f"low to high. At {rate:g} USDT all of it costs about {_written(float(quotient))} {id}.",
        fields=(
            Field(name="prices", meaning="the things that are meant: what each is, and the price of the first offer for it",
                  value=_priced(things, prices, composition)),
            Field(name="coin", meaning="the coin with the widest swing", value=_coin(order[0], coins),
                  compared=tuple(swings[number] for number in order),
                  derived=tuple(figure for span in ranges for figure in span)),
            Field(name="amount", meaning="how many of that coin the things that are meant cost together",
                  value=_many(float(quotient)), derived=(*prices, rate)),
        ),
        given={"coins": _listed([f"{coin_name} ({coin})" for coin, coin_name, _ in coins]), "candles": candles},
        alternatives=(_by_eye(play), play.varied("added up without a tool", {2: play.steps[2][1:]})),
    )  # fmt: skip


async def _ends(
    rng: random.Random, composition: Composition, found: Sequence[Found], path: str, play: Script
) -> Solution:
    """The meant things, left and right, and the difference of their prices in a coin."""
    id, name, _ = rng.choice(composition.facts["coins"])
    order = sorted(found, key=lambda one: one.box[0] + one.box[2])
    for side in (0, 2):
        edges = sorted(thing.box[side] for thing in found)
        plain = order[0].box[side] + 25 <= edges[1] and order[-1].box[side] - 25 >= edges[-2]
        need(plain, "it is not plain which thing is at the end")
    ends = [order[0].name, order[-1].name]
    *texts, ticker = await play.step(*map(_search, ends), _ticker(id))
    prices = [tool_answers.prices(text)[0] for text in texts]
    need(max(prices) > min(prices) * 1.1, "both cost about the same")
    dearer = prices.index(max(prices))
    rate = float(json.loads(ticker)["lastPrice"])
    (text,) = await play.step(call("math/subtract", {"minuend": max(prices), "subtrahend": min(prices)}))
    difference = round(float(text), 2)
    need(difference not in prices, "the difference is one of the prices")
    (quotient,) = await play.step(call("math/division", {"numerator": difference, "denominator": rate}))
    return Solution(
        wording=f"Detect the objects in {path}; take the first amazon.com hit for the two that are meant, and divide the "
        f"difference of the prices by the last price of {id}-USDT.",
        answer=f"On the left is the {ends[0]} at ${prices[0]:.2f}, on the right the {ends[1]} at ${prices[1]:.2f}. The {ends[dearer]} costs "
        f"${difference:.2f} more, which is {_written(float(quotient))} {id} at {rate:g} USDT.",
        fields=(
            Field(
                name="prices",
                meaning="the two things that are meant: what each is, and its price",
                value=_priced(ends, prices, composition),
            ),
            Field(name="dearer", meaning="which of the two costs more", value=_thing(ends[dearer], composition),
                  compared=(max(prices), min(prices))),
            Field(name="difference", meaning="how much more it costs", value=Money(value=difference, unit="USD"),
                  derived=tuple(prices)),
            Field(name="coins", meaning="how many coins that difference is", value=_many(float(quotient)),
                  derived=(*prices, rate)),
        ),
        given={"coin": f"{name} ({id})"},
        alternatives=(_by_eye(play),),
    )  # fmt: skip


async def _everything(
    rng: random.Random, composition: Composition, found: Sequence[Found], path: str, play: Script
) -> Solution:
    """One of each meant thing, and whether some coins pay for it."""
    id, name, value = rng.choice(composition.facts["coins"])
    amount = float(f"{rng.uniform(200, 800) / value:.2g}")
    *texts, ticker = await play.step(*(_search(thing.name) for thing in found), _ticker(id))
    prices = [tool_answers.prices(text)[0] for text in texts]
    rate = float(json.loads(ticker)["lastPrice"])
    total, worth = await play.step(
        call("math/sum", {"numbers": prices}), call("math/multiply", {"firstNumber": amount, "SecondNumber": rate})
    )
    cost, have = round(float(total), 2), float(worth)
    need(abs(cost - have) > 0.04 * cost, "it is a close thing")
    (text,) = await play.step(call("math/subtract", {"minuend": max(cost, have), "subtrahend": min(cost, have)}))
    rest = round(float(text), 2)
    need(abs(rest - round(have, 2)) > 1, "two figures are about alike")
    said = f"{amount:,.10g}"
    return Solution(
        wording=f"Detect the objects in {path}, add up the first amazon.com hits for the three that are meant, and compare with {said} {id} at the last price "
        f"of {id}-USDT.",
        answer=f"Together they cost ${cost:.2f}. {said} {id} are worth ${have:.2f}, so it is "
        f"{'enough, and' if have > cost else 'not enough:'} ${rest:.2f} {'are left' if have > cost else 'are missing'}.",
        fields=(
            Field(name="total", meaning="what one of each of the things that are meant costs together", value=Money(value=cost, unit="USD"),
                  derived=tuple(prices)),
            Field(name="enough", meaning="whether the coins are worth that much", value=YesNo(value=have > cost),
                  compared=(max(have, cost), min(have, cost))),
            Field(name="difference", meaning="the money that is left over or missing, as a positive sum",
                  value=Money(value=rest, unit="USD", within=0.02), derived=(*prices, rate)),
        ),
        given={"coins": f"{said} {name} ({id})"},
        alternatives=(_by_eye(play),),
    )  # fmt: skip


def _by_eye(play: Script) -> Reference:
    return play.varied("the things named by eye", {0: ()})


def _search(thing: str) -> ReferenceCall:
    return call(
        "amazon/search_products",
        {"keywords": thing, "n": 1},
        words={"keywords": (thing,)},
        either={"n": (None, *range(1, 11)), "amazon_domain": (None, "amazon.com")},
    )


def _ticker(id: str) -> ReferenceCall:
    return call("okx/get_price", {"instrument": f"{id}-USDT"})


def _thing(thing: str, composition: Composition) -> Name:
    names = {name: (name, *CryptoPurchase.things[name]) for name in composition.facts["things"]}
    others = tuple(name for one, spelled in names.items() if one != thing for name in spelled)
    return Name(value=thing, aliases=names[thing][1:], others=others)


def _priced(things: Sequence[str], prices: Sequence[float], composition: Composition) -> Table:
    rows = tuple(
        (_thing(thing, composition), Money(value=price, unit="USD"))
        for thing, price in zip(things, prices, strict=True)
    )
    return Table(columns=("thing", "price"), rows=rows)


def _coin(number: int, coins: Sequence[tuple[str, str, float]]) -> Choice:
    id, name, _ = coins[number]
    return Choice(value=id, options=tuple(coin[0] for coin in coins), aliases=(name, f"{name} {id}", f"{id} {name}"))


def _many(amount: float) -> Number:
    """A number of coins; four digits are enough."""
    return Number(value=amount, within=float(f"{amount * 0.002:.2g}"))


def _range(candles: Sequence[Record]) -> tuple[float, float]:
    return min(float(candle["low"]) for candle in candles), max(float(candle["high"]) for candle in candles)


def _written(amount: float) -> str:
    return f"{amount:,.2f}" if amount >= 100 else f"{amount:.4g}"


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"
