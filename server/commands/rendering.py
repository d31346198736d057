"""What a tool gave, for a person: texts as they are, JSON indented, pictures by the path they were saved under.

Results come from tools and files: nothing in them reaches the terminal as a control sequence.
"""

import json
import re
from base64 import b64decode
from binascii import Error
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from m3bench.server.commands.screen import console
from m3bench.server.scoring.words import printable

if TYPE_CHECKING:
    from rich.console import Console

_DATA_URL = re.compile(r"data:image/(\w+)[^,]*;base64,([A-Za-z0-9+/=\s]+)$")
_SUFFIXES = {"jpeg": ".jpg", "svg+xml": ".svg"}


class Rendering:
    """Shows results, and saves their pictures.

    Args:
        folder: Where pictures go.
        name: What they are called, without a suffix.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._name = name
        self.saved: list[Path] = []
        """The pictures that were saved."""

    def show(self, result: Mapping[str, Any]) -> None:
        """Print a `CallToolResult`."""
        out = console()
        failed = bool(result.get("isError"))
        shown: list[object] = []
        for block in result.get("content", ()):
            shown.append(self._block(out, block, failed))
        structured = result.get("structuredContent")
        if structured is not None and structured not in shown:
            out.print("Structured content", style="bold")
            self._json(out, structured)
        if not shown and structured is None:
            out.print("(The result is empty.)", style="dim")

    def _block(self, out: "Console", block: Mapping[str, Any], failed: bool) -> object:
        """Print a block; the JSON value of its text when it has one."""
        match block.get("type"):
            case "text":
                text = block["text"]
                value = _json_of(text)
                if value is not None:
                    self._json(out, value)
                else:
                    out.print(_safe(text), style="red" if failed else None, soft_wrap=True)
                return value
            case "image":
                path = self._save(b64decode(block["data"]), block.get("mimeType", "image/png").partition("/")[2])
                out.print(f"picture {path}", soft_wrap=True)
            case "resource":
                resource = block["resource"]
                out.print(f"resource {printable(str(resource.get('uri')))}", soft_wrap=True)
                out.print(_safe(resource.get("text", "(binary)")), soft_wrap=True)
            case _:
                self._json(out, block)
        return None

    def _json(self, out: "Console", value: object) -> None:
        from rich.json import JSON

        # json.dumps escapes control characters, so that this is safe to print.
        out.print(JSON(json.dumps(self._without_pictures(value), ensure_ascii=False), indent=2), soft_wrap=True)

    def _without_pictures(self, value: object) -> object:
        """The value with pictures in data URLs saved and named by their path."""
        match value:
            case dict():
                return {key: self._without_pictures(part) for key, part in value.items()}
            case list():
                return [self._without_pictures(part) for part in value]
            case str() if found := _DATA_URL.match(value):
                try:
                    return f"picture {self._save(b64decode(found[2], validate=False), found[1])}"
                except Error:
                    return value
            case _:
                return value

    def _save(self, data: bytes, kind: str) -> Path:
        suffix = _SUFFIXES.get(kind, f".{re.sub(r'[^a-z0-9]', '', kind)}")
        number = 1
        while (path := self._folder / f"{self._name}{f'-{number}' if number > 1 else ''}{suffix}").exists():
            number += 1
        path.write_bytes(data)
        self.saved.append(path)
        return path


def _json_of(text: str) -> dict[str, Any] | list[Any] | None:
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


def _safe(text: str) -> str:
    return "\n".join(printable(line) for line in text.expandtabs(4).split("\n"))
