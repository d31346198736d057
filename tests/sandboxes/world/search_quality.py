"""Measures a search tool with queries made from the world by rule, not written by who wrote the tool.

Give the entries that can be found and a function that calls the tool and returns the keys of its results, best
first. From the entries come queries in lower case, misspelled, cut short, with their words turned around and in
foreign spelling; nonsense comes from nowhere and must find nothing.

    report = measure(queries(entries, "wiki/search"), lambda text: [page["title"] for page in call(text)])
    report.check()
"""

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from m3bench.sandboxes.world import noise

TOP = 3
LEAST_FOUND = 0.9
COUNT = 30
KINDS = ("lower case", "misspelled", "partial", "reordered", "foreign", "nonsense")


@dataclass(frozen=True)
class Entry:
    """Something that a search should find."""

    key: str
    title: str
    foreign: tuple[str, ...] = ()
    """Names in other languages or spellings that the tool is meant to know."""


@dataclass(frozen=True)
class Query:
    """A text and what it should find: the key of an entry, or None for nonsense."""

    text: str
    kind: str
    key: str | None


@dataclass
class Report:
    """What came of the queries."""

    asked: int = 0
    missed: list[tuple[Query, list[str]]] = field(default_factory=list)
    fooled: list[tuple[Query, list[str]]] = field(default_factory=list)
    """Nonsense that found something."""

    @property
    def found(self) -> float:
        """The share of findable queries whose entry was among the first three."""
        return 1 - len(self.missed) / max(1, self.asked)

    def check(self) -> None:
        """Fail unless nine of ten were found and no nonsense was."""
        assert not self.fooled, self.fooled
        assert self.found >= LEAST_FOUND, f"{self.found:.0%} found, missed: {self.missed}"


def queries(entries: Sequence[Entry], seed: str, count: int = COUNT) -> list[Query]:
    """As many queries of all kinds in turn, each from another entry, the same for the same seed."""
    made: list[Query] = []
    number = 0
    while len(made) < count:
        kind = KINDS[len(made) % len(KINDS)]
        entry = entries[noise.integer(0, len(entries) - 1, seed, number)]
        number += 1
        if kind == "nonsense":
            made.append(Query(_nonsense(seed, number), kind, None))
        elif text := _varied(entry, kind, f"{seed}/{number}"):
            made.append(Query(text, kind, entry.key))
    return made


def measure(asked: Iterable[Query], search: Callable[[str], Sequence[str]]) -> Report:
    """Put the queries to a search that returns keys, best first."""
    report = Report()
    for query in asked:
        keys = list(search(query.text))
        if query.key is None:
            report.fooled += [(query, keys[:TOP])] if keys else []
            continue
        report.asked += 1
        if query.key not in keys[:TOP]:
            report.missed.append((query, keys[:TOP]))
    return report


def _varied(entry: Entry, kind: str, seed: str) -> str | None:
    """The title changed by rule; None when the rule does not suit it."""
    words = entry.title.split()
    match kind:
        case "lower case":
            return entry.title.lower()
        case "misspelled":
            longest = max(range(len(words)), key=lambda index: (len(words[index]), -index))
            if len(words[longest]) < 5 or not words[longest].isalpha():
                return None
            words[longest] = _misspelled(words[longest], seed)
            return " ".join(words)
        case "partial":
            if len(words) > 2:
                return " ".join(words[:-1])
            return f"{entry.title[: -max(1, len(words[-1]) // 4)]}" if len(words[-1]) > 4 else None
        case "reordered":
            return " ".join([*words[1:], words[0]]) if len(words) > 1 else None
        case _:
            if entry.foreign:
                return noise.pick(entry.foreign, seed)
            bare = "".join(c for c in unicodedata.normalize("NFKD", entry.title) if not unicodedata.combining(c))
            return bare if bare != entry.title else None


def _misspelled(word: str, seed: str) -> str:
    """A word with two neighbours swapped, a letter lost or one doubled, not at its beginning; what is left of five
    letters without one may be any word, so there none is lost."""
    place = noise.integer(1, len(word) - 2, seed, "place")
    match noise.integer(0, 2, seed, "how"):
        case 0 if word[place] != word[place + 1]:
            return word[:place] + word[place + 1] + word[place] + word[place + 2 :]
        case 1 if len(word) > 5:
            return word[:place] + word[place + 1 :]
        case _:
            return word[:place] + word[place] + word[place:]


def _nonsense(seed: str, number: int) -> str:
    return " ".join(noise.token(9, "bcdfghjklmnpqrstvwxz", seed, number, part) for part in ("a", "b"))
