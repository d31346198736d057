"""How clients name tools to the model: the prefix each adds, and what it does with names that get too long."""

import re
from collections.abc import Callable

from m3bench.server.clients.client import Naming, Overflow

_VSCODE_PREFIX = 18
_GEMINI_KEPT = 30


def joined(pattern: str, limit: int | None, overflow: Overflow) -> Naming:
    """A pattern with {server} and {tool}."""

    def shown(server: str, tool: str) -> str:
        return pattern.format(server=server, tool=tool)

    return Naming(shown=shown, counted=lambda server, tool: len(shown(server, tool)), limit=limit, overflow=overflow)


def cursor() -> Naming:
    """A prefix that the limit leaves out: server and tool together are counted."""
    return Naming(
        shown=lambda server, tool: f"mcp_{server}_{tool}",
        counted=lambda server, tool: len(server) + len(tool) + 1,
        limit=60,
        overflow="drops the tool",
    )


def vscode() -> Naming:
    """A short prefix made of the server's label; the whole is cut at 64, other characters become underscores."""

    def whole(server: str, tool: str) -> str:
        label = re.sub(r"[^a-z0-9_.-]+", "_", server.lower())[: _VSCODE_PREFIX - len("mcp__")]
        return re.sub(r"[^A-Za-z0-9_-]", "_", f"mcp_{label}_{tool}")

    return Naming(
        shown=lambda server, tool: whole(server, tool)[:64],
        counted=lambda server, tool: len(whole(server, tool)),
        limit=64,
        overflow="cuts the name",
    )


def gemini() -> Naming:
    """Above 63 characters, the first and the last thirty with dots between."""

    def whole(server: str, tool: str) -> str:
        return f"mcp_{server}_{tool}"

    def shown(server: str, tool: str) -> str:
        name = whole(server, tool)
        return name if len(name) <= 63 else f"{name[:_GEMINI_KEPT]}...{name[-_GEMINI_KEPT:]}"

    return Naming(
        shown=shown, counted=lambda server, tool: len(whole(server, tool)), limit=63, overflow="cuts the name"
    )


RULES: dict[str, Callable[[], Naming]] = {"cursor": cursor, "vscode": vscode, "gemini": gemini}
"""Clients whose naming is more than a pattern."""
