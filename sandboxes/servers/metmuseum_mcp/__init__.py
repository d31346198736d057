"""The `metmuseum-mcp` server: departments, searches for object numbers, and one object with a picture."""

from m3bench.sandboxes.servers.metmuseum_mcp.tools import server

__all__ = ["server"]
