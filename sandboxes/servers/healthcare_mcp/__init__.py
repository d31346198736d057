"""The `healthcare-mcp` server: medicine labels, papers, health topics, clinical trials, ICD-10-CM and a few sums."""

from m3bench.sandboxes.servers.healthcare_mcp.tools import server

__all__ = ["server"]
