"""Fixtures for everything around sandboxes."""

import pytest


@pytest.fixture
def anyio_backend() -> str:
    """Hosts are started with asyncio; there is no other loop in m3bench."""
    return "asyncio"
