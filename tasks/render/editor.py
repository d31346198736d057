"""A window of a code editor or a terminal with lines of writing in a fixed-width font."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.shapes import ellipse, fade, mix, rect
from m3bench.tasks.scene import Box

Line = Sequence[tuple[str, str]]
"""Pieces of a line, each with the name of its colour: plain, key, name, text, faint or mark."""


@dataclass(frozen=True)
class Theme:
    """Colours of a window."""

    ground: str
    bar: str
    plain: str
    key: str
    name: str
    text: str
    faint: str
    mark: str


THEMES = (
    Theme("#1e2430", "#141922", "#e6e9ef", "#8fc7ff", "#f2f4f8", "#b8e28c", "#5c6678", "#ffb86b"),
    Theme("#282c34", "#1d2026", "#e3e6ec", "#d9a2f5", "#ffffff", "#a9dc8b", "#626b7c", "#f0c674"),
    Theme("#0f2027", "#0a161b", "#dbe8ea", "#7fd6e8", "#f4fbfc", "#c7e89a", "#4d6570", "#ffc78a"),
    Theme("#fdfdfb", "#e8e6e1", "#2b2f36", "#7a1fa2", "#14171c", "#1f6f3b", "#b4b1aa", "#a8470c"),
    Theme("#fbf6e9", "#e9e0c9", "#3b3a35", "#1c5a9c", "#1d1c19", "#4b6a10", "#c3b996", "#a3421a"),
)
_DESKTOPS = (
    ("#5b86c4", "#2e4372"),
    ("#c98a6b", "#5c3a54"),
    ("#5fa08e", "#25495a"),
    ("#8e7cc3", "#3b2f63"),
    ("#a9b7c6", "#56657a"),
)


def window(canvas: Canvas, rng: random.Random, title: str, lines: Sequence[Line], *, size: float = 32) -> list[Box]:
    """A window in the middle of a desktop, as large as its lines need; returns the box of the last piece of each line.

    Args:
        canvas: Where.
        rng: Chooses theme, desktop and place.
        title: Of the window, such as a file name.
        lines: What stands in it.
        size: Of the font in pixels.
    """
    theme = rng.choice(THEMES)
    canvas.draw(
        fade("desktop", *rng.choice(_DESKTOPS), across=rng.random() < 0.5),
        rect(0, 0, canvas.width, canvas.height, "url(#desktop)"),
    )
    for _ in range(3):
        x, y, wide = rng.uniform(0, canvas.width), rng.uniform(0, canvas.height), rng.uniform(160, 380)
        canvas.draw(ellipse(x, y, wide, wide, "#ffffff", 'opacity="0.07"'))
    left, top = rng.uniform(60, 120), rng.uniform(36, 60)
    right, bottom = canvas.width - rng.uniform(60, 120), canvas.height - rng.uniform(36, 60)
    canvas.draw(
        rect(left + 6, top + 14, right - left, bottom - top, "#00000055", 16),
        rect(left, top, right - left, bottom - top, theme.ground, 14),
        rect(left, top, right - left, 58, theme.bar, 14),
        rect(left, top + 40, right - left, 18, theme.bar),
        *(
            ellipse(left + 34 + 34 * number, top + 29, 10, 10, colour)
            for number, colour in enumerate(("#ff5f57", "#febc2e", "#28c840"))
        ),
    )
    canvas.text(
        title, (left + right) / 2, top + 39, 27, face="mono", fill=mix(theme.plain, theme.bar, 0.15), anchor="middle"
    )
    pitch = min(size * 1.55, (bottom - top - 58 - 40) / len(lines))
    y = top + 58 + 16 + pitch * 0.75
    boxes: list[Box] = []
    for pieces in lines:
        x = left + 40
        box: Box = (round(x), round(y - size * 0.75), round(x), round(y))
        for text, colour in pieces:
            if text.strip():
                lead = len(text) - len(text.lstrip())
                start = x + canvas.art.width(" " * lead, size, "mono")
                box = canvas.text(text.strip(), start, y, size, face="mono bold", fill=getattr(theme, colour))
            x += canvas.art.width(text, size, "mono")
        boxes.append(box)
        y += pitch
    return boxes
