"""Cars from the side, drawn in any paint: hatchbacks, saloons, sport-utility cars, pickups and coupés; and a dealer's yard full."""

import random
from collections.abc import Sequence

from m3bench.tasks.render import backdrops
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.shapes import ellipse, fade, line, mix, path, rect
from m3bench.tasks.scene import Box

PAINTS = ("#c8322f", "#1f5fa8", "#2f6d4f", "#e3b23c", "#8b95a1", "#3d4a5c", "#d96b2b", "#16807f", "#eceff1", "#6c3f5f")

_BODIES = {
    # The outline of the body and of the windows on a grid of 100 × 40, wheels at 21 and 78.
    "hatchback": (
        "M3 30 L3 23 Q4 19 10 18 L26 15.5 L37 5.5 Q39 4 43 4 L72 4 Q78 4 83 9 L92 16 Q97 18 97 23 L97 30 Q97 32 94 32 L6 32 Q3 32 3 30 Z",
        ("M31 15 L39.5 7.4 Q40.5 6.6 42.5 6.6 L53 6.6 L53 15 Z", "M56 15 L56 6.6 L71 6.6 Q75.5 6.6 79 9.6 L86 15 Z"),
    ),
    "saloon": (
        "M2 30 L2 24 Q3 20 9 19 L26 16.5 L37 7 Q39.5 5 43 5 L63 5 Q68 5 72 8 L83 16 L94 17.5 Q98 18.5 98 23 L98 30 Q98 32 95 32 L5 32 Q2 32 2 30 Z",
        ("M31 16 L39.5 8.6 Q40.8 7.4 43 7.4 L52 7.4 L52 16 Z", "M55 16 L55 7.4 L63 7.4 Q66.5 7.4 70 9.8 L78.5 16 Z"),
    ),
    "suv": (
        "M3 30 L3 20 Q4 16 9 15 L24 13 L33 3 Q34.5 1.5 38 1.5 L80 1.5 Q85 1.5 87.5 5 L94 14 Q97 16 97 20 L97 30 Q97 32 94 32 L6 32 Q3 32 3 30 Z",
        ("M29 13 L35.6 5.4 Q36.6 4.4 38.6 4.4 L52 4.4 L52 13 Z", "M55 13 L55 4.4 L79 4.4 Q82.5 4.4 84.4 7 L88.6 13 Z"),
    ),
    "pickup": (
        "M2 30 L2 20 Q3 16 8 15.5 L22 13.5 L30 3.6 Q31.5 2 35 2 L54 2 Q58 2 59.4 5 L63 14 L97 14 Q98.5 14 98.5 16 L98.5 30 Q98.5 32 96 32 L5 32 Q2 32 2 30 Z",
        ("M27 13.5 L32.8 6 Q33.8 4.8 35.6 4.8 L42 4.8 L42 13.5 Z", "M45 13.5 L45 4.8 L53.6 4.8 Q56 4.8 57 7 L59.6 13.5 Z"),
    ),
    "coupe": (
        "M2 30 L2 25 Q3 21 10 20 L28 17.5 L41 9 Q44 7.4 48 7.4 L60 7.4 Q68 7.4 76 12 L86 17.5 Q97 18.5 98 24 L98 30 Q98 32 95 32 L5 32 Q2 32 2 30 Z",
        ("M35 17.4 L44 11 Q46 9.8 48.6 9.8 L55 9.8 L55 17.4 Z", "M58 17.4 L58 9.8 L60 9.8 Q66.5 9.8 73 13.6 L79 17.4 Z"),
    ),
}  # fmt: skip
BODIES = tuple(_BODIES)
COLUMNS = 4
_WIDE, _SIGN, _TALL = 286.0, 252.0, 92.0
"""A parked car's length, and its sign."""


def parked(canvas: Canvas, rng: random.Random, cars: Sequence[tuple[str, str, str]]) -> list[Box]:
    """Cars in two rows in a dealer's yard, each below a sign with its name; returns the boxes of both together.

    Args:
        canvas: Where: 1500 by 924 pixels.
        rng: Chooses paints and places.
        cars: Body, brand and model of each.
    """
    width, height = canvas.width, canvas.height
    top = backdrops.outdoors(canvas, rng, rng.choice(("meadow", "forest", "sand")), 0.1) + 16
    tar = rng.choice(("#8d939a", "#9c968d", "#7f8891", "#a3a7a5"))
    canvas.draw(
        fade("asphalt", mix(tar, "#ffffff", 0.2), tar),
        rect(0, top, width, height - top, "url(#asphalt)"),
        line(0, top, width, top, "#d9dcdf", 8),
    )
    slot, paints = width / COLUMNS, rng.sample(PAINTS, len(cars))
    boxes = []
    for number, (body, brand, model) in enumerate(cars):
        row, column = divmod(number, COLUMNS)
        x, foot = slot * (column + 0.5) + rng.uniform(-12, 12), 396 + row * 412 + rng.uniform(-6, 6)
        if column:
            canvas.draw(line(slot * column, foot - 150, slot * column - 26, foot + 24, "#eceeef", 6, 'opacity="0.7"'))
        boxes.append(_with_sign(canvas, rng, x, foot, body, brand, model, paints[number]))
    return boxes


