"""The `nasa-mcp` server: 21 tools over pictures, asteroids, the Sun, the Earth from space, exoplanets and Mars.

`answers` holds the server and the texts all parts share; every other module registers its tools on it. The public
server joins lines with the letter n where it means a new line, and reports an empty list as a connection error: here
lines end with a new line, and nothing found is said to be nothing found. No key is needed and none is shown.
"""

from m3bench.sandboxes.servers.nasa_mcp import asteroids, donki, exoplanets, imagery
from m3bench.sandboxes.servers.nasa_mcp.answers import server

__all__ = ["asteroids", "donki", "exoplanets", "imagery", "server"]
