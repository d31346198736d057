"""Links that install a server into a client with one click."""

import json
from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote, urlencode


def cursor(name: str, entry: Mapping[str, Any]) -> str:
    """Opens Cursor, which shows the entry and asks."""
    config = b64encode(_json(entry).encode()).decode()
    return "cursor://anysphere.cursor-deeplink/mcp/install?" + urlencode(
        {"name": name, "config": config}, quote_via=quote
    )


def vscode(name: str, entry: Mapping[str, Any]) -> str:
    """Opens VS Code, which shows the entry and asks."""
    return "vscode:mcp/install?" + quote(_json({"name": name, **entry}), safe="")


def goose(name: str, entry: Mapping[str, Any]) -> str | None:
    """Opens Goose; for addresses alone, since it refuses programs it does not know in links."""
    if "uri" not in entry:
        return None
    fields = {
        "url": entry["uri"],
        "type": entry["type"],
        "id": name,
        "name": entry["name"],
        "description": entry["description"],
        "timeout": entry["timeout"],
    }
    return "goose://extension?" + urlencode(fields, quote_via=quote)


def _json(data: Mapping[str, Any]) -> str:
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False)


LINKS: dict[str, Callable[[str, Mapping[str, Any]], str | None]] = {"cursor": cursor, "vscode": vscode, "goose": goose}
