"""The `hugeicons-mcp` server: a list of icons, search by words, font glyphs and usage per platform.

Names are the real ones of the free set; tags are ours, and so are the code points, which the public service keeps
to itself. Search compares words and tags and returns at most 50 icons per comma-separated query. In the usage texts,
names of packages, components and properties are those of the public libraries; the examples are ours.
"""

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from m3bench.sandboxes.gaps import covered
from m3bench.sandboxes.toolserver import ToolServer
from m3bench.sandboxes.world import tables
from m3bench.sandboxes.world.search import SearchIndex
from m3bench.sandboxes.world.tables import Record
from m3bench.tasks.errors import ToolError

_FREE = "@hugeicons/core-free-icons"
_STYLES = (
    "stroke-rounded",
    "stroke-sharp",
    "stroke-standard",
    "solid-rounded",
    "solid-sharp",
    "solid-standard",
    "bulk-rounded",
    "duotone-rounded",
    "twotone-rounded",
)
_PACKAGES = [_FREE, *(f"@hugeicons-pro/core-{style}" for style in _STYLES)]


def _props(colour: str, style_class: str | None) -> list[dict[str, str]]:
    props = [
        {"name": "icon", "type": "IconSvgObject", "default": "Required", "description": "Icon imported from a package"},
        {
            "name": "altIcon",
            "type": "IconSvgObject",
            "description": "Second icon to swap in for another state",
        },
        {"name": "showAlt", "type": "boolean", "default": "false", "description": "Shows altIcon in place of icon"},
        {"name": "size", "type": "number", "default": "24", "description": "Width and height in pixels"},
        {"name": "color", "type": "string", "default": colour, "description": "Colour of the lines"},
        {"name": "strokeWidth", "type": "number", "default": "1.5", "description": "Line width of stroke icons"},
    ]
    if style_class is not None:
        props.append({"name": style_class, "type": "string", "description": "Further CSS classes"})
    return props


def _web(platform: str, example: str, style_class: str | None, colour: str = "currentColor") -> dict[str, object]:
    return {
        "platform": platform,
        "installation": {"core": f"npm install @hugeicons/{platform}", "packages": _PACKAGES},
        "basicUsage": example,
        "props": _props(colour, style_class),
    }


_REACT = """import { HugeiconsIcon } from '@hugeicons/react'
import { Home01Icon } from '@hugeicons/core-free-icons'

export const HomeButton = () => (
  <button aria-label="Home">
    <HugeiconsIcon icon={Home01Icon} size={24} color="currentColor" strokeWidth={1.5} />
  </button>
)"""

_VUE = """<script setup>
import { HugeiconsIcon } from '@hugeicons/vue'
import { Home01Icon } from '@hugeicons/core-free-icons'
</script>

<template>
  <HugeiconsIcon :icon="Home01Icon" :size="24" color="currentColor" :strokeWidth="1.5" />
</template>"""

_ANGULAR = """import { Component } from '@angular/core'
import { HugeiconsIconComponent } from '@hugeicons/angular'
import { Home01Icon } from '@hugeicons/core-free-icons'

@Component({
  selector: 'home-button',
  imports: [HugeiconsIconComponent],
  template: `<hugeicons-icon [icon]="icon" [size]="24" color="currentColor" [strokeWidth]="1.5" />`,
})
export class HomeButton {
  icon = Home01Icon
}"""

_SVELTE = """<script>
  import { HugeiconsIcon } from '@hugeicons/svelte'
  import { Home01Icon } from '@hugeicons/core-free-icons'
</script>

<HugeiconsIcon icon={Home01Icon} size={24} color="currentColor" strokeWidth={1.5} />"""

_REACT_NATIVE = """import { HugeiconsIcon } from '@hugeicons/react-native'
import { Home01Icon } from '@hugeicons/core-free-icons'

export const HomeTab = () => <HugeiconsIcon icon={Home01Icon} size={24} color="#000000" strokeWidth={1.5} />"""

_FLUTTER = """import 'package:flutter/material.dart';
import 'package:hugeicons/hugeicons.dart';

const home = HugeIcon(icon: HugeIcons.strokeRoundedHome01, color: Colors.black, size: 24.0);"""

_HTML = """<link rel="stylesheet" href="https://use.hugeicons.com/font/icons.css" />

<i class="hgi-stroke hgi-home-01"></i>"""

USAGE: Mapping[str, Mapping[str, Any]] = {
    "react": _web("react", _REACT, "className"),
    "vue": _web("vue", _VUE, "class"),
    "angular": _web("angular", _ANGULAR, "class"),
    "svelte": _web("svelte", _SVELTE, "class"),
    "react-native": _web("react-native", _REACT_NATIVE, None, "#000000"),
    "flutter": {
        "platform": "flutter",
        "installation": {"core": "flutter pub add hugeicons", "packages": []},
        "basicUsage": _FLUTTER,
        "props": [
            {"name": "icon", "type": "HugeIcons", "default": "Required", "description": "Style and icon in one name"},
            {"name": "size", "type": "double", "default": "24.0", "description": "Size in logical pixels"},
            {"name": "color", "type": "Color", "default": "Colors.black", "description": "Colour of the icon"},
        ],
    },
    "html": {
        "platform": "html",
        "installation": {"core": "CDN Link: https://use.hugeicons.com/font/icons.css", "packages": []},
        "basicUsage": _HTML,
        "props": [
            {"name": "hgi-stroke", "type": "class", "default": "Required", "description": "Chooses the stroke font"},
            {"name": "hgi-<name>", "type": "class", "default": "Required", "description": "Chooses the icon"},
            {"name": "style", "type": "CSS", "description": "font-size and color set size and colour"},
        ],
    },
}
"""Platform to what `get_platform_usage` answers."""


server = ToolServer("hugeicons-mcp", error="MCP error {message}")

Icon = Record

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
PAGE = 100
MOST_LISTED = 500

_LAYERED = ("bulk", "duotone", "twotone")
"""Styles drawn in two layers, each with a glyph of its own."""
_FIRST_GLYPH = 0xE000
_FIRST_SECOND_LAYER = 0xEC00
_CREATED = "2025-02-10T09:00:00.000Z"


@server.tool
async def list_icons(offset: int = 0, limit: int = PAGE) -> list[str]:
    icons = tables.load("icons")
    if offset < 0 or not 1 <= limit <= MOST_LISTED:
        raise ToolError(
            f"-32602: offset must be 0 or more and limit 1 to {MOST_LISTED}, not {offset} and {limit}",
            outcome="invalid_arguments",
        )
    end = min(offset + limit, len(icons))
    rest = f" The next page: list_icons with offset {end}." if end < len(icons) else ""
    shown = f"Icons {offset + 1} to {end} of {len(icons)}." if offset < end else f"There are {len(icons)} icons."
    return [_json(icons[offset:end]), shown + rest]


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
def _index() -> SearchIndex[Icon]:
    return SearchIndex(tables.load("icons"), {"name": 3.0, "tags": 2.5, "category": 0.5})


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
