"""Control groups: what is delegated is found out and used, and where nothing is, nothing is touched."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from m3bench.sandboxes.backends import cgroup
from m3bench.sandboxes.backends.base import SandboxSpec
from m3bench.sandboxes.backends.cgroup import (
    SERVER,
    ControlGroup,
    ControlGroups,
    Delegation,
    GroupLimits,
    delegation,
    find,
)
from m3bench.sandboxes.backends.isolation import Isolation
from m3bench.sandboxes.backends.process import ProcessBackend
from m3bench.tasks.errors import SandboxError

LIMITS = GroupLimits(memory=64 * 1024**2, processes=20)

Tree = Callable[..., Path]


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    """A folder that looks like the group of this process, below a mount of control groups."""
    # In the real one the files of a group go with it.
    monkeypatch.setattr(cgroup, "remove", shutil.rmtree)

    def made(
        path: str = "user/scope", controllers: str = "cpu memory pids", enabled: str = "", parent: str = ""
    ) -> Path:
        mount = tmp_path / "cgroup"
        own = mount / path
        for folder, given in ((own.parent, parent), (own, enabled)):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "cgroup.controllers").write_text(f"{controllers}\n")
            (folder / "cgroup.subtree_control").write_text(f"{given}\n")
            (folder / "cgroup.procs").write_text("")
        (tmp_path / "mounts").write_text(
            "22 21 0:20 / /proc rw - proc proc rw\n"
            f"30 22 0:26 / {mount} rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
        )
        (tmp_path / "membership").write_text("1:name=systemd:/elsewhere\n0::/user/scope\n")
        return own

    return made


def look(tmp_path: Path) -> Delegation:
    return find(tmp_path / "mounts", tmp_path / "membership")


def test_a_group_of_ones_own_gives_limits_to_others_after_moving_aside(tree: Tree, tmp_path: Path) -> None:
    own = tree()
    found = look(tmp_path)
    assert found.groups is not None
    assert found.groups.base == own
    assert (own / SERVER / "cgroup.procs").read_text() == str(os.getpid())
    assert (own / "cgroup.subtree_control").read_text() == "+memory +pids +cpu"


def test_where_the_group_above_gives_limits_already_nothing_is_moved(tree: Tree, tmp_path: Path) -> None:
    own = tree(parent="cpu memory pids")
    found = look(tmp_path)
    assert found.groups is not None
    assert found.groups.base == own.parent
    assert not (own / SERVER).exists()


@pytest.mark.parametrize(
    ("controllers", "why"), [("cpu io", "no control group with limits"), ("", "no control group with limits")]
)
def test_without_the_controllers_nothing_is_touched(tree: Tree, tmp_path: Path, controllers: str, why: str) -> None:
    own = tree(controllers=controllers)
    assert why in look(tmp_path).why
    assert not (own / SERVER).exists()


def test_a_group_that_others_share_is_left_as_it_was(
    tree: Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tree()
    real = Path.write_text

    def busy(self: Path, text: str) -> int:
        if self.name == "cgroup.subtree_control":
            raise OSError(16, "Device or resource busy")
        return real(self, text)

    monkeypatch.setattr(Path, "write_text", busy)
    assert "other processes share" in look(tmp_path).why
    assert (own / "cgroup.procs").read_text() == str(os.getpid())
    assert not (own / SERVER).exists()


def test_a_system_without_version_2_says_so(tmp_path: Path) -> None:
    (tmp_path / "mounts").write_text("30 22 0:26 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n")
    (tmp_path / "membership").write_text("8:pids:/\n0::/\n")
    assert "no control groups of version 2" in look(tmp_path).why
    assert "cannot be used" in find(tmp_path / "none", tmp_path / "none").why


def test_a_group_has_its_limits_before_anything_enters_it_and_is_gone_after(tree: Tree) -> None:
    own = tree(enabled="memory pids")
    group = ControlGroups(own).open(LIMITS)
    assert (group.folder / "memory.max").read_text() == str(64 * 1024**2)
    assert (group.folder / "pids.max").read_text() == "20"
    assert (group.folder / "cpu.max").read_text() == "100000 100000"
    said = subprocess.run(group.command(["echo", "inside"]), capture_output=True, text=True, check=True, env={}).stdout
    assert said == "inside\n"
    assert (group.folder / "cgroup.procs").read_text() == "0", "whoever writes that enters"
    assert group.problem() is None
    (group.folder / "memory.events").write_text("low 0\noom 1\noom_kill 1\n")
    assert "more than the 64 MB of memory" in str(group.problem())
    group.close()
    assert not group.folder.exists()


def test_groups_of_processes_that_are_gone_are_removed_and_those_of_others_not(tree: Tree) -> None:
    own = tree(enabled="memory pids")
    with subprocess.Popen(["true"]) as ended:
        pass
    dead, alive = own / f"m3bench-{ended.pid}-aa", own / f"m3bench-{os.getppid()}-bb"
    dead.mkdir()
    alive.mkdir()
    ControlGroups(own).open(LIMITS)
    assert not dead.exists()
    assert alive.exists()


@pytest.mark.anyio
async def test_a_host_enters_its_group_and_the_group_goes_with_the_host(
    tree: Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tree(enabled="memory pids")
    isolation = Isolation()
    monkeypatch.setitem(isolation.__dict__, "delegation", Delegation(ControlGroups(own)))
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    async with ProcessBackend(isolation) as backend:
        assert backend.limited_by == "control group"
        sandbox = await backend.open(SandboxSpec(workspace=workspace, servers=("math", "probe")))
        (folder,) = own.glob("m3bench-*-*")
        assert (folder / "cgroup.procs").read_text() == "0"
        assert (folder / "pids.max").read_text() == "264"
        reply = await sandbox.call("math/add", b'{"firstNumber":1,"secondNumber":2}', 30)
        assert b"3" in reply.result
        # As the kernel would tell of it.
        (folder / "memory.events").write_text("oom_kill 1\n")
        with pytest.raises(SandboxError, match="needed more than the 768 MB"):
            await sandbox.call("probe/crash", b'{"code":-9}', 30)
    assert list(own.glob("m3bench-*-*")) == []


@pytest.mark.anyio
async def test_a_group_that_cannot_be_made_leaves_the_sandbox_to_the_watch(
    tree: Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    isolation = Isolation()
    monkeypatch.setitem(isolation.__dict__, "delegation", Delegation(ControlGroups(tmp_path / "nowhere")))
    async with ProcessBackend(isolation) as backend:
        sandbox = await backend.open(SandboxSpec(workspace=tmp_path, servers=("math",)))
        assert sandbox._host.watch.memory == 768 * 1024**2


@pytest.mark.skipif(delegation().groups is None, reason=f"nothing is delegated here: {delegation().why}")
def test_the_kernel_holds_a_real_group_to_its_limits() -> None:
    groups = delegation().groups
    assert groups is not None
    group: ControlGroup = groups.open(LIMITS)
    try:
        hungry = group.command(["python3", "-c", "x = bytearray(256 * 1024**2)"])
        assert subprocess.run(hungry, capture_output=True, check=False).returncode != 0
        assert group.problem() is not None
    finally:
        group.close()
    assert not group.folder.exists()
