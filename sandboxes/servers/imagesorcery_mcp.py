"""The `imagesorcery-mcp` server: cuts, blurs, recolours and draws on pictures.

Every tool writes a new file and answers with its path as it was given or derived. The source is never replaced;
pictures are worked on upright, as their EXIF data asks, and keep their transparency. Deviations from the public server:
corners given in the wrong order are put right, and letters beyond ASCII are drawn.

Shapes and lettering are placed where OpenCV would place them: coordinates are pixels from the top left corner, colours
are blue, green, red. A shape may lie partly or wholly outside the picture. What a shape may cost is bounded, so that no
list of shapes keeps a sandbox busy.
"""

import json
import math
import unicodedata
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import PurePosixPath
from typing import Literal

from PIL import Image, ImageChops

from m3bench.sandboxes.context import Context
from m3bench.sandboxes.pictures import decode_picture, save_picture, writable
from m3bench.sandboxes.toolserver import ToolServer
from m3bench.sandboxes.workspace import Workspace
from m3bench.tasks.drawing.fonts import CAP_HEIGHT, regular
from m3bench.tasks.drawing.pixels import blurred, recoloured
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
    fields: Mapping[str, object]

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


def items(name: str, entries: Sequence[Mapping[str, object]]) -> list[Item]:
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
        letters = regular(size)
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


server = ToolServer("imagesorcery-mcp")

_BOX = ("x1", "y1", "x2", "y2")
_MAX_CORNERS = 10_000
_SEPIA = ((393, 769, 189), (349, 686, 168), (272, 534, 131))
"""Red, green and blue as thousandths of what they were."""


@server.tool
def crop(
    context: Context, input_path: str, x1: int, y1: int, x2: int, y2: int, output_path: str | None = None
) -> dict[str, list[str]]:
    left, top, right, bottom = (int(place) for place in (x1, y1, x2, y2))

    def cut(image: Image.Image) -> Image.Image:
        if not (0 <= left < right <= image.width and 0 <= top < bottom <= image.height):
            corners = f"({left},{top})→({right},{bottom})"
            raise ToolError(
                f"Invalid crop coordinates: {corners} for image size {image.width}x{image.height}",
                outcome="invalid_arguments",
            )
        return image.crop((left, top, right, bottom))

    return _edit(context.workspace, input_path, output_path, "cropped", cut, (left, top, right, bottom))


@server.tool
def blur(
    context: Context,
    input_path: str,
    areas: list[dict[str, object]],
    invert_areas: bool = False,
    output_path: str | None = None,
) -> dict[str, list[str]]:
    def soften(image: Image.Image) -> Image.Image:
        mask = _mask(image.size, items("areas", areas))
        if invert_areas:
            mask = ImageChops.invert(mask)
        return Image.composite(_blurred(image, _kernel(areas)), image, mask)

    return _edit(context.workspace, input_path, output_path, "blurred", soften, (areas, invert_areas))


@server.tool
def draw_arrows(
    context: Context, input_path: str, arrows: list[dict[str, object]], output_path: str | None = None
) -> dict[str, list[str]]:
    return _draw(context, input_path, output_path, "with_arrows", Markup.arrow, items("arrows", arrows))


@server.tool
def change_color(
    context: Context, input_path: str, palette: Literal["grayscale", "sepia"], output_path: str | None = None
) -> dict[str, list[str]]:
    def recolour(image: Image.Image) -> Image.Image:
        colours = image.convert("RGB")
        changed = colours.convert("L").convert("RGB") if palette == "grayscale" else recoloured(colours, _SEPIA)
        if image.mode == "RGBA":
            changed.putalpha(image.getchannel("A"))
        return changed

    return _edit(context.workspace, input_path, output_path, palette, recolour, palette)


@server.tool
def draw_circles(
    context: Context, input_path: str, circles: list[dict[str, object]], output_path: str | None = None
) -> dict[str, list[str]]:
    return _draw(context, input_path, output_path, "with_circles", Markup.circle, items("circles", circles))


@server.tool
def draw_lines(
    context: Context, input_path: str, lines: list[dict[str, object]], output_path: str | None = None
) -> dict[str, list[str]]:
    return _draw(context, input_path, output_path, "with_lines", Markup.line, items("lines", lines))


@server.tool
def draw_texts(
    context: Context, input_path: str, texts: list[dict[str, object]], output_path: str | None = None
) -> dict[str, list[str]]:
    return _draw(context, input_path, output_path, "with_text", Markup.text, items("texts", texts))


def _draw(
    context: Context,
    input_path: str,
    output_path: str | None,
    ending: str,
    shape: Callable[[Markup, Item], None],
    drawn: list[Item],
) -> dict[str, list[str]]:
    def draw(image: Image.Image) -> Image.Image:
        markup = Markup(image)
        for item in drawn:
            shape(markup, item)
        return markup.image

    return _edit(context.workspace, input_path, output_path, ending, draw, [item.fields for item in drawn])


