"""What a research base in the open is made of: cabins on stilts and domes."""

import random

from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.shapes import ellipse, fade, line, mix, path, polygon, rect

_CABINS = ("#c0392b", "#2f6f9f", "#d98e2b", "#3f7f5f", "#8a4f9f", "#c9ced3", "#a8442f")


def cabin(canvas: Canvas, rng: random.Random, x: float, foot: float, wide: float) -> None:
    """A cabin on stilts, the middle of its foot at `(x, foot)`."""
    colour, tall = rng.choice(_CABINS), wide * 0.36
    left, top, key = x - wide / 2, foot - tall - 34, f"c{round(x)}"
    stilts = [
        line(left + wide * share, foot - 40, left + wide * share, foot, "#5a6067", 8)
        for share in (0.1, 0.37, 0.63, 0.9)
    ]
    windows = [
        rect(
            left + wide * (0.1 + 0.17 * n),
            top + tall * 0.3,
            wide * 0.1,
            tall * 0.26,
            "#dff1fa",
            6,
            'stroke="#3a4149" stroke-width="3"',
        )
        for n in range(4)
    ]
    canvas.draw(ellipse(x, foot + 2, wide * 0.5, 10, "#00000028"))
    canvas.thing(
        "building", *stilts, fade(key, mix(colour, "#ffffff", 0.25), mix(colour, "#000000", 0.2)),
        rect(left, top, wide, tall, f"url(#{key})", 16), rect(left + wide * 0.04, top - 12, wide * 0.92, 16, "#e9eef1", 6), *windows,
        rect(left + wide * 0.8, top + tall * 0.3, wide * 0.11, tall * 0.7, "#3a4149", 4),
    )  # fmt: skip


def dome(canvas: Canvas, rng: random.Random, x: float, foot: float, radius: float) -> None:
    """A dome with a slit for a telescope."""
    key = f"d{round(x)}"
    slit = rng.uniform(-0.3, 0.2) * radius
    canvas.draw(ellipse(x, foot + 2, radius * 1.1, 10, "#00000028"))
    canvas.thing(
        "observatory", fade(key, "#ffffff", "#dfe4e8", "#a9b2ba", across=True),
        rect(x - radius * 0.92, foot - radius * 0.8, radius * 1.84, radius * 0.8, mix("#c9ced3", "#8f989f", 0.3), 4),
        path(f"M{x - radius:.0f} {foot - radius * 0.78:.0f} A{radius:.0f} {radius:.0f} 0 0 1 {x + radius:.0f} {foot - radius * 0.78:.0f} Z", f"url(#{key})"),
        polygon([(x + slit, foot - radius * 1.72), (x + slit + radius * 0.24, foot - radius * 1.7), (x + slit + radius * 0.26, foot - radius * 0.9), (x + slit, foot - radius * 0.9)], "#2b333b"),
        rect(x - radius, foot - radius * 0.82, radius * 2, 10, "#7d868d"), rect(x - radius * 0.14, foot - radius * 0.42, radius * 0.28, radius * 0.42, "#4a535b", 4),
    )  # fmt: skip
