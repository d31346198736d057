"""Pictures that are laid out and not drawn: for callers that ask many times a second what a family would put where.

An `Outline` stands in for the art. It needs no packages: every object is a square and every letter half as wide as
high, so boxes are near those of the drawn picture and not the same. A canvas with an outline remembers objects and
writing as always; its file is empty.
"""

from functools import cache
from pathlib import Path

from PIL import Image

from m3bench.tasks.render.art import Art, names

_SIDE = 64
_LETTER = 0.5
"""The width of a letter as a share of the font's size."""


class Outline(Art):
    """Art without drawings."""

    drawn = False

    def __init__(self) -> None:
        super().__init__(Path())

    def object(self, name: str) -> Image.Image:
        """A square in place of the object."""
        names()[name]
        return _square()

    def width(self, text: str, size: float, face: str = "sans") -> float:
        """About how wide a line of text is."""
        return len(text) * size * _LETTER


@cache
def _square() -> Image.Image:
    return Image.new("RGBA", (_SIDE, _SIDE), "#808080")
