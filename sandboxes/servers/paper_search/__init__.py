"""The `paper_search` server: papers of several platforms, found, downloaded as PDF and read."""

from m3bench.sandboxes.servers.paper_search.tools import server

__all__ = ["server"]
