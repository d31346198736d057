"""Several servers share a database behind a load balancer: a handle works at each, and one of them may be killed."""

import json
import re
import secrets
import signal
import subprocess
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from anyio.abc import SocketAttribute, SocketStream
from mcp_types import CLIENT_CAPABILITIES_META_KEY, CLIENT_INFO_META_KEY, PROTOCOL_VERSION_META_KEY

from m3bench.server.store.factory import open_store
from m3bench.server.store.location import RecordLocation
from m3bench.server.store.postgres.store import PostgresStore
from m3bench.tasks.errors import RunError
from tests.postgres import Server
from tests.server.conftest import SERVE
from tests.sets import write_set

pytestmark = [pytest.mark.anyio, pytest.mark.postgres]

SEATS = 64
REVISION = "2026-07-28"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Replica:
    """A server process."""

    def __init__(self, url: str, data: Path, tasks: Path) -> None:
        command = [*SERVE, "--http", "127.0.0.1:0", "--store", url, "--data", str(data), "--tasks", str(tasks)]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        line = self.process.stderr.readline()
        found = re.search(r"127\.0\.0\.1:(\d+)(?=/mcp)", line)
        assert found is not None, line + self.process.stderr.read()
        self.port = int(found[1])

    def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        self.process.send_signal(how)
        self.process.communicate(timeout=120)


class Replicas:
    """Three servers on one database; their files lie in one folder, or in one for each."""

    def __init__(self, url: str, folders: Sequence[Path], tasks: Path) -> None:
        self.servers = [Replica(url, folder, tasks) for folder in folders]

    def close(self) -> None:
        for server in self.servers:
            if server.process.poll() is None:
                server.end()


