"""The tool servers: a module or package each, of the server's name, imported on the first call."""

from functools import cache
from importlib import import_module

from m3bench.sandboxes.toolserver import ToolServer

SERVERS = (
    "Reddit-MCP-Server",
    "amazon",
    "car-price",
    "dinox-mcp",
    "excel",
    "food_nutrition_mcp",
    "google-air",
    "google-maps",
    "healthcare-mcp",
    "hugeicons-mcp",
    "imagesorcery-mcp",
    "linkimage-mcp",
    "math",
    "metmuseum-mcp",
    "nasa-mcp",
    "nationalparks",
    "nixos",
    "ocr",
    "okx",
    "openlibrary_mcp",
    "paper_search",
    "ppt",
    "pyzbar-mcp",
    "tmdb",
    "weather",
    "wiki",
    "yahoo-finance",
)
"""A server is ready in the catalog exactly when its name stands here."""


@cache
def load(server: str) -> ToolServer:
    """The server of a catalog name, its code imported now if it was not before."""
    module = import_module(f"m3bench.sandboxes.servers.{server.replace('-', '_')}")
    found = module.server
    assert isinstance(found, ToolServer)
    return found
