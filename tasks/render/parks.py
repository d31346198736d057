"""Park entrances: a landscape, a carved wooden sign with the park's name, and a camp in front of it."""

import random
from collections.abc import Sequence

from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.scenery import distance
from m3bench.tasks.render.shapes import ellipse, fade, line, mix, polygon, rect

_GROUNDS = {
    "peaks": ("#9cc27a", "#5f8a4c"),
    "canyon": ("#d9a273", "#b1744a"),
    "desert": ("#e8cf9c", "#c9a566"),
    "coast": ("#b7c48a", "#7d9a5c"),
    "wetland": ("#a9b96a", "#6f8f4a"),
    "woods": ("#8fb56c", "#4f753c"),
    "lake": ("#a6bf80", "#66894e"),
    "badlands": ("#dcc79a", "#b39a68"),
}
_ANIMALS = {
    "peaks": ("deer", "squirrel", "goat"),
    "canyon": ("ram", "lizard", "snake"),
    "desert": ("rabbit", "lizard", "snake"),
    "coast": ("seal", "duck", "squirrel"),
    "wetland": ("duck", "flamingo", "turtle"),
    "woods": ("squirrel", "deer", "owl"),
    "lake": ("duck", "beaver", "deer"),
    "badlands": ("bison", "rabbit", "deer"),
}
_PLANTS = {
    "peaks": "evergreen",
    "canyon": "evergreen",
    "desert": "cactus",
    "coast": "evergreen",
    "wetland": "palm",
    "woods": "evergreen",
    "lake": "evergreen",
    "badlands": "rock",
}
_TENTS = ("#d9682b", "#2f7d6f", "#1f5fa8", "#b0305f", "#c79a1c")
_GEAR = ("backpack", "hiking boot", "fire", "wood", "compass", "guitar")


def entrance(canvas: Canvas, rng: random.Random, landscape: str, lines: Sequence[str]) -> None:
    """A park's entrance.

    Args:
        canvas: 1280 × 860 or so.
        rng: Chooses light, sizes and what stands around.
        landscape: One of `scenery.LANDSCAPES`.
        lines: The park's name, in one to three lines.
    """
    width, height = canvas.width, canvas.height
    level = height * rng.uniform(0.44, 0.5)
    distance(canvas, rng, landscape, level)
    near, far = _GROUNDS[landscape]
    canvas.draw(fade("ground", near, far), rect(0, level, width, height - level, "url(#ground)"))
    for _ in range(30):
        y = level + (height - level) * rng.random() ** 0.8
        size = 4 + 9 * (y - level) / (height - level)
        canvas.draw(
            ellipse(rng.uniform(0, width), y, size * 3, size * 0.5, mix(near, "#ffffff", 0.25), 'opacity="0.4"')
        )
    left_side = rng.random() < 0.5
    middle = width * (0.36 if left_side else 0.64) + rng.uniform(-20, 20)
    _plants(canvas, rng, landscape, level, middle)
    _sign(canvas, rng, middle, level + 18 - 84 * len(lines) + rng.uniform(-14, 14), lines)
    _camp(canvas, rng, landscape, width * (0.83 if left_side else 0.17), level, flip=left_side)


def _plants(canvas: Canvas, rng: random.Random, landscape: str, level: float, middle: float) -> None:
    """Behind the sign, beside it."""
    for offset in (-700, -560, -420, 425, 560, 700):
        x = middle + offset + rng.uniform(-12, 12)
        if 70 < x < canvas.width - 70:
            tall = rng.uniform(110, 180) * (0.4 if landscape == "badlands" else 1)
            canvas.place(_PLANTS[landscape], x, level + rng.uniform(20, 60), tall, flip=rng.random() < 0.5)


def _sign(canvas: Canvas, rng: random.Random, middle: float, top: float, lines: Sequence[str]) -> None:
    wood = rng.choice(("#5d3b22", "#6b4426", "#4f3626", "#583f2c"))
    cream = "#fbf3d8"
    wide, row = 690.0, 84.0
    tall = 120 + row * len(lines)
    left, foot = middle - wide / 2, top + tall
    canvas.draw(ellipse(middle, foot + 136, wide * 0.52, 18, "#00000038"))
    for x in (left + 70, left + wide - 110):
        canvas.draw(rect(x, top - 26, 40, tall + 160, mix(wood, "#000000", 0.25), 6))
        for number, stone in enumerate(("#8d8a84", "#a39f97", "#7c7973")):
            canvas.draw(ellipse(x + 20 + (number - 1) * 40, foot + 128 - (number % 2) * 14, 36, 22, stone))
    canvas.draw(fade("wood", mix(wood, "#ffffff", 0.14), wood))
    canvas.thing(
        "sign",
        fade("board", mix(wood, "#ffffff", 0.14), wood),
        rect(left, top, wide, tall, "url(#board)", 18),
        rect(left + 12, top + 12, wide - 24, tall - 24, "none", 12, f'stroke="{cream}" stroke-width="5"'),
        aliases=("wooden sign",),
    )
    for number in range(1, 4):
        y = top + tall * number / 4 + rng.uniform(-8, 8)
        canvas.draw(line(left + 30, y, left + wide - 30, y, mix(wood, "#000000", 0.3), 2, 'opacity="0.35"'))
    for number, text in enumerate(lines):
        canvas.text(
            text, middle, top + 90 + row * number, 66, face="serif bold", fill=cream, anchor="middle", width=wide - 80
        )
    canvas.text("National Park Service", middle, top + tall - 38, 32, face="sans bold", fill=cream, anchor="middle")


def _camp(canvas: Canvas, rng: random.Random, landscape: str, middle: float, level: float, *, flip: bool) -> None:
    height = canvas.height
    low = height - 40
    for number, colour in enumerate(rng.sample(_TENTS, 2)):
        x, foot, wide = (
            middle + (number - 0.5) * 170 * (1 if flip else -1),
            level + 170 + number * 95,
            190.0 + 40 * number,
        )
        _tent(canvas, max(wide / 2 + 16, min(canvas.width - wide / 2 - 16, x)), foot, wide, colour)
    gear = rng.sample(_GEAR, 2)
    animal = rng.choice(_ANIMALS[landscape])
    spread = (0.12, 0.34, 0.56) if flip else (0.44, 0.66, 0.88)
    for name, share in zip((gear[0], animal, gear[1]), spread, strict=True):
        canvas.place(
            name,
            canvas.width * share + rng.uniform(-30, 30),
            low + rng.uniform(-14, 16),
            rng.uniform(110, 145),
            flip=rng.random() < 0.5,
        )


def _tent(canvas: Canvas, x: float, foot: float, wide: float, colour: str) -> None:
    tall = wide * 0.68
    canvas.thing(
        "tent",
        polygon([(x - wide * 0.5, foot), (x - wide * 0.12, foot - tall), (x + wide * 0.22, foot)], colour),
        polygon([(x - wide * 0.12, foot - tall), (x + wide * 0.28, foot - tall * 0.94), (x + wide * 0.5, foot - 8), (x + wide * 0.22, foot)], mix(colour, "#000000", 0.28)),
        polygon([(x - wide * 0.24, foot), (x - wide * 0.12, foot - tall * 0.7), (x + wide * 0.02, foot)], mix(colour, "#10131a", 0.7)),
        shadow=True,
    )  # fmt: skip
