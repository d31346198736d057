"""What somebody draws on a photograph with a finger before sending it: loops around things, arrows, ticks, strokes.

Nothing of it is noted in the scene: no detector and no reader of letters says what is circled. Strokes keep clear of
what is inside a box, so that writing and codes can be read as before.
"""

import math
import random
from collections.abc import Sequence

from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.shapes import path
from m3bench.tasks.scene import Box

RED = "#e3202b"
"""The colour of what is meant."""
BLUE, GREEN = "#1467e0", "#149a4e"
CHALK = "#ffd75e"
"""For strokes on a blackboard."""
OTHERS = (BLUE, GREEN, "#16181d")
"""Colours of what is not meant, unless a question names one of them: blue, green, black."""
_POINTS = 56
_EDGE = "#f4f1e8"
"""What a line is edged with on something dark, where no colour but red shows well."""
_DARK = 70
"""How bright the ground under a line is at most for that, of 255."""
_MARGIN = 3
"""Pixels that a loop stays away from the edge of a picture."""


def circle(canvas: Canvas, rng: random.Random, meant: Sequence[Box], others: Sequence[Box] = ()) -> None:
    """Red loops around what is meant; one of the others, or two, has a loop of another colour."""
    for box in meant:
        loop(canvas, rng, box, RED)
    for box in rng.sample(list(others), min(len(others), rng.randint(1, 2))):
        loop(canvas, rng, box, rng.choice(OTHERS))


def loop(canvas: Canvas, rng: random.Random, box: Box, colour: str = RED, *, air: float = 14, width: float = 8) -> None:
    """A line once around a box by hand: its ends miss each other, and it is nowhere quite straight."""
    left, top, right, bottom = box
    x, y = (left + right) / 2, (top + bottom) / 2
    across, down = (right - left) / 2 + air, (bottom - top) / 2 + air
    start, lean = rng.uniform(-2.4, -0.7), rng.uniform(-0.02, 0.02)
    waves = [(number, rng.uniform(0.2, 0.45) * air / number, rng.uniform(0, math.tau)) for number in (2, 3, 5)]
    turns = math.tau * rng.uniform(1.02, 1.06)
    points = []
    for number in range(_POINTS + 1):
        angle = start + turns * number / _POINTS
        off = sum(size * math.sin(count * angle + phase) for count, size, phase in waves) + air * 0.5 * number / _POINTS
        dx, dy = _squared(math.cos(angle)) * (across + off), _squared(math.sin(angle)) * (down + off)
        points.append((x + dx - lean * dy, y + dy + lean * dx))
    _stroke(canvas, _inside(canvas, points, width), colour, width)


def counted(canvas: Canvas, rng: random.Random, box: Box, count: int, colour: str = RED) -> None:
    """A loop around a box, and below it as many strokes."""
    loop(canvas, rng, box, colour)
    left, _, right, bottom = box
    wide = 22.0 * count
    strokes(canvas, rng, (left + right - wide) / 2 + rng.uniform(-20, 20), bottom + 80, count, colour)


def strokes(
    canvas: Canvas, rng: random.Random, x: float, foot: float, count: int, colour: str = RED, *, tall: float = 42
) -> None:
    """Strokes side by side from `x` on as people count with them: every fifth goes across the four before it."""
    gap = tall * 0.45
    for number in range(count):
        bundle, place = divmod(number, 5)
        start = x + bundle * gap * 5.6 + place * gap
        sway = [rng.uniform(-0.08, 0.08) * tall for _ in range(4)]
        if place < 4:
            points = [(start + sway[0], foot - tall + sway[1]), (start + sway[2], foot + sway[3])]
        else:
            points = [
                (start - 4.6 * gap, foot - tall * 0.2 + sway[1]),
                (start - gap * 0.35, foot - tall * 0.75 + sway[3]),
            ]
        _stroke(canvas, points, colour, max(4.0, tall * 0.13))


def arrow(
    canvas: Canvas, rng: random.Random, tip: tuple[float, float], away: tuple[float, float], colour: str = RED
) -> None:
    """An arrow from somewhere, a bit bent, to a tip."""
    (x1, y1), (x2, y2) = away, tip
    bend = rng.uniform(-0.16, 0.16)
    middle = ((x1 + x2) / 2 - (y2 - y1) * bend, (y1 + y2) / 2 + (x2 - x1) * bend)
    points = []
    for number in range(17):
        share = number / 16
        points.append(
            tuple(
                (1 - share) ** 2 * one + 2 * share * (1 - share) * mid + share**2 * end
                for one, mid, end in zip(away, middle, tip, strict=True)
            )
        )
    _stroke(canvas, points, colour, 9)  # type: ignore[arg-type]
    angle = math.atan2(y2 - middle[1], x2 - middle[0])
    head = math.dist(away, tip) * 0.12 + 18
    ends = [
        (x2 - head * math.cos(angle + side), y2 - head * math.sin(angle + side))
        for side in (rng.uniform(0.45, 0.6), -rng.uniform(0.45, 0.6))
    ]
    _stroke(canvas, [ends[0], tip, ends[1]], colour, 9)


def tick(canvas: Canvas, rng: random.Random, x: float, y: float, size: float, colour: str = "#1d3f8f") -> None:
    """A tick with a ball pen, its lowest point at `(x, y)`."""
    points = [
        (x - size * rng.uniform(0.28, 0.4), y - size * rng.uniform(0.28, 0.42)),
        (x, y),
        (x + size * rng.uniform(0.5, 0.7), y - size * rng.uniform(0.85, 1.1)),
    ]
    _stroke(canvas, points, colour, max(3.0, size * 0.13))


def cross(canvas: Canvas, rng: random.Random, x: float, y: float, size: float, colour: str = "#1d3f8f") -> None:
    """Two strokes across each other, their middle at `(x, y)`."""
    half = size / 2
    for side in (1, -1):
        sway = [rng.uniform(-0.14, 0.14) * size for _ in range(4)]
        points = [
            (x - side * half + sway[0], y - half + sway[1]),
            (x + side * half + sway[2], y + half + sway[3]),
        ]
        _stroke(canvas, points, colour, max(3.0, size * 0.13))


def _squared(value: float) -> float:
    """A circle's coordinate on a loop with fuller corners, as hands draw around things that have some."""
    return math.copysign(abs(value) ** 0.44, value)


def _inside(canvas: Canvas, points: Sequence[tuple[float, float]], width: float) -> list[tuple[float, float]]:
    """The points of a line, those beyond the edge of the picture moved back into it."""
    least = width / 2 + _MARGIN
    return [(min(max(x, least), canvas.width - least), min(max(y, least), canvas.height - least)) for x, y in points]


def _stroke(canvas: Canvas, points: Sequence[tuple[float, float]], colour: str, width: float) -> None:
    """A line; any but one of red or chalk has a pale edge where what lies under it is dark."""
    first, *rest = (f"{x:.1f} {y:.1f}" for x, y in points)
    lines = [(colour, width)]
    if colour not in (RED, CHALK) and canvas.brightness(points) < _DARK:
        lines.insert(0, (_EDGE, width + 5))
    for fill, wide in lines:
        canvas.draw(
            path(
                f"M{first} L{' L'.join(rest)}",
                more=f'stroke="{fill}" stroke-width="{wide:.1f}" stroke-linecap="round" stroke-linejoin="round" opacity="0.92"',
            )
        )
