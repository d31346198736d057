"""Folding: removes from a text what carries no meaning, in one place for all who compare texts.

Case, accents, typographic quotes and dashes, invisible characters and runs of white space are folded away. Whatever
compares texts folds them here first.
"""

import re
import unicodedata

_ACCENTS = re.compile("[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]")
_MARKS = {
    **dict.fromkeys("‘’‚‛ʼʻʹ′´＇", "'"),
    **dict.fromkeys("“”„‟«»″＂", '"'),
    **dict.fromkeys("‐‑‒–—―−⁃－", "-"),
    **dict.fromkeys("\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\u00ad", ""),
    "⁄": "/",
}
_MARK = re.compile("[" + "".join(map(re.escape, _MARKS)) + "]")
_LETTERS = {"ø": "o", "đ": "d", "ð": "d", "ł": "l", "ħ": "h", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th", "ŋ": "ng"}
"""Letters that Unicode does not take apart."""
_LETTER = re.compile("[" + "".join(_LETTERS) + "]")


def fold(text: str) -> str:
    """A text without case, accents, typographic marks and runs of white space."""
    if text.isascii():
        return " ".join(text.replace("_", " ").lower().split())
    plain = unicodedata.normalize("NFKD", _marked(text)).casefold()
    lettered = _LETTER.sub(lambda found: _LETTERS[found[0]], _ACCENTS.sub("", plain))
    return " ".join(_marked(lettered).split())


def _marked(text: str) -> str:
    """A text with plain marks: looking for the few that are not is much faster than looking at every character."""
    return _MARK.sub(lambda found: _MARKS[found[0]], text.replace("_", " "))
