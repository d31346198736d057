"""The `dinox-mcp` server: finds objects and people in the pictures of a run, and draws boxes on them."""

from m3bench.sandboxes.servers.dinox_mcp.tools import server

__all__ = ["server"]
