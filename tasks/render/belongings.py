"""Things in two rows on the floor of a room or on a blanket outdoors."""

import random
from collections.abc import Sequence

from m3bench.tasks.render import backdrops
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.proportions import share, turn
from m3bench.tasks.render.shapes import ellipse, line, polygon
from m3bench.tasks.scene import Box

_LOOP = 40
"""Pixels that a loop takes beside a thing."""


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
    slot, boxes = canvas.width / columns, []
    for number, (name, aliases) in enumerate(things):
        row, column = divmod(number, columns)
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
        boxes.append(
            canvas.place(name, x, foot, height, flip=flip, turn=turn(name, flip), score=score, aliases=tuple(aliases))
        )
    return boxes
