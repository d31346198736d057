"""Drawings of single things, such as one painting or one tower, from the sheets in `data/drawings`.

A sheet is an SVG file of symbols. A symbol has the name of what it shows and a frame that begins at 0, 0; it has no
gradients and no names of its own inside, so that any number of them fit into one picture.
"""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

_FOLDER = Path(__file__).parent.parent / "data" / "drawings"
_SYMBOL = re.compile(r'<symbol id="([\w-]+)" viewBox="0 0 (\d+) (\d+)">\n(.*?)</symbol>', re.DOTALL)


@dataclass(frozen=True)
class SymbolDrawing:
    """One thing in a frame."""

    width: float
    height: float
    fragments: tuple[str, ...]

    def fitted(self, left: float, top: float, width: float, height: float) -> list[str]:
        """The drawing stretched over a box; what reaches over its frame is cut off."""
        opening = (
            f'<svg x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}"'
            f' viewBox="0 0 {self.width} {self.height}" preserveAspectRatio="none">'
        )
        return [opening, *self.fragments, "</svg>"]


@cache
def sheet(name: str) -> dict[str, SymbolDrawing]:
    """The drawings of a sheet by what they show.

    Raises:
        ValueError: A part of the sheet is not a symbol as described above.
    """
    file = _FOLDER / f"{name}.svg"
    text = file.read_text(encoding="utf-8")
    found = {
        key: SymbolDrawing(float(wide), float(tall), tuple(drawn.splitlines()))
        for key, wide, tall, drawn in _SYMBOL.findall(text)
    }
    if len(found) != len(ElementTree.fromstring(text)):
        raise ValueError(f'{file.name}: every part must be <symbol id="…" viewBox="0 0 width height">, each id once')
    return found
