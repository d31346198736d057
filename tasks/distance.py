"""Distance on Earth, taken for a sphere: near enough to tell whether two positions are the same place."""

import math

EARTH_METRES = 6_371_000.0
NEAR_METRES = 250.0
"""Two positions that are no further apart are the same place: a building and its entrance."""

Position = tuple[float, float]
"""Degrees of latitude and longitude."""


def metres(one: Position, other: Position) -> float:
    """The way between two positions, as the crow flies."""
    lat1, lon1, lat2, lon2 = (math.radians(value) for value in (*one, *other))
    half = math.sin((lat2 - lat1) / 2) ** 2 + math.cos(lat1) * math.cos(lat2) * math.sin((lon2 - lon1) / 2) ** 2
    return 2 * EARTH_METRES * math.asin(math.sqrt(min(1.0, half)))
