"""Title pages of papers on a board of cork, each with a pin of its own colour."""

import random
from collections.abc import Sequence

from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.shapes import ellipse, mix, rect

PINS = {"red": "#d8392f", "blue": "#2f6fc4", "yellow": "#f0c419"}
_SIZE = 38
_PAPERS = ("#fdfcf8", "#faf8f0", "#f7fafc")


def pinboard(canvas: Canvas, rng: random.Random, sheets: Sequence[tuple[str, str]]) -> None:
    """Sheets side by side on cork: the title of each and the colour of its pin."""
    width, height = canvas.width, canvas.height
    cork = rng.choice(("#c89b6a", "#bf9468", "#d0a878", "#b98d5f"))
    canvas.draw(rect(0, 0, width, height, cork))
    for _ in range(420):
        x, y, size = rng.uniform(0, width), rng.uniform(0, height), rng.uniform(1.5, 4)
        canvas.draw(
            ellipse(x, y, size, size * 0.7, mix(cork, rng.choice(("#000000", "#ffffff")), 0.22), 'opacity="0.6"')
        )
    frame = rng.choice(("#6b4a2f", "#3f3a36", "#8a6a4a", "#e7e2d8"))
    for x, y, w, h in ((0, 0, width, 26), (0, height - 26, width, 26), (0, 0, 26, height), (width - 26, 0, 26, height)):
        canvas.draw(rect(x, y, w, h, frame))
    slot = (width - 80) / len(sheets)
    for number, (title, pin) in enumerate(sheets):
        left = 40 + slot * number + 20 + rng.uniform(-8, 8)
        _sheet(canvas, rng, title, PINS[pin], left, 70 + rng.uniform(-10, 14), slot - 40, height - 150)


def _sheet(
    canvas: Canvas, rng: random.Random, title: str, pin: str, left: float, top: float, wide: float, tall: float
) -> None:
    """A title page: the title, and below it grey lines where the text would be."""
    canvas.draw(
        rect(left + 7, top + 9, wide, tall, "#00000040", 3), rect(left, top, wide, tall, rng.choice(_PAPERS), 3)
    )
    y = canvas.paragraph(title, left + 34, top + 92, wide - 68, _SIZE, face="sans bold", fill="#1d2026") + 10
    canvas.draw(rect(left + 34, y - 14, wide * rng.uniform(0.4, 0.6), 10, "#b9bdc4", 4))
    while (y := y + 30) < top + tall - 40:
        canvas.draw(rect(left + 34, y, wide - 68 - rng.uniform(0, 30), 8, "#d9dce1", 3))
    x = left + wide / 2 + rng.uniform(-30, 30)
    canvas.draw(
        ellipse(x + 4, top + 20, 17, 13, "#00000040"),
        ellipse(x, top + 12, 17, 17, pin),
        ellipse(x - 5, top + 6, 6, 4, "#ffffff99"),
    )
