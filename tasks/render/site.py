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
    dark = mix(paint, "#000000", 0.35)
    canvas.draw(
        ellipse(x, foot + 14, 74, 9, "#000000", 'opacity="0.18"'), rect(x - 58, foot - 6, 116, 20, "#9b968d", 3),
        rect(x - 58, foot - 6, 116, 6, "#bdb8ae", 3), polygon([(x - 36, foot - 6), (x - 9, foot - 64), (x - 9, foot - 6)], dark),
        polygon([(x + 36, foot - 6), (x + 9, foot - 64), (x + 9, foot - 6)], dark),
        rect(x - 9, top, 18, tall, paint), rect(x - 70, top, 300, 12, paint), rect(x - 70, top + 12, 40, 26, "#6d7278"),
        rect(x + 9, top + 14, 26, 30, dark, 4), rect(x + 17, top + 19, 14, 14, "#cfe3ee", 2),
    )  # fmt: skip
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


def cylinder(rng: random.Random, x: float, foot: float, size: float) -> list[str]:
    """A gas cylinder that is shut."""
    paint = rng.choice(("#c23b2e", "#d8862a", "#3f6fa8"))
    wide, tall = size * 0.36, size * 0.86
    top = foot - tall
    return [
        rect(x - wide * 0.14, top - size * 0.12, wide * 0.28, size * 0.16, "#6f757c", 3),
        rect(x - wide * 0.34, top - size * 0.16, wide * 0.68, size * 0.06, "#4b5056", 4),
        rect(x - wide / 2, top, wide, tall, paint, wide * 0.42),
        rect(x - wide / 2, foot - tall * 0.3, wide, tall * 0.3, paint, 6),
        rect(x - wide * 0.36, top + tall * 0.14, wide * 0.16, tall * 0.7, "#ffffff", 6, 'opacity="0.3"'),
    ]  # fmt: skip


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


def fence(rng: random.Random, x: float, foot: float, size: float) -> list[str]:
    """Posts and striped rails behind and before a pit."""
    drawn = []
    for near, y in ((0.56, foot - size * 0.44), (0.8, foot + size * 0.1)):
        left, wide = x - size * near, size * near * 2
        for share in (0, 0.33, 0.67, 1):
            drawn.append(rect(left + wide * share - 4, y - size * 0.42, 8, size * 0.42, "#70767d", 2))
        for level in (0.4, 0.24):
            drawn.append(rect(left - 6, y - size * level, wide + 12, size * 0.07, "#fbf8f2"))
            step = (wide + 12) / 8
            drawn += [
                rect(left - 6 + step * (2 * n + 0.5), y - size * level, step, size * 0.07, "#d23a2e") for n in range(4)
            ]
    return drawn


def cable(rng: random.Random, x: float, foot: float, size: float) -> list[str]:
    """A roll of cable with a loose end to the right."""
    y, paint = foot - size * 0.24, rng.choice(("#23262b", "#d97a1f", "#2f4f86"))
    rings = [
        ellipse(x - size * 0.14, y, size * (0.4 - 0.06 * n), size * (0.22 - 0.035 * n), "none", f'stroke="{mix(paint, "#ffffff", 0.12 * (n % 2))}" stroke-width="11"')
        for n in range(4)
    ]  # fmt: skip
    tail = f"M{x + size * 0.16:.1f} {y + size * 0.1:.1f} Q{x + size * 0.3:.1f} {foot - 2:.1f} {x + size * 0.5:.1f} {foot - 18:.1f}"
    return [*rings, path(tail, more=f'stroke="{paint}" stroke-width="11"')]


def plug(rng: random.Random, x: float, foot: float, size: float) -> list[str]:
    """The plug at the end of a cable."""
    end = x + size * 0.5
    return [
        rect(end - 4, foot - 31, 34, 25, "#3b3f46", 6),
        rect(end + 28, foot - 27, 14, 5, "#c9ced3", 2),
        rect(end + 28, foot - 15, 14, 5, "#c9ced3", 2),
    ]


def sparks(rng: random.Random, x: float, foot: float, size: float) -> list[str]:
    """Bare copper and sparks at the end of a cable."""
    x, y = x + size * 0.56, foot - 24
    flashes = [
        polygon(
            [(x + dx * size, y + dy * size), (x + dx * size * 2.1, y + dy * size * 1.5), (x + dx * size * 1.2, y + dy * size * 2.3)],
            "#ffd93b",
            'stroke="#f08c1a" stroke-width="2"',
        )
        for dx, dy in ((0.1, -0.1), (0.13, 0.03), (-0.03, -0.15))
    ]  # fmt: skip
    copper = [line(x - size * 0.07, y + 6, x + size * 0.05, y + end, "#d9803a", 5) for end in (-10, 0, 9)]
    return [*copper, *flashes]


