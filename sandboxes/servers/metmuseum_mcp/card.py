"""The sheet that museum cards are drawn on: a wall, a pen in units of the card, and colours by number."""

from PIL import Image

from m3bench.sandboxes.world import noise
from m3bench.tasks.drawing.files import jpeg
from m3bench.tasks.drawing.lettering import font
from m3bench.tasks.drawing.sheet import Colour, Sheet

SIDE = 600

_SCALE = 2
"""Drawn larger and reduced, for smooth edges."""
_WALLS: tuple[Colour, ...] = ((226, 220, 208), (210, 216, 214), (222, 210, 204), (208, 212, 222), (216, 218, 200))
_PIGMENTS: tuple[Colour, ...] = (
    (164, 74, 50),
    (52, 92, 126),
    (196, 152, 64),
    (78, 112, 74),
    (120, 70, 96),
    (62, 74, 92),
    (150, 110, 76),
)
DARK: Colour = (52, 44, 40)
GOLD: Colour = (188, 148, 70)
STONE: Colour = (196, 186, 168)
STEEL: Colour = (142, 150, 158)
PAPER: Colour = (240, 232, 212)


class Card(Sheet):
    """A sheet of `SIDE` units with a pen, and colours picked by the object's number."""

    def __init__(self, number: int) -> None:
        wall = noise.pick(_WALLS, number, "wall")
        super().__init__(Image.new("RGB", (SIDE * _SCALE, SIDE * _SCALE), wall), _SCALE)
        self.number = number
        first = noise.integer(0, len(_PIGMENTS) - 1, number, "pigment")
        self.pigments = _PIGMENTS[first:] + _PIGMENTS[:first]
        self.box(0, 470, SIDE, SIDE, shade(wall, 0.9))

    def caption(self, y: float, words: str, size: float, fill: Colour) -> None:
        """A centred line, cut where it would be too long."""
        letters = font(size * _SCALE)
        while letters.getlength(words) > (SIDE - 60) * _SCALE:
            words = words[: -2 if words.endswith("…") else -1].rstrip() + "…"
        self.text((SIDE - letters.getlength(words) / _SCALE) / 2, y, words, letters, fill)

    def jpeg(self) -> bytes:
        """The card as a file."""
        return jpeg(self.image.reduce(_SCALE), 85)

    def vary(self, low: float, high: float, key: str) -> float:
        """A number between two that belongs to the object."""
        return noise.between(low, high, self.number, key)


def shade(colour: Colour, factor: float) -> Colour:
    """A colour made darker, or lighter with a factor over 1."""
    red, green, blue = (min(255, round(value * factor)) for value in colour)
    return red, green, blue
