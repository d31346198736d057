"""What the tests of sign-in share."""

import pytest


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
