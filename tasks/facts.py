"""Facts: single values, and whether a text holds them.

A fact is a text, folded by `m3bench.tasks.folding`, or a number; it is taken from a result, an argument or an answer.
A number stands in a text when some number there equals it, however it is written.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TypeAlias

from m3bench.tasks.folding import fold

Fact: TypeAlias = "str | float"

_NUMBER = re.compile(r"(?<![\w.])[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w])|(?<![\w.])[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
_ENTITY = re.compile(r"&#x([0-9a-f]+);")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_LABEL = re.compile(r"^[-*•\s]*[\w \-/()]{1,40}:\s+")

_LITTLE = frozenset({"a", "an", "and", "as", "at", "by", "for", "in", "is", "of", "on", "or", "the", "to", "with"})
"""A phrase that begins or ends with one of these was cut out of a sentence."""

MIN_LETTERS = 3
"""Shorter texts occur everywhere."""

MIN_DIGITS = 2
"""Numbers of one digit occur everywhere."""

MIN_ROUNDED = 3
"""A rounded number with fewer digits could be another one."""


def number(value: object) -> float | None:
    """A number, also when it comes as text; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        return float(value.replace(",", ""))
    return None


def same_number(one: float, other: float) -> bool:
    """Whether two numbers are the same but for rounding in the last digits."""
    return math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-9)


def digits(value: float) -> int:
    """How many significant digits a number has, as it is usually written."""
    return len(f"{value:.12g}".lstrip("-").partition("e")[0].replace(".", "").strip("0"))


def is_distinctive(fact: Fact) -> bool:
    """Whether a fact can hardly stand somewhere by chance: a phrase of some length, a number of several digits."""
    if isinstance(fact, str):
        words = fact.split()
        return len(fact) >= 6 and not {words[0], words[-1]} & _LITTLE
    return digits(fact) >= 4


def leaves(value: object) -> Iterator[object]:
    """The texts and numbers inside a JSON value."""
    if isinstance(value, Mapping):
        for item in value.values():
            yield from leaves(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from leaves(item)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield value


def facts_of(value: object) -> Iterator[Fact]:
    """The facts that a JSON value consists of: a text as a whole, a number as a number, and the numbers in a text."""
    for leaf in leaves(value):
        found = number(leaf)
        if found is not None:
            yield found
            continue
        folded = fold(str(leaf))
        if len(folded) >= MIN_LETTERS:
            yield folded
        yield from numbers(str(leaf))


def numbers(text: str) -> Iterator[float]:
    """The numbers in a text."""
    for found in _NUMBER.findall(text):
        value = number(found)
        if value is not None:
            yield value


class Held:
    """A text, asked for the facts in it."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def folded(self) -> str:
        """The text, folded."""
        return fold(self.text)

    @cached_property
    def numbers(self) -> frozenset[float]:
        """The numbers in it."""
        return frozenset(_rounded(value) for value in numbers(self.text))

    def holds(self, fact: Fact) -> bool:
        """Whether a fact stands in the text; a character may stand there as its code."""
        if isinstance(fact, str) and (code := _ENTITY.fullmatch(fact)):
            return within(fact, self.folded) or within(code[1], self.folded)
        return within(fact, self.folded) if isinstance(fact, str) else _rounded(float(fact)) in self.numbers

    def holds_rounded(self, fact: Fact) -> bool:
        """Whether a number stands in the text as people round it."""
        if isinstance(fact, str):
            return False
        long = (value for value in self.numbers if digits(value) >= MIN_ROUNDED)
        return any(value == round(fact, len(f"{value:.12g}".partition(".")[2])) for value in long)

    def phrases(self) -> Iterator[str]:
        """The texts that it is made of: the values of a JSON document; else its lines, their values and sentences."""
        try:
            document = json.loads(self.text)
        except ValueError:
            document = None
        parsed = isinstance(document, dict | list)
        whole = [str(leaf) for leaf in leaves(document)] if parsed else [self.text]
        for text in whole:
            if text.count("\n") == 0 and len(text) <= 120:
                yield fold(text)
            for sentence in _SENTENCE.split(text):
                yield fold(sentence)
                yield fold(_LABEL.sub("", sentence))


def within(value: str, text: str) -> bool:
    """Whether a folded value occurs in a folded text as such: not as a part of a longer word or number."""
    if not value:
        return False
    start = text.find(value)
    while start >= 0:
        before, after = text[start - 1 : start] if start else "", text[start + len(value) : start + len(value) + 1]
        if not (before.isalnum() and value[0].isalnum()) and not (after.isalnum() and value[-1].isalnum()):
            return True
        start = text.find(value, start + 1)
    return False


def _rounded(value: float) -> float:
    """Numbers that differ only in digits that arithmetic leaves behind become the same one."""
    return float(f"{value:.9g}")
