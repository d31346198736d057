"""A program under supervision: what came of it ends with it and with the asker, and its own end is passed on."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from m3bench.tasks import supervisor

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows has job objects")

DAEMON = """
import os, threading
told, tell = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    print(os.getpid(), flush=True)
    os.write(tell, b".")
    threading.Event().wait()
os.read(told, 1)
"""


@contextmanager
def supervised(program: str) -> Iterator[tuple["subprocess.Popen[bytes]", int]]:
    """A Python program under supervision, and the end of the pipe that holds it."""
    theirs, ours = os.pipe()
    command = supervisor.command(theirs, [sys.executable, "-I", "-S", "-c", program])
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=(theirs,)) as process:
        os.close(theirs)
        try:
            yield process, ours
        finally:
            os.close(ours)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize(
    ("program", "code"),
    [
        ("", 0),
        ("raise SystemExit(7)", 7),
        ("import os; os.kill(os.getpid(), 11)", -signal.SIGSEGV),
        ("import os; os.kill(os.getpid(), 9)", -signal.SIGKILL),
    ],
    ids=["well", "code", "crash", "killed"],
)
def test_a_program_ends_as_if_nobody_stood_between(program: str, code: int) -> None:
    with supervised(program) as (process, _):
        assert process.wait(10) == code


def test_a_program_that_is_not_there_ends_as_in_a_shell() -> None:
    theirs, ours = os.pipe()
    command = supervisor.command(theirs, ["m3bench-no-such-program"])
    done = subprocess.run(command, pass_fds=(theirs,), capture_output=True, check=False, timeout=10)
    os.close(theirs)
    os.close(ours)
    assert (done.returncode, done.stderr) == (
        supervisor.CANNOT_START,
        b"m3bench-no-such-program: No such file or directory\n",
    )


def test_standard_input_and_output_are_the_programs_own() -> None:
    with supervised("print(input(), flush=True); import os; os.close(1); os.read(0, 1)") as (process, _):
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"hello\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"hello\n"
        assert process.stdout.read() == b""
        process.stdin.write(b"\n")
        process.stdin.close()
        assert process.wait(10) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no process adopts orphans")
def test_a_daemon_ends_with_the_program_that_started_it() -> None:
    with supervised(DAEMON) as (process, _):
        assert process.stdout is not None
        daemon = int(process.stdout.readline())
        assert process.wait(10) == 0
        assert not _is_running(daemon)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no process adopts orphans")
def test_everything_ends_when_the_asker_lets_go() -> None:
    with supervised(DAEMON + "import threading; threading.Event().wait()") as (process, ours):
        assert process.stdout is not None
        daemon = int(process.stdout.readline())
        os.dup2(os.open(os.devnull, os.O_RDONLY), ours)
        assert process.wait(10) == -signal.SIGKILL
        assert not _is_running(daemon)


def test_a_request_to_end_is_passed_on() -> None:
    program = "import os, signal; signal.signal(15, lambda *_: os._exit(3)); print('ready', flush=True); signal.pause()"
    with supervised(program) as (process, _):
        assert process.stdout is not None
        process.stdout.readline()
        process.terminate()
        assert process.wait(10) == 3
