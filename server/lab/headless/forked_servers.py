"""Starts the servers of many samples quickly: one process imports the program once and forks a server for each of them.

Most of what a sample costs is Python importing the same modules again. A forked server is a process of its own like any
other, with its own seat, sandbox and record; only how it came to be differs. Linux alone has this: elsewhere, and
whenever the process that forks cannot be reached, a server is started as a program.

The client starts `launcher(command)`, a tiny program that passes its pipes on to the forked server and lives as long as
it does, so that whoever starts, stops or kills it need not know. This module as a program is the process that forks.
"""

import atexit
import gc
import json
import math
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

FORKS: ContextVar[str | None] = ContextVar("m3bench_forks", default=None)
"""Where the process that forks listens, when there is one."""

LEAVE_SECONDS = 5.0
"""Time for a server to end when its launcher was ended, and for the process that forks to end with its run."""

ASK_SECONDS = 30.0
"""Time for a launcher to say what it wants."""

LOADED = (
    "m3bench.server.app", "m3bench.server.commands.program", "m3bench.server.commands.serve",
    "m3bench.server.serving.transport", "m3bench.sandboxes.backends.process", "m3bench.server.clients.trial.measured",
    "PIL.Image", "PIL.PngImagePlugin",
)  # fmt: skip
"""What is loaded once, by name: a server is a program here, not something to import from."""

ALONE = {"OPENBLAS_NUM_THREADS": "1"}
"""Keeps libraries from starting threads: only a process without any may fork."""

_LAUNCHER = """\
import json, os, socket, sys
try:
    line = socket.socket(socket.AF_UNIX)
    line.connect(sys.argv[1])
    socket.send_fds(line, [b"."], [0, 1, 2])
    wanted = {"command": sys.argv[2:], "folder": os.getcwd(), "environment": dict(os.environ)}
    line.sendall(json.dumps(wanted).encode() + b"\\n")
    started = line.recv(1)
except OSError:
    started = b""
if not started:
    os.execv(sys.argv[2], sys.argv[2:])
os.closerange(0, 3)
line.recv(1)
"""


def launcher(command: Sequence[str]) -> list[str]:
    """The command that starts a server: by a fork where that is possible, else the one given."""
    where = FORKS.get()
    return list(command) if where is None else [sys.executable, "-I", "-S", "-c", _LAUNCHER, where, *command]


