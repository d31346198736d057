"""One ranked, typo-tolerant, deterministic search over records of any table.

Words are compared without case and accents. A word of a query may match a word of a record exactly, as its
beginning, written together with its neighbour, or with an edit or two; rare words weigh more. A record that
answers less than half of a query is not a result, so nonsense finds nothing. Equal scores keep the order of
the records.
"""

import math
import re
import unicodedata
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, Generic, NamedTuple, TypeVar

from rapidfuzz import process
from rapidfuzz.distance import OSA

Item = TypeVar("Item", bound=Mapping[str, Any])

_WORD = re.compile(r"[^\W_]+")
_APOSTROPHE = re.compile(r"(?<=\w)['’ʼ`](?=\w)")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+")
LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i"})
STOP = frozenset(
    word
    for line in (
        "a an and at by for from in near of on or the to with",
        "das de del der des di die du el en et la las le les los und y",
    )
    for word in line.split()
)
STOP_WEIGHT = 0.1
_PREFIX_QUALITY = 0.6
_FUZZY_QUALITY = 0.8
_LONG_FIELD_WORDS = 8
_SHORT_WORD = 5
_SOUND_ALIKE = ("aeiouy", "ckqsz", "bfpv", "dt", "gj", "mn")
_FIELD_MASK, _PAIR_SHIFT, _RECORD_SHIFT = 0b1111, 4, 5


def fold(text: str) -> str:
    """A text without case, accents and apostrophes inside words."""
    text = _APOSTROPHE.sub("", text)
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", text).casefold().translate(LETTERS)
    bare = "".join(character for character in plain if not unicodedata.combining(character))
    return unicodedata.normalize("NFC", bare)


def words(text: str) -> list[str]:
    """The folded words of a text; scripts without spaces come as pairs of characters."""
    found: list[str] = []
    for word in _WORD.findall(fold(text)):
        if word.isascii():
            found.append(word)
            continue
        position = 0
        for run in _UNSPACED.finditer(word):
            found += [word[position : run.start()]] if run.start() > position else []
            characters = run.group()
            found += [characters[i : i + 2] for i in range(max(1, len(characters) - 1))]
            position = run.end()
        found += [word[position:]] if position < len(word) else []
    return found


class SearchIndex(Generic[Item]):
    """A search over records.

    Args:
        records: What can be found.
        fields: Name and weight of the text fields; a field may hold a string or strings, or be absent.
        prior: How prominent a record is in [0, 1]: decides between records that match equally well.
        coverage: How much of a query a record must answer to be a result, in [0, 1].
        of: How many records there are in all, when those given are the ones that can answer the queries to come.
        reads: Which texts can answer the queries to come; the others are skipped, but for those of the first field.
    """

    def __init__(
        self,
        records: Iterable[Item],
        fields: Mapping[str, float],
        *,
        prior: Callable[[Item], float] | None = None,
        coverage: float = 0.5,
        of: int | None = None,
        reads: Callable[[str], bool] | None = None,
    ) -> None:
        self._records: Sequence[Item] = tuple(records)
        self._fields = tuple(fields)
        top = max(fields.values())
        self._weights = tuple(weight / top for weight in fields.values())
        self._prior = prior
        self._coverage = coverage
        self._total = len(self._records) if of is None else of
        self._reads = reads

    def search(
        self,
        query: str,
        limit: int = 10,
        *,
        keep: Callable[[Item], bool] | None = None,
        coverage: float | None = None,
    ) -> list[tuple[float, Item]]:
        """The best records with their scores in [0, 1], best first.

        Args:
            query: Words in any order and spelling.
            limit: How many at most.
            keep: Which records may be results at all.
            coverage: How much of this query a record must answer, where that differs.
        """
        least = self._coverage if coverage is None else coverage
        asked = list(dict.fromkeys(words(query)))
        if not asked or limit < 1:
            return []
        weights = [self._idf(word) for word in asked]
        total = sum(weights)
        answered: dict[int, float] = defaultdict(float)
        covered: dict[int, float] = defaultdict(float)
        titled: dict[int, float] = defaultdict(float)
        for position, (word, weight) in enumerate(zip(asked, weights, strict=True)):
            for record, (quality, strength, share) in self._answers(word, asked, position).items():
                answered[record] += weight * strength
                covered[record] += weight * quality
                titled[record] += share
        titles = self._read.titles.get(" ".join(words(query)), ())
        found: list[tuple[float, int]] = []
        for record, strength in answered.items():
            if covered[record] < least * total or (keep and not keep(self._records[record])):
                continue
            score = 0.6 * strength / total + 0.2 * covered[record] / total + 0.1 * min(1.0, titled[record])
            score += 0.06 * (record in titles)
            score += 0.04 * (self._prior(self._records[record]) if self._prior else 0.0)
            found.append((-score, record))
        return [(round(-score, 6), self._records[record]) for score, record in sorted(found)[:limit]]

    def knows(self, word: str) -> bool:
        """Whether a folded word stands in a record."""
        return word in self._postings

    def _answers(self, word: str, asked: Sequence[str], position: int) -> dict[int, tuple[float, float, float]]:
        """Record to the quality, the weighted strength and the share of its best field for one word of a query."""
        terms = self._terms(word, alone=len(asked) == 1)
        before, after = asked[max(0, position - 1) : position], asked[position + 1 : position + 2]
        for joined in [*(left + word for left in before), *(word + right for right in after)]:
            if joined in self._postings:
                terms[joined] = max(terms.get(joined, 0.0), 0.95)
        best: dict[int, tuple[float, float, float]] = {}
        for term, quality in terms.items():
            for posting in self._postings[term]:
                record, pair, field = posting >> _RECORD_SHIFT, posting >> _PAIR_SHIFT & 1, posting & _FIELD_MASK
                strength = quality * self._weights[field]
                share = quality * (1 + pair) / self._read.sizes[record] if field == 0 else 0.0
                old = best.get(record, (0.0, 0.0, 0.0))
                best[record] = (max(old[0], quality), max(old[1], strength), max(old[2], share))
        return best

    def _terms(self, word: str, *, alone: bool) -> dict[str, float]:
        """Words of the records that a word of a query may mean, with the quality of each match in (0, 1]."""
        terms = {word: 1.0} if word in self._postings else {}
        for singular in singulars(word):
            if singular in self._postings:
                terms.setdefault(singular, 0.95)
        if len(word) >= 2:
            for term in self._beginning(word):
                terms.setdefault(term, _PREFIX_QUALITY + (1 - _PREFIX_QUALITY) * 0.9 * len(word) / len(term))
        short = len(word) <= _SHORT_WORD
        if (edits := edits_allowed(word)) and not (short and word in terms):
            for length in range(len(word) - edits, len(word) + edits + 1):
                near = process.extract(
                    word, self._by_length[length], scorer=OSA.distance, score_cutoff=edits, limit=None
                )
                for term, distance, _ in near:
                    if short and not is_slip(word, term, alone=alone):
                        continue
                    quality = _FUZZY_QUALITY * (1 - distance / max(len(word), len(term)) / 2)
                    terms[term] = max(terms.get(term, 0.0), quality)
        return terms

    def _beginning(self, word: str) -> list[str]:
        start = bisect_left(self._sorted, word)
        end = bisect_left(self._sorted, word + "\U0010ffff")
        return self._sorted[start:end]

    def _idf(self, word: str) -> float:
        """The inverse document frequency of a word, from 1 to about 2; less for stop words."""
        if word in STOP:
            return STOP_WEIGHT
        known = len({posting >> _RECORD_SHIFT for posting in self._postings.get(word, ())})
        return 1 + math.log((1 + self._total) / (1 + known)) / math.log(2 + self._total)

    @property
    def _postings(self) -> "dict[str, array[int]]":
        return self._read.postings

    @cached_property
    def _read(self) -> "_Contents":
        contents = _Contents({}, {}, array("B", bytes(len(self._records))))
        for number, record in enumerate(self._records):
            for field, name in enumerate(self._fields):
                for text in _texts(record.get(name)):
                    if field and self._reads is not None and not self._reads(text):
                        continue
                    contents.add(number, field, words(text))
        return contents

    @cached_property
    def _sorted(self) -> list[str]:
        return sorted(self._postings)

    @cached_property
    def _by_length(self) -> defaultdict[int, list[str]]:
        grouped: defaultdict[int, list[str]] = defaultdict(list)
        for term in self._sorted:
            grouped[len(term)].append(term)
        return grouped


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [text for text in value if isinstance(text, str)] if isinstance(value, (list, tuple)) else []