def _edit(
    workspace: Workspace,
    input_path: str,
    output_path: str | None,
    ending: str,
    change: Callable[[Image.Image], Image.Image],
    asked: object,
) -> dict[str, list[str]]:
    """Read, change and save a picture; what cannot be written is refused before any work.

    What was `asked` before of the same picture, as another run of the same task does, is not worked out again.
    """
    source = workspace.resolve(input_path)
    if not source.exists():
        raise ToolError(f"Input file not found: {input_path}")
    target = output_path or _derived(input_path, ending)
    writable(target)
    if workspace.resolve(target) == source:
        raise ToolError(
            f"output_path {target!r} is the source itself, which stays as it is: choose another name",
            outcome="invalid_arguments",
        )
    content = workspace.existing(input_path).read_bytes()
    described = json.dumps([ending, PurePosixPath(target).suffix.lower(), asked, repr(workspace.limits)])
    key = sha256(sha256(content).digest() + described.encode(errors="replace")).digest()
    known = _MADE.get(key)
    if known is None:
        image = decode_picture(content, workspace.limits, input_path)
        changed = change(image)
        changed.info = dict(image.info)
        save_picture(workspace, changed, target)
        _keep(key, workspace.existing(target).read_bytes())
    else:
        _MADE.move_to_end(key)
        with workspace.writing(target) as draft:
            draft.write_bytes(known)
    return {"images": [target]}


MOST_MADE = 24
"""Pictures that are kept, of those that were made last."""
MOST_MADE_BYTES = 2 << 20
"""Of one that is kept."""

_MADE: OrderedDict[bytes, bytes] = OrderedDict()


def _keep(key: bytes, content: bytes) -> None:
    if len(content) <= MOST_MADE_BYTES:
        _MADE[key] = content
        while len(_MADE) > MOST_MADE:
            _MADE.popitem(last=False)


def _derived(path: str, ending: str) -> str:
    suffix = PurePosixPath(path).suffix
    return f"{path.removesuffix(suffix)}_{ending}{suffix}"


def _mask(size: tuple[int, int], areas: list[Item]) -> Image.Image:
    """White where any of the areas lies; an area that is neither a box nor a polygon is passed over."""
    mask = Image.new("L", size)
    sheet = Sheet(mask)
    polygons = {area.place: _corners(area) for area in areas if "polygon" in area.fields}
    edges = sum(map(len, polygons.values()))
    if len(polygons) * size[0] * size[1] + edges * PART_COST // 8 > MAX_WORK:
        raise LimitError("the polygons cover too many pixels together: blur fewer areas in one call")
    for area in areas:
        if area.place in polygons:
            sheet.polygon(polygons[area.place], 255)
        elif all(name in area.fields for name in _BOX):
            x1, y1, x2, y2 = (area.coordinate(name) for name in _BOX)
            mask.paste(255, _inside((min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2)), size))
    return mask


def _inside(box: tuple[int, int, int, int], size: tuple[int, int]) -> tuple[int, int, int, int]:
    """The part of a box that lies in a picture."""
    left, top, right, bottom = (min(max(place, 0), most) for place, most in zip(box, size * 2, strict=True))
    return left, top, right, bottom


def _corners(area: Item) -> list[tuple[int, int]]:
    given = area.fields["polygon"]
    if not isinstance(given, list) or not 3 <= len(given) <= _MAX_CORNERS:
        raise _bad_polygon(area, f"expected a list of 3 to {_MAX_CORNERS} points")
    corners = []
    for point in given:
        if not isinstance(point, list) or len(point) != 2 or not all(_is_place(place) for place in point):
            raise _bad_polygon(area, "expected points such as [120, 80]")
        corners.append((round(point[0]), round(point[1])))
    return corners


def _bad_polygon(area: Item, expected: str) -> ToolError:
    return ToolError(f"'polygon' in {area.place} cannot be used ({expected})", outcome="invalid_arguments")


def _is_place(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= FARTHEST


def _kernel(areas: list[dict[str, object]]) -> int:
    """The width of the blur in pixels, always odd; that of the first area holds for all."""
    first = Item("areas[0]", areas[0]) if areas else Item("areas", {})
    strength = round(first.number("blur_strength", 15, 1, FARTHEST))
    return strength if strength % 2 else strength + 1


def _blurred(image: Image.Image, kernel: int) -> Image.Image:
    # As OpenCV derives it from the width of the kernel. A wider blur than the picture changes nothing more.
    sigma = 0.3 * ((min(kernel, 2 * max(image.size)) - 1) * 0.5 - 1) + 0.8
    if image.mode != "RGBA":
        return blurred(image, sigma)
    # With colours multiplied by alpha, what is transparent does not bleed into what is not.
    return blurred(image.convert("RGBa"), sigma).convert("RGBA")