@contextmanager
def forked_servers(environment: Mapping[str, str]) -> Iterator[None]:
    """While this holds, `launcher` gives commands that fork; a nested use adds nothing.

    Args:
        environment: Of the process that forks; a forked server has that of its launcher.
    """
    if sys.platform != "linux" or FORKS.get() is not None:
        yield
        return
    with TemporaryDirectory(prefix="m3bench-") as folder:
        where = str(Path(folder, "forks"))
        with socket.socket(socket.AF_UNIX) as listener:
            # Launchers wait from now on, until the program is loaded.
            listener.bind(where)
            listener.listen(128)
            process = subprocess.Popen(
                [sys.executable, "-m", __name__, str(listener.fileno())],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**environment, **ALONE},
                pass_fds=[listener.fileno()],
                start_new_session=True,
            )
        token = FORKS.set(where)
        try:
            yield
        finally:
            FORKS.reset(token)
            assert process.stdin is not None
            process.stdin.close()
            try:
                process.wait(LEAVE_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


class ForkServer:
    """The process that forks: nothing but this thread, and nothing open but what is named here.

    What a launcher is told, and what becomes of a process whose launcher is gone, may be changed by a subclass.

    Args:
        listener: Where launchers connect.
    """

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self._servers: dict[socket.socket, int] = {}
        """By the line to the launcher, the server's process."""
        self._ending: dict[int, float] = {}
        """Servers whose launcher is gone, and when they are killed."""
        self._wake, self._waking = os.pipe()
        os.set_blocking(self._waking, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._waking, warn_on_full_buffer=False)

    def run(self) -> None:
        """Until standard input is closed: whoever started this is gone."""
        while True:
            patience = min(self._ending.values(), default=math.inf)
            wait = None if patience == math.inf else max(0.0, patience - time.monotonic())
            watched: list[int | socket.socket] = [0, self._wake, self._listener, *self._servers]
            ready, _, _ = select.select(watched, [], [], wait)
            if 0 in ready:
                self.close()
                return
            if self._wake in ready:
                os.read(self._wake, 4096)
            self._reap()
            for line in [line for line in self._servers if line in ready]:
                # A launcher says nothing while it lives: it was ended.
                pid = self._servers.pop(line)
                line.close()
                self._ending[pid] = self.end(pid)
            if self._listener in ready:
                self._serve(self._listener.accept()[0])

    def started(self, line: socket.socket, pid: int) -> None:
        """Tell a launcher that its process runs."""
        line.sendall(b"1")

    def ended(self, line: socket.socket, status: int) -> None:
        """Tell a launcher how its process ended; that the line is closed is all that a server's launcher needs."""

    def end(self, pid: int) -> float:
        """Have a process end whose launcher is gone; when it is killed if it has not, by the monotonic clock."""
        os.kill(pid, signal.SIGTERM)
        return time.monotonic() + LEAVE_SECONDS

    def close(self) -> None:
        """Whoever started this is gone: servers notice by themselves that their clients are."""

    @property
    def running(self) -> dict[socket.socket, int]:
        """The processes that run, by the line to their launchers."""
        return dict(self._servers)

    def _serve(self, line: socket.socket) -> None:
        pipes: list[int] = []
        try:
            line.settimeout(ASK_SECONDS)
            _, pipes, _, _ = socket.recv_fds(line, 1, 3)
            with line.makefile("rb") as file:
                wanted = json.loads(file.readline())
            pid = os.fork()
            if pid == 0:
                self._leave(line)
                _become(wanted, pipes)
            self._servers[line] = pid
            self.started(line, pid)
        except (OSError, ValueError):
            if line not in self._servers:
                line.close()
        finally:
            for pipe in pipes:
                os.close(pipe)

    def _leave(self, line: socket.socket) -> None:
        """In a forked process: let go of everything that is this one's."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for other in (line, self._listener, *self._servers):
            other.close()
        os.close(self._wake)
        os.close(self._waking)

    def _reap(self) -> None:
        for line, pid in list(self._servers.items()):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                del self._servers[line]
                self.ended(line, status)
                line.close()
        for pid, patience in list(self._ending.items()):
            if os.waitpid(pid, os.WNOHANG)[0]:
                del self._ending[pid]
            elif time.monotonic() >= patience:
                os.kill(pid, signal.SIGKILL)
                self._ending[pid] = math.inf


def _become(wanted: Mapping[str, Any], pipes: Sequence[int]) -> NoReturn:
    """Go on as the server that is wanted."""
    code = 1
    try:
        os.setsid()
        for number, pipe in enumerate(pipes):
            os.dup2(pipe, number)
            os.close(pipe)
        # Python's own streams remember what the numbers stood for.
        for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
            old = getattr(sys, name)
            new = open(number, mode, encoding=old.encoding, errors=old.errors, closefd=False)  # noqa: SIM115
            setattr(sys, name, new)
            setattr(sys, f"__{name}__", new)
        os.chdir(str(wanted["folder"]))
        os.environ.clear()
        os.environ.update(wanted["environment"])
        # Behind the interpreter and -m, the module and what it is told.
        module, *arguments = wanted["command"][2:]
        sys.argv = [module, *arguments]
        runpy.run_module(module, run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else 0 if left.code is None else 1
    except BaseException:
        traceback.print_exc()
    finally:
        with suppress(Exception):
            atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with suppress(Exception):
                stream.flush()
        os._exit(code)


def load() -> None:
    """Import what a server imports before it answers, and read what it reads."""
    for name in LOADED:
        import_module(name)
    import_module("m3bench.server.runs.loading").load_ahead()
    import_module("m3bench.server.clients.table").clients()
    gc.collect()
    gc.freeze()


def main() -> None:
    """Load the program, then fork for whoever asks on the socket given, until the process that started this is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with socket.socket(fileno=int(sys.argv[1])) as listener:
        listener.set_inheritable(False)
        load()
        ForkServer(listener).run()


if __name__ == "__main__":
    main()
