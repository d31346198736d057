"""The `google-maps` server: 19 tools over the world's places, streets, towns and ground.

`wire` holds the server and the envelope of its answers; every other module with tools registers them there.
"""

from m3bench.sandboxes.servers.google_maps import (
    details,
    geocoding,
    pictures,
    position,
    roads,
    routing,
    searching,
    timezone_elevation,
)
from m3bench.sandboxes.servers.google_maps.wire import server

__all__ = [
    "details",
    "geocoding",
    "pictures",
    "position",
    "roads",
    "routing",
    "searching",
    "server",
    "timezone_elevation",
]
