"""Values in the arguments of a call that may come from an earlier answer.

Only values that could hardly be there by chance are looked at: ids, paths, numbers with several digits, long phrases.
Plain words are not: an article about tigers speaks of lions. Whether a call must have seen an answer is a stricter
question, which `sources` decides.
"""

import re
from collections.abc import Iterator, Mapping

_MIN_WORD = 4
_MIN_DIGITS = 3

_LONG = 24
"""From this length on, words repeat by copying only."""

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_YEAR = re.compile(r"(?:19|20)\d\d")
_MARKED = re.compile(r"\d|[/_.:@#]\w")
"""A digit, or a mark inside a word as in paths, ids and addresses."""


def distinctive_values(value: object) -> Iterator[str]:
    """The values worth looking for: a whole text, and the numbers in it."""
    for text in texts(value):
        folded = text.strip().casefold()
        if _is_distinctive(folded):
            yield folded
        yield from (number for number in _NUMBER.findall(folded) if _is_distinctive(number))


def _is_distinctive(text: str) -> bool:
    """Whether a text could hardly occur in an answer by chance."""
    if _NUMBER.fullmatch(text):
        return len(text.strip("-0.").replace(".", "")) >= _MIN_DIGITS and not _YEAR.fullmatch(text)
    if len(text) >= _LONG:
        return True
    return len(text) >= _MIN_WORD and bool(_MARKED.search(text))


def texts(value: object) -> Iterator[str]:
    """Every text and number in a value, as text."""
    match value:
        case str():
            yield value
        case bool() | None:
            return
        case int() | float():
            yield f"{value:g}" if isinstance(value, float) and value.is_integer() else str(value)
        case Mapping():
            for item in value.values():
                yield from texts(item)
        case list() | tuple():
            for item in value:
                yield from texts(item)
