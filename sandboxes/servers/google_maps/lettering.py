"""Letters on pictures: Pillow's own font, and texts in the letters that it has."""

import unicodedata
from functools import cache

from PIL import ImageFont

_LETTERS = str.maketrans({"ß": "ss", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "ı": "i", "đ": "d", "Đ": "D", "æ": "ae"})


@cache
def font_of(size: int) -> ImageFont.FreeTypeFont:
    """The font at a size in pixels."""
    font = ImageFont.load_default(size)
    assert isinstance(font, ImageFont.FreeTypeFont)
    return font


def writable(text: str) -> str:
    """A text without accents, which the font does not have."""
    plain = unicodedata.normalize("NFKD", text).translate(_LETTERS)
    return "".join(letter for letter in plain if not unicodedata.combining(letter))
