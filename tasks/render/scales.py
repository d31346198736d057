"""Kitchen scales with a round dial, on a worktop before a wall."""

import math
import random

from m3bench.tasks.render.canvas import INK, Canvas
from m3bench.tasks.render.shapes import ellipse, fade, line, mix, path, polygon, rect

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
