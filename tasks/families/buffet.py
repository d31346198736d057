"""Fruit weighed out for guests, some of it circled: what may be served, ordered or handed to patients by the rules of the house."""

import random

from m3bench.tasks.families import errands, offers, talk
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call, need
from m3bench.tasks.families.errands import Errand, Thing
from m3bench.tasks.families.fruit_cal import FruitCal
from m3bench.tasks.families.nutrients import amount
from m3bench.tasks.families.reduction import reduced
from m3bench.tasks.families.talk import TalkTables
from m3bench.tasks.families.texts import tables
from m3bench.tasks.task import ReferenceCall


class _Tables(TalkTables):
    allergies: dict[str, tuple[str, ...]]
    """Fruit that somebody must not have."""
    occasions: tuple[str, ...]
    groups: tuple[str, ...]


_tables = tables("buffet", _Tables)


class Buffet:
    """Ask, read the rule, look the fruit up; then add up what is left and share it out or pay for it."""

    name = "buffet"
    servers = ("desk", "food_nutrition_mcp", "amazon", "math")

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Eight fruits with their weights; red is drawn around three or four."""
        composition = reduced(FruitCal().compose(rng, kit), 0.7)
        known = _tables()
        occasion, other = rng.sample(known.occasions, 2)
        return talk.with_desk(
            composition,
            rng,
            known,
            {
                "guests": talk.changed(rng, range(12, 60)),
                "allergy": (rng.choice(_telling(known.allergies, composition)),),
                "packs": (str(rng.randrange(12, 49)),),
                "occasion": (occasion, other),
                "meals": talk.changed(rng, range(11, 32)),
                "group": (rng.choice(known.groups),),
            },
            {
                "allergies": {name: ", ".join(fruits) for name, fruits in _shuffled(rng, known.allergies)},
                "spending": talk.limits(rng, known.occasions, range(395, 1400, 5), "${value} a pack", 100),
                "diets": talk.limits(rng, known.groups, range(8, 60), "{value} g of sugar"),
            },
        )  # fmt: skip

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Everything by goal."""
        things = [
            Thing(fruit.name, fruit.spellings, weight)
            for fruit, weight in zip(composition.facts["fruits"], composition.facts["weights"], strict=True)
        ]
        return await errands.run(_ERRANDS[play.goal], things, _tables(), rng, path, play)


def _telling(allergies: dict[str, tuple[str, ...]], composition: Composition) -> list[str]:
    """Allergies that concern some of what is circled and not all of it; any, where there is none."""
    meant = {fruit.name for fruit in composition.facts["fruits"]}
    return [name for name, fruits in allergies.items() if 0 < len(meant & {*fruits}) < len(meant)] or list(allergies)


def _shuffled(rng: random.Random, table: dict[str, tuple[str, ...]]) -> list[tuple[str, tuple[str, ...]]]:
    return rng.sample(list(table.items()), len(table))


def _looked_up(thing: Thing) -> ReferenceCall:
    stem = min((thing.name, *thing.spellings), key=len)[:-1]
    return call(
        "food_nutrition_mcp/get_nutrition",
        {"query": f"{thing.weight} g {thing.name}"},
        words={"query": (str(thing.weight), stem)},
    )


def _offer(thing: Thing) -> ReferenceCall:
    return call(
        "amazon/search_products", {"keywords": thing.name}, free=("n",), either={"amazon_domain": ("amazon.com", None)}
    )


def _price(text: str) -> float:
    found = offers.prices(text)
    need(bool(found), "it is not sold")
    return found[0]


_ERRANDS = {
    "share": Errand(
        count="guests",
        case="allergy",
        paper="allergies",
        look_up=_looked_up,
        figure=lambda text: amount(text, "Energy"),
        allowed=errands.unnamed,
        by_name=True,
        shared=True,
        unit="kcal",
        within=0.51,
        kept=("served", "the circled fruit that may be served"),
        total=("calories", "the energy of what may be served, together"),
        result=("calories_each", "the energy of one guest's share of it"),
        wording="Add up the energy of the fruit that may be served, by the weight on its card, and divide it by the number of guests.",
    ),
    "order": Errand(
        count="packs",
        case="occasion",
        paper="spending",
        look_up=_offer,
        figure=_price,
        allowed=errands.at_most(_price),
        shared=False,
        unit="USD",
        kept=("ordered", "the circled fruit that may be ordered"),
        total=("one_pack_each", "what one pack of each of those costs together"),
        result=("bill", "what the whole order costs"),
        wording="Take the first amazon.com offer for each fruit, leave out what is dearer than the rules allow, add up the rest and multiply it by the number of packs.",
    ),
    "diet": Errand(
        count="meals",
        case="group",
        paper="diets",
        look_up=_looked_up,
        figure=lambda text: amount(text, "Carbohydrate"),
        allowed=errands.at_most(lambda text: amount(text, "Sugars")),
        shared=True,
        unit="g",
        within=0.06,
        kept=("permitted", "the circled portions that these people may have"),
        total=("carbohydrate", "the carbohydrate in those portions together"),
        result=("carbohydrate_each", "the carbohydrate of that in one meal"),
        wording="Look up every portion by the weight on its card, leave out those with more sugar than the rules allow, add up the carbohydrate of the others and divide it by the number of meals.",
    ),
}
