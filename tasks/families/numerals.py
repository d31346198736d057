"""Whole numbers as people say them."""

from collections.abc import Sequence

_SMALL = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")

DIGITS = _SMALL[:10]
WORDS = (*_SMALL, *_TENS, "hundred")
"""Every word that a number below a thousand is said with."""


def said(number: int) -> str:
    """A number from 0 to 999 in words."""
    if number >= 100:
        rest = f" {said(number % 100)}" if number % 100 else ""
        return f"{_SMALL[number // 100]} hundred{rest}"
    if number < 20:
        return _SMALL[number]
    return f"{_TENS[number // 10 - 2]} {_SMALL[number % 10]}" if number % 10 else _TENS[number // 10 - 2]


def heard(words: Sequence[str]) -> int | None:
    """The number that words say; None when they say none."""
    text = " ".join(words)
    return next((number for number in range(1000) if said(number) == text), None)
