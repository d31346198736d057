"""What a tool can do from inside a container, found out by trying: nothing that matters."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from m3bench.sandboxes.backends.base import Sandbox, SandboxSpec
from m3bench.sandboxes.backends.docker.backend import DockerBackend
from m3bench.sandboxes.backends.docker.container_limits import ContainerLimits
from m3bench.tasks.errors import SandboxError

pytestmark = [pytest.mark.docker, pytest.mark.usefixtures("mine")]

SMALL = ContainerLimits(memory=256 * 1024**2, processes=40, temporary=8 * 1024**2)


def inside(workspace: Path, act: Callable[[Sandbox], Any], limits: ContainerLimits | None = None) -> None:
    """Act in a container."""

    async def run() -> None:
        with anyio.fail_after(90):
            async with DockerBackend(limits=limits) as backend:
                await act(await backend.open(SandboxSpec(workspace=workspace, servers=("probe", "math"))))

    anyio.run(run)


async def ask(sandbox: Sandbox, tool: str, **arguments: Any) -> str:
    """The text of a call, whether it failed or not."""
    reply = await sandbox.call(f"probe/{tool}", json.dumps(arguments).encode(), 60)
    return "".join(block["text"] for block in json.loads(reply.result)["content"])


async def status(sandbox: Sandbox) -> dict[str, str]:
    lines = (await ask(sandbox, "read", path="/proc/self/status")).splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def test_there_is_no_way_to_anywhere_and_nobody_to_talk_to(tmp_path: Path) -> None:
    async def act(sandbox: Sandbox) -> None:
        links = await ask(sandbox, "read", path="/sys/class/net")
        assert links == "lo"
        routes = await ask(sandbox, "read", path="/proc/net/route")
        assert routes.count("\n") <= 1, "a route beside the heading"
        for host in ("1.1.1.1", "169.254.169.254", "172.17.0.1", "192.168.0.1", "2606:4700:4700::1111"):
            for kind in ("tcp", "udp"):
                answer = await ask(sandbox, "connect", host=host, port=53, kind=kind)
                assert "Operation not permitted" in answer
        found = json.loads(await ask(sandbox, "look_around"))
        assert found["sockets"] == []

    inside(tmp_path, act)


def test_files_can_be_written_in_the_workspace_and_in_memory_and_nowhere_else(tmp_path: Path) -> None:
    harmless = {"/dev/full", "/dev/null", "/dev/ptmx", "/dev/random", "/dev/tty", "/dev/urandom", "/dev/zero"}

    async def act(sandbox: Sandbox) -> None:
        found = json.loads(await ask(sandbox, "look_around"))
        assert set(found["writable"]) == {"/tmp", "/workspace"}
        assert {device for device in found["devices"] if not device.startswith("/dev/pts/")} <= harmless
        assert "No space left" in await ask(sandbox, "write", path="/tmp/big", text="x" * 9_000_000)
        assert "Read-only" in await ask(sandbox, "write", path="/etc/passwd", text="root::0:0::/:/bin/sh")

    inside(tmp_path, act, SMALL)


def test_there_is_no_right_to_lose_and_none_to_gain(tmp_path: Path) -> None:
    async def act(sandbox: Sandbox) -> None:
        found = await status(sandbox)
        assert {found[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {"0" * 16}
        assert found["NoNewPrivs"] == "1"
        assert found["Seccomp"] == "2"
        users, groups = set(found["Uid"].split()), set(found["Gid"].split())
        expected = {"10001"} if os.getuid() == 0 else {str(os.getuid())}
        assert users == expected
        assert "0" not in groups | set(found["Groups"].split())
        risen = json.loads(await ask(sandbox, "rise"))
        assert risen["worked"] == []
        # There is no program that would run as anybody else.
        assert risen["users"] == []

    inside(tmp_path, act)


def test_the_image_is_all_there_is_to_see(tmp_path: Path) -> None:
    async def act(sandbox: Sandbox) -> None:
        mounts = [line.split() for line in (await ask(sandbox, "read", path="/proc/self/mounts")).splitlines()]
        real = {place for device, place, kind, *_ in mounts if kind == "overlay" or device.startswith("/")}
        # The engine's own files cannot be written, as the walk above has shown.
        engines = {"/etc/resolv.conf", "/etc/hostname", "/etc/hosts", "/sbin/docker-init", "/usr/sbin/docker-init"}
        assert real - engines == {"/", "/workspace"}
        assert "FileNotFound" in await ask(sandbox, "read", path="/var/run/docker.sock")
        seen = await ask(sandbox, "environment")
        assert "DOCKER" not in seen

    inside(tmp_path, act)


def test_a_fork_bomb_stays_in_its_box(tmp_path: Path) -> None:
    async def act(sandbox: Sandbox) -> None:
        made = json.loads(await ask(sandbox, "fork", times=1000))["made"]
        assert 0 < made < SMALL.processes
        # Threads count too: with every process taken the host may fail the call, never this process.
        try:
            await ask(sandbox, "echo", text="x")
        except SandboxError:
            assert await ask(sandbox, "echo", text="x") == "x"

    inside(tmp_path, act, SMALL)


def test_a_memory_bomb_ends_its_host_and_the_message_says_why(tmp_path: Path) -> None:
    async def act(sandbox: Sandbox) -> None:
        with pytest.raises(SandboxError, match="needed more than the 256 MB of memory a sandbox has"):
            await ask(sandbox, "allocate", size=1024**3)
        assert await ask(sandbox, "echo", text="x") == "x"

    inside(tmp_path, act, SMALL)


def test_a_tool_that_never_rests_leaves_others_their_time(tmp_path: Path) -> None:
    async def act(sandbox: Sandbox) -> None:
        quota = await ask(sandbox, "read", path="/sys/fs/cgroup/cpu/cpu.cfs_quota_us")
        if "FileNotFound" in quota:
            quota = await ask(sandbox, "read", path="/sys/fs/cgroup/cpu.max")
        assert quota.split()[0] == "100000"

    inside(tmp_path, act)
