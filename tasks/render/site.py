"""A building site: the building, the things lying around, and the hazards."""

import random
from collections.abc import Callable

from m3bench.tasks.render import backdrops
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.shapes import ellipse, fade, line, mix, path, polygon, rect

Drawing = Callable[[random.Random, float, float, float], list[str]]
"""Fragments of a thing with the middle of its foot at a place, in a size."""


def ground(canvas: Canvas, rng: random.Random) -> float:
    """Sky, sand and a house going up at the back; returns the height of the horizon in pixels."""
    level = backdrops.outdoors(canvas, rng, "site", horizon=rng.uniform(0.4, 0.46))
    left = canvas.width * rng.uniform(0.05, 0.42)
    _shell(canvas, rng, left, level + 26, canvas.width * rng.uniform(0.34, 0.44), level * rng.uniform(0.66, 0.8))
    crane = left + canvas.width * (0.52 if left < canvas.width * 0.24 else -0.1)
    _crane(canvas, rng, min(max(crane, 110), canvas.width - 330), level + 20, level * 0.92)
    for _ in range(9):
        y = level + (canvas.height - level) * rng.uniform(0.06, 0.98)
        size = 4 + 10 * (y - level) / (canvas.height - level)
        canvas.draw(
            ellipse(rng.uniform(0, canvas.width), y, size, size * 0.6, rng.choice(("#9c8f7d", "#8d8578", "#b3a48c")))
        )
    return level


def _shell(canvas: Canvas, rng: random.Random, left: float, foot: float, wide: float, tall: float) -> None:
    wall = rng.choice(("#c9745a", "#b9b2a6", "#c48a63", "#a9a39a"))
    storeys, bays = 2, 4
    canvas.draw(fade("shell", mix(wall, "#ffffff", 0.18), wall), rect(left, foot - tall, wide, tall, "url(#shell)"))
    high, broad = tall / storeys, wide / bays
    for storey in range(storeys):
        canvas.draw(rect(left - 8, foot - tall + storey * high, wide + 16, 12, "#d8d4cc"))
        for bay in range(bays):
            canvas.draw(
                rect(
                    left + bay * broad + broad * 0.27,
                    foot - tall + storey * high + high * 0.32,
                    broad * 0.46,
                    high * 0.42,
                    "#5a5f66",
                )
            )
    for bay in range(bays + 1):
        x = left + bay * broad
        canvas.draw(line(x, foot, x, foot - tall - 34, "#8d949b", 6))
    for storey in range(storeys + 1):
        y = foot - storey * high * 0.98 - 8
        canvas.draw(line(left - 14, y, left + wide + 14, y, "#a27a4d", 9))


def _crane(canvas: Canvas, rng: random.Random, x: float, foot: float, tall: float) -> None:
    paint = rng.choice(("#e0a526", "#d98324", "#c9b12f"))
    top = foot - tall
    canvas.draw(
        rect(x - 9, top, 18, tall, paint), rect(x - 70, top, 300, 12, paint), rect(x - 70, top + 12, 40, 26, "#6d7278")
    )
    for number in range(int(tall / 26)):
        y = top + number * 26
        canvas.draw(line(x - 9, y, x + 9, y + 26, mix(paint, "#000000", 0.3), 3))
    canvas.draw(line(x + 200, top + 12, x + 200, top + 66, "#4a4f55", 3), rect(x + 186, top + 66, 28, 12, "#4a4f55", 3))


def pit(rng: random.Random, x: float, foot: float, size: float) -> list[str]:
    """A deep excavation without a fence."""
    y = foot - size * 0.26
    return [
        ellipse(x, y, size * 0.72, size * 0.26, "#8a7253"),
        ellipse(x, y + size * 0.02, size * 0.64, size * 0.215, "#4d3b29"),
        ellipse(x, y + size * 0.06, size * 0.55, size * 0.155, "#1d1610"),
    ]


