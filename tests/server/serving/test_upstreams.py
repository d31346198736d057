"""Third-party servers that are images, on a real engine: our own image plays one that looks around on purpose."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
import httpx2
import pytest

from m3bench.proxy.seat import Seat
from m3bench.proxy.upstreams.configuration import UpstreamEntry
from m3bench.proxy.upstreams.servers import UpstreamServers
from m3bench.sandboxes.backends.docker import image
from m3bench.sandboxes.backends.docker.engine import DockerEngine
from m3bench.sandboxes.backends.docker.leases import PRODUCT
from m3bench.server.serving.egress import NETWORK
from m3bench.server.serving.upstreams import Containers

pytestmark = [pytest.mark.anyio, pytest.mark.docker]

LOOKING_AROUND = ("--workspace", "/tmp", "--servers", "probe")

PUBLIC, PRIVATE = "9.119.119.2", "10.219.119.2"
"""Two addresses of a neighbour that the tests make up, on the far side of a pair of virtual cables."""
PORT = 8642


@asynccontextmanager
async def upstreams(**given: Any) -> AsyncIterator[UpstreamServers]:
    entry = UpstreamEntry(**{"image": image.reference(), "args": LOOKING_AROUND, **given})
    with anyio.fail_after(60):
        async with UpstreamServers({"it": entry}, containers=Containers().open) as opened:
            yield opened


async def probe(upstreams: UpstreamServers, tool: str, **arguments: Any) -> Any:
    name = f"it__probe__{tool}"
    seat = Seat(id="seat", profile="full")
    answer = await upstreams.call(seat, None, name, {"name": name, "arguments": arguments, "_meta": {}}, None, 30)
    return json.loads(answer.result)["content"][0]["text"]


def ours() -> list[str]:
    """Names of containers of upstream servers."""
    engine = DockerEngine()
    try:
        found = engine.answer(lambda client: client.containers(all=True, filters={"label": PRODUCT}))
        return [one["Names"][0] for one in found if one["Labels"]["io.m3bench.run"] == "upstream-it"]
    finally:
        engine.close()


async def test_an_image_answers_and_is_gone_afterwards() -> None:
    async with upstreams(env={"GREETING": "hello"}) as opened:
        assert await probe(opened, "echo", text="größe") == "größe"
        assert json.loads(await probe(opened, "environment"))["GREETING"] == "hello"
        assert len(ours()) == 1
    assert ours() == []


async def test_an_image_is_held_to_the_baseline() -> None:
    async with upstreams() as opened:
        status = await probe(opened, "read", path="/proc/self/status")
        assert "Uid:\t10001\t10001\t10001\t10001" in status
        assert "CapEff:\t0000000000000000" in status
        assert "NoNewPrivs:\t1" in status
        assert await probe(opened, "read", path="/sys/class/net") == "lo"
        assert "Read-only file system" in await probe(opened, "write", path="/escape", text="x")
        assert "unreachable" in await probe(opened, "connect", host="1.1.1.1", port=53, kind="tcp")


async def test_an_image_that_died_is_started_again_by_the_next_call() -> None:
    async with upstreams() as opened:
        assert "is not available" in await probe(opened, "crash", code=3)
        assert await probe(opened, "echo", text="again") == "again"
    assert ours() == []


async def test_an_image_the_engine_has_not_got_is_left_out_with_the_remedy(capfd: pytest.CaptureFixture[str]) -> None:
    async with upstreams(image="m3bench-no-such-image:1") as opened:
        assert opened.tools() == ()
    told = capfd.readouterr().err
    assert "the engine has no image m3bench-no-such-image:1: get it with docker pull m3bench-no-such-image:1" in told


async def test_there_is_no_way_out_where_it_cannot_be_filtered(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "")
    async with upstreams(egress=True) as opened:
        assert opened.tools() == ()
    assert "egress needs iptables to keep private addresses out of reach: install it." in capfd.readouterr().err
    assert ours() == []


def _is_filtering() -> bool:
    """Whether rules can be set here, and the engine sets its own."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0 or not (shutil.which("iptables") and shutil.which("ip")):
        return False
    listed = subprocess.run(["iptables", "--list", "DOCKER-USER"], capture_output=True, check=False)
    return listed.returncode == 0


@pytest.fixture
def neighbour() -> Iterator[None]:
    """A web server on a made-up neighbour of this machine, with a public and a private address."""
    if not _is_filtering():
        pytest.skip("rules cannot be set here, or the engine runs with --iptables=false")
    name = "m3bench-outside"
    inside = ["ip", "netns", "exec", name]
    steps = [
        ["ip", "netns", "add", name],
        ["ip", "link", "add", "m3bench-near", "type", "veth", "peer", "name", "m3bench-far", "netns", name],
        ["ip", "link", "set", "m3bench-near", "up"],
        [*inside, "ip", "link", "set", "m3bench-far", "up"],
    ]
    for address in (PUBLIC, PRIVATE):
        prefix = address.rpartition(".")[0]
        steps += [
            ["ip", "address", "add", f"{prefix}.1/24", "dev", "m3bench-near"],
            [*inside, "ip", "address", "add", f"{address}/24", "dev", "m3bench-far"],
        ]
    server = None
    try:
        for step in steps:
            subprocess.run(step, check=True)
        server = subprocess.Popen(
            [*inside, sys.executable, "-m", "http.server", str(PORT), "--directory", "/var/empty"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        _wait_for(PRIVATE)
        yield
    finally:
        if server is not None:
            server.kill()
            server.wait()
        subprocess.run(["ip", "netns", "delete", name], check=False)


def _wait_for(host: str) -> None:
    end = time.monotonic() + 20
    while time.monotonic() < end:
        with suppress(httpx2.HTTPError):
            httpx2.get(f"http://{host}:{PORT}/", timeout=2)
            return
    raise AssertionError(f"{host} does not answer")


@pytest.mark.usefixtures("neighbour")
async def test_a_way_out_leads_to_public_addresses_alone() -> None:
    async with upstreams(egress=True) as opened:
        assert await probe(opened, "connect", host=PUBLIC, port=PORT, kind="tcp") == "connected"
        assert "refused" in await probe(opened, "connect", host=PRIVATE, port=PORT, kind="tcp")
        for special in ("169.254.169.254", "192.168.1.1", "172.16.0.1", "100.64.0.1"):
            assert await probe(opened, "connect", host=special, port=80, kind="tcp") != "connected"
        # This machine itself, by either of its addresses there.
        with socket.create_server(("", 0)) as listening:
            for address in (PUBLIC, PRIVATE):
                own = f"{address.rpartition('.')[0]}.1"
                said = await probe(opened, "connect", host=own, port=listening.getsockname()[1], kind="tcp")
                assert "refused" in said
        addresses = await probe(opened, "read", path="/proc/net/if_inet6")
        assert addresses.strip() == ""
    async with upstreams() as opened:
        assert "unreachable" in await probe(opened, "connect", host=PUBLIC, port=PORT, kind="tcp")
    engine = DockerEngine()
    assert NETWORK not in [network["Name"] for network in engine.answer(lambda client: client.networks())]
    engine.close()
