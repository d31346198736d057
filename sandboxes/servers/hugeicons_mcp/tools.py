"""The tools of `hugeicons-mcp`: a list of icons, search by words, font glyphs and usage per platform.

Names are the real ones of the free set; tags are ours, and so are the code points, which the public service keeps
to itself. Search compares words and tags and returns at most 50 icons per comma-separated query.
"""

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from m3bench.sandboxes.gaps import covered
from m3bench.sandboxes.servers.hugeicons_mcp.usage import USAGE
from m3bench.sandboxes.toolserver import ToolServer
from m3bench.sandboxes.world import tables
from m3bench.sandboxes.world.search import Index
from m3bench.tasks.errors import ToolError

server = ToolServer("hugeicons-mcp", error="MCP error {message}")

Icon = Mapping[str, Any]

STYLES = (
    "bulk-rounded",
    "duotone-rounded",
    "solid-rounded",
    "solid-sharp",
    "solid-standard",
    "stroke-rounded",
    "stroke-sharp",
    "stroke-standard",
    "twotone-rounded",
)
MOST_FOUND = 50

_LAYERED = ("bulk", "duotone", "twotone")
"""Styles drawn in two layers, each with a glyph of its own."""
_FIRST_GLYPH = 0xE000
_FIRST_SECOND_LAYER = 0xEC00
_CREATED = "2025-02-10T09:00:00.000Z"


@server.tool
async def list_icons() -> str:
    return _all_icons()


@server.tool
async def search_icons(query: str) -> str:
    if not query.strip():
        raise ToolError("-32600: Search query must be a non-empty string", outcome="invalid_arguments")
    found: dict[str, Icon] = {}
    for part in query.split(","):
        found |= {icon["name"]: icon for _, icon in _index().search(part, MOST_FOUND)}
    return covered(_json(list(found.values())), found, query)


@server.tool
async def get_platform_usage(platform: str) -> str:
    return _json(USAGE[platform])


@server.tool
async def get_icon_glyphs(icon_name: str) -> str:
    icon = _icon(icon_name, "glyphs", f"Icon '{icon_name}' not found")
    code = _FIRST_GLYPH + icon["id"]
    return _json(
        [
            {
                "icon_name": icon["name"],
                "style": style,
                "unicode": f"{code:x}",
                "unicode_decimal": code,
                "id": icon["id"] * len(STYLES) + number,
                "created_at": _CREATED,
                "updated_at": _CREATED,
            }
            for number, style in enumerate(STYLES)
        ]
    )


@server.tool
async def get_icon_glyph_by_style(icon_name: str, style: str) -> str:
    icon = _icon(icon_name, "glyph", f"Icon '{icon_name}' with style '{style}' not found")
    layers = {"primary": _FIRST_GLYPH, "secondary": _FIRST_SECOND_LAYER if style.startswith(_LAYERED) else None}
    return _json(
        {layer: None if first is None else {"glyph": f"&#x{first + icon['id']:x};"} for layer, first in layers.items()}
    )


def _icon(name: str, asked: str, problem: str) -> Icon:
    if not name.strip():
        raise ToolError(f"-32603: Failed to get icon {asked}: Icon name is required", outcome="invalid_arguments")
    found = _by_name().get(name.strip())
    if found is None:
        raise ToolError(
            f"-32603: Failed to get icon {asked}: {problem}",
            outcome="gap" if re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name.strip()) else "not_found",
        )
    return found


@cache
def _by_name() -> Mapping[str, Icon]:
    return {icon["name"]: icon for icon in tables.load("icons")}


@cache
def _index() -> Index[Icon]:
    return Index(tables.load("icons"), {"name": 3.0, "tags": 2.5, "category": 0.5})


@cache
def _all_icons() -> str:
    return _json(tables.load("icons"))


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
