"""Pages as pictures: resvg with our fonts alone, the same pixels but for a shade on every machine."""

import io
from typing import TYPE_CHECKING

from m3bench.tasks.studio import fonts
from m3bench.tasks.studio.page import Element, Page

if TYPE_CHECKING:
    from PIL.Image import Image

LARGEST_SIDE = 2000
"""Pixels of a rendered page."""


def png(page: Page, scale: float = 1.0) -> bytes:
    """A page as a PNG file on white ground."""
    from resvg_py import svg_to_bytes

    wide, high = size(page, scale)
    return bytes(
        svg_to_bytes(
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


def picture(page: Page, scale: float = 1.0) -> "Image":
    """A page as a picture."""
    from PIL import Image

    return Image.open(io.BytesIO(png(page, scale))).convert("RGB")


def drawn_box(one: Element, page: Page) -> tuple[float, float, float, float]:
    """The box of what can be seen of an element that is alone on its page; empty in the corner when nothing is."""
    from PIL import ImageChops

    black = one.changed({"opacity": 1.0, **{name: "#000000" for name in ("fill", "stroke") if _paints(one, name)}})
    alone = picture(Page(width=page.width, height=page.height, elements=(black,)))
    found = ImageChops.invert(alone.convert("L")).point(lambda shade: 255 if shade > 40 else 0).getbbox()
    left, top, right, bottom = found or (0, 0, 0, 0)
    return float(left), float(top), float(right), float(bottom)


def _paints(one: Element, name: str) -> bool:
    return str(one.attributes.get(name, "none" if name == "stroke" else "#000000")) != "none"
