"""Hand-drawn plans of a day: a sheet with streets, a dotted way, and three stops with their names."""

import random
from collections.abc import Sequence

from m3bench.tasks.render import backdrops
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.shapes import ellipse, line, mix, path, polygon, rect

Point = tuple[float, float]

_PAPERS = ("#fdfcf7", "#fdf8ea", "#f6f8fb", "#fbf7f2")
_PENS = ("#2b3a67", "#7a2e3a", "#1f5c4a", "#4a3a68", "#33383f")
_LAYOUTS: tuple[tuple[Point, Point, Point], ...] = (
    ((250, 640), (640, 300), (1030, 640)),
    ((250, 330), (640, 640), (1030, 330)),
    ((1030, 640), (640, 300), (250, 640)),
    ((1030, 330), (640, 640), (250, 330)),
)
"""Where start, sight and goal are."""
_AROUND = ("tree", "house", "evergreen", "office building", "church", "garden house", "bicycle", "fountain")


def plan(canvas: Canvas, rng: random.Random, title: str, stops: Sequence[tuple[str, str]]) -> None:
    """Fill a canvas of 1280 × 860 with a plan.

    Args:
        canvas: Where.
        rng: Chooses paper, pen, layout and what stands along the streets.
        title: Above the plan.
        stops: Start, sight and goal, each with what it is and its name.
    """
    backdrops.table(canvas, rng)
    pen = rng.choice(_PENS)
    backdrops.paper(canvas, rng, (36, 30, 1244, 830), rng.choice(_PAPERS))
    spots = rng.choice(_LAYOUTS)
    _streets(canvas, rng, pen, low=spots[0][1] < spots[1][1])
    basket = _way(canvas, rng, pen, spots)
    canvas.text(title, 640, 112, 58, face="round", fill=pen, anchor="middle", width=1000)
    wobble = 118 + rng.uniform(2, 8)
    half = canvas.art.width(title, 58, "round") / 2
    canvas.draw(
        path(
            f"M{640 - half:.0f} {wobble + 10:.0f} q{half:.0f} {rng.uniform(-8, 10):.0f} {2 * half:.0f} 0",
            more=f'stroke="{pen}" stroke-width="5" stroke-linecap="round"',
        )
    )
    canvas.draw(ellipse(*basket, 54, 54, "#fffdf5", f'stroke="{pen}" stroke-width="4" stroke-dasharray="10 7"'))
    canvas.place("shopping cart", basket[0], basket[1] + 34, 66, shadow=False)
    for (x, y), (role, name), mark in zip(spots, stops, (_house, _star, _flag), strict=True):
        mark(canvas, x, y - 64, pen)
        _label(canvas, x, y, role, name, pen)


def _streets(canvas: Canvas, rng: random.Random, pen: str, *, low: bool) -> None:
    """Pale streets, a river, and a few things along them, at the sides or low down."""
    pale = mix(pen, "#ffffff", 0.86)
    for y in (210, 400, 560, 770):
        bend = rng.uniform(-30, 30)
        canvas.draw(
            path(
                f"M60 {y + bend:.0f} C400 {y - bend:.0f} 860 {y + bend:.0f} 1220 {y - bend:.0f}",
                more=f'stroke="{pale}" stroke-width="16"',
            )
        )
    for x in (130, 440, 830, 1150):
        bend = rng.uniform(-40, 40)
        canvas.draw(
            path(
                f"M{x + bend:.0f} 150 C{x - bend:.0f} 380 {x + bend:.0f} 600 {x - bend:.0f} 816",
                more=f'stroke="{pale}" stroke-width="16"',
            )
        )
    start = rng.uniform(440, 520)
    canvas.draw(
        path(
            f"M40 {start:.0f} C320 {start + rng.uniform(-70, 70):.0f} 900 {start + rng.uniform(-60, 60):.0f} 1240 {start + rng.uniform(-60, 20):.0f}",
            more='stroke="#cfe6f2" stroke-width="34"',
        )
    )
    foot = 780 if low else 490
    for name, (x, y) in zip(rng.sample(_AROUND, 4), ((120, foot), (1160, foot), (120, 200), (1160, 205)), strict=True):
        canvas.place(name, x + rng.uniform(-14, 14), y, rng.uniform(58, 76), shadow=False, score=0.7)


