"""Shapes and lettering for the `imagesorcery-mcp` server, placed where OpenCV would place them.

Coordinates are pixels from the top left corner, colours are blue, green, red. A shape may lie partly or wholly
outside the picture. What a shape may cost is bounded, so that no list of shapes keeps a sandbox busy.
"""

import math
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from PIL import Image

from m3bench.tasks.drawing.lettering import CAP_HEIGHT, font
from m3bench.tasks.drawing.sheet import Colour, Sheet
from m3bench.tasks.errors import LimitError, ToolError

FARTHEST = 100_000
"""The largest coordinate or radius, in pixels."""
THICKEST = 32_767
"""OpenCV's limit for a line, in pixels."""
LARGEST_SCALE = 100.0
LONGEST_TEXT = 10_000
"""Characters in one text."""
MAX_LETTERING = 40_000_000
"""Pixels that a line of text may cover, inside and outside of the picture."""
MAX_WORK = 3_000_000_000
"""Pixels that all shapes of a call may cover together, each counted as often as it is painted over."""
PART_COST = 400_000
"""Pixels that could be painted in the time it takes to begin a part of a thick line, or some edges of a polygon."""

_FACES = {"PLAIN": 9, "COMPLEX_SMALL": 13}
"""Height of OpenCV's capital letters in pixels at scale 1, where it is not that of the rest."""
_USUAL_FACE = 21

Corner = tuple[float, float]


@dataclass(frozen=True)
class Item:
    """One entry of a list argument, read field by field with messages that say where it is."""

    place: str
    """Such as `arrows[2]`."""
    fields: Mapping[str, Any]

    def coordinate(self, name: str, most: int = FARTHEST, least: int = -FARTHEST) -> int:
        """A required whole number of pixels."""
        if self.fields.get(name) is None:
            raise self._wrong(f"{name!r} is missing in {self.place}")
        return round(self.number(name, 0, least, most))

    def number(self, name: str, default: float, least: float, most: float) -> float:
        """A number within bounds."""
        value = self.fields.get(name)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
            raise self._wrong(f"{name!r} in {self.place} is {_shown(value)} (expected {least:g} to {most:g})")
        return value

    def thickness(self) -> int:
        """The width of a line in pixels; 0 is as thin as 1."""
        return max(1, round(self.number("thickness", 1, 0, THICKEST)))

    def colour(self) -> Colour:
        """The colour as red, green, blue."""
        value = self.fields.get("color", [0, 0, 0])
        if not isinstance(value, list) or len(value) not in (3, 4) or not all(_is_shade(shade) for shade in value):
            raise self._wrong(
                f"'color' in {self.place} is {_shown(value)} (expected [blue, green, red], each from 0 to 255)"
            )
        blue, green, red = (round(shade) for shade in value[:3])
        return red, green, blue

    def text(self) -> str:
        """The required text."""
        if "text" not in self.fields:
            raise self._wrong(f"'text' is missing in {self.place}")
        value = self.fields["text"]
        if not isinstance(value, str | int | float):
            raise self._wrong(f"'text' in {self.place} is {_shown(value)} (expected a string)")
        text = unicodedata.normalize("NFC", str(value))
        if len(text) > LONGEST_TEXT:
            raise LimitError(f"'text' in {self.place} has {len(text)} characters, more than the {LONGEST_TEXT} allowed")
        return text

    def _wrong(self, problem: str) -> ToolError:
        return ToolError(problem, outcome="invalid_arguments")


def items(name: str, entries: Sequence[Mapping[str, Any]]) -> list[Item]:
    """The entries of the list argument of that name."""
    return [Item(f"{name}[{index}]", entry) for index, entry in enumerate(entries)]


