"""The code words of a probe, and the picture and the long text that carry them.

A word is six capital letters that nobody can guess and everybody can read. Words of one probe differ in at least three
letters, so that one misread letter still tells which was meant. Everything comes from a seed: same seed, same bytes.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from random import Random

CONSONANTS, VOWELS = "BDFGKLMNPRTVZ", "AEIOU"
APART = 3
"""Letters in which two words of one probe differ."""

DEPTHS = (5_000, 10_000, 25_000, 50_000, 100_000, 200_000, 350_000, 500_000, 700_000, 900_000)
"""Where marker words stand in a long text, in characters."""

_FILLER = (
    "The river runs past the mill and under the stone bridge.",
    "A cart of apples waits at the gate.",
    "Two boats lie on the bank, and nobody is near.",
    "The bell rings nine times on market days.",
    "Rain came in the night, and the road is soft.",
    "The miller counts his sacks by the open door.",
)

_SIZE, _LETTERS = (520, 180), 96


@dataclass(frozen=True)
class LongText:
    """A text with marker words in it."""

    text: str
    markers: tuple[tuple[int, str], ...]
    """Where each marker ends, in characters, and its word."""


class Words:
    """Gives out words, each of them once and none that is too much like one that is taken."""

    def __init__(self, seed: str, taken: Iterable[str] = ()) -> None:
        self._random = Random(seed)
        self._given = list(taken)

    def next(self) -> str:
        """A word that is like none given before."""
        while True:
            word = "".join(self._random.choice(letters) for letters in (CONSONANTS, VOWELS) * 3)
            if all(distance(word, other) >= APART for other in self._given):
                self._given.append(word)
                return word


def distance(one: str, other: str) -> int:
    """In how many places two words differ."""
    return sum(left != right for left, right in zip(one, other, strict=False)) + abs(len(one) - len(other))


def is_among(word: str, said: Iterable[str], *, misread: int = 0) -> bool:
    """Whether a word was typed back, in whatever case and company; a picture's may have a letter misread."""
    found = {part for text in said for part in re.findall(r"[A-Z]+", text.upper())}
    return any(distance(word, part) <= misread for part in found)


def picture(word: str) -> bytes:
    """A PNG with the word in large letters."""
    from PIL import Image

    from m3bench.tasks.drawing.files import png
    from m3bench.tasks.drawing.lettering import font
    from m3bench.tasks.drawing.sheet import Sheet

    width, height = _SIZE
    sheet = Sheet(Image.new("RGB", _SIZE, "#f4efe2"))
    sheet.frame(8, 8, width - 9, height - 9, (43, 74, 111), 4)
    sheet.text(width / 2, height / 2, word, font(_LETTERS), (28, 39, 51), anchor="mm")
    return png(sheet.image)


def long_text(words: Words, size: int) -> LongText:
    """A plain text of `size` characters with a marker at each depth that it reaches, the last at its very end."""
    parts: list[str] = []
    markers: list[tuple[int, str]] = []
    length = 0
    for depth in (*(depth for depth in DEPTHS if depth < size), size):
        word = words.next()
        line = f"MARKER {word}\n"
        filler = _filler(depth - length - len(line), length)
        parts += (filler, line)
        length += len(filler) + len(line)
        markers.append((length, word))
    return LongText("".join(parts), tuple(markers))


def _filler(size: int, start: int) -> str:
    """Sentences, one a line, cut to a size that ends in a line's end."""
    if size <= 0:
        return ""
    lines: list[str] = []
    length, number = 0, start
    while length < size:
        lines.append(f"{number} {_FILLER[number % len(_FILLER)]}\n")
        length += len(lines[-1])
        number += 1
    return "".join(lines)[: size - 1] + "\n"
