"""The `hugeicons-mcp` server: a list of icons, search by words, font glyphs and usage per platform."""

from m3bench.sandboxes.servers.hugeicons_mcp.tools import server

__all__ = ["server"]
