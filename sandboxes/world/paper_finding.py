"""Searches over the papers of a platform or of all, by words, by category and by the language of arXiv."""

import re
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import cache
from typing import Any

from m3bench.sandboxes.world.clock import NOW
from m3bench.sandboxes.world.paper_queries import is_boolean, parse
from m3bench.sandboxes.world.papers import Paper, Platform, all_papers, on
from m3bench.sandboxes.world.search import Index, words

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
def _index(platform: Platform | None) -> Index[dict[str, Any]]:
    papers = list(on(platform).values()) if platform else all_papers()
    return Index([_record(paper) for paper in papers], _FIELDS, coverage=0.7)


def _record(paper: Paper) -> dict[str, Any]:
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