def _way(canvas: Canvas, rng: random.Random, pen: str, spots: Sequence[Point]) -> Point:
    """The dotted way through the stops; returns where it passes the shop."""
    (x1, y1), (x2, y2), (x3, y3) = ((x, y - 84) for x, y in spots)
    share = 0.66 if y2 < y3 else 0.33
    basket = (x2 + (x3 - x2) * share + rng.uniform(-6, 6), y2 + (y3 - y2) * share + rng.uniform(-8, 8))
    more = f'stroke="{mix(pen, "#ffffff", 0.25)}" stroke-width="7" stroke-dasharray="4 18" stroke-linecap="round"'
    canvas.draw(
        path(f"M{x1:.0f} {y1:.0f} Q{(x1 + x2) / 2:.0f} {y1 + (y2 - y1) * 0.2:.0f} {x2:.0f} {y2:.0f}", more=more),
        path(f"M{x2:.0f} {y2:.0f} L{basket[0]:.0f} {basket[1]:.0f} L{x3:.0f} {y3:.0f}", more=more),
    )
    return basket


def _label(canvas: Canvas, x: float, y: float, role: str, name: str, pen: str) -> None:
    lines = canvas.lines(name, 360, 38, "sans bold")
    wide = min(400.0, max(canvas.art.width(text, 38, "sans bold") for text in lines) + 40)
    wide = max(wide, canvas.art.width(role, 32, "round") + 40)
    tall = 62.0 + 44 * len(lines)
    canvas.draw(
        rect(x - wide / 2, y - 8, wide, tall, "#fffefa", 14, f'stroke="{mix(pen, "#ffffff", 0.55)}" stroke-width="2"')
    )
    canvas.text(role, x, y + 30, 32, face="round", fill=mix(pen, "#ffffff", 0.15), anchor="middle")
    for number, text in enumerate(lines):
        canvas.text(
            text, x, y + 74 + 44 * number, 38, face="sans bold", fill="#22262e", anchor="middle", width=wide - 28
        )


def _house(canvas: Canvas, x: float, y: float, pen: str) -> None:
    canvas.draw(
        rect(x - 26, y - 14, 52, 44, "#fffefa", 3, f'stroke="{pen}" stroke-width="5"'),
        polygon(
            [(x - 38, y - 12), (x, y - 46), (x + 38, y - 12)],
            "#e07a5f",
            f'stroke="{pen}" stroke-width="5" stroke-linejoin="round"',
        ),
        rect(x - 8, y + 6, 16, 24, pen, 2),
    )


def _star(canvas: Canvas, x: float, y: float, pen: str) -> None:
    rim = ((0, -46), (12, -14), (46, -14), (18, 6), (28, 38), (0, 18), (-28, 38), (-18, 6), (-46, -14), (-12, -14))
    canvas.draw(
        polygon(
            [(x + dx, y + dy - 4) for dx, dy in rim],
            "#f2c14e",
            f'stroke="{pen}" stroke-width="5" stroke-linejoin="round"',
        )
    )


def _flag(canvas: Canvas, x: float, y: float, pen: str) -> None:
    canvas.draw(
        polygon(
            [(x - 18, y - 46), (x + 40, y - 28), (x - 18, y - 8)],
            "#81b29a",
            f'stroke="{pen}" stroke-width="5" stroke-linejoin="round"',
        ),
        line(x - 20, y - 48, x - 20, y + 34, pen, 6, 'stroke-linecap="round"'),
    )
