"""States and provinces whose names are written short in addresses: of the United States, Canada and Australia."""

from collections.abc import Mapping
from functools import cache

from m3bench.sandboxes.world import tables

COUNTRIES = ("US", "CA", "AU")


@cache
def states(country: str) -> Mapping[str, str]:
    """The short name of each state of a country, and its full one; none for other countries."""
    return {record["short"]: record["name"] for record in tables.load("states") if record["country"] == country}
