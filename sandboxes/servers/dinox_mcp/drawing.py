"""Draws detections on a picture: a coloured box and a label for each, one colour per name."""

from collections.abc import Sequence
from typing import NamedTuple

from PIL.Image import Image
from PIL.ImageFont import FreeTypeFont

from m3bench.sandboxes.recognition import clip
from m3bench.tasks.drawing.lettering import plain_font
from m3bench.tasks.drawing.sheet import Colour, Sheet
from m3bench.tasks.scene import Box

_COLOURS: tuple[Colour, ...] = (
    (230, 25, 75),
    (31, 119, 212),
    (42, 157, 58),
    (245, 130, 49),
    (142, 36, 170),
    (0, 151, 157),
    (194, 24, 91),
    (109, 76, 65),
    (57, 73, 171),
    (122, 139, 0),
    (212, 161, 0),
    (69, 90, 100),
)
_LONGEST_LABEL = 80
_PADDING = 4


class Detection(NamedTuple):
    """A named box."""

    name: str
    box: Box


def draw(image: Image, detections: Sequence[Detection], *, font_size: int | None, thickness: int) -> None:
    """Draw on the picture itself; without a font size there are no labels. What lies outside is left out."""
    sheet = Sheet(image)
    font = plain_font(font_size) if font_size is not None else None
    names = list(dict.fromkeys(detection.name for detection in detections))
    colours = {name: _COLOURS[number % len(_COLOURS)] for number, name in enumerate(names)}
    for name, box in detections:
        part = clip(box, image.size)
        if part is not None:
            left, top, right, bottom = part
            sheet.frame(left, top, max(left, right - 1), max(top, bottom - 1), colours[name], thickness)
    # Labels come last, so that no box runs through the words.
    for name, box in detections:
        part = clip(box, image.size)
        if part is not None and font is not None:
            _label(sheet, font, name[:_LONGEST_LABEL], part, colours[name], image.width)


def _label(
    sheet: Sheet,
    font: FreeTypeFont,
    name: str,
    box: Box,
    colour: Colour,
    picture_width: int,
) -> None:
    """White words on a plate over the box, or inside it where there is no room above."""
    left, top, right, bottom = font.getbbox(name)
    width, height = right - left + 2 * _PADDING, bottom - top + 2 * _PADDING
    x = max(0, min(box[0], picture_width - width))
    y = box[1] - height if box[1] >= height else box[1]
    sheet.box(x, y, x + width - 1, y + height - 1, colour)
    sheet.text(x + _PADDING - left, y + _PADDING - top, name, font, (255, 255, 255))
