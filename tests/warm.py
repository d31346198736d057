"""Starts the commands of m3bench quickly: one process for each worker imports the program once, and forks.

Most of what a command costs in a test is Python importing the same modules again. While this is on, a child process
that would run `python -m m3bench.server.cli` is a small launcher instead, which passes its streams, folder, environment
and signals on to a fork, and ends as that does. Tests of how the program itself starts or dies are marked `cold`.
Third-party servers that tests bring are started so by name: `FORKS.launcher("tests.proxy.echo_server")`.
"""

import math
import os
import shutil
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from tempfile import gettempdir
from typing import Any

from m3bench.server.lab.headless.forked_servers import ForkServer, load

COMMAND = [sys.executable, "-m", "m3bench.server.cli"]

LAUNCHER = """\
import json, os, signal, socket, sys
line = socket.socket(socket.AF_UNIX)
line.connect(sys.argv[1])
socket.send_fds(line, [b"."], [0, 1, 2])
wanted = {"command": sys.argv[2:], "folder": os.getcwd(), "environment": dict(os.environ)}
line.sendall(json.dumps(wanted).encode() + b"\\n")
pid = int.from_bytes(line.recv(8), "little")
def forward(number, frame):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
    if signal.getsignal(number) is not signal.SIG_IGN:
        signal.signal(number, forward)
os.closerange(0, 3)
status = int.from_bytes(line.recv(8), "little")
if os.WIFSIGNALED(status):
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if os.WTERMSIG(status) != signal.SIGKILL:
        signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
    os.kill(os.getpid(), os.WTERMSIG(status))
os._exit(os.waitstatus_to_exitcode(status))
"""

LOADED = (
    "m3bench.server.lab.headless.inspect_run",
    "m3bench.server.commands.run",
    "m3bench.server.commands.tasks",
)
"""What commands, and the third-party servers of tests, load beside what a server of ours does."""

_start = subprocess.Popen.__init__


class Forks:
    """The process that forks for this one, started when it is first wanted."""

    is_on = sys.platform == "linux"
    """Whether commands are forked at present."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.where = str(Path(gettempdir(), f"m3bench-tests-{os.getpid()}", "forks"))

    def launcher(self, module: str, *arguments: str) -> list[str]:
        """The command that has a module forked as a program; on a system without forks the plain one."""
        command = [sys.executable, "-m", module, *arguments]
        return [sys.executable, "-I", "-S", "-c", LAUNCHER, self.where, *command] if self.is_on else command

    def start(self) -> None:
        """Have the process that forks; launchers wait until it has loaded the program."""
        if self.process is not None:
            return
        shutil.rmtree(Path(self.where).parent, ignore_errors=True)
        Path(self.where).parent.mkdir(mode=0o700)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(self.where)
            listener.listen(128)
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.warm", str(listener.fileno())], stdin=subprocess.PIPE,
                pass_fds=[listener.fileno()], start_new_session=True, cwd=Path(__file__).parents[1],
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
            )  # fmt: skip

    def seconds(self) -> float:
        """The processor time of all that was forked."""
        if self.process is None:
            return 0.0
        with suppress(OSError):
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
            return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
        return 0.0

    def close(self) -> None:
        """End it, and whatever it has running."""
        if self.process is not None:
            assert self.process.stdin is not None
            self.process.stdin.close()
            self.process.wait(30)
            self.process = None
            shutil.rmtree(Path(self.where).parent, ignore_errors=True)


FORKS = Forks()


def install() -> None:
    """Have child processes of this one forked where they would run a command of m3bench."""

    def start(self: Any, args: Any, *more: Any, **options: Any) -> None:
        if isinstance(args, list | tuple):
            words = [os.fspath(word) for word in args]
            if FORKS.is_on and not options.get("pass_fds") and words[:3] == COMMAND:
                args = words = FORKS.launcher(*words[2:])
            if FORKS.where in words:
                FORKS.start()
        _start(self, args, *more, **options)

    subprocess.Popen.__init__ = start  # type: ignore[method-assign]


class CommandForks(ForkServer):
    """Forks commands: a launcher is told their process and how it ended, and one that is killed takes it along."""

    def started(self, line: socket.socket, pid: int) -> None:
        line.sendall(pid.to_bytes(8, "little"))

    def ended(self, line: socket.socket, status: int) -> None:
        with suppress(OSError):
            line.sendall(status.to_bytes(8, "little"))

    def end(self, pid: int) -> float:
        os.kill(pid, signal.SIGKILL)
        return math.inf

    def close(self) -> None:
        for line, pid in self.running.items():
            os.kill(pid, signal.SIGKILL)
            self.ended(line, os.waitpid(pid, 0)[1])
            line.close()


def main() -> None:
    """Load the program, then fork for whoever asks on the socket given, until the process that started this is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with socket.socket(fileno=int(sys.argv[1])) as listener:
        listener.set_inheritable(False)
        for name in LOADED:
            import_module(name)
        load()
        CommandForks(listener).run()


if __name__ == "__main__":
    main()
