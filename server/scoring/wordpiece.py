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
        room = MAX_TOKENS - 2
        look = _FIRST_LOOK_CHARACTERS
        while True:
            pieces = [self._pieces(word) for word in _words(text[:look])]
            # A cut may fall inside a word, so the last words of a partial look are not trusted.
            sure = pieces if look >= len(text) else pieces[:-_UNSURE_WORDS]
            if look >= len(text) or sum(map(len, sure)) >= room:
                ids = [index for piece in sure for index in piece]
                return (self._start, *ids[:room], self._end)
            look *= 4

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


def _words(text: str) -> Iterator[str]:
    for position, part in enumerate(_SPECIAL.split(text)):
        if position % 2:
            yield part
        elif part.isascii():
            yield from _ASCII_WORD.findall(_ASCII_CONTROL.sub("", part).lower())
        else:
            yield from _unicode_words(part)


def _unicode_words(text: str) -> Iterator[str]:
    cleaned = "".join(map(_clean, text))
    plain = "".join(
        # Character by character: a whole-string lower() would turn a final sigma into its other form.
        character.lower()
        for character in unicodedata.normalize("NFD", cleaned)
        if unicodedata.category(character) != "Mn"
    )
    for chunk in plain.split(" "):
        start = 0
        for position, character in enumerate(chunk):
            if _is_punctuation(character):
                if position > start:
                    yield chunk[start:position]
                yield character
                start = position + 1
        if start < len(chunk):
            yield chunk[start:]


def _clean(character: str) -> str:
    if character in "\t\n\r":
        return " "
    category = unicodedata.category(character)
    # Unassigned code points stay: the original's tables are older and newer than ours in places.
    if character == "\ufffd" or category in ("Cc", "Cf", "Co", "Cs"):
        return ""
    if category in ("Zs", "Zl", "Zp"):
        return " "
    code = ord(character)
    if any(low <= code <= high for low, high in _CJK):
        return f" {character} "
    return character


def _is_punctuation(character: str) -> bool:
    return character in "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~" or unicodedata.category(character)[0] == "P"
