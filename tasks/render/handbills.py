"""Small posters on a wall or a table, each with a few words, a code and a little picture."""

import random
from collections.abc import Sequence

from m3bench.tasks.render import backdrops
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.codes import code
from m3bench.tasks.render.shapes import fade, mix, on, rect
from m3bench.tasks.scene import Box

SIZE = (1500, 1010)
COLUMNS = 4
_COLOURS = ("#1f5c7a", "#8a3b4a", "#2f6b4f", "#6a4a8c", "#b0622a", "#274472", "#7a5a1e", "#a23e62")
_ORNAMENTS = ("camera", "airplane", "compass", "world map", "globe", "luggage")
_WIDE, _TALL, _PANEL = 292.0, 410.0, 244.0
"""A poster, and the white square behind its code."""


def handbills(canvas: Canvas, rng: random.Random, words: Sequence[str], links: Sequence[str]) -> list[Box]:
    """Posters in rows of four; returns their boxes.

    Args:
        canvas: Where: `SIZE`.
        rng: Chooses colours, faces, ornaments and small differences of place.
        words: What is written on each.
        links: What the code of each says, eight at most.
    """
    if rng.random() < 0.6:
        backdrops.room(canvas, rng, floor=0.95)
    else:
        backdrops.table(canvas, rng)
    gap = (canvas.width - _WIDE * COLUMNS) / (COLUMNS + 1)
    colours = rng.sample(_COLOURS, len(links))
    boxes = []
    for number, (text, link, colour) in enumerate(zip(words, links, colours, strict=True)):
        row, column = divmod(number, COLUMNS)
        left = gap + column * (_WIDE + gap) + rng.uniform(-6, 6)
        boxes.append(_handbill(canvas, rng, left, 52 + row * 482 + rng.uniform(-8, 8), colour, text, link))
    return boxes


def _handbill(canvas: Canvas, rng: random.Random, left: float, top: float, colour: str, text: str, link: str) -> Box:
    middle, key = left + _WIDE / 2, f"q{round(left)}-{round(top)}"
    canvas.draw(
        rect(left + 8, top + 11, _WIDE, _TALL, "#00000040", 8),
        fade(key, mix(colour, "#ffffff", 0.18), mix(colour, "#000000", 0.12)),
        rect(left, top, _WIDE, _TALL, f"url(#{key})", 8),
        rect(middle - _PANEL / 2, top + 80, _PANEL, _PANEL, "#ffffff", 12),
    )
    face = rng.choice(("round", "script", "sans black"))
    canvas.text(text, middle, top + 56, 40, face=face, fill=on(colour), anchor="middle", width=_WIDE - 40)
    code(canvas, link, middle, top + 80 + _PANEL / 2, kind="qr", scale=5)
    canvas.place(rng.choice(_ORNAMENTS), middle, top + _TALL - 14, 58, shadow=False, note=False)
    return (round(left), round(top), round(left + _WIDE), round(top + _TALL))
