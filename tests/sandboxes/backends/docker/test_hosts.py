"""Sandboxes on several Docker hosts: where a new one goes, and what a host that is away costs."""

import json
import logging
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from m3bench.sandboxes.backends.base import SandboxSpec
from m3bench.sandboxes.backends.docker import engine, hosts, image
from m3bench.sandboxes.backends.docker.engine import DockerEngine
from m3bench.sandboxes.backends.docker.hosts import DockerHosts
from m3bench.sandboxes.backends.docker.leases import LeasedResource
from m3bench.sandboxes.pool import SandboxPool
from m3bench.tasks.errors import SandboxError
from tests.sandboxes.backends.docker.engines import Complaining, Relay

GIB = 1024**3
FULL = "write /x: no space left on device"


def spec(folder: Path) -> SandboxSpec:
    return SandboxSpec(workspace=folder, servers=("probe",))


def complaint(addresses: list[str], folder: Path, times: int = 1) -> str:
    """What is said when no host takes a sandbox."""
    said = []

    async def run() -> None:
        with anyio.fail_after(60):
            async with DockerHosts(addresses) as backend:
                for _ in range(times):
                    with pytest.raises(SandboxError) as caught:
                        await backend.open(spec(folder))
                    said.append(str(caught.value))

    anyio.run(run)
    return said[-1]


def test_the_host_with_most_room_is_asked_first_and_the_next_one_when_it_cannot(tmp_path: Path) -> None:
    order = list[str]()
    small = Complaining(None, image.labels(), FULL, memory=4 * GIB, made=order)
    busy = Complaining(tmp_path / "busy.sock", image.labels(), FULL, memory=64 * GIB, running=84, made=order)
    large = Complaining(None, image.labels(), FULL, memory=16 * GIB, running=2, made=order)
    with small, busy, large:
        said = complaint([small.address, busy.address, large.address], tmp_path)
    # 5, 85 - 84 and 21 - 2.
    assert list(dict.fromkeys(order)) == [large.address, small.address, busy.address]
    assert "No Docker host takes a sandbox now." in said
    assert all(one.address in said for one in (small, busy, large))


def test_a_host_that_is_named_twice_is_one_host(tmp_path: Path) -> None:
    with Complaining(None, image.labels(), FULL) as only:
        complaint([only.address, only.address], tmp_path)
        once = len(only.made)
        only.made.clear()
        complaint([only.address], tmp_path)
        assert len(only.made) == once


def test_a_host_that_does_not_answer_or_has_another_image_is_named_once_and_left_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    gone = f"unix://{tmp_path}/nothing.sock"
    older = Complaining(None, {**image.labels(), image.VERSION_LABEL: "0.0.1"}, "never asked", memory=64 * GIB)
    with older, Complaining(None, image.labels(), FULL) as good:
        said = complaint([gone, older.address, good.address], tmp_path, times=3)
    assert older.made == []
    assert good.made
    lines = [record.getMessage() for record in caplog.records]
    assert sum("No Docker engine answers at" in line and gone in line for line in lines) == 1
    assert sum("was built for m3bench 0.0.1" in line for line in lines) == 1
    assert gone in said


def test_a_silent_host_does_not_hold_up_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosts, "FIRST_SECONDS", 0.5)
    monkeypatch.setattr(engine, "ANSWER_SECONDS", 3.0)
    with socket.socket(socket.AF_UNIX) as silent, Complaining(None, image.labels(), FULL) as good:
        silent.bind(f"{tmp_path}/silent.sock")
        silent.listen(50)

        async def run() -> float:
            async with DockerHosts([f"unix://{tmp_path}/silent.sock", good.address]) as backend:
                begin = anyio.current_time()
                with anyio.move_on_after(60), pytest.raises(SandboxError):
                    await backend.open(spec(tmp_path))
                return anyio.current_time() - begin

        anyio.run(run)
    assert good.made, "the one that answers was asked"


def test_a_host_that_is_back_is_used_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(hosts, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(hosts, "BARRED_SECONDS", 0.0)
    caplog.set_level(logging.WARNING)
    place = tmp_path / "engine.sock"

    async def run() -> None:
        with anyio.fail_after(60):
            async with DockerHosts([f"unix://{place}"]) as backend:
                with pytest.raises(SandboxError, match="No Docker engine answers"):
                    await backend.open(spec(tmp_path))
                with Complaining(place, image.labels(), FULL) as back:
                    while not back.made:
                        with pytest.raises(SandboxError):
                            await backend.open(spec(tmp_path))
                        await anyio.sleep(0.05)

    anyio.run(run)
    assert sum("takes sandboxes again" in record.getMessage() for record in caplog.records) >= 1


def test_a_workspace_is_not_given_up_while_the_host_that_may_have_it_is_away(tmp_path: Path) -> None:
    gone = f"unix://{tmp_path}/nothing.sock"

    async def resume(*addresses: str) -> None:
        with anyio.fail_after(60):
            async with DockerHosts(addresses) as backend:
                await backend.resume(tmp_path)

    with Complaining(None, image.labels(), FULL) as good:
        anyio.run(resume, good.address)
        with pytest.raises((SandboxError, ExceptionGroup)) as caught:
            anyio.run(resume, good.address, gone)
    assert gone in repr(caught.value)


def test_prospects_are_those_of_the_hosts_that_answer(tmp_path: Path) -> None:
    gone = f"unix://{tmp_path}/nothing.sock"
    with Complaining(None, image.labels(), FULL) as good:
        backend = DockerHosts([gone, good.address])
        assert backend.prospect().guards
        backend.close()
    backend = DockerHosts([gone])
    with pytest.raises(SandboxError, match="No Docker engine answers"):
        backend.prospect()
    backend.close()


def test_a_context_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    with pytest.raises(SandboxError, match="There is no Docker context 'lab'"):
        DockerEngine("lab").answer(lambda client: client.version())


@pytest.mark.docker
def test_sandboxes_are_spread_and_a_run_goes_on_at_the_other_host(
    tmp_path: Path, mine: Callable[[], list[LeasedResource]], caplog: pytest.LogCaptureFixture
) -> None:
    """Two addresses of one engine stand for two hosts: what is counted on the way is the same."""

    async def call(lease: Any, tool: str, **arguments: Any) -> str:
        reply = await lease.call(f"probe/{tool}", json.dumps(arguments).encode(), 30)
        return str(json.loads(reply.result)["content"][0]["text"])

    async def run(first: Relay, second: Relay) -> None:
        with anyio.fail_after(120):
            async with DockerHosts([first.address, second.address]) as backend, SandboxPool(backend, tmp_path) as pool:
                leases = []
                async with anyio.create_task_group() as tasks:

                    async def open_one() -> None:
                        leases.append(await pool.lease(servers=("probe",)))

                    for _ in range(2):
                        tasks.start_soon(open_one)
                assert {lease.place for lease in leases} == {first.address, second.address}
                for lease in leases:
                    assert await call(lease, "echo", text="x") == "x"
                first.cut()
                for _ in range(2):
                    lease = await pool.lease(servers=("probe",))
                    assert lease.place == second.address
                    assert await call(lease, "write", path="a.txt", text="kept") == "written"
                first.restore()

    with Relay(tmp_path / "first.sock") as first, Relay(tmp_path / "second.sock") as second:
        anyio.run(run, first, second)
    assert mine() == []
