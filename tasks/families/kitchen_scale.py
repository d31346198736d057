"""Kitchen scales with fruit, photographed twice: the difference that the hands show decides what is looked up."""

import json
import math
import random
from collections.abc import Callable, Sequence

from m3bench.tasks.answers.fields import Date, Field, Name, Number
from m3bench.tasks.families import tally
from m3bench.tasks.families.base import Composition, Family, Kit, Script, Solution, call, need, words
from m3bench.tasks.families.fruit_cal import Fruit, fruits
from m3bench.tasks.families.tally import TalliedThing, TallyGoal
from m3bench.tasks.families.tool_answers import nutrient_amount
from m3bench.tasks.render.canvas import INK, Canvas
from m3bench.tasks.render.phone import Snapshot, snapshot
from m3bench.tasks.render.shapes import ellipse, fade, line, mix, path, polygon, rect
from m3bench.tasks.task import ReferenceCall

BODIES = ("#b5443c", "#3f6f8f", "#4f8a6b", "#d0a24a", "#7a6a9a", "#e2ded4")
STEP = 20
"""Grams from one mark of the dial to the next; a hand rests on a mark."""
_FULL = 1000
_RADIUS = 152
_WALLS = ("#dfe6e3", "#e8dfd0", "#d5dee8", "#e6dcd8", "#dce3cf")
_TOPS = ("#b08a62", "#8f6a48", "#9a9c9e", "#c7b299")


def worktop(canvas: Canvas, rng: random.Random) -> float:
    """A wall with a rail and a worktop; returns where things stand on it."""
    width, height = canvas.width, canvas.height
    wall, top = rng.choice(_WALLS), rng.choice(_TOPS)
    edge = height * 0.72
    canvas.draw(fade("wall", mix(wall, "#ffffff", 0.3), wall), rect(0, 0, width, edge, "url(#wall)"))
    for row in range(5):
        for column in range(-1, 9):
            left, above = column * 180 + (row % 2) * 90, row * 140 + 10
            canvas.draw(
                rect(
                    left + 3,
                    above + 3,
                    174,
                    134,
                    mix(wall, rng.choice(("#ffffff", "#9aa0a6")), rng.uniform(0.04, 0.14)),
                    4,
                )
            )
    rail = mix(top, "#000000", 0.35)
    canvas.draw(rect(0, 96, width, 12, rail, 6), rect(0, 98, width, 3, "#ffffff", 0, 'opacity="0.35"'))
    for _ in range(3):
        x = rng.uniform(90, width - 90)
        canvas.draw(
            path(f"M{x:.0f} 100 q14 10 0 26", more=f'stroke="{rail}" stroke-width="5"'),
            rect(x - 7, 126, 14, 120, mix(top, "#ffffff", rng.uniform(0.1, 0.4)), 6),
            ellipse(x, 268, 30, 38, mix(top, "#ffffff", 0.25)),
        )
    canvas.draw(
        fade("top", mix(top, "#ffffff", 0.25), top),
        rect(0, edge, width, height - edge, "url(#top)"),
        rect(0, edge - 4, width, 8, "#00000033"),
    )
    for _ in range(14):
        x, y, long = rng.uniform(0, width), rng.uniform(edge + 10, height), rng.uniform(80, 260)
        canvas.draw(line(x, y, x + long, y, mix(top, "#000000", 0.2), 2, 'opacity="0.3"'))
    return height * 0.9


def scale(canvas: Canvas, x: float, foot: float, weight: int, body: str) -> float:
    """A scale, the middle of its foot at `(x, foot)`, that shows a weight in grams; returns where things lie in its pan."""
    top = foot - 2 * _RADIUS - 66
    dark, key = mix(body, "#000000", 0.3), f"s{round(x)}"
    canvas.draw(
        ellipse(x, foot + 4, _RADIUS * 1.3, 22, "#000000", 'opacity="0.3"'),
        fade(key, mix(body, "#ffffff", 0.25), body, dark, across=True),
        polygon(
            [(x - _RADIUS * 0.8, top), (x + _RADIUS * 0.8, top), (x + _RADIUS * 1.22, foot), (x - _RADIUS * 1.22, foot)],
            f"url(#{key})",
        ),
        rect(x - _RADIUS * 1.26, foot - 16, _RADIUS * 2.52, 20, dark, 8),
        rect(x - 34, top - 34, 68, 40, "#9aa0a6", 6),
    )  # fmt: skip
    _dial(canvas, x, foot - _RADIUS - 34, weight)
    pan = top - 44
    canvas.draw(
        path(
            f"M{x - 182:.0f} {pan:.0f} Q{x:.0f} {pan + 34:.0f} {x + 182:.0f} {pan:.0f} L{x + 138:.0f} {pan + 30:.0f} "
            f"Q{x:.0f} {pan + 46:.0f} {x - 138:.0f} {pan + 30:.0f} Z",
            "#aeb4ba",
        ),
        ellipse(x, pan, 184, 20, "#d3d8dc", 'stroke="#8d949b" stroke-width="4"'),
        ellipse(x, pan + 3, 164, 13, "#bcc3c9"),
    )
    return pan + 8


