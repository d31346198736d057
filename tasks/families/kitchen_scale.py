"""Kitchen scales with fruit, photographed twice: the difference that the hands show decides what is looked up."""

import json
import random
from collections.abc import Callable, Sequence

from m3bench.tasks.answers.fields import Date, Field, Name, Number
from m3bench.tasks.families import tally
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call, need
from m3bench.tasks.families.fruit_cal import Fruit, fruits
from m3bench.tasks.families.nutrients import amount
from m3bench.tasks.families.tally import Tally, Thing
from m3bench.tasks.families.texts import Tables, tables
from m3bench.tasks.render import scales
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.phone import Snapshot, snapshot
from m3bench.tasks.task import ReferenceCall

_SCALES = 3
_STEP = scales.STEP
_LIMITS = range(25, 80, 5)
"""Grams of sugar."""
_LEAST = 5 * _STEP
"""Grams that at least lie on a scale."""


class _Tables(Tables):
    concerns: tuple[str, ...]


_tables = tables("kitchen_scale", _Tables)


class KitchenScale:
    """Read the dials twice, subtract, and look up what was taken off each scale."""

    name = "kitchen_scale"
    servers = ("food_nutrition_mcp", "healthcare-mcp", "math")

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Three scales; later two or three of them show less, and they stand in another order."""
        kinds = rng.sample(fruits(), _SCALES)
        before = [rng.randrange(480, 961, _STEP) for _ in kinds]
        kitchen, bodies = rng.randrange(1 << 30), rng.sample(scales.BODIES, _SCALES)
        first = _photograph(kit, rng, kitchen, list(zip(kinds, before, bodies, strict=True)))
        taken = rng.sample(range(_SCALES), rng.choice((2, 3, 3)))
        after = [
            weight - (rng.randrange(4 * _STEP, weight - _LEAST, _STEP) if number in taken else 0)
            for number, weight in enumerate(before)
        ]
        standing = list(zip(kinds, after, bodies, strict=True))
        rng.shuffle(standing)
        second = _photograph(kit, rng, kitchen, standing)
        meant = [(kinds[number].name, before[number] - after[number]) for number in sorted(taken)]
        pages = [topic["title"] for topic in kit.world("health_topics")]
        return Composition.taken(first, second, meant=meant, kinds=[kind.name for kind in kinds], pages=pages)

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Each fruit is looked up with the weight that was taken off."""
        meant = composition.facts["meant"]
        need(len({weight for _, weight in meant}) == len(meant), "two weights are one")
        known = {fruit.name: fruit for fruit in fruits()}
        things = [Thing(name, known[name].spellings, many=weight, key=known[name].stem) for name, weight in meant]
        others = [name for name in composition.facts["kinds"] if name not in dict(meant)]
        if play.goal == "advice":
            return await _advice(rng, things, composition.facts["pages"], play)
        return await tally.run(_TALLIES[play.goal], things, play, others=others)


async def _advice(rng: random.Random, things: Sequence[Thing], pages: Sequence[str], play: Script) -> Solution:
    """How much sugar it was decides which page of advice is wanted."""
    limit, (over, under) = rng.choice(_LIMITS), rng.sample(_tables().concerns, 2)
    amounts = [amount(text, "Sugars") for text in await play.step(*map(_looked_up, things))]
    sugar = round(float((await play.step(call("math/sum", {"numbers": amounts})))[0]), 2)
    need(abs(sugar - limit) >= 0.1 * limit, "it is neither much nor little")
    concern = over if sugar > limit else under
    (text,) = await play.step(
        call("healthcare-mcp/health_topics", {"topic": concern}, words={"topic": concern.split()}, free=("language",))
    )
    (page,) = json.loads(text)["health_topics"]
    listed = ", ".join(f"{thing.many} g of {thing.name}" for thing in things)
    return Solution(
        wording=f"Read each scale in both photographs and look up the difference in grams of each fruit; above {limit} g of sugar in all find the health page on {over}, else the one on {under}.",
        answer=f'{listed} have {sugar} g of sugar. The page is "{page["title"]}", last updated on {page["last_updated"]}.',
        fields=(
            Field(name="sugar", meaning="the sugar in everything that was taken", value=Number(value=sugar, within=0.06, unit="g"), derived=tuple(amounts)),
            Field(name="page", meaning="the title of the health page to read", value=Name(value=page["title"], others=tuple(one for one in pages if one != page["title"]))),
            Field(name="updated", meaning="the day on which that page was last updated", value=Date(value=page["last_updated"])),
        ),
        given={"limit": str(limit), "over": over, "under": under},
        alternatives=(play.varied("added up without a tool", {1: ()}),),
    )  # fmt: skip


def _photograph(kit: Kit, rng: random.Random, kitchen: int, standing: Sequence[tuple[Fruit, int, str]]) -> Snapshot:
    """The scales side by side; the detector sees that something is food, and not which."""
    canvas = Canvas(kit.art, 1400, 960)
    foot = scales.worktop(canvas, random.Random(kitchen))
    for number, (fruit, weight, body) in enumerate(standing):
        x = canvas.width * (0.5 + (number - 1) * 0.295) + rng.uniform(-12, 12)
        pan = scales.scale(canvas, x, foot + rng.uniform(-6, 10), weight, body)
        pieces = 1 + weight // 240
        for piece in range(pieces):
            place = x + (piece - (pieces - 1) / 2) * 64
            canvas.place(
                fruit.name, place + rng.uniform(-5, 5), pan + rng.uniform(-4, 10), rng.uniform(112, 126),
                flip=rng.random() < 0.4, turn=rng.uniform(-10, 10), shadow=False, label="food",
                score=round(rng.uniform(0.7, 0.95), 2),
            )  # fmt: skip
    return snapshot(canvas, rng, tilt=0.8)


def _looked_up(thing: Thing) -> ReferenceCall:
    return call(
        "food_nutrition_mcp/get_nutrition",
        {"query": f"{thing.many} g {thing.name}"},
        words={"query": (str(thing.many), thing.key)},
    )


def _of(label: str) -> Callable[[str], float]:
    return lambda text: amount(text, label)


def _tally(name: str, label: str, unit: str, within: float, words: str) -> Tally:
    return Tally(
        look_up=_looked_up,
        figure=_of(label),
        unit=unit,
        within=within,
        meant=("fruit", "the kinds of fruit of which some was taken"),
        most=("main_source", f"the kind that gave the most {words}"),
        total=(name, f"the {words} in everything that was taken"),
        wording=f"Read each scale in both photographs, look up the difference in grams of each fruit, and add up the {words}.",
    )


_TALLIES = {
    "energy": _tally("calories", "Energy", "kcal", 0.51, "energy"),
    "vitamin": _tally("vitamin_c", "Vitamin C", "mg", 0.51, "vitamin C"),
}
