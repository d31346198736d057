"""The `google-maps` server: 19 tools over the world's places, streets, towns and ground.

`wire` holds the server and the envelope of its answers; every other module with tools registers them there.
"""

from m3bench.sandboxes.servers.maps import (
    details,
    geocoding,
    ground,
    pictures,
    position,
    roads,
    routing,
    searching,
)
from m3bench.sandboxes.servers.maps.wire import server

__all__ = ["details", "geocoding", "ground", "pictures", "position", "roads", "routing", "searching", "server"]
