"""The score card as an MCP App: the names that the extension gives the page which a client shows for `score`."""

from m3bench.tasks.json_types import JsonObject

EXTENSION = "io.modelcontextprotocol/ui"
"""The extension's id, under which clients say that they show such pages."""
REVISION = "2026-01-26"
"""Of the extension; said in its handshake."""
URI = "ui://m3bench/scorecard"
MIME = "text/html;profile=mcp-app"

CARD, RUN, SHOWN = "m3bench/card", "m3bench/run", "m3bench/shown"
"""In the `_meta` of an answer of `score`: the card's data, the run's handle, and in short its question and calls."""
VIEW = "m3bench://run/{run}/view"
"""Where the page reads the rest through the client that shows it: the picture, and what each call sent and got."""

TOOL_META: JsonObject = {"ui": {"resourceUri": URI}}
"""What the definition of `score` says, to every client: those that do not know it pass over it."""
