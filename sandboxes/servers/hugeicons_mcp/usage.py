"""How to put an icon on the screen, per platform: packages, a first example, properties.

Package, component and property names are those of the public libraries; the examples are ours.
"""

from collections.abc import Mapping
from typing import Any

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


def _web(platform: str, example: str, style_class: str | None, colour: str = "currentColor") -> dict[str, Any]:
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
