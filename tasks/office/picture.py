"""Sheets as pictures, painted with the drawing kit: the same pixels and bytes on every machine."""

from dataclasses import replace
from functools import lru_cache
from io import BytesIO
from math import hypot
from typing import TYPE_CHECKING

from m3bench.tasks.drawing import files, fonts
from m3bench.tasks.drawing.sheet import Sheet as Paper
from m3bench.tasks.foreign_files import MOST_PIXELS, READABLE
from m3bench.tasks.lazy_modules import LazyModule
from m3bench.tasks.office import faces
from m3bench.tasks.office.marks import Box, Inset, OfficeError, PrintedSheet, Stroke, Surface, Word

if TYPE_CHECKING:
    from PIL import Image, ImageFont
else:
    Image = LazyModule("PIL.Image")
    ImageFont = LazyModule("PIL.ImageFont")

LARGEST_SIDE = 2000
"""Pixels of a painted sheet."""
_FINE = 2
"""Shapes are painted so many times larger and reduced, which makes their edges smooth."""


def size(sheet: PrintedSheet, scale: float = 1.0) -> tuple[int, int]:
    """Width and height of the picture of a sheet, in pixels."""
    scale = min(scale, LARGEST_SIDE / max(sheet.width, sheet.height, 1.0))
    return max(1, round(sheet.width * scale)), max(1, round(sheet.height * scale))


def painted(sheet: PrintedSheet, scale: float = 1.0) -> "Image.Image":
    """A sheet as a picture."""
    wide, high = size(sheet, scale)
    scale = wide / sheet.width * _FINE
    image = Image.new("RGB", (wide * _FINE, high * _FINE), sheet.ground)
    paper = Paper(image)
    for mark in sheet.marks:
        if isinstance(mark, Word):
            _write(paper, mark, scale)
        elif isinstance(mark, Surface):
            _fill(paper, mark, scale)
        elif isinstance(mark, Stroke):
            paper.line(_scaled(mark.points, scale), mark.colour, max(1.0, mark.width * scale))
        else:
            _paste(image, mark, scale)
    return image.reduce(_FINE)


def png(sheet: PrintedSheet, scale: float = 1.0) -> bytes:
    """A sheet as a PNG file."""
    return files.png(painted(sheet, scale))


def _scaled(points: tuple[tuple[float, float], ...], scale: float) -> list[tuple[float, float]]:
    return [(x * scale, y * scale) for x, y in points]


def _fill(paper: Paper, area: Surface, scale: float) -> None:
    points = _scaled(area.points, scale)
    if area.fill is not None:
        paper.polygon(points, area.fill, area.opacity)
    if area.line is not None:
        paper.line([*points, points[0]], area.line, max(1.0, area.width * scale))


@lru_cache(maxsize=64)
def _font(size: float, bold: bool, italic: bool) -> "ImageFont.FreeTypeFont":
    return fonts.styled(size, 700 if bold else 400, italic=italic)


def _write(paper: Paper, word: Word, scale: float) -> None:
    face = word.face
    font = _font(round(faces.drawn_size(face) * scale, 1), face.bold, face.italic)
    if word.turned:
        _write_up(paper, word, scale, font)
        return
    if not -4000 < word.x < 20_000:
        return
    if word.clip is not None:
        _write_cut(paper, word, scale)
        return
    for letter, place in faces.letters(word.text, face):
        paper.text((word.x + place) * scale, word.y * scale, letter, font, face.colour, anchor="ls")
    if face.underlined:
        low = (word.y + 0.11 * face.size) * scale
        paper.line(
            [(word.x * scale, low), ((word.x + word.width) * scale, low)], face.colour, max(1, face.size * scale / 18)
        )


def _write_cut(paper: Paper, word: Word, scale: float) -> None:
    """A word of which a part is seen."""
    assert word.clip is not None
    left, top, right, bottom = (round(side * scale) for side in word.clip)
    corner = (max(0, left), max(0, top), min(paper.image.width, right), min(paper.image.height, bottom))
    if corner[0] >= corner[2] or corner[1] >= corner[3]:
        return
    part = paper.image.crop(corner)
    moved = replace(word, clip=None, x=word.x - corner[0] / scale, y=word.y - corner[1] / scale)
    _write(Paper(part), moved, scale)
    paper.image.paste(part, corner[:2])


def _write_up(paper: Paper, word: Word, scale: float, font: "ImageFont.FreeTypeFont") -> None:
    face = word.face
    wide, high = max(1, round(word.width * scale)) + 4, max(1, round(face.size * scale * 1.3))
    mask = Image.new("L", (wide, high))
    pen = Paper(mask)
    base = round(face.size * scale)
    for letter, place in faces.letters(word.text, face):
        pen.text(place * scale, base, letter, font, 255, anchor="ls")
    up = mask.transpose(Image.Transpose.ROTATE_90)
    paper.image.paste(face.colour, (round(word.x * scale) - base, round(word.y * scale) - wide), up)


def _paste(image: "Image.Image", photo: Inset, scale: float) -> None:
    left, top, right, bottom = (round(side * scale) for side in photo.box)
    wide, high = right - left, bottom - top
    found = decoded(photo.data)
    if wide < 1 or high < 1 or found is None or wide * high > MOST_PIXELS:
        return
    first = found.crop(_cut(photo.crop, found.width, found.height))
    # Only what lies on the paper is enlarged.
    small = first.resize(
        (wide, high), Image.Resampling.BOX if hypot(wide, high) < hypot(*first.size) else Image.Resampling.NEAREST
    )
    image.paste(small, (left, top), small.getchannel("A"))


def _cut(crop: Box, wide: int, high: int) -> tuple[int, int, int, int]:
    left, top, right, bottom = crop
    x0, y0 = round(left * wide), round(top * high)
    return x0, y0, max(x0 + 1, round((1 - right) * wide)), max(y0 + 1, round((1 - bottom) * high))


def decoded(data: bytes) -> "Image.Image | None":
    """A picture out of a file, or None when it is none that is read here.

    Raises:
        OfficeError: It is larger than any picture may be.
    """
    try:
        with Image.open(BytesIO(data), formats=READABLE) as found:
            if found.width * found.height > MOST_PIXELS:
                raise OfficeError("a picture in it has too many pixels")
            return found.convert("RGBA")
    except (OSError, ValueError, SyntaxError):
        return None
