"""Every tool gives the same bytes in a confined process as in this one, and writes the same files."""

import json
from hashlib import sha256
from pathlib import Path

import anyio
import pytest

from m3bench.sandboxes.backends.base import Backend, Reply, SandboxSpec
from m3bench.sandboxes.backends.inprocess import InProcessBackend
from m3bench.sandboxes.backends.isolation import Isolation
from m3bench.sandboxes.backends.process import ProcessBackend
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.examples import load_examples

SERVERS = [server.name for server in load_catalog().ready.servers]


async def _play(backend: Backend, server: str, workspace: Path) -> tuple[list[Reply], dict[str, str]]:
    """Make all calls of a server's examples one after the other; what they gave and left behind."""
    workspace.mkdir()
    examples = load_examples(server)
    examples.write_files(workspace)
    calls = [*examples.setup, *((f"{server}/{tool}", arguments) for tool, arguments in examples.calls.items())]
    with anyio.fail_after(120):
        async with backend:
            sandbox = await backend.open(SandboxSpec(workspace=workspace, scenes=examples.scenes))
            replies = [await sandbox.call(tool, json.dumps(arguments).encode()) for tool, arguments in calls]
    files = {
        str(path.relative_to(workspace)): sha256(path.read_bytes()).hexdigest()
        for path in workspace.rglob("*")
        if path.is_file()
    }
    return replies, files


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("isolation", [Isolation(), Isolation(bubblewrap=False)], ids=["bubblewrap", "landlock"])
def test_a_server_gives_the_same_bytes_in_a_process(server: str, isolation: Isolation, tmp_path: Path) -> None:
    confined = anyio.run(_play, ProcessBackend(isolation), server, tmp_path / "confined")
    plain = anyio.run(_play, InProcessBackend(), server, tmp_path / "plain")
    assert confined == plain
