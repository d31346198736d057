"""Rooms where people learn: a board with rows of figures, and desks to put things on."""

import random
from collections.abc import Sequence

from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.shapes import mix, on, polygon, rect

_BOARDS = {"#2f5d4c": "#8a6242", "#34404c": "#a47c52", "#f7f9fa": "#9aa4ad", "#fbf8ee": "#7d8791"}
"""Surfaces to write on, each with its frame: chalk, slate, enamel and paper."""


def board(
    canvas: Canvas,
    rng: random.Random,
    title: str,
    rows: Sequence[tuple[str, str]],
    box: tuple[float, float, float, float],
) -> tuple[str, list[tuple[float, float]]]:
    """A board with a title and rows of a word and a figure; returns its colour and where each row ends."""
    left, top, right, bottom = box
    surface = rng.choice(tuple(_BOARDS))
    ink = on(surface)
    canvas.draw(
        rect(left - 18, top - 18, right - left + 36, bottom - top + 36, _BOARDS[surface], 8),
        rect(left, top, right - left, bottom - top, surface, 2),
        rect(left, bottom + 14, right - left, 12, mix(_BOARDS[surface], "#000000", 0.25), 3),
    )
    canvas.text(
        title, (left + right) / 2, top + 74, 52, face="sans bold", fill=ink, anchor="middle", width=right - left - 80
    )
    step, ends = (bottom - top - 142) / len(rows), []
    for number, (word, figure) in enumerate(rows):
        y = top + 130 + step * (number + 0.42)
        canvas.text(word, left + (right - left) * 0.2, y, 40, face="sans bold", fill=ink)
        end = left + (right - left) * 0.74
        canvas.text(figure, end, y, 40, face="sans bold", fill=ink, anchor="end")
        ends.append((end, y))
    return surface, ends


def desks(canvas: Canvas, rng: random.Random, top: float, count: int) -> list[tuple[float, float, float]]:
    """A row of desks whose tops lie at a height; returns left end, right end and height of each surface."""
    wood = rng.choice(("#c9a376", "#b98a5e", "#d8bd94", "#a97f5b"))
    wide = canvas.width * 0.94 / count
    found = []
    for number in range(count):
        left, right = canvas.width * 0.03 + number * wide + 14, canvas.width * 0.03 + (number + 1) * wide - 14
        for x in (left + 30, right - 44):
            canvas.draw(rect(x, top + 40, 14, canvas.height - top, "#6f7780"))
        canvas.draw(
            polygon(
                [(left + 22, top), (right - 22, top), (right, top + 46), (left, top + 46)], mix(wood, "#ffffff", 0.22)
            ),
            rect(left, top + 46, right - left, 20, mix(wood, "#000000", 0.18), 3),
        )
        found.append((left + 30, right - 30, top + 30))
    return found
