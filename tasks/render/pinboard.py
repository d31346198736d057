"""Title pages of papers on a board of cork, in two rows."""

import random
from collections.abc import Sequence

from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.shapes import ellipse, mix, rect
from m3bench.tasks.scene import Box

SIZE = (1240, 845)
"""Of a picture."""
_COLUMNS = 4
_WIDE, _TALL = 245, 325
"""Of a sheet."""
_LETTERS = 26
_PINS = ("#8f969d", "#b9bec4", "#b08d3f", "#3b3f45")
"""Steel, tin, brass and black: no colour that a pen has."""
_PAPERS = ("#fdfcf8", "#faf8f0", "#f7fafc")


def pinboard(canvas: Canvas, rng: random.Random, titles: Sequence[str]) -> list[Box]:
    """Sheets on cork, each with a title; returns their boxes."""
    width, height = canvas.width, canvas.height
    cork = rng.choice(("#c89b6a", "#bf9468", "#d0a878", "#b98d5f"))
    canvas.draw(rect(0, 0, width, height, cork))
    for _ in range(300):
        x, y, size = rng.uniform(0, width), rng.uniform(0, height), rng.uniform(1.5, 3.5)
        canvas.draw(
            ellipse(x, y, size, size * 0.7, mix(cork, rng.choice(("#000000", "#ffffff")), 0.22), 'opacity="0.6"')
        )
    frame = rng.choice(("#6b4a2f", "#3f3a36", "#8a6a4a", "#e7e2d8"))
    for x, y, w, h in ((0, 0, width, 20), (0, height - 20, width, 20), (0, 0, 20, height), (width - 20, 0, 20, height)):
        canvas.draw(rect(x, y, w, h, frame))
    slot, row = (width - 62) / _COLUMNS, (height - 62) / 2
    boxes: list[Box] = []
    for number, title in enumerate(titles):
        down, across = divmod(number, _COLUMNS)
        left = round(31 + slot * across + (slot - _WIDE) / 2 + rng.uniform(-5, 5))
        top = round(31 + row * down + (row - _TALL) / 2 + rng.uniform(-6, 6))
        _sheet(canvas, rng, title, left, top)
        boxes.append((left, top, left + _WIDE, top + _TALL))
    return boxes


def _sheet(canvas: Canvas, rng: random.Random, title: str, left: float, top: float) -> None:
    """A title page: the title, and below it grey lines where the text would be."""
    wide, tall, pin = _WIDE, _TALL, rng.choice(_PINS)
    canvas.draw(
        rect(left + 5, top + 7, wide, tall, "#00000040", 3), rect(left, top, wide, tall, rng.choice(_PAPERS), 3)
    )
    y = canvas.paragraph(title, left + 20, top + 64, wide - 40, _LETTERS, face="sans bold", fill="#1d2026") + 8
    canvas.draw(rect(left + 20, y - 11, wide * rng.uniform(0.4, 0.6), 8, "#b9bdc4", 4))
    while (y := y + 23) < top + tall - 30:
        canvas.draw(rect(left + 20, y, wide - 40 - rng.uniform(0, 24), 6, "#d9dce1", 3))
    x = left + wide / 2 + rng.uniform(-24, 24)
    canvas.draw(
        ellipse(x + 3, top + 15, 13, 10, "#00000040"),
        ellipse(x, top + 9, 13, 13, pin),
        ellipse(x - 4, top + 5, 5, 3, "#ffffff99"),
    )
