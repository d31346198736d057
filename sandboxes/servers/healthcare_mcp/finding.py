"""Searches of the `healthcare-mcp` server over medicines, topics, trials and books; all of them best first."""

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from rapidfuzz.distance import OSA

from m3bench.sandboxes.world import tables
from m3bench.sandboxes.world.search import Index, words
from m3bench.sandboxes.world.tables import Record

MOST = 1000
TYPED_LETTERS = 5
_NEARLY_BEST = 0.75
"""How good, compared with the best, a further answer must be."""
_STRENGTH = re.compile(r"\b\d+([.,]\d+)?\s*(%|mg|mcg|g|ml|iu|units?)(?!\w)", re.IGNORECASE)

_BESIDE = frozenset(
    ["dr", "drug", "er", "extra", "hcl", "ir", "medication", "medicine", "otc", "sr", "strength", "xl", "xr"]
)
"""Words that say nothing about which medicine is meant."""


def medicines(name: str) -> list[Record]:
    """Medicines of that generic or brand name; a form such as `cream` may stand beside it, a strength is ignored.

    One slip of the keys in a word is forgiven and no more: names of medicines are alike, and another one would be
    worse than none.
    """
    asked = words(_STRENGTH.sub(" ", name))
    asked = [word for word in asked if word not in _BESIDE] or asked
    found = [record["medicine"] for _, record in _medicines().search(" ".join(asked), MOST)]
    exact = [record for record in found if any(words(known) == asked for known in _names(record))]
    near = [record for record in found if record not in exact and _is_spelled(asked, record)]
    return exact + near


def _names(medicine: Record) -> list[str]:
    return [medicine["generic"], *medicine["brands"], *medicine.get("aliases", ())]


def _is_spelled(asked: Sequence[str], medicine: Record) -> bool:
    names = {word for name in _names(medicine) for word in words(name)}
    known = names | set(words(medicine["forms"])) | {route.lower() for route in medicine["routes"]}
    named = [word for word in asked if any(_same(word, other) for other in names)]
    return bool(named) and all(any(_same(word, other) for other in known) for word in asked)


def _same(word: str, known: str) -> bool:
    if len(word) < TYPED_LETTERS:
        return word in (known, known + "s") or known == word + "s"
    return known.startswith(word) or OSA.distance(word, known, score_cutoff=1) <= 1


@cache
def _medicines() -> Index[dict[str, Any]]:
    records = [
        {
            "generic": medicine["generic"],
            "names": [*medicine["brands"], *medicine.get("aliases", ())],
            "forms": [medicine["forms"], *medicine["routes"]],
            "medicine": medicine,
        }
        for medicine in tables.load("medicines")
    ]
    return Index(records, {"generic": 3.0, "names": 2.8, "forms": 0.8})


def topics(topic: str, language: str) -> list[Record]:
    """Health topics about a keyword, in the words of the language asked for."""
    found = _topics(language).search(topic, MOST)
    return [record for score, record in found if score >= _NEARLY_BEST * found[0][0]]


@cache
def _topics(language: str) -> Index[Record]:
    if language == "es":
        return Index(tables.load("health_topics"), {"title_es": 3.0, "content_es": 1.2, "title": 2.0}, coverage=0.6)
    fields = {"title": 3.0, "keywords": 2.5, "section": 1.5, "content": 1.2}
    return Index(tables.load("health_topics"), fields, coverage=0.6)


def trials(condition: str, status: str | None) -> list[Record]:
    """Trials about a condition; of one status or, with None, of any."""
    found = _trials().search(condition, MOST, keep=lambda record: status in (None, record["status"]))
    return [record for _, record in found]


@cache
def _trials() -> Index[Record]:
    fields = {"title": 3.0, "conditions": 3.0, "keywords": 2.0, "interventions": 1.5}
    return Index(tables.load("trials"), fields, coverage=0.7)


def volumes(query: str) -> list[Record]:
    """Books of the Bookshelf about some words."""
    return [record for _, record in _volumes().search(query, MOST)]


@cache
def _volumes() -> Index[Record]:
    return Index(tables.load("health_books"), {"title": 3.0, "authors": 2.0, "keywords": 1.5}, coverage=0.6)
