"""A search over all tables at once, for people who look around in the world.

Servers do not use it: each searches its own tables with the fields and weights that suit it.

Before anything is parsed or indexed, `candidates` tells from the text of lines alone which records could match a query.
It is complete but not exact: a record that the search would find is always among them, a few others may be. Every term
that the search knows of a record, be it a word or two neighbours written together, is one stretch of a text once case,
accents and everything that is no letter are gone. A term equals a word of the query, begins with it, is its singular,
or is within one or two edits of it; each of these is looked for as a short text that must be there, and a pattern
around it.
"""

import json
import re
import string
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from m3bench.sandboxes.world import tables
from m3bench.sandboxes.world.search import (
    LETTERS,
    STOP,
    STOP_WEIGHT,
    SearchIndex,
    edits_allowed,
    fold,
    singulars,
    words,
)
from m3bench.sandboxes.world.tables import Record

_ESCAPED = re.compile(r"\\.")
_NO_LETTER = re.compile(r'[^\w"]+|_')
_KEY = re.compile(r'"(\w+)": ')
_ANY = '[^"]'
_NO_TEXT = "".join(sorted(set(string.printable) - set(string.ascii_letters + string.digits + '"\n')))
_SQUEEZE = str.maketrans("", "", _NO_TEXT)
_SMALL = bytes(range(256)).lower()
_NO_LETTERS = f'{_NO_TEXT}"'.encode()


class TextSign(NamedTuple):
    """What a line may show that it could answer."""

    text: str
    pattern: "re.Pattern[str] | None" = None
    """Around the text; the text is enough when there is none."""


def signs(asked: Iterable[str]) -> list[TextSign]:
    """What texts with a term for one of these words show: at least one of these."""
    found: dict[tuple[str, str], TextSign] = {}
    for word in asked:
        for sign in (*_around(word, edits_allowed(word)), *map(TextSign, singulars(word))):
            found.setdefault((sign.text, sign.pattern.pattern if sign.pattern else ""), sign)
    return list(found.values())


def _that_count(asked: Sequence[str]) -> list[str]:
    """Words without which nothing is answered: filling words alone never cover half of a query that has others."""
    kept = [word for word in dict.fromkeys(asked) if word not in STOP]
    return kept if STOP_WEIGHT * (len(set(asked)) - len(kept)) < len(kept) else list(dict.fromkeys(asked))


@lru_cache(maxsize=8)
def _shown(query: str) -> list[TextSign]:
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
            left = [sign for sign in left if sign[0] not in hit]
    begins = _beginnings(shown)
    return sorted(at for at in found if begins is None or _could_begin(lines[at], begins))


def _beginnings(shown: Sequence[TextSign]) -> "re.Pattern[str] | None":
    """A term begins where a word does: a pattern that says so of short words, which turn up inside so many others."""
    if any(pattern is not None or not text.isascii() for text, pattern in shown):
        return None
    spread = ('[^a-z0-9"]*'.join(map(re.escape, text)) for text, _ in shown)
    return re.compile(f"(?<![a-z0-9])(?:{'|'.join(spread)})")


def _could_begin(line: str, begins: "re.Pattern[str]") -> bool:
    """Whether a line has a word that begins so; of one that is not plain that is not looked at."""
    return not line.isascii() or "\\" in line or begins.search(line.lower()) is not None


def _around(word: str, edits: int) -> Iterator[TextSign]:
    """Signs of a word with at most so many edits.

    The word is cut into a piece more than there are edits, so one piece is as it was, and what stands beside it has an
    edit less than all. Two neighbours that change places at a cut would spoil both pieces: such a word is looked for in
    its own right, with an edit less.
    """
    if not edits:
        yield TextSign(word)
        return
    cuts = [len(word) * number // (edits + 1) for number in range(1, edits + 1)]
    pieces = [word[start:end] for start, end in zip([0, *cuts], [*cuts, len(word)], strict=True)]
    for left, right in pairwise(pieces):
        yield TextSign(left, re.compile(f"{left}(?:{'|'.join(_spelt(right))})"))
        yield TextSign(
            right, re.compile(right + "(?:" + "|".join(f"(?<={beginning}{right})" for beginning in _spelt(left)) + ")")
        )
    if edits == 2:
        least, most = len(pieces[1]) - 2, len(pieces[1]) + 2
        yield TextSign(pieces[0], re.compile(f"{pieces[0]}{_ANY}{{{max(0, least)},{most}}}{pieces[2]}"))
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
    """Tells whether a single text could contribute to the answer to a query, even by a stop word."""
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


def _shows(squeezed: str, shown: Sequence[TextSign]) -> bool:
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


_TITLES = ("name", "title", "id")
_FEW_FIELDS = 8
"""Text fields of which it does not matter which others a table has."""


def search(query: str, names: Iterable[str], limit: int) -> list[tuple[float, str, Record]]:
    """Score, table and record of what fits best in the named tables."""
    found = [(score, name, record) for name in names for score, record in _index(name, query).search(query, limit)]
    return sorted(found, key=lambda entry: (-entry[0], entry[1]))[:limit]


def label(record: Record) -> str:
    """What a record calls itself, with its short facts."""
    title = next((str(record[key]) for key in _TITLES if key in record), "?")
    facts = [
        f"{key} {value}"
        for key, value in record.items()
        if key not in _TITLES and isinstance(value, (str, int, float)) and len(str(value)) <= 40
    ]
    return ", ".join([title, *facts[:5]])


def _index(name: str, query: str) -> SearchIndex[Record]:
    """An index of the records that could answer a query, which finds what one of the whole table would find."""
    lines = tables.lines(name)
    records = [json.loads(lines[place]) for place in candidates(lines, query)]
    return SearchIndex(records, _fields(name, records), of=len(lines), reads=reader(query))


def _fields(name: str, records: Sequence[Record]) -> dict[str, float]:
    """The text fields of a table, told from some of its records where that is enough."""
    keys = _text_keys(records)
    if not records or (_TITLES[0] in keys and len(keys) <= _FEW_FIELDS):
        return fields_of(records)
    # Others of the table may have a field that comes before.
    return fields_of(tables.load(name))


def fields_of(records: Iterable[Record]) -> dict[str, float]:
    """The text fields of records with their weights: the title first, because it is the one whose length counts."""
    weights = {key: 3.0 if key in _TITLES else 2.0 if key == "aliases" else 1.0 for key in sorted(_text_keys(records))}
    ordered = sorted(weights.items(), key=lambda item: (-item[1], _TITLES.index(item[0]) if item[0] in _TITLES else 9))
    return dict(ordered) or {"id": 1.0}


def _text_keys(records: Iterable[Record]) -> set[str]:
    return {key for record in records for key, value in record.items() if isinstance(value, (str, list, tuple))}