@asynccontextmanager
async def balanced(ports: Sequence[int]) -> AsyncIterator[str]:
    """The address of a load balancer that gives each connection to the next server that takes it."""
    turns = count()

    async def pump(source: SocketStream, sink: SocketStream) -> None:
        with suppress(anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            while True:
                await sink.send(await source.receive())
        with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            await sink.send_eof()

    async def serve(near: SocketStream) -> None:
        async with near:
            for _ in ports:
                with suppress(OSError):
                    far = await anyio.connect_tcp("127.0.0.1", ports[next(turns) % len(ports)])
                    async with far, anyio.create_task_group() as both:
                        both.start_soon(pump, near, far)
                        await pump(far, near)
                        both.cancel_scope.cancel()
                    return

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    async with listener, anyio.create_task_group() as group:
        group.start_soon(listener.serve, serve)
        yield f"http://127.0.0.1:{listener.extra(SocketAttribute.local_port)}"
        group.cancel_scope.cancel()


class Player:
    """A client by handle, each request of which comes to another server."""

    def __init__(self, client: httpx2.AsyncClient, number: int) -> None:
        self._client = client
        self._path = f"/seat/{secrets.token_urlsafe(24)}/mcp?profile=task:sum-1"
        self._ids = count(1)
        self.numbers = [number, 2 * number + 1, 5]

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The result of a call; one that a server took with it when it ended is sent again."""
        about = {
            PROTOCOL_VERSION_META_KEY: REVISION, CLIENT_CAPABILITIES_META_KEY: {},
            CLIENT_INFO_META_KEY: {"name": "player", "version": "1"},
        }  # fmt: skip
        headers = {
            "accept": "application/json, text/event-stream", "connection": "close", "mcp-protocol-version": REVISION,
            "mcp-method": "tools/call", "mcp-name": tool,
        }  # fmt: skip
        while True:
            params = {"name": tool, "arguments": arguments, "_meta": about}
            message = {"jsonrpc": "2.0", "id": next(self._ids), "method": "tools/call", "params": params}
            try:
                answer = await self._client.post(self._path, json=message, headers=headers)
            except httpx2.TransportError:
                continue
            if answer.status_code in (502, 503):
                await anyio.sleep(0.1)
                continue
            assert answer.status_code == 200, answer.text
            lines = [line[6:] for line in answer.text.splitlines() if line.startswith("data: ")] or [answer.text]
            found: dict[str, Any] = json.loads(lines[-1])
            return dict(found["result"])

    async def begin(self) -> None:
        """Start a task and make the first call."""
        started = await self.call("start_task", task_id="sum-1")
        assert not started.get("isError"), started
        self.run = started["_meta"]["m3bench/task"]["run"]
        assert await self.sum() == sum(self.numbers)

    async def sum(self) -> int:
        """Something only this player asks for."""
        result = await self.call("math__sum", numbers=self.numbers)
        assert not result.get("isError"), result
        return round(float(result["content"][0]["text"]))

    async def finish(self) -> str:
        """Go on after whatever happened: what the server that is asked now says, or `scored`."""
        result = await self.call("math__sum", numbers=self.numbers)
        said = str(result["content"][0]["text"])
        if result.get("isError"):
            return said
        assert round(float(said)) == sum(self.numbers), "the answer to another seat's call"
        for tool, arguments in (("submit", {"answer": "108"}), ("score", {})):
            result = await self.call(tool, **arguments)
            assert not result.get("isError"), result
        return "scored"


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    return write_set(tmp_path / "set")


@pytest.fixture
def url(postgres: Server) -> str:
    return postgres.new_database()


@pytest.fixture
def opened(url: str, tmp_path: Path) -> Iterator[list[PostgresStore]]:
    """Three stores as three servers have them, the last of which cannot be reached."""
    stores = [
        PostgresStore(RecordLocation(tmp_path / name, url), owner=name, address=address)
        for name, address in (("a", "http://a"), ("b", "http://b"), ("c", None))
    ]
    yield stores
    for store in stores:
        store.close()


def test_the_first_server_that_is_asked_has_a_seat_until_it_lets_go(opened: list[PostgresStore]) -> None:
    a, b, c = opened
    assert a.home("s1") is None
    assert a.home("s1") is None
    assert b.home("s1") == "http://a"
    assert b.home("s2") is None
    assert c.home("s2") == "http://b"
    b.leave("s1")
    assert b.home("s1", doubted=True) == "http://a", "nobody gives away what another has"
    a.leave("s1")
    assert b.home("s1") is None
    assert a.home("s1") == "http://b"
    b.close()
    assert a.home("s1") is None


def test_a_server_that_cannot_be_reached_is_said_to_have_a_seat(opened: list[PostgresStore]) -> None:
    a, _, c = opened
    assert c.home("s3") is None
    with pytest.raises(RunError, match="another m3bench server"):
        a.home("s3")


@pytest.mark.all_sample(1)
@pytest.mark.kills
@pytest.mark.parametrize("shared", [True, False], ids=["one folder", "a folder each"])
async def test_seats_go_on_or_are_void_with_the_true_reason_when_a_server_is_killed(
    url: str, tasks: Path, tmp_path: Path, shared: bool
) -> None:
    folders = [tmp_path / ("data" if shared else f"data-{number}") for number in range(3)]
    replicas = Replicas(url, folders, tasks)
    try:
        with anyio.fail_after(500):
            async with (
                balanced([server.port for server in replicas.servers]) as address,
                httpx2.AsyncClient(base_url=address, timeout=120, limits=httpx2.Limits()) as client,
            ):
                players = [Player(client, number) for number in range(SEATS)]
                async with anyio.create_task_group() as group:
                    for player in players:
                        group.start_soon(player.begin)
                assert len({player.run for player in players}) == SEATS
                homes = _homes(url, folders[0])
                assert len(set(homes.values())) == 3, "each server has some of the seats"
                replicas.servers[0].end(signal.SIGKILL)
                ends: dict[str, str] = {}

                async def finish(player: Player) -> None:
                    ends[player.run] = await player.finish()

                async with anyio.create_task_group() as group:
                    for player in players:
                        group.start_soon(finish, player)
    finally:
        replicas.close()
    void = [said for said in ends.values() if said != "scored"]
    if shared:
        assert void == []
    else:
        assert 0 < len(void) < SEATS
        assert all("is void, and that is not your fault" in said and "workspace" in said for said in void), void[0]
    store = open_store(RecordLocation(folders[1], url))
    try:
        for player in players:
            record = store.run(player.run)
            assert record is not None
            assert record.state == ("scored" if ends[player.run] == "scored" else "void")
            asked = {call.params["arguments"]["numbers"][0] for call in _sums(store.calls(player.run))}
            assert asked == {player.numbers[0]}, "no call of another seat is in the run"
    finally:
        store.close()


def _sums(calls: Sequence[Any]) -> list[Any]:
    return [call for call in calls if call.tool == "math/sum"]


def _homes(url: str, folder: Path) -> dict[str, str]:
    """Which server has each seat."""
    store = PostgresStore(RecordLocation(folder, url))
    try:
        return dict(store._pool.fetch("SELECT seat, owner FROM homes"))
    finally:
        store.close()
