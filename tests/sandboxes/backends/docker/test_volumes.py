"""Sandboxes on an engine that does not see our files: the workspace lives in a volume and comes back."""

import io
import json
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from m3bench.sandboxes.backends.base import SandboxSpec
from m3bench.sandboxes.backends.docker import placement
from m3bench.sandboxes.backends.docker.backend import DockerBackend
from m3bench.sandboxes.backends.docker.leases import LeasedResource, holdings, reap
from m3bench.sandboxes.pool import Lease, SandboxPool
from m3bench.tasks.errors import SandboxError


async def _probe(lease: Lease, tool: str, **arguments: Any) -> str:
    reply = await lease.call(f"probe/{tool}", json.dumps(arguments).encode(), 30)
    return "".join(block["text"] for block in json.loads(reply.result)["content"])


async def _life(lease: Lease) -> None:
    """What a run does with its files, crash included."""
    assert await _probe(lease, "read", path="media/question.txt") == "what is it?"
    await _probe(lease, "write", path="media/answer.txt", text="this")
    assert await _probe(lease, "write", path="notes.txt", text="on top") == "written"
    with pytest.raises(SandboxError, match="SIGKILL"):
        await _probe(lease, "crash", code=-9)
    assert await _probe(lease, "read", path="media") == "answer.txt\nquestion.txt"
    lease.put("results/1.json", b"{}")
    assert await _probe(lease, "read", path="results/1.json") == "{}"


@pytest.mark.docker
@pytest.mark.parametrize("spares", [0, 1])
def test_a_run_has_its_files_wherever_the_engine_is(
    spares: int, tmp_path: Path, mine: Callable[[], list[LeasedResource]]
) -> None:
    async def run() -> None:
        with anyio.fail_after(90):
            async with DockerBackend(shared=False) as backend, SandboxPool(backend, tmp_path, spares=spares) as pool:
                await pool.settled()
                lease = await pool.lease(servers=("probe",))
                lease.put("media/question.txt", b"what is it?")
                await _life(lease)
                assert not (lease.workspace / "media" / "answer.txt").exists()
                assert "volume" in {holding.kind for holding in mine()}
                await lease.release(keep_files=True)
                files = {p.relative_to(lease.workspace).as_posix() for p in lease.workspace.rglob("*") if p.is_file()}
                assert files == {"media/question.txt", "media/answer.txt", "notes.txt", "results/1.json"}
                assert (lease.workspace / "media" / "answer.txt").read_text() == "this"

    anyio.run(run)


@pytest.mark.docker
@pytest.mark.usefixtures("mine")
def test_what_a_volume_holds_has_the_same_walls_as_a_folder(tmp_path: Path) -> None:
    async def run() -> None:
        with anyio.fail_after(120):
            async with DockerBackend(shared=False) as backend, SandboxPool(backend, tmp_path) as pool:
                lease = await pool.lease(servers=("probe",))
                await _probe(lease, "write", path="kept.txt", text="before")
                assert "disk" in lease.guards
                assert lease.notices == backend.notices
                with pytest.raises(SandboxError, match=r"its workspace held .* and may hold 256 MB, 2000 files"):
                    await _probe(lease, "fill", folder="many", files=5000, size=10)
                assert await _probe(lease, "read", path="kept.txt") == "before"
                await lease.release(keep_files=True)
                assert len(list(lease.workspace.rglob("*"))) <= 2001

    anyio.run(run)


OWNER = """
import anyio, sys
from pathlib import Path
from m3bench.sandboxes.backends.docker.backend import DockerBackend
from m3bench.sandboxes.pool import SandboxPool

async def main():
    async with DockerBackend(shared=False) as backend, SandboxPool(backend, Path(sys.argv[1])) as pool:
        lease = await pool.lease(servers=("probe",))
        lease.put("media/question.txt", b"what is it?")
        await lease.call("probe/write", b'{"path":"answer.txt","text":"this"}', 30)
        lease.put("results/1.json", b"{}")
        print(lease.workspace, flush=True)
        await anyio.sleep_forever()

anyio.run(main)
"""


@pytest.mark.docker
@pytest.mark.kills
def test_a_workspace_in_a_volume_is_there_again_after_its_owner_was_killed(
    tmp_path: Path, ask: Callable[[Callable[[Any], Any]], Any]
) -> None:
    with subprocess.Popen([sys.executable, "-P", "-c", OWNER, str(tmp_path)], stdout=subprocess.PIPE) as owner:
        assert owner.stdout is not None
        workspace = Path(owner.stdout.readline().decode().strip())
        owner.kill()

    async def run() -> None:
        with anyio.fail_after(90):
            async with DockerBackend(shared=False) as backend, SandboxPool(backend, tmp_path) as pool:
                lease = await pool.resume(workspace, servers=("probe",))
                assert await _probe(lease, "read", path="media/question.txt") == "what is it?"
                assert await _probe(lease, "read", path="answer.txt") == "this"
                assert await _probe(lease, "read", path="results/1.json") == "{}"
                await lease.release()

    ask(reap)
    anyio.run(run)
    ask(reap)
    assert [holding for holding in ask(holdings) if holding.folder == str(workspace)] == []


