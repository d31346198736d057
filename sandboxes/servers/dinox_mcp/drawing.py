"""Draws detections on a picture: a coloured box and a label for each, one colour per name."""

from collections.abc import Sequence
from typing import NamedTuple

from PIL import ImageDraw, ImageFont
from PIL.Image import Image

from m3bench.sandboxes.recognition import clip
from m3bench.tasks.scene import Box

_COLOURS = (
    *("#e6194b", "#1f77d4", "#2a9d3a", "#f58231", "#8e24aa", "#00979d"),
    *("#c2185b", "#6d4c41", "#3949ab", "#7a8b00", "#d4a100", "#455a64"),
)
_LONGEST_LABEL = 80
_PADDING = 4


class Detection(NamedTuple):
    """A named box."""

    name: str
    box: Box


def draw(image: Image, detections: Sequence[Detection], *, font_size: int | None, thickness: int) -> None:
    """Draw on the picture itself; without a font size there are no labels. What lies outside is left out."""
    pen = ImageDraw.Draw(image)
    font = ImageFont.load_default(font_size) if font_size is not None else None
    names = list(dict.fromkeys(detection.name for detection in detections))
    colours = {name: _COLOURS[number % len(_COLOURS)] for number, name in enumerate(names)}
    for name, box in detections:
        part = clip(box, image.size)
        if part is not None:
            left, top, right, bottom = part
            edges = (left, top, max(left, right - 1), max(top, bottom - 1))
            pen.rectangle(edges, outline=colours[name], width=thickness)
    # Labels come last, so that no box runs through the words.
    for name, box in detections:
        part = clip(box, image.size)
        if part is not None and font is not None:
            _label(pen, font, name[:_LONGEST_LABEL], part, colours[name], image.width)


def _label(
    pen: ImageDraw.ImageDraw,
    font: ImageFont.FreeTypeFont | ImageFont.ImageFont,
    name: str,
    box: Box,
    colour: str,
    picture_width: int,
) -> None:
    """White words on a plate over the box, or inside it where there is no room above."""
    left, top, right, bottom = pen.textbbox((0, 0), name, font=font)
    width, height = right - left + 2 * _PADDING, bottom - top + 2 * _PADDING
    x = max(0, min(box[0], picture_width - width))
    y = box[1] - height if box[1] >= height else box[1]
    pen.rectangle((x, y, x + width - 1, y + height - 1), fill=colour)
    pen.text((x + _PADDING - left, y + _PADDING - top), name, fill="white", font=font)