def cable(rng: random.Random, x: float, foot: float, size: float) -> list[str]:
    """A torn cable with bare copper and sparks."""
    bend = size * rng.uniform(0.24, 0.32)
    end_x, end_y = x + size * 0.34, foot - size * 0.36
    sparks = [
        polygon(
            [
                (end_x + dx * size, end_y + dy * size),
                (end_x + dx * size * 2.1, end_y + dy * size * 1.5),
                (end_x + dx * size * 1.2, end_y + dy * size * 2.3),
            ],
            "#ffd93b",
            'stroke="#f08c1a" stroke-width="2"',
        )
        for dx, dy in ((0.1, -0.1), (0.13, 0.03), (-0.03, -0.15))
    ]
    return [
        path(
            f"M{x - size * 0.62:.1f} {foot - 12:.1f} C{x - size * 0.3:.1f} {foot - bend - 12:.1f} {x - size * 0.1:.1f} {foot + 4:.1f}"
            f" {x + size * 0.1:.1f} {foot - 14:.1f} S{x + size * 0.16:.1f} {end_y:.1f} {end_x - size * 0.06:.1f} {end_y:.1f}",
            more='stroke="#23262b" stroke-width="15" stroke-linecap="round"',
        ),
        line(end_x - size * 0.06, end_y, end_x + size * 0.05, end_y - 8, "#d9803a", 6),
        line(end_x - size * 0.06, end_y + 3, end_x + size * 0.06, end_y + 9, "#e09a4c", 5),
        *sparks,
    ]


def spill(rng: random.Random, x: float, foot: float, size: float) -> list[str]:
    """Oil from a can that fell over."""
    y = foot - size * 0.16
    can = rng.choice(("#b03a2e", "#2f5fa0", "#3d7a45"))
    return [
        path(
            f"M{x - size * 0.7:.1f} {y:.1f} Q{x - size * 0.5:.1f} {y - size * 0.2:.1f} {x - size * 0.1:.1f} {y - size * 0.13:.1f}"
            f" T{x + size * 0.5:.1f} {y - size * 0.1:.1f} Q{x + size * 0.76:.1f} {y + size * 0.05:.1f} {x + size * 0.4:.1f} {y + size * 0.12:.1f}"
            f" T{x - size * 0.3:.1f} {y + size * 0.13:.1f} Q{x - size * 0.72:.1f} {y + size * 0.14:.1f} {x - size * 0.7:.1f} {y:.1f} Z",
            "#17181c",
        ),
        ellipse(x - size * 0.12, y, size * 0.22, size * 0.035, "#6a5aa8", 'opacity="0.55"'),
        ellipse(x + size * 0.16, y + size * 0.04, size * 0.13, size * 0.025, "#4f9a9a", 'opacity="0.5"'),
        f'<g transform="rotate(-78 {x + size * 0.38:.1f} {y - size * 0.1:.1f})">',
        rect(x + size * 0.24, y - size * 0.24, size * 0.28, size * 0.36, can, 6),
        rect(x + size * 0.24, y - size * 0.14, size * 0.28, size * 0.13, mix(can, "#ffffff", 0.75)),
        rect(x + size * 0.33, y - size * 0.31, size * 0.09, size * 0.08, "#2b2d31", 3),
        "</g>",
    ]


def nails(rng: random.Random, x: float, foot: float, size: float) -> list[str]:
    """A plank with nails pointing up."""
    wood = rng.choice(("#8a5a2b", "#7a5230", "#96652f"))
    top = foot - size * 0.14
    spikes = [
        polygon(
            [(at - 5, top), (at, top - size * 0.24), (at + 5, top)], "#8f99a3", 'stroke="#4c545c" stroke-width="1.5"'
        )
        for at in (x - size * 0.5 + size * 0.2 * number for number in range(6))
    ]
    return [
        *spikes,
        rect(x - size * 0.68, top, size * 1.36, size * 0.14, wood, 3),
        line(x - size * 0.6, top + size * 0.05, x + size * 0.5, top + size * 0.05, mix(wood, "#000000", 0.25), 2),
        line(x - size * 0.4, top + size * 0.1, x + size * 0.62, top + size * 0.1, mix(wood, "#000000", 0.25), 2),
    ]


def cylinder(rng: random.Random, x: float, foot: float, size: float) -> list[str]:
    """A gas cylinder that leaks at its valve."""
    paint = rng.choice(("#c23b2e", "#d8862a", "#3f6fa8"))
    wide, tall = size * 0.36, size * 0.86
    top = foot - tall
    cloud = [
        ellipse(
            x + wide * (0.42 + 0.42 * number),
            top - size * (0.12 + 0.03 * number),
            size * (0.06 + 0.028 * number),
            size * (0.045 + 0.02 * number),
            "#e9eef0",
            'stroke="#9fb0b5" stroke-width="2"',
        )
        for number in range(4)
    ]
    return [
        *cloud,
        rect(x - wide * 0.14, top - size * 0.12, wide * 0.28, size * 0.16, "#6f757c", 3),
        rect(x - wide * 0.34, top - size * 0.16, wide * 0.68, size * 0.06, "#4b5056", 4),
        rect(x - wide / 2, top, wide, tall, paint, wide * 0.42),
        rect(x - wide / 2, foot - tall * 0.3, wide, tall * 0.3, paint, 6),
        rect(x - wide * 0.36, top + tall * 0.14, wide * 0.16, tall * 0.7, "#ffffff", 6, 'opacity="0.3"'),
        polygon([(x, foot - tall * 0.62), (x + wide * 0.3, foot - tall * 0.36), (x - wide * 0.3, foot - tall * 0.36)], "#ffd93b", 'stroke="#22262e" stroke-width="3"'),
    ]  # fmt: skip