def _with_sign(
    canvas: Canvas, rng: random.Random, x: float, foot: float, body: str, brand: str, model: str, paint: str
) -> Box:
    colour = rng.choice(("#8f1d24", "#123f73", "#1d5a3c", "#2f3640"))
    left, top = x - _SIGN / 2, foot - 0.4 * _WIDE - _TALL - 34
    for side in (-0.3, 0.3):
        canvas.draw(rect(x + side * _SIGN - 4, top + _TALL, 8, 90, "#5d646c"))
    canvas.draw(
        rect(left + 5, top + 6, _SIGN, _TALL, "#00000040", 8), rect(left, top, _SIGN, _TALL, "#fcfbf6", 8),
        rect(left, top, _SIGN, _TALL, "none", 8, f'stroke="{colour}" stroke-width="5"'),
    )  # fmt: skip
    canvas.text(brand, x, top + 33, 26, face="sans bold", fill=colour, anchor="middle", width=_SIGN - 30)
    canvas.text(model, x, top + 77, 44, face="sans black", fill="#22262e", anchor="middle", width=_SIGN - 30)
    car(canvas, x, foot, _WIDE, body=body, paint=paint, flip=rng.random() < 0.5)
    return (round(x - _WIDE / 2), round(top), round(x + _WIDE / 2), round(foot))


def car(canvas: Canvas, x: float, foot: float, width: float, *, body: str, paint: str, flip: bool = False) -> Box:
    """Put down a car, the middle of its foot at `(x, foot)`; it looks to the left unless flipped.

    Args:
        canvas: Where.
        x: Middle.
        foot: Where the wheels stand.
        width: From bumper to bumper.
        body: One of `BODIES`.
        paint: Its colour.
        flip: It looks to the right.
    """
    outline, windows = _BODIES[body]
    scale = width / 100
    turn = f"translate({x + width / 2:.1f} {foot - 40 * scale:.1f}) scale({-scale:.4f} {scale:.4f})"
    plain = f"translate({x - width / 2:.1f} {foot - 40 * scale:.1f}) scale({scale:.4f})"
    key = f"car{round(x)}-{round(foot)}"
    dark = mix(paint, "#000000", 0.4)
    parts = [
        fade(f"{key}b", mix(paint, "#ffffff", 0.35), paint, mix(paint, "#000000", 0.28)),
        fade(f"{key}w", "#dcecf5", "#6f8da3"),
        f'<g transform="{turn if flip else plain}">',
        path(outline, f"url(#{key}b)"),
        *(path(window, f"url(#{key}w)", f'stroke="{dark}" stroke-width="0.5"') for window in windows),
        path("M4 26 L96.5 26", more=f'stroke="{dark}" stroke-width="0.6" opacity="0.7"'),
        rect(54 if body != "pickup" else 43.3, 16 if body != "suv" else 13.5, 0.5, 13, dark),
        rect(57, 19, 4, 1, dark, 0.5),
        path("M3.4 22 Q9 20.5 10 22.4 Q8 25 3.2 24.6 Z", "#fff4c9"),
        path("M97 20 L94 20.5 L94.4 24.5 L97.2 24.5 Z", "#d8322e"),
        rect(3, 29, 94, 3, mix(paint, "#101318", 0.72), 1.4),
    ]
    for wheel in (21, 78):
        parts += [
            ellipse(wheel, 31, 10, 9.4, mix(paint, "#101318", 0.75)), ellipse(wheel, 31.6, 8.4, 8.4, "#1d2127"),
            ellipse(wheel, 31.6, 5, 5, "#c5ccd3"), ellipse(wheel, 31.6, 3.6, 3.6, "#8f98a1"), ellipse(wheel, 31.6, 1.2, 1.2, "#e8ecef"),
        ]  # fmt: skip
    return canvas.thing("car", *parts, "</g>", shadow=True, score=0.95, aliases=("vehicle",))
