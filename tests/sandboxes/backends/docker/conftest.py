"""Fixtures for sandboxes that are containers."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from m3bench.sandboxes.backends.docker.engine import DockerEngine
from m3bench.sandboxes.backends.docker.leases import LeasedResource, holdings, myself


@pytest.fixture
def ask() -> Iterator[Callable[[Callable[[Any], Any]], Any]]:
    """Asks the engine."""
    engine = DockerEngine()
    yield engine.answer
    engine.close()


@pytest.fixture
def mine(ask: Callable[[Callable[[Any], Any]], Any]) -> Iterator[Callable[[], list[LeasedResource]]]:
    """What this process has on the engine; after each test that is nothing."""

    def found() -> list[LeasedResource]:
        return [holding for holding in ask(holdings) if holding.owner == myself()]

    yield found
    assert found() == []