class Markup:
    """Shapes on a copy of a picture; the one it is made of stays as it is."""

    def __init__(self, image: Image.Image) -> None:
        self.image = image.copy()
        self._sheet = Sheet(self.image)
        self._work = 0.0

    def line(self, item: Item) -> None:
        """A straight line with round ends."""
        start, end = _ends(item)
        self._stroke([(start, end)], item.colour(), item.thickness())

    def arrow(self, item: Item) -> None:
        """A line with two strokes at its end, at 45 degrees, as long as the given part of the line."""
        start, end = _ends(item)
        share = item.number("tip_length", 0.1, 0, 10) * math.sqrt(0.5)
        back, aside = (start[0] - end[0]) * share, (start[1] - end[1]) * share
        tips = [(end[0] + back - aside, end[1] + aside + back), (end[0] + back + aside, end[1] + aside - back)]
        self._stroke([(start, end), *((tip, end) for tip in tips)], item.colour(), item.thickness())

    def circle(self, item: Item) -> None:
        """A circle whose line lies half inside and half outside of its radius, or a disc."""
        x, y = item.coordinate("center_x"), item.coordinate("center_y")
        radius = item.coordinate("radius", least=0)
        filled = bool(item.fields.get("filled", False)) or item.fields.get("thickness") == -1
        thickness = 1 if filled else item.thickness()
        colour = item.colour()
        reach = radius if filled else radius + (thickness - 1) / 2
        box = (x - reach, y - reach, x + reach, y + reach)
        self._spend(box)
        if filled or thickness >= 2 * radius:
            self._sheet.ellipse(*box, colour)
        else:
            self._sheet.ring(*box, colour, thickness)

    def text(self, item: Item) -> None:
        """Lettering whose first line stands on (x, y)."""
        text = item.text()
        x, y = item.coordinate("x"), item.coordinate("y")
        scale = item.number("font_scale", 1.0, 0, LARGEST_SCALE)
        colour, thickness = item.colour(), item.thickness()
        size = _face_height(item.fields.get("font_face")) * scale / CAP_HEIGHT
        if size < 1 or not text:
            return
        letters = font(size)
        # More than that would fill the letters' counters.
        bold = min((thickness - 1) / 2, size / 14)
        for row, line in enumerate(text.splitlines()):
            baseline = y + row * size * 1.2
            width = letters.getlength(line)
            self._spend((x, baseline - size, x + width, baseline + size / 3))
            if x + width < 0 or x > self.image.width or baseline + size < 0 or baseline - size > self.image.height:
                continue
            if width * size > MAX_LETTERING:
                raise LimitError(f"'text' in {item.place} would be {width:.0f} pixels wide: use a smaller font_scale")
            self._sheet.text(x, baseline, line, letters, colour, anchor="ls", stroke=bold)

    def _stroke(self, lines: Sequence[tuple[Corner, Corner]], colour: Colour, thickness: int) -> None:
        # An odd width lies evenly on both sides of the line, whatever its direction.
        width = thickness if thickness == 1 else thickness | 1
        half = (width - 1) // 2
        for start, end in lines:
            across, down = (start[0], end[0]), (start[1], end[1])
            self._spend((min(across) - half, min(down) - half, max(across) + half, max(down) + half), width)
            self._sheet.line((start, end), colour, width)
            if half:
                for x, y in (start, end):
                    self._sheet.oval(round(x), round(y), half, half, colour)

    def _spend(self, box: tuple[float, float, float, float], thickness: float = math.inf) -> None:
        """Count what painting inside a box costs at most, and stop when it is too much in all."""
        width = max(0.0, min(box[2], self.image.width) - max(box[0], 0))
        height = max(0.0, min(box[3], self.image.height) - max(box[1], 0))
        area = min(width * height, (width + height + 1) * thickness)
        # Thick lines are drawn in parts; everything else is Pillow's, which begins quickly.
        begin = PART_COST * (1 + (width + height) // 256) if 1 < thickness < math.inf else 1000
        self._work += area + 10 * (box[3] - box[1] + box[2] - box[0]) + begin
        if self._work > MAX_WORK:
            raise LimitError("the shapes paint over too many pixels together: draw fewer or smaller ones in one call")


def _ends(item: Item) -> tuple[Corner, Corner]:
    x1, y1, x2, y2 = (item.coordinate(name) for name in ("x1", "y1", "x2", "y2"))
    return (x1, y1), (x2, y2)


def _face_height(face: object) -> int:
    return _FACES.get(str(face).upper().removeprefix("FONT_HERSHEY_"), _USUAL_FACE)


def _is_shade(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 255


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
