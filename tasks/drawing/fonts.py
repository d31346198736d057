"""The fonts of pages and of what tools write into pictures: Source Sans Pro (OFL) from a package, and Pillow's own.

Source Sans Pro is checked by hash before use. Both are laid out letter by letter, which needs no library of the
machine's, so that the same call draws the same pixels everywhere. Widths are the sums of the font's advances without
kerning, which the renderer applies: a line is measured wider than it is drawn, by one percent at most.
"""

import unicodedata
from functools import cache, lru_cache
from hashlib import sha256
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from m3bench.tasks.errors import SandboxError
from m3bench.tasks.lazy_modules import LazyModule

if TYPE_CHECKING:
    from PIL import ImageFont
else:
    ImageFont = LazyModule("PIL.ImageFont")

FAMILY = "Source Sans Pro"
ASCENT, DESCENT = 0.72, 0.21
"""How far letters reach above and below their line, for size 1."""
CAP_HEIGHT = 0.66
"""Height of a capital letter of Source Sans Pro, for size 1."""

_FILES = {
    400: ("SourceSansPro-Regular.ttf", "b77f3a700edd0fc0dec73258f882d5c3926c77f5caf6800a201d2166568d2309"),
    600: ("SourceSansPro-Semibold.ttf", "b440fd42fd5a54e1b252731deca9cc86604bee6ffa99281f5874c3476eb17eae"),
    700: ("SourceSansPro-Bold.ttf", "2efc3a95d076f2d04c5928c0ad698b7c61cc302d6f6e79e9643cd3722f7becc2"),
}
_SLANTED = {
    400: ("SourceSansPro-It.ttf", "36133e9f508b0b4c639e84b2a09855350be0b13700ad729ab519aa78e5c48d20"),
    700: ("SourceSansPro-BoldIt.ttf", "eab3e6c76c677dda287b2e56f41f718cc975a14150f72ef82e0a87f1b56eac4c"),
}
WEIGHTS = tuple(_FILES)
_MEASURED = 200
_LETTERS = str.maketrans({"ß": "ss", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "ı": "i", "đ": "d", "Đ": "D", "æ": "ae"})


@cache
def files() -> tuple[str, ...]:
    """The font files, for the renderer.

    Raises:
        SandboxError: The package is missing, or holds other fonts.
    """
    return tuple(str(_file(weight)) for weight in WEIGHTS)


@cache
def _file(weight: int, italic: bool = False) -> Path:
    spec = find_spec("font_source_sans_pro")
    if spec is None or spec.origin is None:
        raise SandboxError("The package font-source-sans-pro is missing: pip install font-source-sans-pro.")
    name, digest = (_SLANTED if italic else _FILES)[weight]
    path = Path(spec.origin).parent / "files" / name
    if sha256(path.read_bytes()).hexdigest() != digest:
        raise SandboxError("The package font-source-sans-pro does not hold the known fonts: install version 0.0.1.")
    return path


def width(text: str, size: float, weight: int = 400) -> float:
    """How wide a line of text is."""
    return _font(weight).getlength(text) * size / _MEASURED


@cache
def _font(weight: int) -> "ImageFont.FreeTypeFont":
    return ImageFont.truetype(str(_file(weight)), _MEASURED, layout_engine=ImageFont.Layout.BASIC)


@lru_cache(maxsize=16)
def regular(size: float) -> "ImageFont.FreeTypeFont":
    """Source Sans Pro in a size, in pixels."""
    return ImageFont.truetype(BytesIO(_data()), size, layout_engine=ImageFont.Layout.BASIC)


def styled(size: float, weight: int, *, italic: bool) -> "ImageFont.FreeTypeFont":
    """Source Sans Pro in a size, a weight, upright or not."""
    return ImageFont.truetype(str(_file(weight, italic)), size, layout_engine=ImageFont.Layout.BASIC)


@lru_cache(maxsize=16)
def plain_font(size: int) -> "ImageFont.FreeTypeFont":
    """The font inside Pillow in a size, in pixels; it has no accents, see `writable`."""
    found = ImageFont.load_default(size)
    assert isinstance(found, ImageFont.FreeTypeFont)
    return found


def writable(text: str) -> str:
    """A text without accents, which Pillow's font does not have."""
    plain = unicodedata.normalize("NFKD", text).translate(_LETTERS)
    return "".join(letter for letter in plain if not unicodedata.combining(letter))


@cache
def _data() -> bytes:
    return _file(400).read_bytes()
