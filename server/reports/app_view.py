"""The score card as an MCP App: a page that a client shows beside the answer of `score`.

All names of the extension are here. The page holds no data: the client hands it the answer it was given anyway, so a
ranked run shows what its answer says and nothing more.
"""

from collections.abc import Mapping
from typing import Any

from m3bench.server.reports.legend import legend
from m3bench.server.reports.page import HOSTED, page

EXTENSION = "io.modelcontextprotocol/ui"
"""The extension's id, under which clients say that they show such pages."""
REVISION = "2026-01-26"
"""Of the extension; said in its handshake."""
URI = "ui://m3bench/scorecard"
MIME = "text/html;profile=mcp-app"

TOOL_META: dict[str, Any] = {"ui": {"resourceUri": URI}}
"""What the definition of `score` says, to every client: those that do not know it pass over it."""

SCRIPTS = ("card.js", "alignment.js", "app.js")


def scorecard_page(card: Mapping[str, Any] | None = None) -> str:
    """The page; with a card in it, it needs no client to show one."""
    document = {"kind": "scorecard", "revision": REVISION, "legend": legend(), "card": card}
    return page("m3bench score card", document, SCRIPTS, styles=("card.css",), policy=HOSTED)


def resource() -> dict[str, Any]:
    """The answer to `resources/read`."""
    meta = {"ui": {"prefersBorder": True}}
    return {"contents": [{"uri": URI, "mimeType": MIME, "text": scorecard_page(), "_meta": meta}]}
