"""Fixtures for talking to a whole m3bench: one conversation over every transport and protocol era."""

import os
import re
import secrets
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.server.hosts import Hosts
from tests.sets import write_set

Connect = Callable[[], AbstractAsyncContextManager[Client]]

SERVE = [sys.executable, "-m", "m3bench.server.cli", "serve"]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def task_set(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A set of two tasks that need the math server alone."""
    return write_set(tmp_path_factory.mktemp("set"))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Where the servers of a test keep their runs."""
    return tmp_path / "data"


@pytest.fixture(params=["process", pytest.param("docker", marks=pytest.mark.docker)])
def sandbox(request: pytest.FixtureRequest) -> str:
    """Where the tools of a test run: whatever is said to a server must be answered alike."""
    chosen: str = request.param
    return chosen


@pytest.fixture
def hosts(data: Path, sandbox: str) -> Hosts:
    """What runs for the sandboxes of the test's server."""
    return Hosts(data, sandbox)


@pytest.fixture
def arguments(task_set: Path, data: Path, sandbox: str) -> list[str]:
    """The options of the servers of a test."""
    return ["--tasks", str(task_set), "--data", str(data), "--sandbox", sandbox]


@asynccontextmanager
async def over_stdio(arguments: list[str], mode: str) -> AsyncIterator[Client]:
    """A client of a server process of its own."""
    parameters = StdioServerParameters(command=SERVE[0], args=[*SERVE[1:], *arguments], env=dict(os.environ))
    with anyio.fail_after(300):
        async with Client(stdio_client(parameters), mode=mode) as client:
            yield client


@asynccontextmanager
async def over_http(url: str, mode: str) -> AsyncIterator[Client]:
    """A client of a server that listens."""
    with anyio.fail_after(300):
        async with Client(url, mode=mode) as client:
            yield client


@pytest.fixture
def listening(arguments: list[str]) -> Iterator[str]:
    """The address of a server on a free port."""
    with serving(arguments) as url:
        yield url


class serving:
    """A server process on a free port, stopped in the end; the value is its address."""

    def __init__(
        self,
        arguments: list[str],
        env: dict[str, str] | None = None,
        command: list[str] | None = None,
        scheme: str = "http",
    ) -> None:
        self._command = [*(command or SERVE), "--http", "127.0.0.1:0", *arguments]
        self._env = {**os.environ, **(env or {})}
        self._address = re.compile(rf"{scheme}://\S+(?=/mcp)")

    def __enter__(self) -> str:
        self.process = subprocess.Popen(self._command, stderr=subprocess.PIPE, text=True, env=self._env)
        assert self.process.stderr is not None
        line = self.process.stderr.readline()
        found = self._address.search(line)
        assert found is not None, line + self.process.stderr.read()
        return found[0]

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.communicate(timeout=120)


WAYS = [
    "stdio-legacy",
    "http-seat-modern",
    *(pytest.param(way, marks=pytest.mark.slow) for way in ("stdio-modern", "http-session", "http-seat-legacy")),
]
"""Every transport in every era; the two that have nothing in common stand for them in the short run."""


@pytest.fixture(params=WAYS)
def connect(request: pytest.FixtureRequest, arguments: list[str]) -> Connect:
    """Connects a client in one of the ways there are."""
    way: str = request.param
    if way.startswith("stdio"):
        return lambda: over_stdio(arguments, "legacy" if way.endswith("legacy") else "2026-07-28")
    url = request.getfixturevalue("listening")
    if way == "http-session":
        return lambda: over_http(f"{url}/mcp", "auto")
    seat = secrets.token_urlsafe(24)
    return lambda: over_http(f"{url}/seat/{seat}/mcp", "legacy" if way.endswith("legacy") else "2026-07-28")
