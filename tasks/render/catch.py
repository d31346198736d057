"""A catch on a pier: fish on measuring boards, each with a tag, and a board with the places where boats land."""

import random
from collections.abc import Sequence

from m3bench.tasks.render import backdrops
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.drawings import sheet
from m3bench.tasks.render.shapes import ellipse, line, mix, rect
from m3bench.tasks.scene import Box

_PROPS = ("bucket", "anchor", "fishing pole", "ice", "worm", "shell")
_PLANKS = ("#e0c8a6", "#dcc7aa", "#e2cfb4", "#d9cab5")
_WIDE, _TALL, _BOARD = 690.0, 150.0, 460.0
"""Of a fish with its tag, and how much of the width its board takes."""
_SCALE, _CENTIMETRE = 100, 4.2
"""What a board measures, and how wide a centimetre is on it."""


def catch(
    canvas: Canvas, rng: random.Random, fish: Sequence[tuple[str, int]], places: Sequence[str]
) -> tuple[list[Box], list[Box]]:
    """Fill a canvas of 1500 × 1080 with a catch; returns the boxes of the fish and of the places on the board.

    Args:
        canvas: Where.
        rng: Chooses colours, sizes and what lies around.
        fish: Name and length in centimetres of each, six at most.
        places: Where one may land, six at most.
    """
    _pier(canvas, rng)
    boxes: list[Box] = []
    for number, (name, length) in enumerate(fish):
        x, y = 46 + number % 2 * 734 + rng.uniform(-9, 9), 168 + number // 2 * 202 + rng.uniform(-5, 5)
        _measured(canvas, rng, x, y, name, length)
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


def _measured(canvas: Canvas, rng: random.Random, x: float, y: float, name: str, length: int) -> None:
    """A fish on its board, beside the scale that it is as long as, and its tag to the right."""
    wide, tall = _BOARD, _TALL
    canvas.draw(
        rect(x + 7, y + 9, wide, tall, "#00000040", 8),
        rect(x, y, wide, tall, "#f6f3e6", 8),
        rect(x, y, 16, tall, "#3d5a74", 6),
    )
    nose = x + 24
    for centimetres in range(0, _SCALE + 1, 2):
        place = nose + centimetres * _CENTIMETRE
        mark = 20 if centimetres % 10 == 0 else 10
        canvas.draw(line(place, y + tall, place, y + tall - mark, "#3d4a5c", 2))
        if 0 < centimetres < _SCALE and centimetres % 10 == 0:
            canvas.text(f"{centimetres}", place + 3, y + tall - 12, 15, fill="#3d4a5c", note=False)
    drawn = sheet("fish")[name.lower().replace(" ", "-")]
    long = length * _CENTIMETRE
    deep = long * drawn.height / drawn.width
    canvas.thing("fish", *drawn.fitted(nose, y + 62 - deep / 2, long, deep))
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
