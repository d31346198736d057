"""The fonts of pages: three weights of Source Sans Pro from a package of their own, checked by hash before use.

Widths are those of the font's own advances without kerning, which the renderer applies: a line is measured a little
wider than it is drawn, by a percent at most.
"""

from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

from PIL import ImageFont

from m3bench.tasks.errors import SandboxError

FAMILY = "Source Sans Pro"
ASCENT, DESCENT = 0.72, 0.21
"""How far letters reach above and below their line, for size 1."""

_FILES = {
    400: ("SourceSansPro-Regular.ttf", "b77f3a700edd0fc0dec73258f882d5c3926c77f5caf6800a201d2166568d2309"),
    600: ("SourceSansPro-Semibold.ttf", "b440fd42fd5a54e1b252731deca9cc86604bee6ffa99281f5874c3476eb17eae"),
    700: ("SourceSansPro-Bold.ttf", "2efc3a95d076f2d04c5928c0ad698b7c61cc302d6f6e79e9643cd3722f7becc2"),
}
WEIGHTS = tuple(_FILES)
_MEASURED = 200


@cache
def files() -> tuple[str, ...]:
    """The font files, for the renderer.

    Raises:
        SandboxError: The package is missing, or holds other fonts.
    """
    spec = find_spec("font_source_sans_pro")
    if spec is None or spec.origin is None:
        raise SandboxError("The package font-source-sans-pro is missing: pip install font-source-sans-pro.")
    found = []
    for name, digest in _FILES.values():
        path = Path(spec.origin).parent / "files" / name
        if sha256(path.read_bytes()).hexdigest() != digest:
            raise SandboxError("The package font-source-sans-pro does not hold the known fonts: install version 0.0.1.")
        found.append(str(path))
    return tuple(found)


def width(text: str, size: float, weight: int = 400) -> float:
    """How wide a line of text is."""
    return _font(weight).getlength(text) * size / _MEASURED


@cache
def _font(weight: int) -> ImageFont.FreeTypeFont:
    path = files()[WEIGHTS.index(weight)]
    return ImageFont.truetype(path, _MEASURED, layout_engine=ImageFont.Layout.BASIC)
