"""The `wiki` server: titles for a query, and the lead of one article.

Articles, redirects and disambiguation pages are our own wording of public facts; countries, states, elements and the
like (`fact_articles`), towns and airports (`gazetteer_articles`) and other things (`entities`) have what the world's
tables say. A title is taken without regard to case, accents and underscores, and a redirect leads to its article; a
page that is not there is a 404, as on the public site, and a gap of the world unless no page can have that title.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from urllib.parse import quote

from rapidfuzz.distance import OSA

from m3bench.sandboxes.gaps import covered
from m3bench.sandboxes.identifiers import is_title
from m3bench.sandboxes.toolserver import ToolServer
from m3bench.sandboxes.world import entities, fact_articles, gazetteer_articles
from m3bench.sandboxes.world.search import STOP, SearchIndex, fold, is_slip, singulars, words
from m3bench.sandboxes.world.tables import Record
from m3bench.tasks.errors import ToolError

server = ToolServer("wiki")

Article = Record

MOST_TITLES = 10
LONG_QUERY = 3
"""So many words that all stand in one article say what it is about."""
WHOLE = 5
"""Names longer than this may be written in one word."""
SHORTEST = 3
"""Words as short as this are meant as they are written."""
BEGINNING = 0.5
"""The beginning of a word is so much of it."""
LONG_WORD = 8
"""From so many letters on a word may have two slips."""
_FIELDS = {"title": 3.0, "aliases": 2.8, "description": 1.2, "extract": 0.9}

_ASPECT = re.compile(
    r"^(?:what (?:is|are|was) )?(?:the )?(?:population|area|size|currency|languages?|borders|neighbou?rs|symbol"
    r"|atomic (?:number|weight)|(?:melting|boiling) point|moons?) of (?:the )?",
    re.IGNORECASE,
)
"""What of a thing is asked for, before its name."""

_QUESTION = re.compile(
    r"^(?:(?:(?:who|what|where|when|which|how (?:tall|high|long|big|old|deep|large|far))(?:'s| is| are| was| were) "
    r"|who (?:painted|wrote|composed|invented|discovered|built|founded|directed) "
    r"|tell me about |(?:definition|meaning|history|capital|president|list|map|biography|life|author|inventor"
    r"|discovery|causes?|symptoms|laws?|theory) of )"
    r"(?:the |an? )?)+",
    re.IGNORECASE,
)
"""How a question begins before it names a thing."""

_ABOUT = frozenset(
    ("definition", "explained", "facts", "formula", "history", "meaning", "process", "structure", "summary", "theory")
)
"""What is asked about a thing, which its article need not say."""

BETTER = 0.06
"""So much better must a composed article fit a query to come before the written ones."""

_PAGE = "https://en.wikipedia.org/api/rest_v1/page/summary/"


@server.tool
async def search(query: str, n: int = 3) -> str:
    asked = query.strip().rstrip("?!. ")
    bare = " ".join(word for word in asked.split() if fold(word) not in _ABOUT)
    ways = dict.fromkeys((query, asked, _QUESTION.sub("", asked), _ASPECT.sub("", asked), bare))
    found = next(filter(None, map(_titles, ways)), [])[: max(1, min(n, MOST_TITLES))]
    answer = "\n".join(["Top results:", *(f"- {title}" for title in found)]) if found else "No results."
    return covered(answer, found, query)


@server.tool
async def summary(title: str) -> str:
    article = _article(" ".join(title.replace("_", " ").split()))
    if article is None:
        page = quote(title.strip().replace(" ", "_"), safe="", errors="replace")
        raise ToolError(
            f"404 Client Error: Not Found for url: {_PAGE}{page}", outcome="gap" if is_title(title) else "not_found"
        )
    return f"**{article['title']}**\n{article['description']}\n\n{article['extract']}"


def _article(title: str) -> Article | None:
    written = _by_title().get(_key(title))
    if written is not None:
        return written
    own = entities.title(title)
    if own is not None and _key(own) == _key(title):
        return entities.article(title)
    return gazetteer_articles.article(title) or entities.article(title)


def _titles(query: str) -> list[str]:
    """Titles for a query: what bears exactly this name, then what it names best, written articles before others."""
    written = _found(query)
    composed = entities.search(query, MOST_TITLES)
    exact = entities.title(" ".join(query.replace("_", " ").split()))
    first = [exact] if exact and _key(query) not in _by_title() else []
    if not first and composed and _named_by(query, composed[0][1]) and composed[0][0] > _best(query) + BETTER:
        first = [composed[0][1]]
    found = list(dict.fromkeys([*first, *written, *(title for _, title in composed)]))
    meant = next((number for number, title in enumerate(found) if _means(query, title)), None)
    return [] if meant is None else found[meant:]


def _means(query: str, title: str) -> bool:
    """Whether a title is an answer to a query and does not merely share letters with it.

    Each word that counts stands in a name of the article, or else in its text beside one that does. A long query may
    have a third of words that do not.
    """
    article = _article(title)
    asked = [word for word in dict.fromkeys(words(query)) if word not in STOP | _ABOUT] or words(query)
    if article is None or not asked:
        return False
    own = " ".join((title, *article.get("aliases", ()), *entities.names(title)))
    if _key(query) in map(_key, (title, *article.get("aliases", ()))) or gazetteer_articles.titles(query.strip()):
        return True
    if "".join(asked) in "".join(words(own)) and len("".join(asked)) > WHOLE:
        return True
    named = {word for word in asked if _stands(word, words(own))}
    told = set(words(f"{article['description']} {article['extract']}"))
    said = {word for word in asked if word in told or not told.isdisjoint(singulars(word)) or f"{word}s" in told}
    missing = len(asked) - len(named | said)
    return bool(named or len(asked) >= LONG_QUERY) and missing <= (len(asked) // LONG_QUERY)


def _stands(word: str, among: Sequence[str]) -> bool:
    """Whether a word stands among others: as it is, in the plural, as a beginning, or with a slip if it is no word."""
    near = {word, f"{word}s", *(single for single in singulars(word) if len(single) >= SHORTEST)}
    if not near.isdisjoint(among):
        return True
    if len(word) > SHORTEST and any(term.startswith(word) and len(word) >= BEGINNING * len(term) for term in among):
        return True
    if len(word) <= SHORTEST or _texts().knows(word):
        return False
    if len(word) > WHOLE and any(term[1:] == word for term in among):
        return True
    if len(word) < LONG_WORD:
        return any(is_slip(word, term, alone=False) for term in among if OSA.distance(word, term, score_cutoff=1) <= 1)
    return any(term[0] == word[0] and OSA.distance(word, term, score_cutoff=2) <= 2 for term in among)


def _named_by(query: str, title: str) -> bool:
    """Whether every word of a query stands in a title, and no town has it for a name."""
    return set(words(query)) <= set(words(title)) and not gazetteer_articles.titles(query.strip())


def _best(query: str) -> float:
    return max((score for score, _ in _names().search(query, 1)), default=0.0)


def _found(query: str) -> list[str]:
    """Titles of articles that the query names, then of those whose text speaks of it.

    The text alone counts for long queries only. A word that merely occurs somewhere is another subject: better none
    than a wrong one.
    """
    named = [article["title"] for _, article in _names().search(query, MOST_TITLES)]
    if _key(query) not in _by_title() and not (named and _key(query) in _key(named[0])):
        towns = gazetteer_articles.titles(query.strip())
        if towns:
            return towns[:MOST_TITLES] + named
    if named:
        return named + [article["title"] for _, article in _texts().search(query, MOST_TITLES)]
    if len(set(words(query)) - {"of", "the", "in", "a", "and"}) < LONG_QUERY:
        return []
    return [article["title"] for _, article in _whole_texts().search(query, MOST_TITLES)]


def _key(title: str) -> str:
    return fold(" ".join(title.replace("_", " ").split()))


@cache
def _by_title() -> Mapping[str, Article]:
    articles = fact_articles.articles()
    redirects = {_key(alias): article for article in articles for alias in article.get("aliases", ())}
    return redirects | {_key(article["title"]): article for article in articles}


@cache
def _names() -> SearchIndex[Article]:
    return SearchIndex(fact_articles.articles(), {"title": 3.0, "aliases": 2.8, "description": 1.2}, coverage=0.66)


@cache
def _texts() -> SearchIndex[Article]:
    return SearchIndex(fact_articles.articles(), _FIELDS)


@cache
def _whole_texts() -> SearchIndex[Article]:
    return SearchIndex(fact_articles.articles(), _FIELDS, coverage=0.9)
