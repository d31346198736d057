"""Rooms where people learn: a slide on a screen, a board with rows of figures, and desks to put things on."""

import random
from collections.abc import Sequence

from m3bench.tasks.render import backdrops
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.shapes import ellipse, fade, mix, on, path, polygon, rect

_SCHEMES = (
    ("#22426e", "#f3f7fc"), ("#6d2a35", "#fdf5f0"), ("#1f5a4c", "#f2f9f5"), ("#4b3a78", "#f6f3fc"), ("#7a4d16", "#fdf8ec"),
    ("#27414f", "#f1f6f7"), ("#8a2f5c", "#fdf3f8"),
)  # fmt: skip
_BOARDS = {"#2f5d4c": "#8a6242", "#34404c": "#a47c52", "#f7f9fa": "#9aa4ad", "#fbf8ee": "#7d8791"}
"""Surfaces to write on, each with its frame: chalk, slate, enamel and paper."""


def slide(canvas: Canvas, rng: random.Random, title: str, by: str, question: str, footer: str, picture: str) -> None:
    """A screen on the wall of a room that shows a slide: a title, who speaks, a question, a last line and an object of the art."""
    width, height = canvas.width, canvas.height
    backdrops.room(canvas, rng, floor=0.86)
    left, top, wide, tall = width * 0.09, height * 0.05, width * 0.82, height * 0.73
    dark, pale = rng.choice(_SCHEMES)
    canvas.draw(rect(left - 12, top - 10, wide + 24, tall + 22, "#2b2f36", 8), rect(left, top, wide, tall, pale))
    style = rng.choice(("band", "side", "rule"))
    inset = left + (74 if style == "side" else 54)
    if style == "band":
        canvas.draw(fade("band", dark, mix(dark, "#000000", 0.2)), rect(left, top, wide, 34, "url(#band)"))
    elif style == "side":
        canvas.draw(fade("band", dark, mix(dark, "#ffffff", 0.35)), rect(left, top, 30, tall, "url(#band)"))
    else:
        canvas.draw(
            rect(inset, top + 136, wide * 0.28, 7, dark, 3),
            ellipse(left + wide - 90, top + 80, 34, 34, mix(dark, pale, 0.75)),
        )
    room = wide - (inset - left) - 60
    canvas.text(
        title,
        inset,
        top + 110,
        54,
        face="sans bold",
        fill=dark,
        width=room - 80,
    )
    canvas.text(by, inset, top + 214, 38, face="sans bold", fill="#4a505c", width=room)
    canvas.text(question, inset, top + 324, 46, face="sans bold", fill="#22262e", width=room)
    canvas.text(footer, inset, top + tall - 30, 36, face="sans bold", fill="#3f4550")
    canvas.place(picture, left + wide * rng.uniform(0.68, 0.82), top + tall - 92, 168, shadow=False)
    _lectern(canvas, rng, left, wide)


def board(
    canvas: Canvas,
    rng: random.Random,
    title: str,
    rows: Sequence[tuple[str, str]],
    box: tuple[float, float, float, float],
) -> None:
    """A board with a title and rows of a word and a figure, in two blocks side by side when there are many."""
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
    step = (bottom - top - 122) / len(rows)
    for number, (word, figure) in enumerate(rows):
        y = top + 130 + step * (number + 0.42)
        canvas.text(word, left + (right - left) * 0.2, y, 40, face="sans bold", fill=ink)
        canvas.text(figure, left + (right - left) * 0.8, y, 40, face="sans bold", fill=ink, anchor="end")


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


def _lectern(canvas: Canvas, rng: random.Random, left: float, wide: float) -> None:
    """What stands under the screen."""
    floor = canvas.height * 0.97
    right = rng.random() < 0.5
    x = left + wide * (0.9 if right else 0.1)
    wood = rng.choice(("#8a6242", "#a97f5b", "#6d5038"))
    canvas.draw(
        path(
            f"M{x - 74:.0f} {floor - 92:.0f} L{x + 74:.0f} {floor - 92:.0f} L{x + 54:.0f} {floor:.0f} L{x - 54:.0f} {floor:.0f} Z",
            wood,
        ),
        rect(x - 84, floor - 104, 168, 16, mix(wood, "#ffffff", 0.2), 4),
    )
    canvas.place("microphone", x + 22, floor - 102, 46, shadow=False, label="microphone")
    canvas.place("potted plant", left + wide * (0.06 if right else 0.94), floor, 150)
    canvas.place(rng.choice(("chair", "books", "backpack")), left + wide * rng.uniform(0.42, 0.58), floor, 112)
