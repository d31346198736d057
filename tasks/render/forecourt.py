"""A dealer's forecourt: cars in two rows, each before a sign with its name, below strings of pennants."""

import random
from collections.abc import Sequence

from m3bench.tasks.render import backdrops
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.cars import PAINTS, car
from m3bench.tasks.render.shapes import ellipse, fade, line, mix, path, polygon, rect
from m3bench.tasks.scene import Box

COLUMNS = 4
_WIDE, _SIGN, _TALL = 286.0, 252.0, 92.0
"""A parked car's length, and its sign."""
_PENNANTS = ("#d8433b", "#f1c644", "#2f78bd", "#f6f4ec", "#3f9a5f")
_MAST = 24.0
"""Height at which the strings of pennants hang, in pixels from the upper edge."""


def parked(canvas: Canvas, rng: random.Random, cars: Sequence[tuple[str, str, str]]) -> list[Box]:
    """Cars in two rows at a dealer's, each before a sign with its name; returns the boxes of both together.

    Args:
        canvas: Where: 1500 by 924 pixels.
        rng: Chooses paints and places.
        cars: Body, brand and model of each.
    """
    width, height = canvas.width, canvas.height
    top = backdrops.outdoors(canvas, rng, rng.choice(("meadow", "forest", "sand")), 0.1) + 16
    tar = rng.choice(("#8d939a", "#9c968d", "#7f8891", "#a3a7a5"))
    slot, paints = width / COLUMNS, rng.sample(PAINTS, len(cars))
    canvas.draw(
        fade("asphalt", mix(tar, "#ffffff", 0.2), tar),
        rect(0, top, width, height - top, "url(#asphalt)"),
        rect(0, top - 4, width, 5, "#eceeee"),
        rect(0, top + 1, width, 6, "#aeb2b4"),
        *(fragment for row in range(2) for fragment in _bays(396 + row * 412, width, slot)),
        *(fragment for column in range(COLUMNS) for fragment in _string(column * slot, slot, top)),
        *(_mast(column * slot, top) for column in range(COLUMNS + 1)),
    )
    boxes = []
    for number, (body, brand, model) in enumerate(cars):
        row, column = divmod(number, COLUMNS)
        x, foot = slot * (column + 0.5) + rng.uniform(-12, 12), 396 + row * 412 + rng.uniform(-6, 6)
        boxes.append(_with_sign(canvas, rng, x, foot, body, brand, model, paints[number]))
    return boxes


def _bays(foot: float, width: float, slot: float) -> list[str]:
    """The lines between places to park in a row, and the one behind them, as somebody sees them who stands in the middle."""
    back, front = foot - 62, foot + 34
    lines = [line(0, back, width, back, "#f3f4f2", 4, 'opacity="0.55"')]
    for column in range(1, COLUMNS):
        x = column * slot
        lean = (x - width / 2) * 0.07
        lines.append(
            polygon(
                [(x - lean - 2.5, back), (x - lean + 2.5, back), (x + lean + 5, front), (x + lean - 5, front)],
                "#f3f4f2",
                'opacity="0.7"',
            )
        )
    return lines


def _string(x: float, long: float, top: float) -> list[str]:
    """Pennants on a string from one mast to the next."""
    sag = (top - _MAST) * 0.4
    points = [(x + long * share / 12, _MAST + sag * 4 * (share / 12) * (1 - share / 12)) for share in range(13)]
    flags = [
        polygon([(a - 11, y), (a + 11, y), (a, y + 24)], _PENNANTS[number % len(_PENNANTS)], 'opacity="0.95"')
        for number, (a, y) in enumerate(points[1:-1])
    ]
    string = path("M" + " L".join(f"{a:.1f} {y:.1f}" for a, y in points), more='stroke="#6d7278" stroke-width="2"')
    return [string, *flags]


def _mast(x: float, top: float) -> str:
    return rect(x - 3, _MAST - 10, 6, top - _MAST + 14, "#7c838a", 2) + ellipse(x, _MAST - 10, 5, 5, "#c9a13b")


def _with_sign(
    canvas: Canvas, rng: random.Random, x: float, foot: float, body: str, brand: str, model: str, paint: str
) -> Box:
    colour = rng.choice(("#8f1d24", "#123f73", "#1d5a3c", "#2f3640"))
    left, top = x - _SIGN / 2, foot - 0.4 * _WIDE - _TALL - 34
    for side in (-0.3, 0.3):
        canvas.draw(
            rect(x + side * _SIGN - 4, top + _TALL, 8, 84, "#5d646c"),
            rect(x + side * _SIGN - 4, top + _TALL, 3, 84, "#7d858d"),
        )
    canvas.draw(
        rect(left + 5, top + 6, _SIGN, _TALL, "#00000040", 8), rect(left, top, _SIGN, _TALL, "#fcfbf6", 8),
        rect(left, top, _SIGN, _TALL, "none", 8, f'stroke="{colour}" stroke-width="5"'),
    )  # fmt: skip
    canvas.text(brand, x, top + 33, 26, face="sans bold", fill=colour, anchor="middle", width=_SIGN - 30)
    canvas.text(model, x, top + 77, 44, face="sans black", fill="#22262e", anchor="middle", width=_SIGN - 30)
    car(canvas, x, foot, _WIDE, body=body, paint=paint, flip=rng.random() < 0.5)
    return (round(x - _WIDE / 2), round(top), round(x + _WIDE / 2), round(foot))
