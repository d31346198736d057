"""The `imagesorcery-mcp` server: cuts, blurs, recolours and draws on pictures."""

from m3bench.sandboxes.servers.imagesorcery_mcp.tools import server

__all__ = ["server"]
