"""Pages as pictures, and where their elements are: exact for shapes, by font metrics for text, by rendering for paths.

resvg renders only with our fonts: the same pixels, within a shade, on every machine.
"""

import io
from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING

from m3bench.tasks.drawing import fonts
from m3bench.tasks.foreign_files import READABLE
from m3bench.tasks.lazy_modules import LazyModule
from m3bench.tasks.studio.page import Element, Page, points_of

if TYPE_CHECKING:
    import resvg_py
    from PIL import Image, ImageChops
else:
    resvg_py = LazyModule("resvg_py")
    Image = LazyModule("PIL.Image")
    ImageChops = LazyModule("PIL.ImageChops")

LARGEST_SIDE = 2000
"""Pixels of a rendered page."""


def png(page: Page, scale: float = 1.0) -> bytes:
    """A page as a PNG file on white ground."""
    wide, high = size(page, scale)
    return bytes(
        resvg_py.svg_to_bytes(
            svg_string=page.svg(),
            skip_system_fonts=True,
            font_files=list(fonts.files()),
            background="#ffffff",
            width=wide,
            height=high,
        )
    )


def size(page: Page, scale: float = 1.0) -> tuple[int, int]:
    """Width and height of a rendered page, in pixels."""
    scale = min(scale, LARGEST_SIDE / max(page.width, page.height))
    return max(1, round(page.width * scale)), max(1, round(page.height * scale))


def picture(page: Page, scale: float = 1.0) -> "Image.Image":
    """A page as a picture."""
    return Image.open(io.BytesIO(png(page, scale)), formats=READABLE).convert("RGB")


def drawn_box(one: Element, page: Page) -> tuple[float, float, float, float]:
    """The box of what can be seen of an element that is alone on its page; empty in the corner when nothing is."""
    black = one.changed({"opacity": 1.0, **{name: "#000000" for name in ("fill", "stroke") if _paints(one, name)}})
    alone = picture(Page(width=page.width, height=page.height, elements=(black,)))
    found = ImageChops.invert(alone.convert("L")).point(lambda shade: 255 if shade > 40 else 0).getbbox()
    left, top, right, bottom = found or (0, 0, 0, 0)
    return float(left), float(top), float(right), float(bottom)


def _paints(one: Element, name: str) -> bool:
    return str(one.attributes.get(name, "none" if name == "stroke" else "#000000")) != "none"


Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""


def box(page: Page, name: str) -> Box:
    """The box around an element.

    Raises:
        KeyError: There is no such element.
    """
    return box_of(page[name], page)


def box_of(one: Element, page: Page) -> Box:
    """The box around an element; its stroke is left out."""
    match one.kind:
        case "rect":
            left, top = one.number("x"), one.number("y")
            return left, top, left + one.number("width"), top + one.number("height")
        case "circle":
            x, y, r = one.number("cx"), one.number("cy"), one.number("r")
            return x - r, y - r, x + r, y + r
        case "line":
            across, down = sorted((one.number("x1"), one.number("x2"))), sorted((one.number("y1"), one.number("y2")))
            return across[0], down[0], across[1], down[1]
        case "polygon":
            corners = points_of(one)
            xs, ys = [x for x, _ in corners], [y for _, y in corners]
            return min(xs), min(ys), max(xs), max(ys)
        case "text":
            return _text_box(one)
    return drawn_box(one, page)


def _text_box(one: Element) -> Box:
    size = one.number("font-size")
    wide = fonts.width(one.text, size, int(one.number("font-weight", 400)))
    anchor = str(one.attributes.get("text-anchor", "start"))
    left = one.number("x") - {"start": 0.0, "middle": wide / 2, "end": wide}[anchor]
    y = one.number("y")
    return left, y - fonts.ASCENT * size, left + wide, y + fonts.DESCENT * size


def inside(inner: Box, outer: Box, slack: float = 0.0) -> bool:
    """Whether a box lies in another, or sticks out by the slack at most."""
    return (
        inner[0] >= outer[0] - slack
        and inner[1] >= outer[1] - slack
        and inner[2] <= outer[2] + slack
        and inner[3] <= outer[3] + slack
    )


def overlap(one: Box, other: Box, slack: float = 0.0) -> bool:
    """Whether two boxes have something in common that is wider and higher than the slack."""
    across = min(one[2], other[2]) - max(one[0], other[0])
    down = min(one[3], other[3]) - max(one[1], other[1])
    return across > slack and down > slack


def overlapping(page: Page, names: list[str], slack: float = 1.0) -> Iterator[tuple[str, str]]:
    """Which of some elements lie over each other."""
    for one, other in combinations(names, 2):
        if overlap(box(page, one), box(page, other), slack):
            yield one, other


def contains(area: Element, x: float, y: float) -> bool:
    """Whether a point lies in a rectangle or polygon."""
    if area.kind != "polygon":
        left, top = area.number("x"), area.number("y")
        return left <= x <= left + area.number("width") and top <= y <= top + area.number("height")
    within = False
    corners = points_of(area)
    for (x1, y1), (x2, y2) in zip(corners, [*corners[1:], corners[0]], strict=True):
        if (y1 > y) != (y2 > y) and x < (x2 - x1) * (y - y1) / (y2 - y1) + x1:
            within = not within
    return within
