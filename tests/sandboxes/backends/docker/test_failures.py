"""What can be wrong with an engine: each comes as one sentence that says what to do."""

import io
import os
import socket
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from m3bench.sandboxes.backends.base import SandboxSpec
from m3bench.sandboxes.backends.docker import engine, image
from m3bench.sandboxes.backends.docker.backend import DockerBackend
from m3bench.tasks.errors import SandboxError
from tests.sandboxes.backends.docker.engines import Complaining, Relay

Ask = Callable[[Callable[[Any], Any]], Any]


def complaint(workspace: Path, **options: Any) -> str:
    """What is said when a sandbox cannot be opened."""

    async def run() -> None:
        with anyio.fail_after(60):
            async with DockerBackend(**options) as backend:
                await backend.open(SandboxSpec(workspace=workspace, servers=("probe",)))

    with pytest.raises((SandboxError, ExceptionGroup)) as caught:
        anyio.run(run)
    error: BaseException = caught.value
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    assert isinstance(error, SandboxError)
    return str(error)


def test_no_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nothing.sock")
    said = complaint(tmp_path)
    assert f"No Docker engine answers at unix://{tmp_path}/nothing.sock: start it, set DOCKER_HOST" in said
    assert "m3bench doctor" in said
    with socket.socket(socket.AF_UNIX) as deaf:
        deaf.bind(f"{tmp_path}/nothing.sock")
        assert "No Docker engine answers" in complaint(tmp_path)
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:9")
    assert "No Docker engine answers at tcp://127.0.0.1:9" in complaint(tmp_path)


def test_a_silent_engine_is_asked_once_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "ANSWER_SECONDS", 0.5)
    asked = []

    async def run() -> None:
        # Opened and asked for several times, as by calls that come together.
        async with DockerBackend() as backend:

            async def open_one() -> None:
                begin = anyio.current_time()
                with pytest.raises(SandboxError, match=r"gave no answer within 0\.5 seconds: restart it, or use"):
                    await backend.open(SandboxSpec(workspace=tmp_path, servers=("probe",)))
                asked.append(anyio.current_time() - begin)

            with anyio.fail_after(20):
                async with anyio.create_task_group() as tasks:
                    for _ in range(6):
                        tasks.start_soon(open_one)

    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(f"{tmp_path}/silent.sock")
        silent.listen(50)
        monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/silent.sock")
        anyio.run(run)
    assert len(asked) == 6
    assert max(asked) < 5


@contextmanager
def nobody() -> Iterator[None]:
    """Not the superuser, for a while."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_no_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "engine.sock"
    with socket.socket(socket.AF_UNIX) as guarded:
        guarded.bind(str(path))
        guarded.listen()
        path.chmod(0o000)
        for parent in (tmp_path, tmp_path.parent, tmp_path.parent.parent):
            parent.chmod(0o755)
        monkeypatch.setenv("DOCKER_HOST", f"unix://{path}")
        with nobody():
            said = complaint(tmp_path)
    assert "You may not use the Docker engine" in said
    assert "sudo usermod -aG docker $USER" in said


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("mkdir /var/lib/docker/overlay2/1: no space left on device", "is full: `docker system df` shows"),
        ("Unknown runtime specified runsc", "does not know the runtime asked for"),
        ("unknown or invalid runtime name: runsc", "does not know the runtime asked for"),
        ("something new", "says: something new"),
    ],
)
def test_what_an_engine_complains_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, told: str) -> None:
    with Complaining(tmp_path / "engine.sock", image.labels(), words) as complaining:
        monkeypatch.setenv("DOCKER_HOST", complaining.address)
        assert told in complaint(tmp_path)


@pytest.mark.parametrize(
    ("labels", "told"),
    [
        ({}, "was built for m3bench of an unknown version, this is"),
        ({image.VERSION_LABEL: "0.0.1"}, "was built for m3bench 0.0.1, this is"),
        ({image.VERSION_LABEL: image.installed_version(), image.MANIFEST_LABEL: "0"}, "holds other servers or data"),
    ],
)
def test_an_image_of_another_m3bench_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, labels: dict[str, str], told: str
) -> None:
    with Complaining(tmp_path / "engine.sock", labels, "never asked") as complaining:
        monkeypatch.setenv("DOCKER_HOST", complaining.address)
        said = complaint(tmp_path)
    assert told in said
    assert "run `m3bench image build`" in said


@pytest.mark.docker
@pytest.mark.usefixtures("mine")
def test_a_missing_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(image.VARIABLE, "m3bench-no-such-image:1")
    said = complaint(tmp_path)
    assert "has no image m3bench-no-such-image:1: run `m3bench image build`." in said


@pytest.mark.docker
@pytest.mark.usefixtures("mine")
def test_a_foreign_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ask: Ask) -> None:
    empty = io.BytesIO()
    tarfile.open(fileobj=empty, mode="w").close()
    name = "m3bench-foreign:1"
    ask(lambda client: client.import_image_from_data(empty.getvalue(), repository="m3bench-foreign", tag="1"))
    try:
        monkeypatch.setenv(image.VARIABLE, name)
        assert f"The image {name} was built for m3bench of an unknown version" in complaint(tmp_path)
    finally:
        ask(lambda client: client.remove_image(name, force=True))


@pytest.mark.docker
@pytest.mark.usefixtures("mine")
def test_an_unknown_runtime(tmp_path: Path) -> None:
    assert "does not know the runtime asked for" in complaint(tmp_path, runtime="no-such-runtime")


@pytest.mark.docker
@pytest.mark.usefixtures("mine")
def test_an_engine_that_is_restarted_costs_the_calls_under_way_and_those_until_it_is_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run(relay: Relay) -> None:
        with anyio.fail_after(90):
            async with DockerBackend() as backend:
                sandbox = await backend.open(SandboxSpec(workspace=tmp_path, servers=("probe",)))
                await sandbox.call("probe/write", b'{"path":"kept.txt","text":"kept"}')
                relay.cut()
                with pytest.raises(SandboxError, match="engine"):
                    await sandbox.call("probe/read", b'{"path":"kept.txt"}', 20)
                with pytest.raises(SandboxError, match="No Docker engine answers"):
                    await sandbox.call("probe/read", b'{"path":"kept.txt"}', 20)
                relay.restore()
                reply = await sandbox.call("probe/read", b'{"path":"kept.txt"}', 20)
                assert b"kept" in reply.result

    with Relay(tmp_path / "relay.sock") as relay:
        monkeypatch.setenv("DOCKER_HOST", relay.address)
        anyio.run(run, relay)
    monkeypatch.undo()
