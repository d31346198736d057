"""The picture of a synthesized task: a card with what the question leaves out.

A simple picture: a sheet on a table with a heading and a line for each thing, large enough to be read by eye or by a
tool. The scene records what is written on it.
"""

import random
from collections.abc import Sequence

from m3bench.tasks.families.base import Composition
from m3bench.tasks.render.art import Art
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.shapes import rect

WIDTH, HEIGHT = 1200, 860
_TABLES = ("#b08968", "#8d99ae", "#6b705c", "#a3b18a", "#c9ada7", "#7f9172")
_SHEETS = ("#fffdf6", "#fdf6e3", "#f8fbff", "#fff9ef")
_INKS = ("#1d2a44", "#232323", "#3b1f2b", "#12372a")
_BANDS = ("#e07a5f", "#3d5a80", "#81b29a", "#f2cc8f", "#6d597a", "#457b9d")
_TITLES = ("To look up", "Notes", "Please check", "For later", "Remember", "Errands")


def card(art: Art, label: str, things: Sequence[str], exact: bool, dice: random.Random) -> Composition:
    """Draw a card.

    Args:
        art: What it is drawn with.
        label: What kind of things they are.
        things: One line each.
        exact: They are codes, in which every sign counts.
        dice: For colours and lettering.
    """
    canvas = Canvas(art, WIDTH, HEIGHT, dice.choice(_TABLES))
    table = dice.choice(("#00000014", "#ffffff18"))
    for number in range(9):
        canvas.draw(rect(0, 40 + number * 96 + dice.uniform(-6, 6), WIDTH, 3, table))
    left, top = 120 + dice.uniform(-24, 24), 90 + dice.uniform(-16, 16)
    wide, tall = WIDTH - 240, HEIGHT - 190
    ink, band = dice.choice(_INKS), dice.choice(_BANDS)
    canvas.draw(rect(left + 10, top + 14, wide, tall, "#00000038", 10))
    canvas.draw(rect(left, top, wide, tall, dice.choice(_SHEETS), 10))
    canvas.draw(rect(left, top, wide, 96, band, 10), rect(left, top + 60, wide, 36, band))
    canvas.text(dice.choice(_TITLES), left + 48, top + 66, 46, face="round", fill="#ffffff")
    canvas.text(label, left + 56, top + 170, 34, face="sans", fill=ink)
    face = "mono bold" if exact else dice.choice(("sans bold", "serif bold", "serif"))
    gap = min(130.0, (tall - 240) / len(things))
    for number, thing in enumerate(things):
        line = top + 268 + number * gap
        canvas.draw(rect(left + 56, line + 26, wide - 112, 2, "#00000022"))
        canvas.text(thing, left + 64, line, 52, face=face, fill=ink, width=wide - 136)
    canvas.light(dice, 0.6)
    return Composition.of(canvas, things=tuple(things))
