"""Servers that are forked from one process: like those that are started as programs, only sooner."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextvars import Context
from pathlib import Path

import pytest

from m3bench.server.lab.headless import forked_servers as module
from m3bench.server.lab.headless.forked_servers import FORKS, forked_servers, launcher
from m3bench.server.lab.headless.inspect_seat import server_environment
from tests.waiting import eventually

PROGRAM = [sys.executable, "-m", "m3bench.server.cli"]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux forks servers")


@pytest.fixture(scope="module")
def forks() -> Iterator[None]:
    with forked_servers(server_environment()):
        yield


def start(*arguments: str, **variables: str) -> subprocess.Popen[str]:
    command = launcher([*PROGRAM, *arguments])
    assert command[1] == "-I", "a launcher, not the program"
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=server_environment() | variables,
    )  # fmt: skip


@pytest.mark.usefixtures("forks")
def test_a_forked_program_has_the_pipes_and_variables_of_its_launcher() -> None:
    assert __file__ in start("runs", "list", M3BENCH_DATA=__file__).communicate(timeout=120)[1], "a file is no folder"
    assert start("--version").communicate(timeout=120)[0].strip()


@pytest.mark.usefixtures("forks")
def test_a_server_ends_with_its_input_and_with_its_launcher(tmp_path: Path) -> None:
    def hello(process: subprocess.Popen[str]) -> dict[str, object]:
        assert process.stdin is not None
        assert process.stdout is not None
        request = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        return dict(json.loads(process.stdout.readline()))

    for ended in ("input", "launcher"):
        process = start("serve", "--data", str(tmp_path), "--sandbox", "inprocess")
        assert hello(process)["id"] == 1
        assert process.stdin is not None
        assert process.stdout is not None
        if ended == "input":
            process.stdin.close()
        else:
            process.send_signal(signal.SIGKILL)
        # The end of its output is the end of the server: nobody else holds the pipe.
        assert process.stdout.read() == ""
        process.wait(60)
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()


def test_the_process_that_forks_has_read_what_servers_read_and_started_no_thread(tmp_path: Path) -> None:
    code = (
        "import os, sys\n"
        f"from {module.__name__} import load\n"
        "load()\n"
        "print(len(os.listdir('/proc/self/task')))\n"
        "from m3bench.server.app import App\n"
        "from m3bench.server.runs.loading import encoder_of\n"
        "from m3bench.server.settings import Settings\n"
        "known = set(sys.modules)\n"
        "app = App(Settings.of(data=sys.argv[1]))\n"
        "app.check()\n"
        "assert {'set', 'tasks', 'hash', '_plans'} <= vars(app.library).keys()\n"
        "assert app.backend and encoder_of(app.settings.encoder)\n"
        "print(*sorted(name for name in set(sys.modules) - known if name.startswith(('m3bench', 'numpy'))))\n"
    )
    environment = server_environment() | module.ALONE
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], env=environment, capture_output=True, text=True, timeout=240
    )
    assert done.stdout == "1\n\n", done.stderr


@pytest.mark.slow
def test_without_the_process_that_forks_a_server_is_started_as_a_program(tmp_path: Path) -> None:
    def started() -> None:
        assert launcher(PROGRAM) == PROGRAM
        FORKS.set(str(tmp_path / "nobody"))
        process = start("--version")
        assert process.communicate(timeout=120)[0].strip()
        assert process.returncode == 0

    Context().run(started)


@pytest.mark.slow
def test_the_process_that_forks_ends_with_whoever_started_it_and_knows_no_keys(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    assert "OPENAI_API_KEY" not in server_environment()
    code = (
        "import os, sys\n"
        f"from {module.__name__} import forked_servers\n"
        "with forked_servers(dict(os.environ)):\n    print('ready', flush=True)\n    sys.stdin.read()\n"
    )
    owner = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert owner.stdout is not None
    assert owner.stdout.readline() == b"ready\n"
    children = Path(f"/proc/{owner.pid}/task/{owner.pid}/children").read_text().split()
    assert len(children) == 1
    owner.kill()
    owner.communicate(timeout=60)
    eventually(lambda: not Path(f"/proc/{children[0]}").exists(), "the process that forks to be gone", 60)