def broken_ladder(rng: random.Random, x: float, foot: float, size: float) -> list[str]:
    """A ladder with snapped rungs and a cracked rail."""
    metal, wide, tall = rng.choice(("#9a6630", "#7d848b", "#a8702f")), size * 0.5, size * 1.15
    left, right, top = x - wide / 2, x + wide / 2, foot - tall
    rungs = []
    for number in range(6):
        y = foot - tall * (0.12 + 0.15 * number)
        if number in (2, 4):
            rungs += [
                line(left, y, left + wide * 0.3, y + size * 0.1, metal, 9),
                line(right, y, right - wide * 0.26, y + size * 0.12, metal, 9),
            ]
        else:
            rungs.append(line(left, y, right, y, metal, 9))
    dark = mix(metal, "#000000", 0.25)
    return [
        *rungs,
        line(left, foot, left, top, dark, 12),
        line(right, foot, right, foot - tall * 0.52, dark, 12),
        line(right + wide * 0.1, foot - tall * 0.55, right - wide * 0.02, top, dark, 12),
        polygon(
            [(right - 9, foot - tall * 0.5), (right, foot - tall * 0.57), (right + 9, foot - tall * 0.49)], "#f1dcb8"
        ),
    ]


def cone(rng: random.Random, x: float, foot: float, size: float) -> list[str]:
    """A traffic cone."""
    tall = size * 0.8
    return [
        rect(x - size * 0.34, foot - size * 0.09, size * 0.68, size * 0.09, "#d9541e", 4),
        polygon([(x - size * 0.24, foot - size * 0.08), (x - size * 0.05, foot - tall), (x + size * 0.05, foot - tall), (x + size * 0.24, foot - size * 0.08)], "#ef6a2c"),
        polygon([(x - size * 0.17, foot - tall * 0.42), (x - size * 0.12, foot - tall * 0.62), (x + size * 0.12, foot - tall * 0.62), (x + size * 0.17, foot - tall * 0.42)], "#fbf7ef"),
    ]  # fmt: skip


def barrow(rng: random.Random, x: float, foot: float, size: float) -> list[str]:
    """A wheelbarrow with sand."""
    tub = rng.choice(("#3f8a5a", "#3c6fae", "#c2463a"))
    return [
        ellipse(x - size * 0.06, foot - size * 0.58, size * 0.34, size * 0.13, "#d9bd85"),
        line(x - size * 0.2, foot - size * 0.22, x + size * 0.72, foot - size * 0.44, "#8a5f38", 11),
        line(x + size * 0.24, foot - size * 0.3, x + size * 0.3, foot - 4, "#6a6f75", 9),
        polygon([(x - size * 0.5, foot - size * 0.58), (x + size * 0.38, foot - size * 0.58), (x + size * 0.24, foot - size * 0.26), (x - size * 0.26, foot - size * 0.26)], tub),
        rect(x - size * 0.52, foot - size * 0.61, size * 0.92, size * 0.06, mix(tub, "#000000", 0.25), 4),
        ellipse(x - size * 0.34, foot - size * 0.15, size * 0.15, size * 0.15, "#24262a"),
        ellipse(x - size * 0.34, foot - size * 0.15, size * 0.07, size * 0.07, "#c9cdd1"),
    ]  # fmt: skip


def pipes(rng: random.Random, x: float, foot: float, size: float) -> list[str]:
    """A stack of pipes, chocked."""
    clay = rng.choice(("#c0714a", "#9aa0a6", "#7f8f9c"))
    radius = size * 0.16
    drawn = []
    for row, count in enumerate((4, 3, 2)):
        for number in range(count):
            at, y = x + (number - (count - 1) / 2) * radius * 2.05, foot - radius - row * radius * 1.75
            drawn += [
                ellipse(at, y, radius, radius, clay),
                ellipse(at, y, radius * 0.66, radius * 0.66, mix(clay, "#000000", 0.6)),
            ]
    return drawn