def _dial(canvas: Canvas, x: float, y: float, weight: int) -> None:
    canvas.draw(
        ellipse(x, y, _RADIUS, _RADIUS, "#f9f7f0", 'stroke="#6d7278" stroke-width="7"'),
    )
    for grams in range(0, _FULL, STEP):
        across, down = _way(grams)
        inner, thick = (0.8, 5) if grams % 100 == 0 else (0.86, 2.4)
        canvas.draw(
            line(x + across * _RADIUS * inner, y + down * _RADIUS * inner, x + across * _RADIUS * 0.94,
                 y + down * _RADIUS * 0.94, INK, thick)
        )  # fmt: skip
        if grams % 100 == 0:
            canvas.text(
                str(grams), x + across * _RADIUS * 0.655, y + down * _RADIUS * 0.655 + 8, 23, face="sans bold",
                anchor="middle",
            )  # fmt: skip
    canvas.text("g", x, y + _RADIUS * 0.4, 26, face="sans", anchor="middle")
    across, down = _way(weight)
    side = (-down, across)
    canvas.draw(
        polygon(
            [
                (x + across * _RADIUS * 0.92, y + down * _RADIUS * 0.92),
                (x + side[0] * 7, y + side[1] * 7),
                (x - across * _RADIUS * 0.2, y - down * _RADIUS * 0.2),
                (x - side[0] * 7, y - side[1] * 7),
            ],
            "#c0282d",
        ),
        ellipse(x, y, 11, 11, "#3b3f45"),
    )


def _way(grams: int) -> tuple[float, float]:
    """Which way a weight is from the middle of the dial: nothing is above, and it goes round like a clock."""
    angle = 2 * math.pi * grams / _FULL
    return math.sin(angle), -math.cos(angle)


_SCALES = 3
_STEP = STEP
_LIMITS = range(25, 80, 5)
"""Grams of sugar."""
_LEAST = 5 * _STEP
"""Grams that at least lie on a scale."""


class KitchenScale(Family):
    """Read the dials twice, subtract, and look up what was taken off each scale."""

    name = "kitchen_scale"
    servers = ("food_nutrition_mcp", "healthcare-mcp", "math")
    concerns = words()

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Three scales; later two or three of them show less, and they stand in another order."""
        kinds = rng.sample(fruits(), _SCALES)
        before = [rng.randrange(480, 961, _STEP) for _ in kinds]
        kitchen, bodies = rng.randrange(1 << 30), rng.sample(BODIES, _SCALES)
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
        things = [
            TalliedThing(name, known[name].spellings, many=weight, key=known[name].stem) for name, weight in meant
        ]
        others = [name for name in composition.facts["kinds"] if name not in dict(meant)]
        if play.goal == "advice":
            return await _advice(rng, things, composition.facts["pages"], play)
        return await tally.run(_TALLIES[play.goal], things, play, others=others)


async def _advice(rng: random.Random, things: Sequence[TalliedThing], pages: Sequence[str], play: Script) -> Solution:
    """How much sugar it was decides which page of advice is wanted."""
    limit, (over, under) = rng.choice(_LIMITS), rng.sample(KitchenScale.concerns, 2)
    amounts = [nutrient_amount(text, "Sugars") for text in await play.step(*map(_looked_up, things))]
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
            Field(name="page", meaning="the title of the health page to read", value=Name(value=page["title"], others=tuple(title for title in pages if title != page["title"]))),
            Field(name="updated", meaning="the day on which that page was last updated", value=Date(value=page["last_updated"])),
        ),
        given={"limit": str(limit), "over": over, "under": under},
        alternatives=(play.varied("added up without a tool", {1: ()}),),
    )  # fmt: skip


def _photograph(kit: Kit, rng: random.Random, kitchen: int, standing: Sequence[tuple[Fruit, int, str]]) -> Snapshot:
    """The scales side by side; the detector sees that something is food, and not which."""
    canvas = Canvas(kit.art, 1400, 960)
    foot = worktop(canvas, random.Random(kitchen))
    for number, (fruit, weight, body) in enumerate(standing):
        x = canvas.width * (0.5 + (number - 1) * 0.295) + rng.uniform(-12, 12)
        pan = scale(canvas, x, foot + rng.uniform(-6, 10), weight, body)
        pieces = 1 + weight // 240
        for piece in range(pieces):
            place = x + (piece - (pieces - 1) / 2) * 64
            canvas.place(
                fruit.name, place + rng.uniform(-5, 5), pan + rng.uniform(-4, 10), rng.uniform(112, 126),
                flip=rng.random() < 0.4, turn=rng.uniform(-10, 10), shadow=False, label="food",
                score=round(rng.uniform(0.7, 0.95), 2),
            )  # fmt: skip
    return snapshot(canvas, rng, tilt=0.8)


def _looked_up(thing: TalliedThing) -> ReferenceCall:
    return call(
        "food_nutrition_mcp/get_nutrition",
        {"query": f"{thing.many} g {thing.name}"},
        words={"query": (str(thing.many), thing.key)},
    )


def _of(label: str) -> Callable[[str], float]:
    return lambda text: nutrient_amount(text, label)


def _tally(name: str, label: str, unit: str, within: float, words: str) -> TallyGoal:
    return TallyGoal(
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
