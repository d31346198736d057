"""Text to token ids, as the uncased BERT vocabulary wants them.

Written out here because the `tokenizers` package costs fourteen others and this is a page: clean, split CJK,
strip accents, lower-case, split at punctuation, then the longest known piece first. Equality with the original
is tested; only code points younger than its Unicode tables may differ. Reads no file: the vocabulary is given.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence

MAX_TOKENS = 256
"""Longest input in tokens, the two frame tokens included; the rest of a text is not seen."""

_MAX_WORD_CHARACTERS = 100
_FIRST_LOOK_CHARACTERS = 4096
_UNSURE_WORDS = 8
_MEMO_WORDS = 50_000

_SPECIAL = re.compile(r"(\[(?:PAD|UNK|CLS|SEP|MASK)\])")
_ASCII_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_ASCII_WORD = re.compile(r"[a-z0-9]+|[!-/:-@\[-`{-~]")
_CJK = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


class WordPiece:
    """The tokenizer of one vocabulary."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._ids = {piece: index for index, piece in enumerate(vocabulary)}
        self._unknown = self._ids["[UNK]"]
        self._start = self._ids["[CLS]"]
        self._end = self._ids["[SEP]"]
        self._memo: dict[str, tuple[int, ...]] = {}

    def encode(self, text: str) -> tuple[int, ...]:
        """Ids with the frame tokens, at most `MAX_TOKENS` of them."""
        ids = [index for word in _seen_words(text) for index in self._pieces(word)]
        return (self._start, *ids[: MAX_TOKENS - 2], self._end)

    def _pieces(self, word: str) -> tuple[int, ...]:
        known = self._memo.get(word)
        if known is None:
            if len(self._memo) >= _MEMO_WORDS:
                self._memo.clear()
            known = self._memo[word] = self._split(word)
        return known

    def _split(self, word: str) -> tuple[int, ...]:
        if len(word) > _MAX_WORD_CHARACTERS:
            return (self._unknown,)
        ids: list[int] = []
        start = 0
        while start < len(word):
            prefix = "##" if start else ""
            for end in range(len(word), start, -1):
                index = self._ids.get(prefix + word[start:end])
                if index is not None:
                    break
            else:
                return (self._unknown,)
            ids.append(index)
            start = end
        return tuple(ids)


def _seen_words(text: str) -> list[str]:
    """The normalised words of a text, as many as can matter: each is at least one token."""
    look = _FIRST_LOOK_CHARACTERS
    while True:
        seen = list(_words(text[:look]))
        if look >= len(text):
            return seen[: MAX_TOKENS - 2]
        # The cut may have fallen inside a word, so the last ones are not trusted.
        if len(seen) >= MAX_TOKENS - 2 + _UNSURE_WORDS:
            return seen[: MAX_TOKENS - 2]
        look *= 4


def _words(text: str) -> Iterator[str]:
    for position, part in enumerate(_SPECIAL.split(text)):
        if position % 2:
            yield part
        elif part.isascii():
            yield from _ASCII_WORD.findall(_ASCII_CONTROL.sub("", part).lower())
        else:
            yield from _unicode_words(part)


def _unicode_words(text: str) -> list[str]:
    return unicodedata.normalize("NFD", text.translate(_CLEAN)).translate(_PLAIN).split()


class _CleanTable(dict[int, str]):
    """Controls away, white space to spaces, CJK characters apart; filled as characters are met."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        category = unicodedata.category(character)
        if character in "\t\n\r" or category in ("Zs", "Zl", "Zp"):
            clean = " "
        # Unassigned code points stay: the original's tables are older than ours in places.
        elif character == "\ufffd" or category in ("Cc", "Cf", "Co", "Cs"):
            clean = ""
        elif any(low <= code <= high for low, high in _CJK):
            clean = f" {character} "
        else:
            clean = character
        self[code] = clean
        return clean


class _PlainTable(dict[int, str]):
    """Accents away, lower case, punctuation apart; filled as characters are met.

    Character by character: lower-casing a whole string would turn a final sigma into its other form.
    """

    def __missing__(self, code: int) -> str:
        character = chr(code)
        category = unicodedata.category(character)
        if category == "Mn":
            plain = ""
        elif category[0] == "P" or character in "$+<=>^`|~":
            plain = f" {character} "
        else:
            plain = character.lower()
        self[code] = plain
        return plain


_CLEAN = _CleanTable()
_PLAIN = _PlainTable()
