"""The profile `retrieve`: two tools in place of all, one that finds tools and one that calls them.

What they look like and what `find_tools` answers is here; `call_tool` is the router's, because a call by way of it is
the call of the tool that it names.
"""

import json
from collections.abc import Iterable
from typing import NotRequired, TypedDict
from weakref import WeakKeyDictionary

from m3bench.proxy.names import CALL_TOOL, FIND_TOOLS
from m3bench.proxy.protocol.messages import Json
from m3bench.proxy.seat import Seat
from m3bench.tasks.profiles import RETRIEVE
from m3bench.tasks.tool_search import ToolSearch


class OwnToolResult(TypedDict):
    """What one of our own tools returns, as it goes over the wire."""

    content: list[dict[str, object]]
    isError: bool
    _meta: NotRequired[dict[str, object]]
    structuredContent: NotRequired[object]


FOUND = 8
"""Tools that are given when none says how many."""

MOST = 25

DEFINITIONS: tuple[Json, ...] = (
    {
        "name": FIND_TOOLS,
        "description": "Find tools by what they do. Returns the tools that fit best, the best first: name, description "
        "and input schema of each. Call one with call_tool.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "What the tool should do, in a few words"},
                "limit": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": MOST,
                    "default": FOUND,
                    "description": "How many tools at most",
                },
            },
            "required": ["query"],
        },
        "annotations": {"readOnlyHint": True, "idempotentHint": True, "openWorldHint": False},
    },
    {
        "name": CALL_TOOL,
        "description": "Call a tool that find_tools gave. Returns what that tool returns. Calls that do not depend on "
        "each other belong together: send them in one turn.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "The tool's name, server__tool"},
                "arguments": {
                    "type": "object",
                    "default": {},
                    "description": "The tool's arguments, as its input schema wants them",
                },
            },
            "required": ["name"],
        },
        # What it does depends on the tool; calls are only made in a workspace of the run.
        "annotations": {
            "readOnlyHint": False,
            "destructiveHint": False,
            "idempotentHint": False,
            "openWorldHint": False,
        },
    },
)

RULE = "find_tools finds the tools of this server by what they do, call_tool calls one of them by its name."

_searches: WeakKeyDictionary[Seat, tuple[object, ToolSearch]] = WeakKeyDictionary()
"""A seat's tools hardly ever change, so they are read once, and again when they do."""


def listed(profile: str, tools: Iterable[Json]) -> tuple[Json, ...]:
    """What a profile shows of its tools."""
    return DEFINITIONS if profile == RETRIEVE else tuple(tools)


def find_tools(seat: Seat, query: str, limit: int = FOUND) -> OwnToolResult:
    """The result of `find_tools`."""
    tools, search = _searches.get(seat, (None, None))
    if search is None or tools is not seat.unlisted:
        search = ToolSearch(seat.unlisted)
        _searches[seat] = seat.unlisted, search
    found = [
        {key: tool.get(key) for key in ("name", "description", "inputSchema")} for tool in search.find(query, limit)
    ]
    text = json.dumps(found, ensure_ascii=False, indent=1) if found else _nothing(seat)
    return {"content": [{"type": "text", "text": text}], "_meta": {"m3bench/tools": found}, "isError": False}


def _nothing(seat: Seat) -> str:
    servers = sorted({str(tool["name"]).partition("__")[0] for tool in seat.unlisted}, key=str.casefold)
    return f"No tool fits. Say in English what the tool should do, or ask for one of the servers: {', '.join(servers)}."