@pytest.mark.docker
@pytest.mark.usefixtures("mine")
def test_an_engine_that_does_not_see_our_files_is_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Elsewhere(placement.SharedFolder):
        """As if the engine had a file system of its own."""

        def mount(self, client: Any, workspace: Path) -> dict[str, Any]:
            return {**super().mount(client, workspace), "Source": "/no/such/folder"}

    async def run() -> None:
        with anyio.fail_after(60):
            async with DockerBackend() as backend:
                (tmp_path / "here.txt").write_text("here")
                sandbox = await backend.open(SandboxSpec(workspace=tmp_path, servers=("probe",)))
                reply = await sandbox.call("probe/read", b'{"path":"here.txt"}', 30)
                assert b'"here"' in reply.result
                assert isinstance(backend._placement, placement.EngineVolume)

    monkeypatch.setattr("m3bench.sandboxes.backends.docker.backend.SharedFolder", Elsewhere)
    anyio.run(run)


def _archive(entries: list[tarfile.TarInfo], content: bytes = b"x") -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        for entry in entries:
            if entry.isreg():
                entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content) if entry.isreg() else None)
    return file.getvalue()


def _entry(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = kind, target
    return entry


def test_what_comes_back_cannot_leave_the_workspace(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "old.txt").write_text("old")
    outside = tmp_path / "outside"
    outside.mkdir()
    hostile = [
        _entry("workspace", tarfile.DIRTYPE),
        _entry("workspace/../../outside/a"),
        _entry("/etc/m3bench-test"),
        _entry("workspace/link", tarfile.SYMTYPE, str(outside)),
        _entry("workspace/link/through"),
        _entry("workspace/hard", tarfile.LNKTYPE, "/etc/passwd"),
        _entry("workspace/pipe", tarfile.FIFOTYPE),
        _entry("workspace/device", tarfile.CHRTYPE),
        _entry("workspace/folder/good.txt"),
    ]
    placement.unpack([_archive(hostile)], workspace)
    assert list(outside.iterdir()) == []
    assert {path.relative_to(workspace).as_posix() for path in workspace.rglob("*")} == {
        "etc", "etc/m3bench-test", "folder", "folder/good.txt", "link", "link/through",
    }  # fmt: skip
    assert sorted(path.name for path in tmp_path.iterdir()) == ["outside", "workspace"]


def test_results_that_a_sandbox_had_not_taken_in_yet_stay(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    for name in ("1.json", "2.json"):
        (tmp_path / "results" / name).write_text("outside")
    (tmp_path / "gone.txt").write_text("deleted inside")
    placement.unpack([_archive([_entry("workspace/results/1.json")], b"inside")], tmp_path, keep="results")
    assert {path.name: path.read_text() for path in tmp_path.rglob("*") if path.is_file()} == {
        "1.json": "inside", "2.json": "outside",
    }  # fmt: skip


@pytest.mark.parametrize("broken", [b"", b"no archive", _archive([_entry("workspace/a")])[:600]])
def test_a_broken_archive_leaves_the_workspace_as_it_was(tmp_path: Path, broken: bytes) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "old.txt").write_text("old")
    with pytest.raises(SandboxError, match="cannot be taken back"):
        placement.unpack([broken], workspace)
    assert [path.name for path in workspace.iterdir()] == ["old.txt"]
    assert [path.name for path in tmp_path.iterdir()] == ["workspace"]


def test_what_is_beyond_measure_is_not_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placement, "MAX_BYTES", 10_000)
    with pytest.raises(SandboxError, match="more than 10000 bytes"):
        placement.unpack(iter(lambda: b"x" * 1000, b""), tmp_path)


def test_links_do_not_travel(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    workspace = tmp_path / "workspace"
    (workspace / "media").mkdir(parents=True)
    (workspace / "media" / "a.txt").write_text("a")
    (workspace / "link.txt").symlink_to(tmp_path / "secret.txt")
    with placement.pack(workspace) as archive, tarfile.open(fileobj=archive) as tar:
        assert [(entry.name, entry.uid, entry.mode) for entry in tar] == [
            (".", 10001, 0o700), ("media", 10001, 0o700), ("media/a.txt", 10001, 0o600),
        ]  # fmt: skip
    with placement.pack(workspace, ["media/a.txt"]) as archive, tarfile.open(fileobj=archive) as tar:
        assert tar.getnames() == ["media", "media/a.txt"]
