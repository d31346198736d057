"""Text that somebody sent, made such that reading it takes little time, whatever patterns it is held against.

Patterns that people can read take a time that grows with the square or cube of a run of spaces, or of anything that
comes again and again. No answer needs such a run; a hostile one may have it, and would keep everybody waiting.
"""

import re

MOST_TEXT = 20_000
"""Characters of an answer, or of a field of one, that are read."""

_SPACES = re.compile(r"\s{41,}")
_AGAIN = re.compile(r"(.{1,4}?)\1{60,}", re.DOTALL)
"""The same few characters more often than any answer has them."""


def bounded(text: str) -> str:
    """A text whose length is bounded, and that of every run of spaces or of the same few characters in it."""
    text = _SPACES.sub(lambda run: "\n\n" if "\n" in run[0] else run[0][:40], text[:MOST_TEXT])
    return _AGAIN.sub(lambda run: run[0][: 60 * len(run[1])], text)


DEEPEST = 40
"""Levels of a value that are read."""


def bounded_value(value: object, depth: int = DEEPEST) -> object:
    """A value of JSON in which every text is such a text; what lies too deep in it is None."""
    match value:
        case str():
            return bounded(value)
        case list() | dict() if not depth:
            return None
        case list():
            return [bounded_value(item, depth - 1) for item in value]
        case dict():
            return {bounded(str(name)): bounded_value(one, depth - 1) for name, one in value.items()}
        case _:
            return value
