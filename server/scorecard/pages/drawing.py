"""A drawing in SVG that becomes a PNG without a browser: lines of text that are measured before they are written.

The font is the one that the project installs and nothing of the machine's, so the same drawing gives the same bytes on
one machine and the same pixels, but for a shade here and there, on any other. Text from outside is made printable and
escaped; a character that the font lacks is left blank.
"""

import re
from functools import cache
from html import escape, unescape
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from m3bench.server.scoring.words import printable
from m3bench.tasks.errors import UserError
from m3bench.tasks.lazy_modules import LazyModule

# Most who can draw do not: a server's start waits for neither.
if TYPE_CHECKING:
    import resvg_py
    from PIL import ImageFont
else:
    resvg_py = LazyModule("resvg_py")
    ImageFont = LazyModule("PIL.ImageFont")

Weight = Literal[400, 700]
Anchor = Literal["start", "middle", "end"]

FAMILY = "Source Sans Pro, sans-serif"
_FILES: dict[int, str] = {400: "SourceSansPro-Regular.ttf", 700: "SourceSansPro-Bold.ttf"}
_MEASURED = 200
_MAX_TEXT = 2000
_TEXT = re.compile(r'(<text [^>]*?font-size="([\d.]+)" font-weight="(\d+)"[^>]*)>([^<]*)</text>')


class SvgDrawing:
    """A drawing that grows downwards.

    Args:
        width: In pixels.
        ground: The colour behind everything.
    """

    def __init__(self, width: int, ground: str) -> None:
        self.width = width
        self._ground = ground
        self._parts: list[str] = []

    def add(self, fragment: str) -> None:
        """Put down SVG of our own making."""
        self._parts.append(fragment)

    def text(
        self,
        text: str,
        x: float,
        y: float,
        size: float,
        *,
        fill: str,
        weight: Weight = 400,
        anchor: Anchor = "start",
        room: float | None = None,
    ) -> float:
        """Write a line with its baseline at `y`, cut to the room there is; returns how wide it is."""
        said = fitted(text, size, weight, room)
        self.add(
            f'<text x="{x:.1f}" y="{y:.1f}" font-family="{FAMILY}" font-size="{size:g}" font-weight="{weight}" '
            f'text-anchor="{anchor}" fill="{fill}" xml:space="preserve">{escape(said)}</text>'
        )
        return wide(said, size, weight)

    def box(self, x: float, y: float, width: float, height: float, fill: str, radius: float = 3) -> None:
        """A filled rectangle."""
        self.add(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(0.0, width):.1f}" height="{height:.1f}" rx="{radius:g}" '
            f'fill="{fill}"/>'
        )

    def line(self, path: str, colour: str, width: float = 1.5, dashes: str = "") -> None:
        """A path that is drawn and not filled."""
        dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
        self.add(
            f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{width:g}" stroke-linecap="round" '
            f'stroke-linejoin="round"{dashed}/>'
        )

    def svg(self, height: float) -> str:
        """The drawing down to a height."""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{round(height)}" '
            f'viewBox="0 0 {self.width} {round(height)}">'
            f'<rect width="100%" height="100%" fill="{self._ground}"/>{"".join(self._parts)}</svg>'
        )

    def svg_for_any_font(self, height: float) -> str:
        """The drawing for where our font may be missing: every line is as long as it is in ours."""

        def held(found: re.Match[str]) -> str:
            weight: Weight = 700 if found[3] == "700" else 400
            length = wide(unescape(found[4]), float(found[2]), weight)
            return f'{found[1]} textLength="{length:.1f}" lengthAdjust="spacingAndGlyphs">{found[4]}</text>'

        return _TEXT.sub(held, self.svg(height)) + "\n"

    def png(self, height: float) -> bytes:
        """The drawing down to a height, as a file."""
        files = [str(_folder() / name) for name in _FILES.values()]
        return bytes(resvg_py.svg_to_bytes(svg_string=self.svg(height), skip_system_fonts=True, font_files=files))


def wide(text: str, size: float, weight: Weight = 400) -> float:
    """How wide a line is."""
    return _font(weight).getlength(text) * size / _MEASURED


def fitted(text: str, size: float, weight: Weight, room: float | None) -> str:
    """The text, made printable and cut to the room there is."""
    said = printable(text[:_MAX_TEXT])
    if room is None or wide(said, size, weight) <= room:
        return said
    low, high = 0, len(said)
    while low < high:
        middle = (low + high + 1) // 2
        if wide(f"{said[:middle]}…", size, weight) <= room:
            low = middle
        else:
            high = middle - 1
    return f"{said[:low].rstrip()}…"


def wrapped(text: str, size: float, room: float, most: int) -> list[str]:
    """The text in at most so many lines, the last one cut where it must be."""
    words = printable(text[:_MAX_TEXT]).split()
    lines: list[str] = []
    while words and len(lines) < most - 1:
        line = words.pop(0)
        while words and wide(f"{line} {words[0]}", size) <= room:
            line += f" {words.pop(0)}"
        lines.append(line)
    return [*lines, *([" ".join(words)] if words else [])]


def font_file(weight: Weight) -> Path:
    """The file of the font."""
    return _folder() / _FILES[weight]


@cache
def _font(weight: Weight) -> "ImageFont.FreeTypeFont":
    # The basic layout measures the same on every platform.
    return ImageFont.truetype(font_file(weight), _MEASURED, layout_engine=ImageFont.Layout.BASIC)


@cache
def _folder() -> Path:
    spec = find_spec("font_source_sans_pro")
    if spec is None or spec.origin is None:
        raise UserError("The package font-source-sans-pro is missing: pip install font-source-sans-pro.")
    return Path(spec.origin).parent / "files"
