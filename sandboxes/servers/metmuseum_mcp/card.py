"""The sheet that museum cards are drawn on: a wall, a pen in units of the card, and colours by number."""

from collections.abc import Sequence
from io import BytesIO

from PIL import Image, ImageDraw

from m3bench.sandboxes.lettering import font
from m3bench.sandboxes.world import noise

SIDE = 600

Colour = tuple[int, int, int]
Point = tuple[float, float]

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


class Card:
    """A sheet of `SIDE` units with a pen, and colours picked by the object's number."""

    def __init__(self, number: int) -> None:
        self.number = number
        wall = noise.pick(_WALLS, number, "wall")
        self._image = Image.new("RGB", (SIDE * _SCALE, SIDE * _SCALE), wall)
        self._pen = ImageDraw.Draw(self._image)
        first = noise.integer(0, len(_PIGMENTS) - 1, number, "pigment")
        self.pigments = _PIGMENTS[first:] + _PIGMENTS[:first]
        self.box(0, 470, SIDE, SIDE, shade(wall, 0.9))

    def box(self, left: float, top: float, right: float, bottom: float, fill: Colour, *, round_: float = 0) -> None:
        corners = [value * _SCALE for value in (left, top, right, bottom)]
        self._pen.rounded_rectangle(corners, round_ * _SCALE, fill)

    def oval(self, x: float, y: float, across: float, down: float, fill: Colour) -> None:
        corners = [value * _SCALE for value in (x - across, y - down, x + across, y + down)]
        self._pen.ellipse(corners, fill)

    def shape(self, points: Sequence[Point], fill: Colour) -> None:
        self._pen.polygon([(x * _SCALE, y * _SCALE) for x, y in points], fill)

    def line(self, points: Sequence[Point], fill: Colour, width: float) -> None:
        self._pen.line([(x * _SCALE, y * _SCALE) for x, y in points], fill, round(width * _SCALE), joint="curve")

    def arc(self, x: float, y: float, radius: float, start: float, end: float, fill: Colour, width: float) -> None:
        corners = [value * _SCALE for value in (x - radius, y - radius, x + radius, y + radius)]
        self._pen.arc(corners, start, end, fill, round(width * _SCALE))

    def text(self, y: float, words: str, size: float, fill: Colour) -> None:
        letters = font(size * _SCALE)
        while letters.getlength(words) > (SIDE - 60) * _SCALE:
            words = words[: -2 if words.endswith("…") else -1].rstrip() + "…"
        left = (SIDE * _SCALE - letters.getlength(words)) / 2
        self._pen.text((left, y * _SCALE), words, fill, font=letters)

    def jpeg(self) -> bytes:
        data = BytesIO()
        self._image.reduce(_SCALE).save(data, "JPEG", quality=85)
        return data.getvalue()

    def vary(self, low: float, high: float, key: str) -> float:
        return noise.between(low, high, self.number, key)


def shade(colour: Colour, factor: float) -> Colour:
    red, green, blue = (min(255, round(value * factor)) for value in colour)
    return red, green, blue
