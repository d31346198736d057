"""Animals, plants and people where they live: on land, under water, behind the glass of an aquarium.

What is put down does not overlap: everything has a place of its own, and its size follows from the place. Animals of
which the art shows only the head look out of a bush or a heap of snow.
"""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from m3bench.tasks.render import backdrops
from m3bench.tasks.render.art import Art
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.shapes import ellipse, fade, line, mix, path, polygon, rect
from m3bench.tasks.scene import Box

HEADS = frozenset({"bear", "boar", "fox", "frog", "koala", "lion", "moose", "panda", "polar bear", "raccoon", "wolf"})
"""Art that shows only a head."""
FLYING = frozenset({"bat", "bee", "butterfly", "dove", "eagle", "fly", "mosquito"})
_SIZES = {
    1.0: {"bear", "bison", "camel", "coral", "cow", "deer", "donkey", "elephant", "giraffe", "gorilla", "hippopotamus", "horse",
          "lion", "llama", "moose", "orangutan", "polar bear", "rhinoceros", "shark", "tent", "tree", "whale", "zebra"},
    0.62: {"badger", "basket", "beaver", "cat", "duck", "eagle", "fish", "fox", "goose", "hedgehog", "koala", "lobster",
           "owl", "peacock", "penguin", "rabbit", "raccoon", "rice plant", "skunk", "snake", "squid", "squirrel", "swan",
           "turkey", "turtle"},
    0.48: {"ant", "bat", "bee", "beetle", "bird", "butterfly", "camera", "carrot", "caterpillar", "chick", "clover", "corn",
           "crab", "cricket", "fly", "frog", "herb", "key", "ladybug", "lettuce", "lizard", "mosquito", "mouse", "rat",
           "scorpion", "shrimp", "snail", "spider", "worm"},
}  # fmt: skip
_SHARES = {name: share for share, names in _SIZES.items() for name in names}
"""How much of its place something takes up. Small animals are drawn larger than they are, and none as large as a cow."""
_OTHER = 0.84
"""The share of whatever is not listed, people among it."""
_RAIL = 58
"""Height of what visitors stand behind, in pixels."""
_GRASSES = {"meadow": "#5f9440", "savanna": "#b08f45", "forest": "#4a6d38", "snow": "#dce8ef", "sand": "#a99a5c"}


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
            canvas, rng, actors[number], x, level * rng.uniform(0.4, 0.54), slot * 0.6, level * 0.5, None
        )
    for number, (x, slot) in _row(canvas, rng, back):
        boxes[number] = _put(
            canvas, rng, actors[number], x, level + depth * rng.uniform(0.2, 0.27), slot * 0.8, 190, _GRASSES[ground]
        )
    room = level + depth * 0.27 + 40 if back else 0
    for number, (x, slot) in _row(canvas, rng, front):
        foot = canvas.height * (rng.uniform(0.88, 0.95) if back else rng.uniform(0.78, 0.93))
        boxes[number] = _put(canvas, rng, actors[number], x, foot, slot * 0.84, min(330, foot - room), _GRASSES[ground])
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
    found = [
        _put(canvas, rng, visitor, x, height - _RAIL, slot * 0.8, 228, None)
        for visitor, (_, (x, slot)) in zip(visitors, _row(canvas, rng, list(range(len(visitors)))), strict=True)
    ]
    wood = mix(wall, "#c79a63", 0.55)
    canvas.draw(
        rect(0, height - _RAIL, width, _RAIL, mix(wood, "#000000", 0.35)),
        rect(0, height - _RAIL, width, 16, mix(wood, "#ffffff", 0.2)),
        *(rect(x, height - _RAIL + 16, 4, _RAIL - 16, "#00000040") for x in range(0, width, 160)),
    )
    return boxes, found


def _put(
    canvas: Canvas, rng: random.Random, actor: Actor, x: float, foot: float, wide: float, tall: float, grass: str | None
) -> Box:
    """Put down an actor, no larger than a place; heads look out of leaves of a colour."""
    hidden = grass is not None and actor.art in HEADS
    if hidden:
        wide, tall = wide * 0.7, tall * 0.8
    height = fit(canvas.art, actor.art, wide, tall) * _SHARES.get(actor.art, _OTHER) * rng.uniform(0.92, 1.0)
    if hidden:
        drawn = canvas.art.object(actor.art)
        across = height * drawn.width / drawn.height
        _bush(canvas, rng, x, foot, across * 1.5, height * 0.72, str(grass))
    box = canvas.place(
        actor.art, x, foot, height,
        label=actor.name, flip=rng.random() < 0.5, turn=rng.uniform(-3, 3) if actor.art in FLYING else 0,
        shadow=grass is not None and not hidden, score=score(rng), aliases=actor.aliases,
    )  # fmt: skip
    if hidden:
        _bush(canvas, rng, x, foot + 0.05 * height, across * 1.4, height * 0.18, str(grass))
    return box


def _bush(canvas: Canvas, rng: random.Random, x: float, foot: float, wide: float, tall: float, colour: str) -> None:
    """What an animal looks out of: leaves, or a heap of snow."""
    snow = colour == _GRASSES["snow"]
    canvas.draw(ellipse(x, foot + wide * 0.03, wide * 0.54, wide * 0.05, "#000000", 'opacity="0.14"'))
    key, bright = f"bush{round(x)}-{round(foot)}-{round(tall)}", mix(colour, "#ffffff", 0.75 if snow else 0.16)
    canvas.draw(
        fade(key, bright, mix(colour, "#4d6b85" if snow else "#000000", 0.16)),
        _mound(x, foot, wide, tall, 1 if snow else max(7, round(wide / 26)), f"url(#{key})"),
    )
    for _ in range(0 if snow else max(10, round(wide * tall / 900))):
        angle, far = rng.uniform(0.1, math.pi - 0.1), rng.uniform(0.2, 0.9)
        leaf = mix(colour, rng.choice(("#ffffff", "#e8f0a0", "#000000")), rng.uniform(0.08, 0.24))
        place = x + math.cos(angle) * far * wide / 2, foot - math.sin(angle) * far * tall
        canvas.draw(
            ellipse(*place, 7, 4, leaf, f'transform="rotate({rng.uniform(-50, 50):.0f} {place[0]:.1f} {place[1]:.1f})"')
        )


def _mound(x: float, foot: float, wide: float, tall: float, bumps: int, fill: str) -> str:
    """Half an ellipse with a rounded foot, its upper edge in bumps; with one alone it is smooth."""
    turns = [math.pi * number / bumps for number in range(bumps + 1)]
    points = [(x - wide / 2 * math.cos(turn), foot - tall * math.sin(turn)) for turn in turns]
    d = f"M{x - wide / 2:.1f} {foot:.1f}"
    for one, next in pairwise(points):
        reach = math.dist(one, next) * 0.58
        across, down = (wide / 2, tall) if bumps == 1 else (reach, reach)
        d += f" A{across:.1f} {down:.1f} 0 0 1 {next[0]:.1f} {next[1]:.1f}"
    return path(f"{d} Q{x:.1f} {foot + wide * 0.11:.1f} {x - wide / 2:.1f} {foot:.1f} Z", fill)


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
