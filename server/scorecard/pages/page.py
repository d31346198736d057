"""The shell of every page: one HTML file with its data, its style and its script inside.

The policy allows the hashes of exactly our script and style. Nothing is loaded, nothing in the data can run, and
the same input gives the same bytes.
"""

import json
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from html import escape
from pathlib import Path

ASSETS = Path(__file__).parent / "assets"
"""The styles and scripts of a run's card and page, and what every page has."""

STYLE, FIRST, LAST = "base.css", "components.js", "start.js"
"""In every page: the style, the script that comes first and the one that comes last."""

HOSTED = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'"
)
"""The policy of a page that lives in a host's frame, where hosts put a script of their own beside ours."""

_UNSAFE = re.compile("[<>&\u2028\u2029\ud800-\udfff]")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f]+")


def page(
    title: str,
    document: Mapping[str, object],
    scripts: Sequence[str],
    *,
    styles: Sequence[str] = (),
    connect: bool = False,
    media: bool = False,
    policy: str | None = None,
    assets: Path = ASSETS,
) -> str:
    """A page as HTML.

    Args:
        title: Of the window.
        document: What there is to show; its `kind` names the function that shows it.
        scripts: Files of `assets/` that the page needs, in order, beside those of every page.
        styles: Files of `assets/` with styles of this page alone.
        connect: Whether the page may ask the server it came from.
        media: Whether it plays sound and film that it was given as data.
        policy: In place of the one made of hashes.
        assets: A folder with scripts and styles beside those of a card.
    """
    style = _joined((STYLE, *styles), assets)
    script = f'(() => {{\n"use strict";\n{_joined((FIRST, *scripts, LAST), assets)}}})();\n'
    rules = policy or "; ".join(
        [
            "default-src 'none'",
            f"script-src {_hash(script)}",
            f"style-src {_hash(style)}",
            "img-src data:",
            *(["media-src data:"] if media else []),
            *(["connect-src 'self'"] if connect else []),
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{escape(rules, quote=False)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>{escape(_CONTROLS.sub(" ", title).encode(errors="replace").decode())}</title>
<style>{style}</style>
</head>
<body>
<div id="page"></div>
<noscript>This page draws itself with a script. The data it shows is in its source, as JSON.</noscript>
<script type="application/json" id="data">{inert(document)}</script>
<script>{script}</script>
</body>
</html>
"""


def inert(document: object) -> str:
    """JSON that no HTML parser finds anything in, and that any encoding takes."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


@cache
def _asset(name: str, folder: Path) -> str:
    found = ASSETS / name
    return (found if found.exists() else folder / name).read_text("utf-8")


def _joined(names: Sequence[str], folder: Path) -> str:
    return "\n" + "\n".join(_asset(name, folder) for name in names)


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
