"""Animals, plants and people where they live: on land, under water, behind the glass of an aquarium.

What is put down does not overlap: everything has a place of its own, and its size follows from the place. Animals of
which the art shows the head alone look out of tall grass.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from m3bench.tasks.render import backdrops
from m3bench.tasks.render.art import Art
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.shapes import ellipse, fade, line, mix, path, polygon, rect
from m3bench.tasks.scene import Box

HEADS = frozenset({"bear", "boar", "fox", "frog", "koala", "lion", "moose", "panda", "polar bear", "raccoon", "wolf"})
"""Art that shows a head alone."""
FLYING = frozenset({"bat", "bee", "butterfly", "dove", "eagle", "fly", "mosquito"})
TALL = frozenset({"cow", "deer", "elephant", "giraffe", "gorilla", "horse", "llama", "camel", "zebra", "bison", "tree"})
SMALL = frozenset(
    {"ant", "bee", "beetle", "butterfly", "caterpillar", "chick", "cricket", "fly", "frog", "ladybug", "lizard", "mosquito",
     "mouse", "rat", "scorpion", "shrimp", "snail", "spider", "worm", "clover", "carrot", "lettuce", "crab"}
)  # fmt: skip
_GRASSES = {"meadow": "#5f9440", "savanna": "#b08f45", "forest": "#4a6d38", "snow": "#c3d3dd", "sand": "#a99a5c"}


@dataclass(frozen=True)
class Actor:
    """Something alive to be put down."""

    art: str
    label: str = ""
    """What the detector calls it; the name of the art when left out."""
    aliases: tuple[str, ...] = field(default=())

    @property
    def name(self) -> str:
        """What it is called."""
        return self.label or self.art


def land(canvas: Canvas, rng: random.Random, actors: Sequence[Actor], ground: str) -> list[Box]:
    """A stretch of land with all the actors on it; returns their boxes in the given order."""
    level = backdrops.outdoors(canvas, rng, ground)
    _stones(canvas, rng, level)
    boxes: dict[int, Box] = {}
    order = list(range(len(actors)))
    rng.shuffle(order)
    flying = [number for number in order if actors[number].art in FLYING][:3]
    walking = [number for number in order if number not in flying]
    split = len(walking) // 2 if len(walking) > 3 else 0
    back, front = walking[:split], walking[split:]
    depth = canvas.height - level
    for number, (x, slot) in _row(canvas, rng, flying):
        boxes[number] = _put(
            canvas, rng, actors[number], x, level * rng.uniform(0.66, 0.82), slot * 0.6, level * 0.5, None
        )
    for number, (x, slot) in _row(canvas, rng, back):
        boxes[number] = _put(
            canvas, rng, actors[number], x, level + depth * rng.uniform(0.2, 0.27), slot * 0.8, 190, _GRASSES[ground]
        )
    room = level + depth * 0.27 + 12 if back else 0
    for number, (x, slot) in _row(canvas, rng, front):
        foot = canvas.height * (rng.uniform(0.88, 0.95) if back else rng.uniform(0.78, 0.93))
        boxes[number] = _put(canvas, rng, actors[number], x, foot, slot * 0.8, min(330, foot - room), _GRASSES[ground])
    return [boxes[number] for number in range(len(actors))]


def sea(canvas: Canvas, rng: random.Random, actors: Sequence[Actor], floor: float = 0.86) -> list[Box]:
    """Under water, the actors in two rows; returns their boxes in the given order."""
    _water(canvas, rng, 0, 0, canvas.width, canvas.height, floor)
    return _swim(canvas, rng, actors, 30, canvas.width - 30, 30, canvas.height * (floor + 0.08))


def aquarium(
    canvas: Canvas, rng: random.Random, actors: Sequence[Actor], visitors: Sequence[Actor]
) -> tuple[list[Box], list[Box]]:
    """A tank behind glass with visitors before it; returns the boxes of the actors and of the visitors."""
    width, height = canvas.width, canvas.height
    wall = rng.choice(("#39424e", "#4a4453", "#3d4a47", "#50483f"))
    canvas.draw(
        fade("hall", mix(wall, "#ffffff", 0.12), mix(wall, "#000000", 0.25)), rect(0, 0, width, height, "url(#hall)")
    )
    left, top, right, bottom = 60.0, 44.0, width - 60.0, height - 300.0
    canvas.draw(rect(left - 16, top - 16, right - left + 32, bottom - top + 32, mix(wall, "#ffffff", 0.3), 18))
    _water(canvas, rng, left, top, right - left, bottom - top, 0.9)
    boxes = _swim(canvas, rng, actors, left + 10, right - 10, top + 10, bottom - 12)
    canvas.draw(rect(0, height - 90, width, 90, mix(wall, "#000000", 0.35)))
    found = [
        _put(canvas, rng, visitor, x, height, slot * 0.6, 240, None)
        for visitor, (_, (x, slot)) in zip(visitors, _row(canvas, rng, list(range(len(visitors)))), strict=True)
    ]
    return boxes, found


def _put(
    canvas: Canvas, rng: random.Random, actor: Actor, x: float, foot: float, wide: float, tall: float, grass: str | None
) -> Box:
    """Put down an actor, no larger than a place; heads get grass of a colour before them."""
    hidden = grass is not None and actor.art in HEADS
    wide *= 0.75 if hidden else 1
    share = 0.62 if actor.art in SMALL else 1.0 if actor.art in TALL else 0.82
    height = fit(canvas.art, actor.art, wide, tall * share) * rng.uniform(0.92, 1.0)
    if hidden:
        drawn = canvas.art.object(actor.art)
        _bush(canvas, rng, x, foot, height * drawn.width / drawn.height * 1.15, height, str(grass))
    box = canvas.place(
        actor.art, x, foot, height,
        label=actor.name, flip=rng.random() < 0.5, turn=rng.uniform(-3, 3) if actor.art in FLYING else 0,
        shadow=grass is not None and not hidden, score=score(rng), aliases=actor.aliases,
    )  # fmt: skip
    if hidden:
        _blades(canvas, rng, box, str(grass))
    return box


def _bush(canvas: Canvas, rng: random.Random, x: float, foot: float, wide: float, tall: float, colour: str) -> None:
    """What an animal looks out of."""
    canvas.draw(ellipse(x, foot + 4, wide * 0.62, tall * 0.07, "#000000", 'opacity="0.16"'))
    for number in range(9):
        across = (number / 8 - 0.5) * wide * 1.02
        high = tall * (0.62 - 0.34 * abs(number / 4 - 1) ** 2) * rng.uniform(0.85, 1.05)
        shade = mix(colour, "#ffffff" if number % 2 else "#000000", rng.uniform(0.04, 0.16))
        canvas.draw(ellipse(x + across, foot - high * 0.42, wide * 0.15, high * 0.5, shade))


def _stones(canvas: Canvas, rng: random.Random, level: float) -> None:
    for _ in range(rng.randint(4, 8)):
        y = level + (canvas.height - level) * rng.uniform(0.08, 0.96)
        size = 6 + 16 * (y - level) / (canvas.height - level)
        x, grey = rng.uniform(20, canvas.width - 20), rng.choice(("#9a948a", "#8a8d90", "#a79c8c"))
        canvas.draw(
            ellipse(x, y + size * 0.4, size * 1.2, size * 0.3, "#000000", 'opacity="0.15"'),
            ellipse(x, y, size, size * 0.6, grey),
            ellipse(x - size * 0.25, y - size * 0.18, size * 0.5, size * 0.24, mix(grey, "#ffffff", 0.35)),
        )


def _blades(canvas: Canvas, rng: random.Random, box: Box, colour: str) -> None:
    left, top, right, bottom = box
    tall = (bottom - top) * 0.085
    x = left - 26.0
    while x < right + 26:
        middle = 1 - abs((x - (left + right) / 2) / ((right - left) / 2 + 40))
        reach = tall * (0.35 + 0.65 * middle) * rng.uniform(0.7, 1.0)
        lean = rng.uniform(-7, 7)
        shade = mix(colour, rng.choice(("#ffffff", "#000000")), rng.uniform(0.0, 0.2))
        canvas.draw(polygon([(x - 5, bottom + 8), (x + lean, bottom - reach), (x + 5, bottom + 8)], shade))
        x += rng.uniform(5, 9)
    canvas.draw(
        ellipse(
            (left + right) / 2, bottom + 8, (right - left) / 2 + 22, 7, mix(colour, "#ffffff", 0.08), 'opacity="0.8"'
        )
    )


def _swim(
    canvas: Canvas, rng: random.Random, actors: Sequence[Actor], left: float, right: float, top: float, bottom: float
) -> list[Box]:
    boxes: dict[int, Box] = {}
    order = sorted(range(len(actors)), key=lambda number: (actors[number].art in _BOTTOM, rng.random()))
    split = len(order) - max(len(order) // 2, sum(actors[number].art in _BOTTOM for number in order))
    tall = (bottom - top) / (2 if split and split < len(order) else 1.4)
    for row, numbers in enumerate((order[:split], order[split:])):
        slot = (right - left) / max(1, len(numbers))
        for place, number in enumerate(numbers):
            actor = actors[number]
            x = left + slot * (place + 0.5) + rng.uniform(-0.06, 0.06) * slot
            rise = 0 if actor.art in _BOTTOM else rng.uniform(0.04, 0.12) * tall
            foot = (bottom if row else bottom - tall) - rise
            boxes[number] = _put(canvas, rng, actor, x, foot, slot * 0.78, min(300, tall * 0.82), None)
    return [boxes[number] for number in range(len(actors))]


_BOTTOM = frozenset(
    {
        "crab",
        "lobster",
        "shrimp",
        "octopus",
        "oyster",
        "coral",
        "snail",
        "otter",
        "anchor",
        "diving mask",
        "amphora",
        "key",
    }
)


def _water(
    canvas: Canvas, rng: random.Random, left: float, top: float, width: float, height: float, floor: float
) -> None:
    """Water in a box, with light from above, weeds and sand."""
    light, deep = rng.choice((("#8fd3e8", "#1f6f96"), ("#7fd0d0", "#1c6a78"), ("#a5cff0", "#2c5f9c")))
    canvas.draw(fade("water", light, deep), rect(left, top, width, height, "url(#water)"))
    for _ in range(5):
        x, lean, wide = (
            left + width * rng.uniform(0.1, 0.8),
            width * rng.uniform(-0.06, 0.06),
            width * rng.uniform(0.02, 0.05),
        )
        end = top + height * 0.8
        canvas.draw(
            polygon(
                [(x, top), (x + wide, top), (x + wide * 2 + lean, end), (x - wide + lean, end)],
                "#ffffff",
                'opacity="0.09"',
            )
        )
    sand = top + height * floor
    canvas.draw(
        path(
            f"M{left:.0f} {sand + 14:.0f} Q{left + width * 0.3:.0f} {sand - 18:.0f} {left + width * 0.55:.0f} {sand + 8:.0f}"
            f" T{left + width:.0f} {sand:.0f} V{top + height:.0f} H{left:.0f} Z",
            rng.choice(("#e6d3a0", "#d9c694", "#cdbf9a")),
        )
    )
    for _ in range(14):
        x, y, size = left + width * rng.uniform(0.03, 0.97), top + height * rng.uniform(0.05, 0.75), rng.uniform(3, 8)
        canvas.draw(ellipse(x, y, size, size, "none", 'stroke="#ffffff" stroke-width="2" opacity="0.5"'))
    for _ in range(8):
        x, y = left + width * rng.random(), sand + height * (1 - floor) * rng.uniform(0.2, 0.8)
        canvas.draw(line(x, y, min(left + width, x + 26), y, "#00000018", 3, 'stroke-linecap="round"'))


def _row(canvas: Canvas, rng: random.Random, numbers: Sequence[int]) -> list[tuple[int, tuple[float, float]]]:
    """Places side by side: the middle and the width of each."""
    if not numbers:
        return []
    slot = (canvas.width - 40) / len(numbers)
    return [
        (number, (20 + slot * (place + 0.5) + rng.uniform(-0.07, 0.07) * slot, min(slot, 420)))
        for place, number in enumerate(numbers)
    ]


def fit(art: Art, name: str, wide: float, tall: float) -> float:
    """The height at which an object fits a place."""
    drawn = art.object(name)
    return min(tall, wide * drawn.height / drawn.width)


def score(rng: random.Random) -> float:
    """How sure the detector is."""
    return round(rng.uniform(0.82, 0.97), 2)
