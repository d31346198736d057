"""Searches over the papers of one platform or of all: by words, by category, and in the query language of arXiv.

    ti:zebra OR abs:zebra
    au:"okafor" AND (cat:q-bio.PE ANDNOT ti:fish)
    submittedDate:[202501010000 TO 202506302359]

A word matches itself and its plural, a word with `*` any ending, words in quotes match in that order. Terms side by
side must all match. What is left open or dangling is forgiven, as the public service does.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cache

from m3bench.sandboxes.world.clock import NOW
from m3bench.sandboxes.world.papers import Paper, Platform, all_papers, on
from m3bench.sandboxes.world.search import SearchIndex, words
from m3bench.sandboxes.world.tables import Record

Predicate = Callable[[Paper], bool]

_TOKEN = re.compile(
    r"""
    \s*(?:
        (?P<open>\() | (?P<close>\))
      | (?P<dates>submittedDate:\[\s*(?P<first>\d{8,14})\s+TO\s+(?P<last>\d{8,14})\s*\])
      | (?P<operator>ANDNOT\b|AND\b|OR\b|NOT\b)
      | (?:(?P<field>[A-Za-z]+):)?(?:"(?P<phrase>[^"]*)"?|(?P<word>[^\s()"]+))
    )
    """,
    re.VERBOSE,
)
_GRAMMAR = re.compile(r'\b(ti|au|abs|co|jr|cat|rn|id|all|submittedDate):|\b(AND|OR|ANDNOT|NOT)\b|["()]')
_MOST_TOKENS = 200


def is_boolean(query: str) -> bool:
    """Whether a query uses the language at all, rather than plain words."""
    return _GRAMMAR.search(query) is not None


def parse(query: str) -> Predicate:
    """What a paper must fulfil; nothing fulfils an empty query."""
    tokens = [match for match in _TOKEN.finditer(query) if match.group().strip()]
    return _Parser(tokens[:_MOST_TOKENS]).whole()


@dataclass
class _Parser:
    tokens: Sequence[re.Match[str]]
    at: int = 0

    def whole(self) -> Predicate:
        found = self._either()
        while self.at < len(self.tokens):
            self.at += 1
            found = _both(found, self._either())
        return found or (lambda paper: False)

    def _either(self) -> Predicate | None:
        found = self._all()
        while self._operator() == "OR":
            self.at += 1
            found = _any(found, self._all())
        return found

    def _all(self) -> Predicate | None:
        found = self._one()
        while True:
            operator = self._operator()
            if operator in ("AND", "ANDNOT", "NOT"):
                self.at += 1
                other = self._one()
                found = _both(found, other if operator == "AND" else _without(other))
            elif operator is None and self.at < len(self.tokens) and not self.tokens[self.at]["close"]:
                found = _both(found, self._one())
            else:
                return found

    def _one(self) -> Predicate | None:
        """A term or a group; None when neither stands here."""
        if self.at >= len(self.tokens) or self._operator() == "OR":
            return None
        token = self.tokens[self.at]
        if token["close"]:
            return None
        self.at += 1
        if token["operator"]:
            other = self._one()
            return other if token["operator"] == "AND" else _without(other)
        if token["open"]:
            found = self._either()
            if self.at < len(self.tokens) and self.tokens[self.at]["close"]:
                self.at += 1
            return found
        if token["dates"]:
            first, last = token["first"].ljust(14, "0"), token["last"].ljust(14, "9")
            return lambda paper: first <= paper.published.strftime("%Y%m%d%H%M%S") <= last
        return _term(token["field"] or "all", token["phrase"] if token["word"] is None else token["word"])

    def _operator(self) -> str | None:
        found: str | None = self.tokens[self.at]["operator"] if self.at < len(self.tokens) else None
        return found


def _both(left: Predicate | None, right: Predicate | None) -> Predicate | None:
    if left is None or right is None:
        return left or right
    return lambda paper: left(paper) and right(paper)


def _any(left: Predicate | None, right: Predicate | None) -> Predicate | None:
    if left is None or right is None:
        return left or right
    return lambda paper: left(paper) or right(paper)


def _without(other: Predicate | None) -> Predicate | None:
    return None if other is None else lambda paper: not other(paper)


def _term(field: str, text: str) -> Predicate:
    if field == "cat":
        pattern = text.lower()
        if pattern.endswith("*"):
            return lambda paper: any(name.lower().startswith(pattern[:-1]) for name in paper.categories)
        return lambda paper: any(name.lower() == pattern for name in paper.categories)
    if field == "id":
        return lambda paper: text.lower() in (paper.id, paper.versioned)
    if field not in _QUERY_FIELDS:
        field, text = "all", f"{field} {text}"
    asked = words(text)
    if not asked:
        return lambda paper: False
    open_end = text.endswith("*")
    read = _QUERY_FIELDS[field]
    return lambda paper: any(_contains(words(part), asked, open_end) for part in read(paper))


def _contains(found: Sequence[str], asked: Sequence[str], open_end: bool) -> bool:
    """Whether the words asked for stand in a text one after another."""
    length = len(asked)
    for start in range(len(found) - length + 1):
        here = found[start : start + length]
        if all(_same(one, other) for one, other in zip(here[:-1], asked[:-1], strict=True)) and (
            here[-1].startswith(asked[-1]) if open_end else _same(here[-1], asked[-1])
        ):
            return True
    return False


def _same(found: str, asked: str) -> bool:
    return found == asked or _stem(found) == _stem(asked)


def _stem(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("ches", "shes", "xes", "sses")):
        return word[:-2]
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


_QUERY_FIELDS: Mapping[str, Callable[[Paper], Sequence[str]]] = {
    "ti": lambda paper: (paper.title,),
    "abs": lambda paper: (paper.abstract,),
    "au": lambda paper: paper.authors,
    "co": lambda paper: (paper.venue,),
    "jr": lambda paper: (paper.venue,),
    "rn": lambda paper: (),
    "all": lambda paper: (paper.title, paper.abstract, *paper.authors, *paper.categories, *paper.keywords),
}


RECENT = timedelta(days=30)

_FIELDS = {"title": 3.0, "authors": 2.0, "keywords": 1.8, "categories": 1.5, "abstract": 1.3, "doi": 3.0, "id": 3.0}
_NEARLY_BEST = 0.8
"""How good, compared with the best, an answer must be to stand in a list that is sorted by date."""
_TAGGED = re.compile(r'("[^"]+"|[^\s"()\[\]]+)\[([A-Za-z /]+)\]')
_TAGS = {"ti": "ti", "title": "ti", "tiab": "all", "title/abstract": "all", "au": "au", "author": "au", "ab": "abs"}


def newest(platform: Platform, query: str, limit: int) -> list[Paper]:
    """As arXiv answers: what fits the query, newest submission first."""
    if is_boolean(query):
        fits = parse(query)
        return [paper for paper in on(platform).values() if fits(paper)][: max(0, limit)]
    found = _index(platform).search(query, len(on(platform)))
    near = [record["paper"] for score, record in found if score >= _NEARLY_BEST * found[0][0]]
    return sorted(near, key=lambda paper: (paper.published, paper.id), reverse=True)[: max(0, limit)]


def ranked(
    platform: Platform | None, query: str, limit: int, keep: Callable[[Paper], bool] = lambda paper: True
) -> list[Paper]:
    """Best first, over one platform or all; field tags, AND, OR and NOT are understood."""
    tagged = _TAGGED.sub(lambda match: f"{_TAGS.get(match[2].strip().lower(), 'all')}:{match[1]}", query)
    if tagged != query or re.search(r"\b(AND|OR|NOT)\b", query):
        fits = parse(tagged)
        papers: Sequence[Paper] = list(on(platform).values()) if platform else all_papers()
        return [paper for paper in papers if fits(paper) and keep(paper)][: max(0, limit)]
    found = _index(platform).search(query, limit, keep=lambda record: keep(record["paper"]))
    return [record["paper"] for _, record in found]


def recent(platform: Platform, query: str, limit: int) -> list[Paper]:
    """The last thirty days of a category, newest first; words that name no category are searched for instead."""
    since = NOW.replace(tzinfo=None) - RECENT
    category = _category(platform, query)
    if category is None:
        return ranked(platform, query, limit, lambda paper: paper.published >= since)
    found = [paper for paper in on(platform).values() if category in paper.categories and paper.published >= since]
    return found[: max(0, limit)]


def _category(platform: Platform, query: str) -> str | None:
    """The category that a query names, spaces and underscores alike."""
    asked = words(query.replace("_", " "))
    names = dict.fromkeys(name for paper in on(platform).values() for name in paper.categories)
    return next((name for name in names if words(name) == asked), None)


@cache
def _index(platform: Platform | None) -> SearchIndex[Record]:
    papers = list(on(platform).values()) if platform else all_papers()
    return SearchIndex([_record(paper) for paper in papers], _FIELDS, coverage=0.7)


def _record(paper: Paper) -> Record:
    return {
        "title": paper.title,
        "authors": paper.authors,
        "keywords": paper.keywords,
        "categories": paper.categories,
        "abstract": paper.abstract,
        "doi": paper.doi,
        "id": paper.versioned,
        "paper": paper,
    }
