"""The score card as an MCP App: the names that the extension gives the page which a client shows for `score`."""

from typing import Any

EXTENSION = "io.modelcontextprotocol/ui"
"""The extension's id, under which clients say that they show such pages."""
REVISION = "2026-01-26"
"""Of the extension; said in its handshake."""
URI = "ui://m3bench/scorecard"
MIME = "text/html;profile=mcp-app"

CARD = "m3bench/card"
"""Where the `_meta` of an answer of `score` has the card's data, for pages and programs."""

TOOL_META: dict[str, Any] = {"ui": {"resourceUri": URI}}
"""What the definition of `score` says, to every client: those that do not know it pass over it."""
