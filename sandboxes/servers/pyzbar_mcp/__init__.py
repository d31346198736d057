"""The `pyzbar-mcp` server: bar codes and QR codes in a picture, named and reported as pyzbar does."""

from m3bench.sandboxes.servers.pyzbar_mcp.tools import server

__all__ = ["server"]
