"""Leftovers go, whatever somebody may still need stays."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from m3bench.sandboxes.backends.docker import image
from m3bench.sandboxes.backends.docker.container_limits import ContainerLimits, host_config
from m3bench.sandboxes.backends.docker.leases import (
    HELD,
    PLACE,
    LeasedResource,
    LeaseOwner,
    holdings,
    marks,
    myself,
    new_name,
    reap,
)
from tests.waiting import eventually

Ask = Callable[[Callable[[Any], Any]], Any]

NOW = 1_800_000_000.0

ABANDON = """
import sys
from m3bench.sandboxes.backends.docker.engine import DockerEngine
from m3bench.sandboxes.backends.docker import image
from m3bench.sandboxes.backends.docker.leases import marks, new_name
def make(client):
    name = new_name()
    client.create_volume(name + "-volume", labels=marks("run-abandoned"))
    mount = {"Type": "volume", "Source": name + "-volume", "Target": "/workspace"}
    config = {"Image": image.reference(), "Labels": marks("run-abandoned"), "HostConfig": {"Mounts": [mount]}}
    client.create_container_from_config(config, name)
    return name
print(DockerEngine().answer(make))
"""


PARENT = """
import anyio, sys
from pathlib import Path
from m3bench.sandboxes.backends.base import SandboxSpec
from m3bench.sandboxes.backends.docker.backend import DockerBackend

async def main():
    async with DockerBackend(shared=sys.argv[2] == "shared") as backend, anyio.create_task_group() as tasks:
        for tool in ("rest", "hang_loop", "spin"):
            place = Path(sys.argv[1], tool)
            place.mkdir()
            sandbox = await backend.open(SandboxSpec(workspace=place, servers=("probe",)))
            await sandbox.call("probe/fork", b'{"times":2}')
            tasks.start_soon(sandbox.call, f"probe/{tool}", b"{}")
        await anyio.wait_all_tasks_blocked()
        print("ready", flush=True)
        await anyio.sleep_forever()

anyio.run(main)
"""


def _holding(**changes: Any) -> LeasedResource:
    usual = LeasedResource.of("container", "m3bench-x", marks("run-x"), state="running", made=NOW)
    return replace(usual, **{"lease": NOW + 100, "owner": LeaseOwner("elsewhere", 1, "1"), **changes})


def _dead() -> LeaseOwner:
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        pass
    return replace(myself(), pid=ended.pid)


def test_an_owner_is_dead_when_its_number_is_free_or_another_processes() -> None:
    assert not myself().is_dead()
    assert _dead().is_dead()
    assert replace(myself(), started="1").is_dead()
    assert not replace(_dead(), place="another machine").is_dead()
    assert not replace(myself(), pid=os.getppid(), started="").is_dead()


def test_what_somebody_may_need_is_no_leftover() -> None:
    assert _holding().leftover(NOW) is None
    assert _holding(state="created").leftover(NOW + 50) is None
    assert _holding(kind="volume", state="", made=0).leftover(NOW) is None
    HELD.add("m3bench-x")
    assert _holding(owner=myself()).leftover(NOW) is None
    HELD.discard("m3bench-x")


def test_a_volume_is_kept_as_long_as_the_workspace_of_its_run(tmp_path: Path) -> None:
    for owner in (_dead(), myself()):
        volume = _holding(kind="volume", owner=owner, folder=str(tmp_path / "run-x"))
        assert volume.leftover(NOW) is not None
        (tmp_path / "run-x").mkdir()
        assert volume.leftover(NOW) is None
        assert volume.leftover(NOW + 101) == "its lease is over"
        assert _holding(owner=owner, folder=str(tmp_path / "run-x")).leftover(NOW) is not None, "but no container"
        (tmp_path / "run-x").rmdir()


def test_what_nobody_needs_says_why() -> None:
    assert _holding(owner=myself()).leftover(NOW) == "its owner forgot it"
    assert _holding(owner=_dead()).leftover(NOW) == "its owner is dead"
    assert _holding(kind="volume", owner=_dead()).leftover(NOW) == "its owner is dead"
    assert _holding().leftover(NOW + 101) == "its lease is over"
    assert _holding(state="created", lease=NOW + 10_000).leftover(NOW + 1000) == "it does not run"
    assert LeasedResource.of("container", "m3bench-x", {}).leftover(NOW) == "its lease is over"


@pytest.mark.docker
def test_what_a_dead_process_left_is_listed_and_removed_and_the_rest_stays(ask: Ask) -> None:
    def make(client: Any) -> str:
        name = new_name()
        walls = host_config(ContainerLimits())
        config = {"Image": image.reference(), "Labels": {**marks("run-kept"), PLACE: "elsewhere"}, "HostConfig": walls}
        client.create_container_from_config(config, name)
        return name

    kept = ask(make)
    try:
        left = subprocess.run(
            [sys.executable, "-c", ABANDON], capture_output=True, text=True, check=True
        ).stdout.strip()
        command = [sys.executable, "-m", "m3bench.server.cli", "sandboxes"]
        listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert left[:12] in listed
        assert "leftover" in listed
        removed = subprocess.run([*command, "reap"], capture_output=True, text=True, check=True).stdout
        assert f"Removed container {left}: its owner is dead." in removed
        assert f"Removed volume {left}-volume: its owner is dead." in removed
        names = {holding.name for holding in ask(holdings)}
        assert kept in names
        assert not {left, f"{left}-volume"} & names
    finally:
        ask(lambda client: client.remove_container(kept, force=True))
        HELD.discard(kept)


@pytest.mark.docker
def test_a_lease_that_is_over_ends_whatever_its_owner_says(ask: Ask) -> None:
    name = new_name()
    config = {"Image": image.reference(), "Labels": marks("run-x", -10)}
    ask(lambda client: client.create_container_from_config(config, name))
    assert (name, "its lease is over") in [(holding.name, reason) for holding, reason in ask(reap)]
    assert name not in {holding.name for holding in ask(holdings)}
    HELD.discard(name)


@pytest.mark.docker
@pytest.mark.parametrize("place", ["shared", "volumes"])
def test_a_killed_owner_leaves_nothing_once_somebody_looked(place: str, tmp_path: Path, ask: Ask) -> None:
    def left(kind: str) -> list[str]:
        return [one.name for one in ask(holdings) if one.folder.startswith(str(tmp_path)) and one.kind == kind]

    command = [sys.executable, "-P", "-c", PARENT, str(tmp_path), place]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"ready\n"
        # A volume has somebody who looks at it beside the host.
        assert len(left("container")) == (6 if place == "volumes" else 3)
        parent.kill()
    # Hosts end by themselves, even those that hang and those that have children.
    eventually(lambda: not left("container"), "no container is left")
    if place == "volumes":
        ask(reap)
        assert len(left("volume")) == 3, "their workspaces are there: a run may be resumed"
    for workspace in tmp_path.iterdir():
        shutil.rmtree(workspace)
    ask(reap)
    assert left("volume") == []
