"""A catch on a pier: fish on measuring boards, each with a tag, and a board with the places where boats land."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from m3bench.tasks.render import backdrops
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.shapes import ellipse, fade, line, mix, path, rect
from m3bench.tasks.scene import Box


@dataclass(frozen=True)
class Look:
    """What a fish looks like from the side."""

    back: str
    belly: str
    depth: float
    """Of the body, as a share of its length."""
    marks: str = "plain"
    """`plain`, `stripes` along the body, `bars` across it, or `spots`."""


_PROPS = ("bucket", "anchor", "fishing pole", "ice", "worm", "shell")
_PLANKS = ("#e0c8a6", "#dcc7aa", "#e2cfb4", "#d9cab5")
_WIDE, _TALL, _BOARD = 690.0, 150.0, 460.0
"""Of a fish with its tag, and how much of the width its board takes."""


def catch(
    canvas: Canvas, rng: random.Random, fish: Sequence[tuple[str, Look, int]], places: Sequence[str]
) -> tuple[list[Box], list[Box]]:
    """Fill a canvas of 1500 × 1080 with a catch; returns the boxes of the fish and of the places on the board.

    Args:
        canvas: Where.
        rng: Chooses colours, sizes and what lies around.
        fish: Name, look and length in centimetres of each, six at most.
        places: Where one may land, six at most.
    """
    _pier(canvas, rng)
    boxes: list[Box] = []
    for number, (name, look, length) in enumerate(fish):
        x, y = 46 + number % 2 * 734 + rng.uniform(-9, 9), 168 + number // 2 * 202 + rng.uniform(-5, 5)
        _measured(canvas, rng, x, y, name, look, length)
        boxes.append((round(x), round(y), round(x + _WIDE), round(y + _TALL)))
    lines = _notice(canvas, rng, 46, 800, 1130, 246, places)
    for number, prop in enumerate(rng.sample(_PROPS, 2)):
        canvas.place(
            prop, 1272 + number * 140 + rng.uniform(-8, 8), 1046, rng.uniform(120, 140), flip=rng.random() < 0.5
        )
    return boxes, lines


def _pier(canvas: Canvas, rng: random.Random) -> None:
    level = backdrops.water(canvas, rng, horizon=0.07)
    edge = level + 66
    plank = rng.choice(_PLANKS)
    canvas.draw(rect(0, edge, canvas.width, canvas.height - edge, plank))
    y, number = edge, 0
    while y < canvas.height:
        shade = mix(plank, "#ffffff" if number % 2 else "#000000", rng.uniform(0.02, 0.06))
        canvas.draw(rect(0, y, canvas.width, 74, shade), line(0, y, canvas.width, y, mix(plank, "#000000", 0.22), 3))
        for x in (40, canvas.width - 40):
            canvas.draw(ellipse(x, y + 38, 6, 6, mix(plank, "#000000", 0.3)))
        y, number = y + 76, number + 1


def _measured(canvas: Canvas, rng: random.Random, x: float, y: float, name: str, look: Look, length: int) -> None:
    """A fish on its board, and its tag to the right."""
    wide, tall = _BOARD, _TALL
    canvas.draw(
        rect(x + 7, y + 9, wide, tall, "#00000040", 8),
        rect(x, y, wide, tall, "#f6f3e6", 8),
        rect(x, y, 16, tall, "#3d5a74", 6),
    )
    for tick in range(51):
        place = x + 24 + tick * 8.4
        canvas.draw(
            line(
                place, y + tall, place, y + tall - (22 if tick % 10 == 0 else 16 if tick % 5 == 0 else 9), "#3d4a5c", 2
            )
        )
    swims = 165 + 2.6 * min(length, 100)
    _fish(canvas, name, x + 24, y + tall * 0.45, swims, look)
    tag, room = x + wide + 18, _WIDE - wide - 18
    canvas.draw(
        line(x + wide - 6, y + tall * 0.5, tag + 24, y + tall * 0.5, "#7a6a52", 4),
        rect(tag + 4, y + 14, room, tall - 20, "#0000000d", 12),
        rect(tag, y + 10, room, tall - 20, rng.choice(("#fff3c9", "#ffffff", "#e9f4ea", "#fde6d8")), 12),
        ellipse(tag + 24, y + tall * 0.5, 9, 9, "#7a6a52"),
    )
    size = 30 if len(canvas.lines(name, room - 58, 30, "sans bold")) < 3 else 25
    base = y + 84
    lines = canvas.lines(name, room - 58, size, "sans bold")
    for number, text in enumerate([*lines, f"{length} cm"]):
        down = base + (number - len(lines) / 2) * (size + 3)
        canvas.text(
            text, tag + 46, down, size, face="sans bold", fill="#1f2a36", width=room - 54, extra='word-spacing="5"'
        )


def _fish(canvas: Canvas, name: str, left: float, y: float, long: float, look: Look) -> None:
    """A fish, its head to the left."""
    key = f"f{round(left)}-{round(y)}"
    body, half = long * 0.82, min(60.0, long * look.depth / 2)
    dark = mix(look.back, "#000000", 0.25)
    outline = (
        f"M{left:.1f} {y:.1f} C{left + body * 0.12:.1f} {y - half * 1.05:.1f} {left + body * 0.55:.1f} {y - half * 1.25:.1f} {left + body:.1f} {y - half * 0.2:.1f} "
        f"L{left + body:.1f} {y + half * 0.2:.1f} C{left + body * 0.55:.1f} {y + half * 1.25:.1f} {left + body * 0.12:.1f} {y + half * 1.05:.1f} {left:.1f} {y:.1f} Z"
    )
    tail = f"M{left + body * 0.985:.1f} {y:.1f} L{left + long:.1f} {y - half * 0.85:.1f} Q{left + long * 0.95:.1f} {y:.1f} {left + long:.1f} {y + half * 0.85:.1f} Z"
    fin = f"M{left + body * 0.34:.1f} {y - half * 0.86:.1f} Q{left + body * 0.5:.1f} {y - half * 1.5:.1f} {left + body * 0.74:.1f} {y - half * 0.62:.1f} Z"
    canvas.thing(
        "fish",
        fade(key, look.back, mix(look.back, look.belly, 0.5), look.belly),
        path(tail, dark), path(fin, dark), path(outline, f"url(#{key})"), *_marks(look, left, y, body, half, dark),
        path(f"M{left + body * 0.3:.1f} {y + half * 0.12:.1f} q{body * 0.1:.1f} {half * 0.5:.1f} {body * 0.15:.1f} {half * 0.1:.1f} Z", dark),
        path(f"M{left + body * 0.2:.1f} {y - half * 0.6:.1f} q{body * 0.05:.1f} {half * 0.6:.1f} 0 {half * 1.2:.1f}", "none", f'stroke="{dark}" stroke-width="4"'),
        ellipse(left + body * 0.095, y - half * 0.2, 9, 9, "#fbf7e6"), ellipse(left + body * 0.095, y - half * 0.2, 5, 5, "#15181d"),
    )  # fmt: skip


def _marks(look: Look, left: float, y: float, body: float, half: float, dark: str) -> list[str]:
    if look.marks == "stripes":
        return [
            path(
                f"M{left + body * 0.24:.1f} {y + half * share:.1f} Q{left + body * 0.6:.1f} {y + half * share * 1.25:.1f} {left + body * 0.94:.1f} {y + half * share * 0.3:.1f}",
                more=f'stroke="{dark}" stroke-width="4" opacity="0.75"',
            )
            for share in (-0.6, -0.38, -0.16, 0.06, 0.28)
        ]
    if look.marks == "bars":
        return [
            line(
                left + body * share,
                y - half * 0.72,
                left + body * (share + 0.02),
                y - half * 0.05,
                dark,
                8,
                'opacity="0.6" stroke-linecap="round"',
            )
            for share in (0.28, 0.36, 0.44, 0.52, 0.6, 0.68)
        ]
    if look.marks == "spots":
        return [
            ellipse(
                left + body * (0.28 + 0.055 * n), y + half * (-0.55 + 0.27 * (n * 3 % 4)), 6, 6, dark, 'opacity="0.7"'
            )
            for n in range(11)
        ]
    return []


def _notice(
    canvas: Canvas, rng: random.Random, x: float, y: float, wide: float, tall: float, places: Sequence[str]
) -> list[Box]:
    """A board with places in two columns; returns their boxes."""
    frame, ink = rng.choice((("#7a5636", "#26303f"), ("#3d5a74", "#1d2f45"), ("#5c6b4a", "#26361f")))
    canvas.draw(
        rect(x + 5, y + 6, wide, tall, "#0000000d", 10),
        rect(x, y, wide, tall, "#fdfbf2", 10),
        rect(x, y, wide, 14, mix(frame, "#ffffff", 0.72), 7),
    )
    canvas.text("Where we land", x + 36, y + 52, 30, face="sans bold", fill=mix(ink, "#ffffff", 0.25))
    boxes = []
    for number, place in enumerate(places):
        column, row = number % 2, number // 2
        left, base = x + 44 + column * (wide / 2 - 12), y + 108 + row * 54
        boxes.append(canvas.text(place, left, base, 31, face="sans bold", fill=ink, width=wide / 2 - 76))
    return boxes
