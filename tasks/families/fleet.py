"""Cars at a dealer's, some of them circled: which a firm may take by its rules, and what they cost in the Brazilian price table."""

import random
import re

from m3bench.tasks.families import errands
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call, need, reduced, words
from m3bench.tasks.families.errands import CircledThing, DeskFamily, ErrandGoal, LookedUp
from m3bench.tasks.families.fipe_car import models
from m3bench.tasks.render import pen
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.forecourt import COLUMNS, parked
from m3bench.tasks.task import ReferenceCall


class FleetFamily(DeskFamily):
    """Ask, read the rule, look the models up; then add up the cheapest versions, times a number or divided by one."""

    name = "fleet"
    servers = ("desk", "car-price", "math")
    departments = words()
    drivers = words()
    workshops = words()

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Eight cars under signs; red is drawn around three or four."""
        canvas = Canvas(kit.art, 1500, 924)
        cars = rng.sample(models(), 2 * COLUMNS)
        boxes = parked(canvas, rng, cars)
        meant = sorted(rng.sample(range(len(cars)), rng.choice((3, 4, 4))))
        canvas.light(rng, 0.7)
        pen.circle(
            canvas,
            rng,
            [boxes[number] for number in meant],
            [box for number, box in enumerate(boxes) if number not in meant],
        )
        brands = sorted({brand for _, brand, _ in cars})
        workshop, other = rng.sample(self.workshops, 2)
        return errands.with_desk(
            reduced(
                Composition.of(canvas, meant=[cars[number][1:] for number in meant], shown=[car[1:] for car in cars]), 0.8
            ),
            rng,
            self,
            {
                "cars": errands.changed(rng, range(11, 40)),
                "department": (rng.choice(self.departments),),
                "months": errands.changed(rng, range(12, 60)),
                "driver": (rng.choice(self.drivers),),
                "partners": (str(rng.randrange(11, 30)),),
                "workshop": (workshop, other),
            },
            {
                "prices": errands.limits(rng, self.departments, range(22, 160, 2), "R$ {value},000"),
                "brands": {name: ", ".join(sorted(rng.sample(brands, min(3, len(brands) - 1)))) for name in self.drivers},
                "repairs": errands.limits(rng, self.workshops, range(3, 13), "{value} versions"),
            },
        )  # fmt: skip

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Everything by goal."""
        things = [CircledThing(model, (f"{brand} {model}",), key=brand) for brand, model in composition.facts["meant"]]
        need(len({thing.name for thing in things}) == len(things), "two cars have one name")
        return await errands.run(_ERRANDS[play.goal], things, self, rng, path, play)


def _search(thing: CircledThing) -> ReferenceCall:
    return call("car-price/search_brand_model_price", {"brand_name": thing.key, "model_keyword": thing.name})


def _cheapest(text: str) -> float:
    found = [float(price.replace(".", "")) for price in re.findall(r"Price: R\$ ([\d.]+),\d\d", text)]
    need(bool(found), "the table does not have it")
    return min(found)


def _versions(text: str) -> float:
    return float(text.count("Price: R$"))


def _of_other_brand(looked: LookedUp, rule: str) -> bool:
    return looked.thing.key.casefold() not in {brand.strip().casefold() for brand in rule.split(",")}


_ERRANDS = {
    "order": ErrandGoal(
        count="cars",
        case="department",
        paper="prices",
        look_up=_search,
        figure=_cheapest,
        allowed=errands.at_most(lambda text: _cheapest(text) / 1000),
        shared=False,
        unit="BRL",
        kept=("ordered", "the circled models that may be ordered"),
        total=("one_of_each", "what the cheapest version of each of those costs, together"),
        result=("order", "what the whole order costs"),
        wording="Find the cheapest version of each model in the FIPE table, leave out what is dearer than the rules allow, add up the others and multiply the sum by the number of cars of each.",
    ),
    "lease": ErrandGoal(
        count="months",
        case="driver",
        paper="brands",
        look_up=_search,
        figure=_cheapest,
        allowed=_of_other_brand,
        by_name=True,
        shared=True,
        unit="BRL",
        kept=("leased", "the circled models that may be leased"),
        total=("value", "what the cheapest version of each of those costs, together"),
        result=("monthly", "the part of that for one month"),
        wording="Leave out models of the brands that the rules close to the drivers, add up the cheapest version of each of the others in the FIPE table and divide the sum by the number of months.",
    ),
    "pool": ErrandGoal(
        count="partners",
        case="workshop",
        paper="repairs",
        look_up=_search,
        figure=_cheapest,
        allowed=errands.at_least(_versions, close=0),
        shared=True,
        unit="BRL",
        kept=("pooled", "the circled models that the workshop takes"),
        total=("pool_price", "what the cheapest version of each of those costs, together"),
        result=("contribution", "what each partner pays of that"),
        wording="Leave out models with fewer versions in the FIPE table than the rules ask for, add up the cheapest version of each of the others and divide the sum by the number of partners.",
    ),
}
