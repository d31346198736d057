"""Fixtures for meeting clients and servers that others wrote."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.node import Node, open_node
from tests.server.conftest import serving
from tests.sets import write_set


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def node() -> Node:
    """Node with the packages of `package.json`."""
    return open_node()


@pytest.fixture(scope="session")
def task_set(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A set of two tasks that need the math server alone."""
    return write_set(tmp_path_factory.mktemp("set"))


@pytest.fixture(scope="module")
def listening(task_set: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server on a free port."""
    with serving(["--tasks", str(task_set), "--data", str(tmp_path_factory.mktemp("data"))]) as url:
        yield url
