"""Which lines of a table could answer a query, told from their text alone: nothing is parsed, no index is made.

Sound and not exact: a record that the search would find is always among them, a few others may be. Every term that the
search knows of a record, be it a word or two neighbours written together, is one stretch of a text once case,
accents and everything that is no letter are gone. A term equals a word of the query, begins with it, is its singular,
or is within one or two edits of it; each of these is looked for as a short text that must be there, and a pattern
around it.
"""

import re
import string
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from m3bench.sandboxes.world.search import LETTERS, STOP, STOP_WEIGHT, edits_allowed, fold, singulars, words

_ESCAPED = re.compile(r"\\.")
_NO_LETTER = re.compile(r'[^\w"]+|_')
_KEY = re.compile(r'"(\w+)": ')
_ANY = '[^"]'
_NO_TEXT = "".join(sorted(set(string.printable) - set(string.ascii_letters + string.digits + '"\n')))
_SQUEEZE = str.maketrans("", "", _NO_TEXT)
_SMALL = bytes(range(256)).lower()
_NO_LETTERS = f'{_NO_TEXT}"'.encode()


class Sign(NamedTuple):
    """What a line may show that it could answer."""

    text: str
    pattern: "re.Pattern[str] | None" = None
    """Around the text; the text is enough when there is none."""


def signs(asked: Iterable[str]) -> list[Sign]:
    """What texts with a term for one of these words show: at least one of these."""
    found: dict[tuple[str, str], Sign] = {}
    for word in asked:
        for sign in (*_around(word, edits_allowed(word)), *map(Sign, singulars(word))):
            found.setdefault((sign.text, sign.pattern.pattern if sign.pattern else ""), sign)
    return list(found.values())


def _that_count(asked: Sequence[str]) -> list[str]:
    """Words without which nothing is answered: filling words alone never cover half of a query that has others."""
    kept = [word for word in dict.fromkeys(asked) if word not in STOP]
    return kept if STOP_WEIGHT * (len(set(asked)) - len(kept)) < len(kept) else list(dict.fromkeys(asked))


@lru_cache(maxsize=8)
def _shown(query: str) -> list[Sign]:
    """The same for every table that is searched."""
    return signs(_that_count(words(query)))


def candidates(lines: Sequence[str], query: str) -> list[int]:
    """The places of the lines of JSON that could answer a query."""
    shown = _shown(query)
    keys = dict.fromkeys(_KEY.findall("\n".join([*lines[:20], *lines[-20:]])))
    loud = [key for key in keys if _shows(key.lower().translate(_SQUEEZE), shown)]
    left = list(enumerate(squeeze(lines, all(sign.text.isascii() for sign in shown), loud)))
    found: list[int] = []
    for text, pattern in shown:
        if pattern is None:
            hit = {at for at, line in left if text in line}
        else:
            look = pattern.search
            hit = {at for at, line in left if text in line and look(line)}
        if hit:
            found += hit
            left = [one for one in left if one[0] not in hit]
    begins = _beginnings(shown)
    return sorted(at for at in found if begins is None or _could_begin(lines[at], begins))


def _beginnings(shown: Sequence[Sign]) -> "re.Pattern[str] | None":
    """A term begins where a word does: a pattern that says so of short words, which turn up inside so many others."""
    if any(pattern is not None or not text.isascii() for text, pattern in shown):
        return None
    spread = ('[^a-z0-9"]*'.join(map(re.escape, text)) for text, _ in shown)
    return re.compile(f"(?<![a-z0-9])(?:{'|'.join(spread)})")


def _could_begin(line: str, begins: "re.Pattern[str]") -> bool:
    """Whether a line has a word that begins so; of one that is not plain that is not looked at."""
    return not line.isascii() or "\\" in line or begins.search(line.lower()) is not None


