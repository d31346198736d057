"""The `food_nutrition_mcp` server: what a described portion of a food contains."""

from m3bench.sandboxes.servers.food_nutrition_mcp.tools import server

__all__ = ["server"]