def plank(rng: random.Random, x: float, foot: float, size: float) -> list[str]:
    """A plank that lies on the ground, seen a bit from above."""
    wood = rng.choice(("#a8743c", "#96683f", "#b07f45"))
    left, right, top, edge = x - size * 0.68, x + size * 0.68, foot - size * 0.3, foot - size * 0.08
    grain = [
        line(left + size * a, top + size * b, right - size * c, top + size * b, mix(wood, "#000000", 0.2), 2)
        for a, b, c in ((0.2, 0.05, 0.3), (0.3, 0.11, 0.1), (0.1, 0.17, 0.4))
    ]
    return [
        polygon([(left + size * 0.12, top), (right, top), (right - size * 0.12, edge), (left, edge)], wood),
        rect(left, edge, right - left - size * 0.12, foot - edge, mix(wood, "#000000", 0.3)),
        *grain,
    ]


def nails(rng: random.Random, x: float, foot: float, size: float) -> list[str]:
    """Nails that stick out of a plank, their points up."""
    drawn = []
    for number in range(6):
        at, base = x - size * 0.5 + size * 0.19 * number, foot - size * (0.12 if number % 2 else 0.16)
        drawn.append(
            polygon(
                [(at - 5, base), (at, base - size * 0.3), (at + 5, base)],
                "#c3ccd4",
                'stroke="#3f464d" stroke-width="2"',
            )
        )
    return drawn


def gas(rng: random.Random, x: float, foot: float, size: float) -> list[str]:
    """What leaks at the valve of a cylinder."""
    wide, top = size * 0.36, foot - size * 0.86
    return [
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


def rails(rng: random.Random, x: float, foot: float, size: float) -> list[str]:
    """A ladder with only its highest and lowest rung."""
    half, tall, dark = size * 0.25, size * 1.15, "#74481f"
    ends = [line(x - half, foot - tall * at, x + half, foot - tall * at, "#9a6630", 9) for at in (0.12, 0.87)]
    sides = [line(x + side, foot, x + side, foot - tall, dark, 12) for side in (-half, half)]
    return [*ends, *sides]


def rungs(rng: random.Random, x: float, foot: float, size: float) -> list[str]:
    """The rungs between, as they should be."""
    half, tall = size * 0.25, size * 1.15
    return [
        line(x - half, foot - tall * at, x + half, foot - tall * at, "#9a6630", 9) for at in (0.27, 0.42, 0.57, 0.72)
    ]


def snapped(rng: random.Random, x: float, foot: float, size: float) -> list[str]:
    """The rungs between, two of them snapped and one gone."""
    half, tall = size * 0.25, size * 1.15
    drawn = [line(x - half, foot - tall * 0.27, x + half, foot - tall * 0.27, "#9a6630", 9)]
    for at in (0.42, 0.72):
        y = foot - tall * at
        drawn += [
            line(x - half, y, x - half * 0.36, y + size * 0.11, "#9a6630", 9),
            line(x + half, y, x + half * 0.44, y + size * 0.13, "#9a6630", 9),
            line(x - half * 0.44, y + size * 0.1, x - half * 0.3, y + size * 0.12, "#f1dcb8", 6),
        ]
    return drawn


def nothing(rng: random.Random, x: float, foot: float, size: float) -> list[str]:
    """For what needs no more to be in order or not."""
    return []


DRAWN: dict[str, Drawing] = {
    "open pit": pit, "torn cable": cable, "oil spill": spill, "plank with nails": plank,
    "leaking gas cylinder": cylinder, "broken ladder": rails,
    "traffic cone": cone, "wheelbarrow": barrow, "stack of pipes": pipes,
}  # fmt: skip
"""What is drawn here, by name; the rest is art."""
MORE: dict[str, tuple[Drawing, Drawing]] = {
    "open pit": (nothing, fence), "torn cable": (sparks, plug), "plank with nails": (nails, nothing),
    "leaking gas cylinder": (gas, nothing), "broken ladder": (snapped, rungs),
}  # fmt: skip
"""What makes a thing a hazard, and what puts it in order; the detector knows nothing of either."""
