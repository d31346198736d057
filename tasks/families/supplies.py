"""Things in a room or a yard, some of them circled: which a house may buy, raffle or insure by its rules, and for how much."""

import random

from m3bench.tasks.families import errands, tool_answers
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call, need, reduced, words
from m3bench.tasks.families.crypto_purchase import GROUNDS, CryptoPurchase, ground, spellings
from m3bench.tasks.families.errands import CircledThing, DeskFamily, ErrandGoal
from m3bench.tasks.render import pen
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.proportions import share, turn
from m3bench.tasks.task import ReferenceCall

_COLUMNS = 4
_LOOP = 40
"""Pixels that a loop takes beside a thing."""


def _circled(rng: random.Random, kit: Kit) -> Composition:
    """Eight things in two rows, the farther ones smaller; red is drawn around three, each in a column of its own."""
    canvas = Canvas(kit.art, 1400, 920)
    level = ground(canvas, rng, rng.choice(GROUNDS))
    names = rng.sample(tuple(CryptoPurchase.things), 2 * _COLUMNS)
    slot, boxes = canvas.width / _COLUMNS, []
    for number, name in enumerate(names):
        row, column = divmod(number, _COLUMNS)
        aside = rng.uniform(-0.07, 0.07) * slot
        foot = (canvas.height - 44 if row else level + 175) + rng.uniform(-14, 14)
        drawn = canvas.art.object(name)
        height = (300 if row else 240) * share(name) * rng.uniform(0.95, 1.03)
        height = min(height, slot * 0.76 * drawn.height / drawn.width)
        if row:
            height = min(height, foot - level - 175 - 1.75 * _LOOP)
        free = slot / 2 - height * drawn.width / drawn.height / 2 - _LOOP
        x = slot * (column + 0.5) + min(max(aside, -free), free)
        flip = rng.random() < 0.4
        score = round(rng.uniform(0.84, 0.97), 2)
        lean, aliases = turn(name, flip), tuple(CryptoPurchase.things[name])
        boxes.append(canvas.place(name, x, foot, height, flip=flip, turn=lean, score=score, aliases=aliases))
    meant = [column + _COLUMNS * rng.randrange(2) for column in sorted(rng.sample(range(_COLUMNS), 3))]
    canvas.light(rng, 0.7)
    others = [box for number, box in enumerate(boxes) if number not in meant]
    pen.circle(canvas, rng, [boxes[number] for number in meant], others)
    return Composition.of(canvas, things=names, meant=[names[number] for number in meant])


class Supplies(DeskFamily):
    """Ask, read the rule, look the offers up; then add up what is left, times a number or divided by one."""

    name = "supplies"
    servers = ("desk", "dinox-mcp", "amazon", "math")
    houses = words()
    organisers = words()
    covers = words()

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Eight things in two rows; red is drawn around three."""
        composition = reduced(_circled(rng, kit), 0.8)
        things, meant = composition.facts["things"], composition.facts["meant"]
        cover, other = rng.sample(self.covers, 2)
        return errands.with_desk(
            composition,
            rng,
            self,
            {
                "rooms": errands.changed(rng, range(11, 40)),
                "house": (rng.choice(self.houses),),
                "tickets": errands.changed(rng, range(60, 400)),
                "organiser": (rng.choice(self.organisers),),
                "tenants": (str(rng.randrange(11, 36)),),
                "cover": (cover, other),
            },
            {
                "unwanted": {name: ", ".join(sorted(_closed(rng, things, meant))) for name in self.houses},
                "prizes": errands.limits(rng, self.organisers, range(25, 260, 5), "${value} a prize"),
                "insured": errands.limits(rng, self.covers, range(20, 220, 5), "${value} or more"),
            },
        )  # fmt: skip

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Everything by goal."""
        things = [CircledThing(name, spellings(name)) for name in composition.facts["meant"]]
        seen = call(
            "dinox-mcp/detect-all-objects",
            {"imageFileUri": path, "includeDescription": False},
            free=("includeDescription",),
        )
        return await errands.run(_ERRANDS[play.goal], things, self, rng, path, play, read=seen)


def _closed(rng: random.Random, things: list[str], meant: list[str]) -> list[str]:
    """Some things, and one or two of those that are meant among them."""
    others = [name for name in things if name not in meant]
    return [*rng.sample(meant, rng.choice((1, 1, 2))), *rng.sample(others, 2)]


def _offer(thing: CircledThing) -> ReferenceCall:
    return call(
        "amazon/search_products",
        {"keywords": thing.name, "n": 1},
        words={"keywords": (thing.name,)},
        either={"n": (None, *range(1, 11)), "amazon_domain": (None, "amazon.com")},
    )


def _price(text: str) -> float:
    found = tool_answers.prices(text)
    need(bool(found), "it is not sold")
    return found[0]


_ERRANDS = {
    "furnish": ErrandGoal(
        count="rooms",
        case="house",
        paper="unwanted",
        look_up=_offer,
        figure=_price,
        allowed=errands.unnamed,
        by_name=True,
        shared=False,
        unit="USD",
        kept=("bought", "the circled things that may be bought"),
        total=("per_room", "what one of each of those costs together"),
        result=("purchase", "what the purchase for all rooms costs"),
        wording="Leave out what the rules keep out of the house, add up the first amazon.com offers for the other things and multiply the sum by the number of rooms.",
    ),
    "raffle": ErrandGoal(
        count="tickets",
        case="organiser",
        paper="prizes",
        look_up=_offer,
        figure=_price,
        allowed=errands.at_most(_price),
        shared=True,
        unit="USD",
        kept=("prizes", "the circled things that may be prizes"),
        total=("prize_money", "what one of each of those costs together"),
        result=("ticket_price", "what a ticket must cost to pay for them"),
        wording="Leave out things whose first amazon.com offer is dearer than the rules allow, add up the others and divide the sum by the number of tickets.",
    ),
    "insure": ErrandGoal(
        count="tenants",
        case="cover",
        paper="insured",
        look_up=_offer,
        figure=_price,
        allowed=errands.at_least(_price),
        shared=True,
        unit="USD",
        kept=("insured", "the circled things that can be insured"),
        total=("insured_value", "what one of each of those costs together"),
        result=("each_pays", "the part of that for each tenant"),
        wording="Leave out things whose first amazon.com offer is cheaper than the rules ask, add up the others and divide the sum by the number of tenants.",
    ),
}
