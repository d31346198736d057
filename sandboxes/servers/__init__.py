"""The tool servers: one module each, named here in one line, imported on the first call."""

from functools import cache
from importlib import import_module

from m3bench.sandboxes.toolserver import ToolServer

MODULES = {
    "Reddit-MCP-Server": "reddit",
    "amazon": "shop",
    "car-price": "car_prices",
    "dinox-mcp": "detector",
    "excel": "excel",
    "food_nutrition_mcp": "nutrition",
    "google-air": "air",
    "google-maps": "maps",
    "healthcare-mcp": "health",
    "hugeicons-mcp": "icons",
    "imagesorcery-mcp": "images",
    "linkimage-mcp": "linked_pictures",
    "math": "arithmetic",
    "metmuseum-mcp": "museum",
    "nasa-mcp": "nasa",
    "nationalparks": "parks",
    "nixos": "nixos",
    "ocr": "ocr",
    "okx": "crypto",
    "openlibrary_mcp": "library",
    "paper_search": "papers",
    "ppt": "ppt",
    "pyzbar-mcp": "barcodes",
    "tmdb": "films",
    "weather": "weather",
    "wiki": "encyclopedia",
    "yahoo-finance": "stocks",
}
"""Server name to module name; a server is ready in the catalog exactly when it stands here."""


@cache
def load(server: str) -> ToolServer:
    """The server of a catalog name, its code imported now if it was not before."""
    module = import_module(f"m3bench.sandboxes.servers.{MODULES[server]}")
    found = module.server
    assert isinstance(found, ToolServer)
    return found
