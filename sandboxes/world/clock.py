"""The world's one instant. Nothing here or above reads the real time to answer a call."""

from datetime import UTC, datetime

NOW = datetime(2025, 11, 1, 12, 0, 0, tzinfo=UTC)
"""The moment at which the world is frozen."""
