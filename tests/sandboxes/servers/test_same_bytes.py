"""Every call of the manifest gives the same bytes and writes the same files here, in a process and in a container."""

import json
from collections.abc import Callable, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import anyio
import pytest

from m3bench.sandboxes.backends.base import Backend, SandboxSpec
from m3bench.sandboxes.backends.docker.backend import DockerBackend
from m3bench.sandboxes.backends.inprocess import InProcessBackend
from m3bench.sandboxes.backends.isolation import Isolation
from m3bench.sandboxes.backends.process import ProcessBackend
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.examples import load_examples
from tests.sandboxes.servers import manifest

SERVERS = [server.name for server in load_catalog().ready.servers]
QUICK = {"excel", "google-maps", "math", "ocr", "wiki"}
"""Servers of every kind; the others are for `make test-all`."""
SAMPLED = [pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow) for name in SERVERS]

BACKENDS: dict[str, Callable[[], Backend]] = {
    "process": ProcessBackend,
    "docker": DockerBackend,
}


Call = tuple[str, Mapping[str, Any]]


class Traces(NamedTuple):
    """What calls gave and left behind, by hash."""

    replies: list[str]
    files: dict[str, str]


@cache
def _manifest(server: str) -> list[Call]:
    """A server's part of the manifest, after what its examples ask for."""
    held = [entry for entry in manifest.read() if entry["tool"].startswith(f"{server}/")]
    return [*load_examples(server).setup, *((entry["tool"], entry["arguments"]) for entry in held)]


@cache
def _examples(server: str) -> list[Call]:
    """A server's examples alone."""
    examples = load_examples(server)
    return [*examples.setup, *((f"{server}/{tool}", arguments) for tool, arguments in examples.calls.items())]


async def _play(backend: Backend, server: str, calls: list[Call], workspace: Path) -> Traces:
    """Make calls one after the other in one workspace."""
    workspace.mkdir()
    examples = load_examples(server)
    examples.write_files(workspace)
    replies = []
    with anyio.fail_after(300):
        async with backend:
            sandbox = await backend.open(SandboxSpec(workspace=workspace, scenes=examples.scenes))
            for tool, arguments in calls:
                reply = await sandbox.call(tool, json.dumps(arguments).encode())
                replies.append(f"{tool} {arguments} {reply.outcome} {sha256(reply.result).hexdigest()}")
    files = {
        str(path.relative_to(workspace)): sha256(path.read_bytes()).hexdigest()
        for path in workspace.rglob("*")
        if path.is_file()
    }
    return Traces(replies, files)


@cache
def _here(server: str) -> Traces:
    with TemporaryDirectory(prefix="m3bench-") as folder:
        return anyio.run(_play, InProcessBackend(), server, _manifest(server), Path(folder) / "plain")


@pytest.mark.all_sample(18)
@pytest.mark.sample(1)
@pytest.mark.parametrize("server", SAMPLED)
@pytest.mark.parametrize(
    "backend", [pytest.param(name, marks=[pytest.mark.docker] if name == "docker" else []) for name in BACKENDS]
)
def test_a_server_gives_the_same_bytes_on_every_backend(server: str, backend: str, tmp_path: Path) -> None:
    there = anyio.run(_play, BACKENDS[backend](), server, _manifest(server), tmp_path / "there")
    assert there == _here(server)


@pytest.mark.all_sample(9)
@pytest.mark.sample(1)
@pytest.mark.parametrize("server", SAMPLED)
def test_a_server_gives_the_same_bytes_behind_other_walls(server: str, tmp_path: Path) -> None:
    confined = ProcessBackend(Isolation(bubblewrap=False))
    there = anyio.run(_play, confined, server, _examples(server), tmp_path / "there")
    here = anyio.run(_play, InProcessBackend(), server, _examples(server), tmp_path / "here")
    assert there == here
