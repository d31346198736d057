"""A page with the slides of several talks, nine to a sheet, as it lies on a table after a meeting."""

import random
from collections.abc import Sequence
from typing import NamedTuple

from m3bench.tasks.render import backdrops
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.shapes import mix, rect
from m3bench.tasks.scene import Box

SIZE = (1280, 1032)
"""Of a picture."""
_COLUMNS = 3
_WIDE, _TALL = 366, 282
"""Of a slide."""
_ACROSS, _DOWN = 400, 323
"""From one slide to the next."""
_FIRST = (57, 48)
"""Left and upper end of the first slide."""
_COLOURS = (
    "#22426e", "#6d2a35", "#1f5a4c", "#4b3a78", "#7a4d16", "#27414f", "#8a2f5c", "#2f6b1f", "#5a4236",
)  # fmt: skip
_ROOM = _WIDE - 42


class Talk(NamedTuple):
    """What stands on a slide."""

    title: str
    speaker: str
    asked: str
    event: str
    picture: str
    """An object of the art."""


def handout(canvas: Canvas, rng: random.Random, talks: Sequence[Talk]) -> list[Box]:
    """Draw a sheet with a slide for each talk; returns the boxes of the slides."""
    backdrops.table(canvas, rng)
    backdrops.paper(canvas, rng, (24, 20, canvas.width - 24, canvas.height - 20))
    colours = rng.sample(_COLOURS, len(_COLOURS))
    boxes: list[Box] = []
    for number, talk in enumerate(talks):
        row, column = divmod(number, _COLUMNS)
        left = _FIRST[0] + column * _ACROSS + rng.randint(-2, 2)
        top = _FIRST[1] + row * _DOWN + rng.randint(-2, 2)
        _slide(canvas, talk, colours[number % len(colours)], left, top)
        boxes.append((left, top, left + _WIDE, top + _TALL))
    return boxes


def _slide(canvas: Canvas, talk: Talk, colour: str, left: float, top: float) -> None:
    edge = f'stroke="{mix(colour, "#ffffff", 0.4)}" stroke-width="3"'
    canvas.draw(
        rect(left, top, _WIDE, _TALL, mix(colour, "#ffffff", 0.95), 3, edge),
        rect(left, top, _WIDE, 13, colour),
    )
    inset = left + 21
    canvas.text(talk.title, inset, top + 54, 29, face="sans bold", fill=colour, width=_ROOM)
    canvas.text(talk.speaker, inset, top + 92, 24, face="sans bold", fill="#4a505c", width=_ROOM)
    canvas.paragraph(talk.asked, inset, top + 139, _ROOM, 25, face="sans bold", fill="#22262e")
    canvas.text(talk.event, inset, top + _TALL - 18, 22, face="sans bold", fill="#3f4550", width=_ROOM - 82)
    canvas.place(talk.picture, left + _WIDE - 50, top + _TALL - 13, 62, shadow=False)
