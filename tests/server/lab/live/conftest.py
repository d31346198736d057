"""Servers that are watched."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.server.conftest import serving
from tests.sets import write_set


@dataclass(frozen=True, kw_only=True)
class Watched:
    """A server process and where it keeps its runs."""

    url: str
    data: Path
    tasks: Path

    def get(self, path: str, **headers: str) -> httpx2.Response:
        """Ask it for a page."""
        return httpx2.get(self.url + path, headers=headers, timeout=30)

    def state(self, **headers: str) -> Any:
        """What it says of itself."""
        return self.get("/live/state", **headers).json()


def watched(folder: Path, *options: str) -> "Iterator[Watched]":
    """A server for as long as the generator lives."""
    tasks, data = write_set(folder / "set"), folder / "data"
    with serving(["--tasks", str(tasks), "--data", str(data), "--sandbox", "inprocess", *options]) as url:
        yield Watched(url=url, data=data, tasks=tasks)


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    """A server that several tests look at."""
    yield from watched(tmp_path_factory.mktemp("shared"))


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Watched]:
    """A server that nobody used."""
    yield from watched(tmp_path)
