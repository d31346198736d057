"""Things on the floor of a room or on a blanket outdoors, one of them by far the largest."""

import random
from collections.abc import Sequence

from m3bench.tasks.render import backdrops
from m3bench.tasks.render.art import Art
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.shapes import ellipse, line, polygon


def ground(canvas: Canvas, rng: random.Random, kind: str) -> float:
    """Draw what things stand on; returns where it begins."""
    colour = rng.choice(("#b5524a", "#3f6f8f", "#5d7f58", "#8a6a9a", "#c2954a"))
    if kind != "room":
        level = backdrops.outdoors(canvas, rng, kind, rng.uniform(0.3, 0.38))
        _blanket(canvas, level, colour)
        return level
    level = backdrops.room(canvas, rng, rng.uniform(0.46, 0.54))
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


def arranged(
    rng: random.Random, art: Art, names: Sequence[str], canvas: Canvas, level: float
) -> list[tuple[str, float, float, float]]:
    """Name, place and height of each thing, the farthest first; the first name becomes by far the largest."""
    shapes = {name: art.object(name).size for name in names}
    found: list[tuple[str, float, float, float]] = []
    boxes: list[tuple[float, float, float, float]] = []
    tries = 0
    while len(found) < len(names):
        name = names[len(found)]
        nearness = rng.uniform(0.1, 1) if found else rng.uniform(0.9, 1)
        side = rng.uniform(130, 150) + 75 * nearness if found else rng.uniform(370, 415)
        wide, tall = shapes[name]
        height = min(460, side * (tall / wide) ** 0.5)
        width = height * wide / tall
        x, foot = (
            rng.uniform(40 + width / 2, canvas.width - 40 - width / 2),
            level + 45 + (canvas.height - 85 - level) * nearness,
        )
        box = (x - width / 2 - 16, foot - height - 10, x + width / 2 + 16, foot + 22)
        tries += 1
        if not any(_meet(box, other) for other in boxes):
            found.append((name, x, foot, height))
            boxes.append(box)
        elif tries % 200 == 0:
            found, boxes = [], []
    return sorted(found, key=lambda item: item[2])


def _meet(one: Sequence[float], other: Sequence[float]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