def _around(word: str, edits: int) -> Iterator[Sign]:
    """Signs of a word with at most so many edits.

    The word is cut into a piece more than there are edits, so one piece is as it was, and what stands beside it has an
    edit less than all. Two neighbours that change places at a cut would spoil both pieces: such a word is looked for in
    its own right, with an edit less.
    """
    if not edits:
        yield Sign(word)
        return
    cuts = [len(word) * number // (edits + 1) for number in range(1, edits + 1)]
    pieces = [word[start:end] for start, end in zip([0, *cuts], [*cuts, len(word)], strict=True)]
    for left, right in pairwise(pieces):
        yield Sign(left, re.compile(f"{left}(?:{'|'.join(_spelt(right))})"))
        yield Sign(right, re.compile(right + "(?:" + "|".join(f"(?<={one}{right})" for one in _spelt(left)) + ")"))
    if edits == 2:
        least, most = len(pieces[1]) - 2, len(pieces[1]) + 2
        yield Sign(pieces[0], re.compile(f"{pieces[0]}{_ANY}{{{max(0, least)},{most}}}{pieces[2]}"))
    for cut in cuts:
        yield from _around(word[: cut - 1] + word[cut] + word[cut - 1] + word[cut + 1 :], edits - 1)


def _spelt(piece: str) -> list[str]:
    """Patterns of a piece with at most one edit."""
    found = [piece]
    for at in range(len(piece)):
        found += [piece[:at] + piece[at + 1 :], piece[:at] + _ANY + piece[at + 1 :], piece[:at] + _ANY + piece[at:]]
        found += [piece[: at - 1] + piece[at] + piece[at - 1] + piece[at + 1 :]] if at else []
    return list(dict.fromkeys([*found, piece + _ANY]))


def reader(query: str) -> Callable[[str], bool]:
    """Tells whether a single text could have a part in the answer to a query, be it by a filling word."""
    shown = signs(dict.fromkeys(words(query)))
    plain = all(sign.text.isascii() for sign in shown)

    def could_answer(text: str) -> bool:
        if text.isascii():
            squeezed = text.encode("ascii").translate(_SMALL, _NO_LETTERS).decode("ascii")
        else:
            folded = "".join(_bare(text)) if plain else _NO_LETTER.sub("", fold(text))
            squeezed = folded.translate(_SQUEEZE).replace('"', "")
        return _shows(squeezed, shown)

    return could_answer


def _shows(squeezed: str, shown: Sequence[Sign]) -> bool:
    # A loop: this is asked of every text of a large table, and a generator takes twice the time.
    for sign, pattern in shown:  # noqa: SIM110
        if sign in squeezed and (pattern is None or pattern.search(squeezed)):
            return True
    return False


def squeeze(lines: Sequence[str], plain: bool, keys: Iterable[str] = ()) -> list[str]:
    """Texts of lines of JSON between quotes, folded and without what is no letter; where plain letters are enough,
    without all others too. Names of fields that look like an answer themselves are taken out."""
    text = "\n".join(lines)
    for key in keys:
        text = text.replace(f'"{key}": ', "")
    if "\\" in text:
        text = _ESCAPED.sub(" ", text)
    if text.isascii():
        return _squeezed(text).split("\n")
    folded = text.split("\n")
    strange = [at for at, line in enumerate(folded) if not line.isascii()]
    bare = _bare("\n".join(folded[at] for at in strange)) if plain else None
    for at, line in zip(strange, bare or [_NO_LETTER.sub("", fold(folded[at])) for at in strange], strict=True):
        folded[at] = line
    if plain:
        return _squeezed("\n".join(folded)).split("\n")
    return [line.lower().translate(_SQUEEZE) if line.isascii() else line for line in folded]


def _squeezed(text: str) -> str:
    """A text of plain letters, small and without what is no letter; as bytes, which takes a tenth of the time."""
    return text.encode("ascii").translate(_SMALL, _NO_TEXT.encode()).decode("ascii")


def _bare(text: str) -> list[str]:
    """The plain letters of folded lines."""
    decomposed = unicodedata.normalize("NFKD", text).casefold()
    # Most texts have none of them, and translating costs ten times as much as looking.
    for letter, plain in LETTERS.items():
        if chr(letter) in decomposed:
            decomposed = decomposed.replace(chr(letter), plain)
    return decomposed.encode("ascii", "ignore").decode().split("\n")
