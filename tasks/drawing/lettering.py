"""The fonts that tools write into pictures with: Source Sans Pro (OFL) from a package of its own, and Pillow's own.

Source Sans Pro is checked by hash before use. Both are laid out letter by letter, which needs no library of the
machine's, so that the same call draws the same pixels everywhere.
"""

import unicodedata
from functools import cache, lru_cache
from hashlib import sha256
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path

from PIL import ImageFont

from m3bench.tasks.errors import SandboxError

SHA256 = "b77f3a700edd0fc0dec73258f882d5c3926c77f5caf6800a201d2166568d2309"

CAP_HEIGHT = 0.66
"""Height of a capital letter of Source Sans Pro, for size 1."""

_LETTERS = str.maketrans({"ß": "ss", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "ı": "i", "đ": "d", "Đ": "D", "æ": "ae"})


@lru_cache(maxsize=16)
def font(size: float) -> ImageFont.FreeTypeFont:
    """Source Sans Pro in a size, in pixels."""
    return ImageFont.truetype(BytesIO(_data()), size, layout_engine=ImageFont.Layout.BASIC)


@lru_cache(maxsize=16)
def plain_font(size: int) -> ImageFont.FreeTypeFont:
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
    spec = find_spec("font_source_sans_pro")
    if spec is None or spec.origin is None:
        raise SandboxError("The package font-source-sans-pro is missing: pip install font-source-sans-pro.")
    data = (Path(spec.origin).parent / "files" / "SourceSansPro-Regular.ttf").read_bytes()
    if sha256(data).hexdigest() != SHA256:
        raise SandboxError("The package font-source-sans-pro does not hold the known font: install version 0.0.1.")
    return data
