"""A picture with a pen: boxes, ovals, polygons, lines, fades and writing, the same pixels on every machine.

Coordinates are units of the sheet, which are `scale` pixels each: what is drawn at twice the size and reduced has
smooth edges. Rectangles and ovals are Pillow's, which draws them with whole numbers once their corners are whole.
"""

from collections.abc import Sequence
from math import cos, radians, sin

from PIL import Image, ImageDraw, ImageFont

from m3bench.tasks.drawing import coverage
from m3bench.tasks.drawing.coverage import Patch, Point, nearest, pixel

Colour = tuple[int, int, int]
Fill = Colour | int
"""A shade of grey is a number."""

_ARC_DEGREES = 3
_GRID = 64
"""Writing begins at a 64th of a pixel, the unit of its outlines."""


class Sheet:
    """A picture being drawn on.

    Args:
        image: The picture; it is changed.
        scale: Pixels of a unit.
    """

    def __init__(self, image: Image.Image, scale: int = 1) -> None:
        self.image = image
        self.scale = scale
        self._pen = ImageDraw.Draw(image)

    def polygon(self, points: Sequence[Point], fill: Fill, opacity: float = 1.0) -> None:
        """A filled shape."""
        self._put(coverage.polygon(self._scaled(points), self.image.size), fill, opacity)

    def line(self, points: Sequence[Point], fill: Fill, width: float = 1, opacity: float = 1.0) -> None:
        """A line through points, round at its bends."""
        wide = max(1, round(width * self.scale))
        path = self._scaled(points)
        if wide == 1 and opacity == 1:
            # Pillow draws the thinnest lines with whole numbers.
            self._pen.line([(nearest(x), nearest(y)) for x, y in path], fill)
            return
        parts = coverage.line(path, wide, self.image.size)
        for part in parts if opacity == 1 else [coverage.joined(parts)]:
            self._put(part, fill, opacity)

    def arc(self, x: float, y: float, radius: float, start: float, end: float, fill: Fill, width: float = 1) -> None:
        """A part of a circle inside of its radius, from one angle to another, in degrees clockwise from the right."""
        reach = radius - width / 2
        span = (end - start) % 360 or 360
        steps = max(1, round(span / _ARC_DEGREES))
        angles = [radians(start + span * step / steps) for step in range(steps + 1)]
        self.line([(x + reach * cos(angle), y + reach * sin(angle)) for angle in angles], fill, width)

    def box(
        self,
        left: float,
        top: float,
        right: float,
        bottom: float,
        fill: Fill,
        opacity: float = 1.0,
        *,
        corner: float = 0.0,
    ) -> None:
        """A filled rectangle with its right and bottom edge, round at its corners when a radius is given."""
        x0, y0, x1, y1 = self._pixels(left, top, right, bottom)
        if x1 < x0 or y1 < y0:
            return
        if not corner:
            if opacity == 1:
                self._pen.rectangle((x0, y0, x1, y1), fill)
            else:
                mask = Image.new("L", (x1 - x0 + 1, y1 - y0 + 1), round(255 * opacity))
                self.image.paste(fill, (x0, y0), mask)
            return
        across = min(2 * pixel(corner * self.scale), x1 - x0, y1 - y0)
        half = across // 2
        self._pen.rectangle((x0 + half, y0, x1 - half, y1), fill)
        self._pen.rectangle((x0, y0 + half, x1, y1 - half), fill)
        for x in (x0, x1 - across):
            for y in (y0, y1 - across):
                self._pen.ellipse((x, y, x + across, y + across), fill)

    def oval(self, x: float, y: float, wide: float, high: float, fill: Fill, opacity: float = 1.0) -> None:
        """A filled ellipse by its middle and its half axes."""
        self.ellipse(x - wide, y - high, x + wide, y + high, fill, opacity)

    def ellipse(self, left: float, top: float, right: float, bottom: float, fill: Fill, opacity: float = 1.0) -> None:
        """A filled ellipse by its box."""
        x0, y0, x1, y1 = self._pixels(left, top, right, bottom)
        if x1 < x0 or y1 < y0:
            return
        if opacity == 1:
            self._pen.ellipse((x0, y0, x1, y1), fill)
        else:
            mask = Image.new("L", (x1 - x0 + 1, y1 - y0 + 1))
            ImageDraw.Draw(mask).ellipse((0, 0, x1 - x0, y1 - y0), round(255 * opacity))
            self.image.paste(fill, (x0, y0), mask)

    def ring(self, left: float, top: float, right: float, bottom: float, colour: Colour, width: int) -> None:
        """The outline of an ellipse, inside of its box."""
        self._pen.ellipse(self._pixels(left, top, right, bottom), outline=colour, width=width * self.scale)

    def frame(self, left: float, top: float, right: float, bottom: float, colour: Colour, width: int) -> None:
        """The outline of a rectangle, inside of its right and bottom edge."""
        self._pen.rectangle(self._pixels(left, top, right, bottom), outline=colour, width=width * self.scale)

    def fade(self, top: float, bottom: float, upper: Colour, lower: Colour) -> None:
        """A band over the whole width that runs from one colour to another."""
        first, last = round(top * self.scale), round(bottom * self.scale)
        for y in range(first, last):
            tone = blend(upper, lower, (y - first) / max(1, last - first - 1))
            self._pen.rectangle((0, y, self.image.width, y), tone)

    def text(
        self,
        x: float,
        y: float,
        words: str,
        font: ImageFont.FreeTypeFont,
        fill: Fill | str,
        *,
        anchor: str = "la",
        stroke: float = 0,
        halo: Colour | None = None,
    ) -> None:
        """Writing whose anchor, as Pillow names it, stands at a point; the font's size is in pixels.

        Args:
            x: Where.
            y: Where.
            words: What to write.
            font: In which letters; one with the basic layout.
            fill: Their colour.
            anchor: Which of its points stands there.
            stroke: How much bolder the letters are, in pixels.
            halo: The colour of that; the letters' own when left out.
        """
        at = (round(x * self.scale * _GRID) / _GRID, round(y * self.scale * _GRID) / _GRID)
        self._pen.text(at, words, fill, font, anchor, stroke_width=stroke, stroke_fill=halo)

    def _scaled(self, points: Sequence[Point]) -> list[Point]:
        return [(x * self.scale, y * self.scale) for x, y in points]

    def _pixels(self, *values: float) -> tuple[int, int, int, int]:
        left, top, right, bottom = (pixel(value * self.scale) for value in values)
        return left, top, right, bottom

    def _put(self, patch: Patch | None, fill: Fill, opacity: float) -> None:
        if patch is not None:
            mask = Image.fromarray(patch.mask * round(255 * opacity))
            self.image.paste(fill, (patch.left, patch.top), mask)


def blend(one: Colour, other: Colour, share: float) -> Colour:
    """A colour between two: `share` of the other."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(one, other, strict=True))
    return red, green, blue
