"""A short silent film: a street on which a car drives past, and signs that are shown for a while."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from m3bench.tasks.recording import encoding
from m3bench.tasks.recording.encoding import mp4

if TYPE_CHECKING:
    from PIL.Image import Image

SIZE = (640, 360)
PER_SECOND = 10
_HORIZON = 250
_PLATES = ("#1b4f9c", "#1e7a3c", "#8a1f1f", "#5b2a86", "#222222", "#8a5a00")
_SKIES = ("#f2f7fb", "#fbf6f0", "#f1f8f3", "#f5f4fb")


class Sign(NamedTuple):
    """Something written, shown from one picture up to another."""

    text: str
    first: int
    last: int
    """The first picture without it."""


@dataclass(frozen=True, kw_only=True)
class Film:
    """A film of one street."""

    signs: tuple[Sign, ...]
    pictures: int
    """How many there are, ten a second."""
    seed: int = 0
    """Of colours and places."""
    suffix: str = ".mp4"

    def file(self) -> bytes:
        """The film as an MP4 file.

        Raises:
            UserError: PyAV is not there.
        """
        return mp4(self.frames(), PER_SECOND)

    def made_with(self) -> dict[str, str]:
        """The version of what writes the file."""
        return encoding.made_with()

    def frames(self) -> "Iterator[Image]":
        """The pictures in order."""
        dice = random.Random(self.seed)
        sky, heading = dice.choice(_SKIES), dice.choice((1, -1))
        plates = dice.sample(_PLATES, len(_PLATES))
        places = [(dice.randrange(-60, 61), dice.randrange(-24, 25)) for _ in self.signs]
        for number in range(self.pictures):
            share = number / max(1, self.pictures - 1)
            picture = _street(sky, share if heading > 0 else 1 - share)
            for at, sign in enumerate(self.signs):
                if sign.first <= number < sign.last:
                    _plate(picture, sign.text, plates[at % len(plates)], places[at])
            yield picture


def _street(sky: str, share: float) -> "Image":
    from PIL import Image, ImageDraw

    picture = Image.new("RGB", SIZE, sky)
    pen = ImageDraw.Draw(picture)
    pen.rectangle((0, _HORIZON, *SIZE), fill="#7d8a6a")
    pen.rectangle((0, _HORIZON + 30, SIZE[0], SIZE[1] - 10), fill="#55585c")
    left = round(share * (SIZE[0] - 70))
    pen.rounded_rectangle((left, _HORIZON + 48, left + 70, _HORIZON + 72), 8, fill="#c23b22")
    pen.rounded_rectangle((left + 14, _HORIZON + 34, left + 52, _HORIZON + 52), 6, fill="#c23b22")
    for wheel in (left + 10, left + 46):
        pen.ellipse((wheel, _HORIZON + 64, wheel + 16, _HORIZON + 80), fill="#111111")
    return picture


def _plate(picture: "Image", text: str, colour: str, place: tuple[int, int]) -> None:
    from PIL import ImageDraw, ImageFont

    pen = ImageDraw.Draw(picture)
    size = 54.0
    while (font := ImageFont.load_default(size)).getlength(text) > SIZE[0] - 180:
        size -= 2
    middle, height = SIZE[0] // 2 + place[0], 120 + place[1]
    half = font.getlength(text) / 2 + 28
    # No edge and hardly a shade: writing in a box is harder to read for programs.
    pen.rounded_rectangle((middle - half, height - 48, middle + half, height + 48), 12, fill="white")
    pen.text((middle, height), text, fill=colour, font=font, anchor="mm", stroke_width=1, stroke_fill=colour)
