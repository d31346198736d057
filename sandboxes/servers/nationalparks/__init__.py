"""The `nationalparks` server: parks of the United States with alerts, visitor centers, campgrounds and events."""

from m3bench.sandboxes.servers.nationalparks.tools import server

__all__ = ["server"]
