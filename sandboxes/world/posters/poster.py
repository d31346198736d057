"""The sheet a poster is drawn on: a picture of 1200 by 800 units, drawn at twice the size and then reduced.

Coordinates are units, colours are names of the palette or `#rrggbb`, darkness is a share from -1 (white) to
1 (black). Not a scene: what stands where is the recipe's part.
"""

from functools import cache
from random import Random

from PIL import Image, ImageColor

from m3bench.sandboxes.world import tables
from m3bench.tasks.drawing.coverage import Point
from m3bench.tasks.drawing.fonts import regular
from m3bench.tasks.drawing.sheet import Colour, Sheet, blend

__all__ = ["CAPTION", "HEIGHT", "MARGIN", "WIDTH", "Colour", "Point", "PosterCanvas", "blend"]

WIDTH, HEIGHT = 1200, 800
MARGIN, CAPTION = 28, 96
"""The paper left around the drawing, and below it for the name of the place."""
_SCALE = 2


class PosterCanvas(Sheet):
    """A poster in the making.

    Args:
        palette: The name of its colours.
        seed: Of its dice.
    """

    def __init__(self, palette: str, seed: str) -> None:
        super().__init__(Image.new("RGB", (WIDTH * _SCALE, HEIGHT * _SCALE)), _SCALE)
        self.random = Random(seed)
        self.palette = palette

    def colour(self, name: str, darker: float = 0.0) -> Colour:
        """A colour of the palette or `#rrggbb`, made darker or, below zero, lighter."""
        red, green, blue, *_ = ImageColor.getrgb(_palettes()[self.palette].get(name, name))
        return blend((red, green, blue), (0, 0, 0) if darker > 0 else (255, 255, 255), abs(darker))

    def block(self, left: float, top: float, right: float, bottom: float, fill: Colour, opacity: float = 1.0) -> None:
        """A filled rectangle up to its right and bottom edge; nothing when it has no extent."""
        if right > left and bottom > top:
            self.box(left, top, max(left, right - 0.5), max(top, bottom - 0.5), fill, opacity)

    def finish(self, title: str, subtitle: str) -> Image.Image:
        """The poster in its final size, with paper around it and the place's name below."""
        sheet = Sheet(self.image.reduce(_SCALE))
        paper, ink = self.colour("paper"), self.colour("ink")
        bottom = HEIGHT - CAPTION
        sheet.box(0, 0, WIDTH, MARGIN, paper)
        sheet.box(0, bottom, WIDTH, HEIGHT, paper)
        sheet.box(0, 0, MARGIN, HEIGHT, paper)
        sheet.box(WIDTH - MARGIN, 0, WIDTH, HEIGHT, paper)
        # The rule keeps a dark drawing and the caption apart for whoever reads the letters by machine.
        sheet.box(0, bottom, WIDTH, bottom + 3, ink)
        _line(sheet, title.upper(), bottom + 32, 44, ink)
        _line(sheet, subtitle, bottom + 71, 32, ink)
        return sheet.image


@cache
def _palettes() -> dict[str, dict[str, str]]:
    return {record["id"]: dict(record) for record in tables.load("poster_palettes")}


def _line(sheet: Sheet, text: str, middle: float, size: int, colour: Colour) -> None:
    """A centred line, smaller when it would be too long."""
    while regular(size).getlength(text) > WIDTH - 4 * MARGIN:
        size -= 2
    sheet.text(WIDTH / 2, middle, text, regular(size), colour, anchor="mm", stroke=0.6)
