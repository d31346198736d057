"""A server under attack goes on answering others, and forgets the attack when it is over."""

import json
import resource
import secrets
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.proxy.house import modern
from tests.proxy.web import HEADERS, events, modern_headers
from tests.server.conftest import serving

pytestmark = [
    pytest.mark.cold,
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc"),
]

MODERN = {name.replace("_", "-"): value for name, value in modern_headers("x", "prompts/list").items()}


def request(method: str, params: dict[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": modern(params)}).encode()


class Server:
    """A server process, from the outside."""

    def __init__(self, process: Any, url: str) -> None:
        self.url = url
        self._process = Path(f"/proc/{process.pid}")
        self.address = ("127.0.0.1", int(url.rpartition(":")[2]))

    @property
    def memory(self) -> int:
        """Kilobytes that it holds."""
        lines = (self._process / "status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))

    def _kept(self) -> float:
        """Seconds for which the machine had no core for a thread of the server or of this process."""
        found = 0
        for task in (*(self._process / "task").iterdir(), *Path("/proc/self/task").iterdir()):
            with suppress(OSError):  # a thread that has ended
                found += int((task / "schedstat").read_text().split()[1])
        return found / 1e9

    def health(self) -> float:
        """How long another client waits for an answer, over a connection of its own, on a machine that is free."""
        begun, kept = time.perf_counter(), self._kept()
        connection = HTTPConnection(*self.address, timeout=30)
        try:
            connection.request("GET", "/health")
            assert connection.getresponse().status == 200
        finally:
            connection.close()
        return time.perf_counter() - begun - (self._kept() - kept)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Another client asks all the while, and must not wait for a second."""
        waits: list[float] = []
        done = threading.Event()

        def ask() -> None:
            while not done.wait(0.02):
                waits.append(self.health())

        asker = threading.Thread(target=ask)
        asker.start()
        try:
            yield
        finally:
            done.set()
            asker.join()
        assert waits
        assert max(waits) < 1, waits

    def post(self, client: httpx2.Client, path: str, method: str, params: dict[str, Any], **headers: str) -> Any:
        return self.send(client, path, method, request(method, params), **headers)

    def send(self, client: httpx2.Client, path: str, method: str, content: bytes, **headers: str) -> Any:
        given = {**HEADERS, **MODERN, "mcp-method": method, **headers}
        answer = client.post(f"{self.url}{path}", content=content, headers=given)
        assert answer.status_code == 200, answer.text
        return events(answer)[-1]["result"]


@pytest.fixture
def server(tmp_path: Path, task_set: Path) -> Iterator[Server]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 6000), hard))
    try:
        run = serving(["--tasks", str(task_set), "--data", str(tmp_path / "d")])
        with run as url:
            yield Server(run.process, url)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.skipif(resource.getrlimit(resource.RLIMIT_NOFILE)[1] < 6000, reason="too few files may be open here")
def test_connections_that_say_nothing_or_say_it_slowly_keep_nobody_waiting(server: Server) -> None:
    before = server.memory
    silent: list[socket.socket] = []
    with ExitStack() as stack, server.watched():
        for number in range(5000):
            opened = stack.enter_context(socket.create_connection(server.address, timeout=30))
            silent.append(opened)
            if number % 2:
                opened.send(b"GET /health HTTP/1.1\r\nhost: localhost\r\nx-slow: ")
        for _ in range(3):
            for opened in silent[1::2]:
                # Those that were let go cannot be written to, as it should be.
                with suppress(OSError):
                    opened.send(b"a")
    assert server.health() < 30
    assert server.memory <= 1.2 * before


@pytest.mark.parametrize("files", [64, 256])
def test_where_few_files_may_be_open_connections_leave_some_to_others(
    files: int, tmp_path: Path, task_set: Path
) -> None:
    """What macOS allows a process is below what a server takes elsewhere."""
    limited = ["sh", "-c", f'ulimit -n {files}; exec "$@"', "sh", sys.executable, "-m", "m3bench.server.cli", "serve"]
    run = serving(["--tasks", str(task_set), "--data", str(tmp_path / "d")], command=limited)
    with run as url, ExitStack() as stack, httpx2.Client(timeout=30) as client:
        server = Server(run.process, url)
        path = f"/seat/{secrets.token_urlsafe(24)}/mcp"

        def call(name: str, arguments: dict[str, Any]) -> Any:
            return server.post(client, path, "tools/call", {"name": name, "arguments": arguments}, **{"mcp-name": name})

        for _ in range(300):
            opened = stack.enter_context(socket.socket())
            opened.setblocking(False)
            opened.connect_ex(server.address)
        with server.watched():
            call("start_task", {"task_id": "sum-1"})
            for number in range(20):
                assert not call("math__sum", {"numbers": [number]}).get("isError")


@pytest.mark.parametrize("count", [1_000, pytest.param(10_000, marks=pytest.mark.night)])
def test_thousands_of_handles_do_not_stay(server: Server, count: int) -> None:
    with httpx2.Client(timeout=30) as client:
        for _ in range(300):
            server.post(client, f"/seat/{secrets.token_urlsafe(24)}/mcp", "prompts/list", {})
        before = server.memory
        with server.watched():
            for _ in range(count):
                server.post(client, f"/seat/{secrets.token_urlsafe(24)}/mcp", "prompts/list", {})
    assert server.memory <= 1.2 * before


def test_two_million_numbers_in_one_argument_keep_nobody_waiting(server: Server) -> None:
    path = f"/seat/{secrets.token_urlsafe(24)}/mcp"
    with httpx2.Client(timeout=120) as client:

        def call(name: str, arguments: dict[str, Any]) -> Any:
            params = {"name": name, "arguments": arguments}
            return server.post(client, path, "tools/call", params, **{"mcp-name": name})

        call("start_task", {"task_id": "sum-1"})
        assert not call("math__sum", {"numbers": [1]}).get("isError")
        for numbers in ([1] * 2_000_000, [1] * 2_000_000 + ["x"]):
            # Written before: whoever asks all the while runs in this process and would wait for that.
            content = request("tools/call", {"name": "math__sum", "arguments": {"numbers": numbers}})
            with server.watched():
                answer = server.send(client, path, "tools/call", content, **{"mcp-name": "math__sum"})
            assert bool(answer.get("isError")) is ("x" in numbers)