class _Contents(NamedTuple):
    """What the texts of the records say, kept small: a posting is a number made of record, pair and field."""

    postings: "dict[str, array[int]]"
    titles: dict[str, tuple[int, ...]]
    """Whole folded texts of the short fields to their records, for queries that are a title."""
    sizes: "array[int]"
    """How many words the title of each record has."""

    def add(self, record: int, field: int, found: list[str]) -> None:
        """Take up the words of a text; neighbours in short texts also written together."""
        if field == 0:
            heavy = sum(word not in STOP for word in found) or len(found)
            self.sizes[record] = min(255, max(1, heavy))
        code = record << _RECORD_SHIFT | field
        for word in dict.fromkeys(found):
            self.postings.setdefault(word, array("I")).append(code)
        if len(found) <= _LONG_FIELD_WORDS:
            for left, right in pairwise(found):
                self.postings.setdefault(left + right, array("I")).append(code | 1 << _PAIR_SHIFT)
            title = " ".join(found)
            self.titles[title] = (*self.titles.get(title, ()), record)


def both(query: str) -> float | None:
    """The coverage that asks for both words of a query of two: a mirror called Hub is no USB hub."""
    return 0.66 if len(set(words(query))) == 2 else None


def edits_allowed(word: str) -> int:
    """In how many places a word of a query may be spelt otherwise."""
    return 0 if len(word) < 4 or word.isdigit() else 1 if len(word) < 8 else 2


def is_slip(word: str, term: str, *, alone: bool) -> bool:
    """Whether a short word is likely another one misspelt, an edit away: most short words that near are other words.

    Neighbours that changed places and a letter too many or too few of a pair are slips. In a word of five letters, or
    one that is not alone, so are a letter that was left out and one that sounds alike. `json` is not `jason`.
    """
    if not word or not term or word[0] != term[0]:
        return False
    loose = len(word) >= _SHORT_WORD or not alone
    at = next((place for place, (one, other) in enumerate(zip(word, term, strict=False)) if one != other), None)
    if len(word) == len(term):
        if at is None or sorted(word) == sorted(term):
            return True
        return loose and any({word[at], term[at]} <= set(sounds) for sounds in _SOUND_ALIKE)
    longer, shorter = (word, term) if len(word) > len(term) else (term, word)
    cut = at if at is not None else len(shorter)
    return longer[cut] == longer[cut - 1] or (longer == term and loose)


def singulars(word: str) -> list[str]:
    """What a word may be the plural of."""
    if len(word) < 4 or not word.endswith("s"):
        return []
    return [word[:-1], *([word[:-3] + "y"] if word.endswith("ies") else [word[:-2]] if word.endswith("es") else [])]
