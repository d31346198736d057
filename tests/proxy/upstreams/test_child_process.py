"""Third-party servers that are programs: they end with us, and so does whatever they started."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from m3bench.proxy.upstreams.child_process import ChildProcess

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no process adopts orphans"),
]

SERVER = """
import os, threading
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    print(os.getpid(), flush=True)
    threading.Event().wait()
{then}
"""
"""A server that starts a daemon, says which process that is, and goes on."""

STUBBORN = "import signal; signal.signal(15, signal.SIG_IGN); threading.Event().wait()"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def program(then: str) -> list[str]:
    """A server in Python."""
    return [sys.executable, "-I", "-S", "-c", SERVER.format(then=then)]


async def _gone(pid: int) -> None:
    with anyio.fail_after(2):
        while Path(f"/proc/{pid}").exists():  # noqa: ASYNC110 - another process ends when it ends
            await anyio.sleep(0.01)


@pytest.mark.parametrize("then", ["input()", STUBBORN], ids=["that ends with its input", "that ignores being asked"])
async def test_a_server_that_is_stopped_leaves_no_daemon(then: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("m3bench.proxy.upstreams.child_process.STOP_SECONDS", 0.2)
    child = ChildProcess(program(then), dict(os.environ))
    daemon = int(os.read(child.reading, 100))
    await child.stop()
    await _gone(daemon)


async def test_a_server_and_its_daemons_end_when_m3bench_is_killed() -> None:
    owner = (
        "import os, sys, threading\nfrom m3bench.proxy.upstreams.child_process import ChildProcess\n"
        f"child = ChildProcess({program(STUBBORN)!r}, dict(os.environ))\n"
        "print(os.read(child.reading, 100).decode(), end='', flush=True)\nthreading.Event().wait()"
    )
    with subprocess.Popen([sys.executable, "-c", owner], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        daemon = int(process.stdout.readline())
        process.send_signal(signal.SIGKILL)
    await _gone(daemon)


@pytest.mark.parametrize("command", ["/no/such/program", "no-such-program", "./no-such-program"])
async def test_a_program_that_is_not_there_is_said_at_once(command: str, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="No such file"):
        ChildProcess([command], dict(os.environ), str(tmp_path))


async def test_a_program_beside_the_folder_it_starts_in_is_found(tmp_path: Path) -> None:
    (tmp_path / "server").write_text("#!/bin/sh\necho here\n")
    (tmp_path / "server").chmod(0o755)
    child = ChildProcess(["./server"], dict(os.environ), str(tmp_path))
    assert os.read(child.reading, 100) == b"here\n"
    await child.stop()
