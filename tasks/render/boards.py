"""Boards with a few large words and one empty field: a screen, a whiteboard, a sheet on a table."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from m3bench.tasks.render import backdrops
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.shapes import fade, line, mix, rect
from m3bench.tasks.scene import Box

STYLES = ("screen", "whiteboard", "sheet")
COLUMNS = 3


@dataclass(frozen=True)
class Board:
    """Where things are on a board."""

    words: tuple[Box, ...]
    field: Box
    """The empty one."""
    ink: str
    """A colour that shows on the field."""


def board(canvas: Canvas, rng: random.Random, style: str, heading: str, words: Sequence[str], caption: str) -> Board:
    """Fill a canvas with a board.

    Args:
        canvas: Wide enough for 1300 pixels.
        rng: Chooses colours and small differences.
        style: One of `STYLES`.
        heading: Stands above.
        words: Nine short words at most.
        caption: Stands at the empty field.
    """
    drawn = {"screen": _screen, "whiteboard": _whiteboard, "sheet": _sheet}[style]
    return drawn(canvas, rng, heading, words, caption)


def _screen(canvas: Canvas, rng: random.Random, heading: str, words: Sequence[str], caption: str) -> Board:
    width, height = canvas.width, canvas.height
    back, glow = rng.choice((("#0d1b26", "#ffd166"), ("#11161d", "#7ee08a"), ("#141427", "#8fd3ff")))
    level = backdrops.room(canvas, rng, 0.84)
    left, top, right, bottom = 90, 44, width - 90, height - 150
    canvas.draw(
        rect(width / 2 - 60, bottom, 120, 74, "#565d66"),
        rect(width / 2 - 210, bottom + 66, 420, 22, "#474d55", 10),
        rect(left - 16, top - 16, right - left + 32, bottom - top + 32, "#2b3038", 22),
        rect(left, top, right - left, bottom - top, back, 8),
    )
    canvas.place("potted plant", 70 + rng.uniform(0, 30), level + 96, 150, flip=rng.random() < 0.5)
    canvas.text(heading, left + 46, top + 76, 46, face="mono bold", fill="#f2f5f7")
    canvas.draw(line(left + 40, top + 104, right - 40, top + 104, glow, 4))
    places = _columns(
        canvas, words, left + 56, top + 196, (right - left - 60) / COLUMNS, face="mono bold", fill=glow, size=66
    )
    return _with_field(
        canvas,
        places,
        caption,
        left + 46,
        bottom - 190,
        right - left - 92,
        150,
        "#f2f5f7",
        mix(back, "#ffffff", 0.06),
        "mono bold",
    )


def _whiteboard(canvas: Canvas, rng: random.Random, heading: str, words: Sequence[str], caption: str) -> Board:
    width, height = canvas.width, canvas.height
    backdrops.room(canvas, rng, 0.93)
    left, top, right, bottom = 80, 46, width - 80, height - 118
    pen = rng.choice(("#3f4550", "#6b3f1d", "#4d4a33", "#3b2f63"))
    canvas.draw(
        rect(left + 10, top + 16, right - left, bottom - top, "#00000030", 14),
        rect(left, top, right - left, bottom - top, "#b4bcc4", 14),
        fade("white", "#ffffff", "#f1f4f6"),
        rect(left + 16, top + 16, right - left - 32, bottom - top - 32, "url(#white)", 6),
        rect(width / 2 - 230, bottom - 4, 460, 20, "#9aa3ac", 6),
    )
    for number, colour in enumerate(("#1f4f9a", "#a3262b", "#1f6b45")):
        canvas.draw(rect(width / 2 - 180 + number * 120, bottom - 16, 84, 14, colour, 6))
    canvas.text(heading, left + 64, top + 100, 54, face="round", fill=mix(pen, "#000000", 0.35))
    canvas.draw(line(left + 60, top + 122, left + 72 + canvas.art.width(heading, 54, "round"), top + 118, pen, 5))
    places = _columns(
        canvas, words, left + 72, top + 214, (right - left - 60) / COLUMNS, face="mono bold", fill=pen, size=66
    )
    return _with_field(
        canvas, places, caption, left + 60, bottom - 200, right - left - 120, 150, "#22262e", "#fbfcfd", "round"
    )


def _sheet(canvas: Canvas, rng: random.Random, heading: str, words: Sequence[str], caption: str) -> Board:
    width, height = canvas.width, canvas.height
    backdrops.table(canvas, rng)
    left, right, bottom = 50.0, width - 50.0, height - 178.0
    backdrops.paper(canvas, rng, (left, 34, right, bottom))
    beside = ["coffee", "computer mouse", "fountain pen", "mobile phone", "calendar", "tea", "keyboard"]
    for number, thing in enumerate(rng.sample(beside, 3)):
        canvas.place(
            thing, width * (number + 0.5) / 3 + rng.uniform(-90, 90), height - 22, 118, flip=rng.random() < 0.5
        )
    canvas.text(heading, left + 60, 122, 54, face="serif bold", fill="#2c2a28")
    places = _columns(
        canvas, words, left + 66, 234, (right - left - 60) / COLUMNS, face="mono bold", fill="#26303f", size=66
    )
    return _with_field(
        canvas, places, caption, left + 56, bottom - 184, right - left - 112, 142, "#22262e", "#fffef9", "serif bold"
    )


def _columns(
    canvas: Canvas, words: Sequence[str], x: float, y: float, wide: float, *, face: str, fill: str, size: float
) -> tuple[Box, ...]:
    """Columns, read row by row; returns where the words are."""
    places = (divmod(number, COLUMNS) for number in range(len(words)))
    return tuple(
        canvas.text(word, x + column * wide, y + row * size * 1.7, size, face=face, fill=fill)
        for word, (row, column) in zip(words, places, strict=True)
    )


def _with_field(
    canvas: Canvas, words: tuple[Box, ...], caption: str, x: float, y: float, width: float, height: float, ink: str,
    fill: str, face: str,
) -> Board:  # fmt: skip
    """Finish a board with a caption and the empty field to its right."""
    canvas.text(caption, x, y + height / 2 + 14, 40, face=face, fill=ink)
    left = x + canvas.art.width(caption, 40, face) + 34
    canvas.draw(
        rect(left, y, x + width - left, height, fill, 8, f'stroke="{ink}" stroke-width="4" stroke-dasharray="16 10"')
    )
    field = (round(left) + 6, round(y) + 6, round(x + width) - 6, round(y + height) - 6)
    return Board(words=words, field=field, ink=ink)
