"""The `wiki` server: titles for a query, and the lead of one article.

Articles, redirects and disambiguation pages are our own wording of public facts. A title is taken without regard
to case, accents and underscores, and a redirect leads to its article; a page that is not there is a 404, as on the
public site, and a gap of the world unless no page can have that title.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any
from urllib.parse import quote

from m3bench.sandboxes.gaps import covered
from m3bench.sandboxes.identifiers import is_title
from m3bench.sandboxes.toolserver import ToolServer
from m3bench.sandboxes.world import tables
from m3bench.sandboxes.world.search import Index, fold
from m3bench.tasks.errors import ToolError

server = ToolServer("wiki")

Article = Mapping[str, Any]

MOST_TITLES = 10

_PAGE = "https://en.wikipedia.org/api/rest_v1/page/summary/"


@server.tool
async def search(query: str, n: int = 3) -> str:
    found = _index().search(query, max(1, min(n, MOST_TITLES)))
    answer = "\n".join(["Top results:", *(f"- {article['title']}" for _, article in found)]) if found else "No results."
    return covered(answer, found, query)


@server.tool
async def summary(title: str) -> str:
    article = _by_title().get(_key(title))
    if article is None:
        page = quote(title.strip().replace(" ", "_"), safe="")
        raise ToolError(
            f"404 Client Error: Not Found for url: {_PAGE}{page}", outcome="gap" if is_title(title) else "not_found"
        )
    return f"**{article['title']}**\n{article['description']}\n\n{article['extract']}"


def _key(title: str) -> str:
    return fold(" ".join(title.replace("_", " ").split()))


@cache
def _by_title() -> Mapping[str, Article]:
    articles = tables.load("articles")
    redirects = {_key(alias): article for article in articles for alias in article.get("aliases", ())}
    return redirects | {_key(article["title"]): article for article in articles}


@cache
def _index() -> Index[Article]:
    return Index(tables.load("articles"), {"title": 3.0, "aliases": 2.8, "description": 1.2, "extract": 0.9})
