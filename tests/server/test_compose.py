"""The whole service in a container: up, used by a client with the token, down, and nothing left."""

import os
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from m3bench.sandboxes.backends.docker import image
from m3bench.sandboxes.backends.docker.engine import DockerEngine
from m3bench.sandboxes.backends.docker.leases import holdings, myself
from m3bench.sandboxes.images.builder import SERVICE
from m3bench.sandboxes.images.context import service_manifest

pytestmark = [pytest.mark.anyio, pytest.mark.docker]

FOLDER = Path(__file__).parents[2] / "docker"
FILES = {"process": ("compose.yaml",), "docker": ("compose.yaml", "compose.sandboxes.yaml")}
"""By where the tools of runs live."""
READY_SECONDS = 60


class Service(NamedTuple):
    """A service that is up."""

    url: str
    token: str
    project: str
    sandbox: str


def compose() -> list[str]:
    """The command, in whichever form there is."""
    if subprocess.run(["docker", "compose", "version"], capture_output=True, check=False).returncode == 0:
        return ["docker", "compose"]
    if shutil.which("docker-compose") is not None:
        return ["docker-compose"]
    return []


def left(project: str) -> list[str]:
    """What the engine still has of a project."""
    engine, ours = DockerEngine(), {"label": f"com.docker.compose.project={project}"}
    try:
        containers = engine.answer(lambda client: client.containers(all=True, filters=ours))
        networks = engine.answer(lambda client: client.networks(filters=ours))
        volumes = engine.answer(lambda client: client.volumes(filters=ours)["Volumes"] or [])
    finally:
        engine.close()
    return [str(one.get("Name") or one.get("Names")) for one in (*containers, *networks, *volumes)]


def image_problem() -> str | None:
    """Why the service cannot be started from what the engine has."""
    name, engine = f"{SERVICE}:{image.installed_version()}", DockerEngine()
    try:
        found = engine.answer(lambda client: client.images(name))
    finally:
        engine.close()
    if not found or (found[0]["Labels"] or {}).get(image.MANIFEST_LABEL) != service_manifest():
        return f"the engine has no {name} of this state: run `m3bench image build`"
    return None if compose() else "neither docker compose nor docker-compose is installed"


def foreign() -> set[str]:
    """Containers and volumes of runs whose owner is not among the processes here, but in a container."""
    engine, here = DockerEngine(), myself().place
    try:
        return {holding.name for holding in engine.answer(holdings) if holding.owner.place != here}
    finally:
        engine.close()


@pytest.fixture(scope="module", params=FILES)
def service(request: pytest.FixtureRequest) -> Iterator[Service]:
    problem = image_problem()
    if problem is not None and (os.environ.get("CI") == "true" or os.environ.get("M3BENCH_REQUIRE_DOCKER") == "1"):
        pytest.fail(problem)
    if problem is not None:
        pytest.skip(problem)
    with socket.create_server(("127.0.0.1", 0)) as free:
        listen = f"127.0.0.1:{free.getsockname()[1]}"
    up = Service(f"http://{listen}", secrets.token_hex(16), f"m3benchtest{secrets.token_hex(4)}", request.param)
    command = [*compose(), "--project-name", up.project]
    for file in FILES[up.sandbox]:
        command += ["--file", str(FOLDER / file)]
    place = Path(DockerEngine().address.removeprefix("unix://"))
    if up.sandbox == "docker" and not place.is_socket():
        pytest.skip("the engine has no socket here that a container could be given")
    given = {"DOCKER_SOCKET": str(place), "DOCKER_GID": str(place.stat().st_gid)} if place.is_socket() else {}
    environment = {**os.environ, **given, "M3BENCH_TOKEN": up.token, "M3BENCH_LISTEN": listen}
    before = foreign()
    try:
        subprocess.run([*command, "up", "--detach"], env=environment, capture_output=True, check=True)
        _wait_for(up.url)
        yield up
    finally:
        subprocess.run([*command, "down", "--volumes"], env=environment, capture_output=True, check=True)
    assert left(up.project) == []
    assert foreign() - before == set()


def _wait_for(url: str) -> None:
    end = time.monotonic() + READY_SECONDS
    while time.monotonic() < end:
        with suppress(httpx2.HTTPError):
            if httpx2.get(f"{url}/health", timeout=5).status_code == 200:
                return
        time.sleep(0.1)
    raise AssertionError(f"{url} does not answer")


def test_without_the_token_nobody_gets_in(service: Service) -> None:
    assert httpx2.post(f"{service.url}/mcp", json={}, timeout=30).status_code == 401
    headers = {"authorization": "Bearer wrong"}
    assert httpx2.post(f"{service.url}/mcp", json={}, headers=headers, timeout=30).status_code == 401


async def test_a_client_with_the_token_plays_a_task(service: Service) -> None:
    headers = {"authorization": f"Bearer {service.token}"}
    with anyio.fail_after(120):
        async with create_mcp_http_client(headers=headers) as http:
            transport = streamable_http_client(f"{service.url}/mcp", http_client=http)
            async with Client(transport, mode="legacy") as client:
                started = await client.call_tool("start_task", {})
                assert not started.is_error
                before = foreign()
                summed = await client.call_tool("math__sum", {"numbers": [4, 8, 15]})
                assert summed.content[0].text == "27"
                made = await client.call_tool("excel__create_workbook", {"filepath": "a.xlsx"})
                assert made.content[0].text == "Created workbook at a.xlsx"
                assert bool(foreign() - before) == (service.sandbox == "docker")
                assert (await client.call_tool("submit", {"answer": "27"})).is_error  # it has no fields
                assert not (await client.call_tool("submit", {"answer": "27"})).is_error
                scored = await client.call_tool("score", {})
                assert not scored.is_error


def test_the_service_is_held_to_the_baseline(service: Service) -> None:
    engine = DockerEngine()
    try:
        ours = {"label": f"com.docker.compose.project={service.project}"}
        (found,) = engine.answer(lambda client: client.containers(filters=ours))
        config = engine.answer(lambda client: client.inspect_container(found["Id"]))
    finally:
        engine.close()
    assert config["Config"]["User"] == f"{image.USER}:{image.GROUP}"
    host = config["HostConfig"]
    assert (host["ReadonlyRootfs"], host["CapDrop"], host["Init"]) == (True, ["ALL"], True)
    assert host["SecurityOpt"] == ["no-new-privileges:true"]
    assert host["Memory"] == host["MemorySwap"] == 4 * 1024**3
    socket = {"/var/run/docker.sock"} if service.sandbox == "docker" else set()
    assert {mount["Destination"] for mount in config["Mounts"]} == {"/data", *socket}


def test_without_a_token_it_does_not_start() -> None:
    if not compose():
        pytest.skip("neither docker compose nor docker-compose is installed")
    environment = {name: value for name, value in os.environ.items() if name != "M3BENCH_TOKEN"}
    command = [*compose(), "--project-name", "m3benchtest", "--file", str(FOLDER / "compose.yaml"), "config"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "openssl rand -hex 16" in done.stderr
