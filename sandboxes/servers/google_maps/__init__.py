"""The `google-maps` server: 19 tools over the world's places, streets, towns and ground.

`wire` holds the server and the envelope of its answers; every other module with tools registers them there.
"""

from m3bench.sandboxes.servers.google_maps import details, positions, roads, routing, searching, static_maps
from m3bench.sandboxes.servers.google_maps.wire import server

__all__ = ["details", "positions", "roads", "routing", "searching", "server", "static_maps"]
