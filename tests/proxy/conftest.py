"""What the tests of the proxy share."""

import pytest


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
