"""Values from outside on one line of text: no escape sequences, no line breaks, no endless values."""

import json
import unicodedata

from m3bench.tasks.trajectory import JSON

MAX_VALUE = 60


def printable(text: str) -> str:
    """The text with everything a terminal could act upon written as an escape."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        character
        if unicodedata.category(character)[0] != "C" and character not in "\u2028\u2029"
        else _escape(character)
        for character in text
    )


def value(data: JSON, limit: int = MAX_VALUE) -> str:
    """A JSON value on one line, cut to a length."""
    text = printable(json.dumps(data, ensure_ascii=False, separators=(", ", ": ")))
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def p_value(p: float) -> str:
    """A p as people write it."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"
