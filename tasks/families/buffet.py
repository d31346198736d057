"""Fruit weighed out for guests, some of it circled: what may be served, ordered or handed to patients by the rules of the house."""

import random

from m3bench.tasks.families import errands, tool_answers
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call, need, reduced, table, words
from m3bench.tasks.families.errands import CircledThing, DeskFamily, ErrandGoal
from m3bench.tasks.families.fruit_cal import FruitCal
from m3bench.tasks.families.tool_answers import nutrient_amount
from m3bench.tasks.task import ReferenceCall


class Buffet(DeskFamily):
    """Ask, read the rule, look the fruit up; then add up what is left and share it out or pay for it."""

    name = "buffet"
    servers = ("desk", "food_nutrition_mcp", "amazon", "math")
    allergies = table(dict[str, tuple[str, ...]])
    """Fruit that somebody must not have."""
    occasions = words()
    groups = words()

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Eight fruits with their weights; red is drawn around three or four."""
        composition = reduced(FruitCal().compose(rng, kit), 0.7)
        occasion, other = rng.sample(self.occasions, 2)
        return errands.with_desk(
            composition,
            rng,
            self,
            {
                "guests": errands.changed(rng, range(12, 60)),
                "allergy": (rng.choice(_telling(self.allergies, composition)),),
                "packs": (str(rng.randrange(12, 49)),),
                "occasion": (occasion, other),
                "meals": errands.changed(rng, range(11, 32)),
                "group": (rng.choice(self.groups),),
            },
            {
                "allergies": {name: ", ".join(fruits) for name, fruits in _shuffled(rng, self.allergies)},
                "spending": errands.limits(rng, self.occasions, range(395, 1400, 5), "${value} a pack", 100),
                "diets": errands.limits(rng, self.groups, range(8, 60), "{value} g of sugar"),
            },
        )  # fmt: skip

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Everything by goal."""
        things = [
            CircledThing(fruit.name, fruit.spellings, weight)
            for fruit, weight in zip(composition.facts["fruits"], composition.facts["weights"], strict=True)
        ]
        return await errands.run(_ERRANDS[play.goal], things, self, rng, path, play)


def _telling(allergies: dict[str, tuple[str, ...]], composition: Composition) -> list[str]:
    """Allergies that concern some of what is circled and not all of it; any, where there is none."""
    meant = {fruit.name for fruit in composition.facts["fruits"]}
    return [name for name, fruits in allergies.items() if 0 < len(meant & {*fruits}) < len(meant)] or list(allergies)


def _shuffled(rng: random.Random, table: dict[str, tuple[str, ...]]) -> list[tuple[str, tuple[str, ...]]]:
    return rng.sample(list(table.items()), len(table))


def _looked_up(thing: CircledThing) -> ReferenceCall:
    stem = min((thing.name, *thing.spellings), key=len)[:-1]
    return call(
        "food_nutrition_mcp/get_nutrition",
        {"query": f"{thing.weight} g {thing.name}"},
        words={"query": (str(thing.weight), stem)},
    )


def _offer(thing: CircledThing) -> ReferenceCall:
    return call(
        "amazon/search_products", {"keywords": thing.name}, free=("n",), either={"amazon_domain": ("amazon.com", None)}
    )


def _price(text: str) -> float:
    found = tool_answers.prices(text)
    need(bool(found), "it is not sold")
    return found[0]


_ERRANDS = {
    "share": ErrandGoal(
        count="guests",
        case="allergy",
        paper="allergies",
        look_up=_looked_up,
        figure=lambda text: nutrient_amount(text, "Energy"),
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
    "order": ErrandGoal(
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
    "diet": ErrandGoal(
        count="meals",
        case="group",
        paper="diets",
        look_up=_looked_up,
        figure=lambda text: nutrient_amount(text, "Carbohydrate"),
        allowed=errands.at_most(lambda text: nutrient_amount(text, "Sugars")),
        shared=True,
        unit="g",
        within=0.06,
        kept=("permitted", "the circled portions that these people may have"),
        total=("carbohydrate", "the carbohydrate in those portions together"),
        result=("carbohydrate_each", "the carbohydrate of that in one meal"),
        wording="Look up every portion by the weight on its card, leave out those with more sugar than the rules allow, add up the carbohydrate of the others and divide it by the number of meals.",
    ),
}
