"""Folding: what of a written text carries no meaning, in one place.

Case, accents, typographic quotes and dashes, invisible characters and runs of white space are folded away. Whatever
compares texts folds them here first.
"""

import re
import unicodedata

_ACCENTS = re.compile("[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]")
_MARKS = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛ʼʻʹ′´＇", "'"),
        **dict.fromkeys("“”„‟«»″＂", '"'),
        **dict.fromkeys("‐‑‒–—―−⁃－", "-"),
        **dict.fromkeys("\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\u00ad", None),
        "_": " ",
        "⁄": "/",
    }
)
_LETTERS = str.maketrans(
    {"ø": "o", "đ": "d", "ð": "d", "ł": "l", "ħ": "h", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th", "ŋ": "ng"}
)
"""Letters that Unicode does not take apart."""


def fold(text: str) -> str:
    """A text without case, accents, typographic marks and runs of white space."""
    if text.isascii():
        return " ".join(text.replace("_", " ").lower().split())
    plain = unicodedata.normalize("NFKD", text.translate(_MARKS)).casefold()
    return " ".join(_ACCENTS.sub("", plain).translate(_LETTERS).translate(_MARKS).split())
