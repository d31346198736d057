"""Runs a program so that nothing it started outlives it, or the process that asked for it.

A program of its own that needs nothing but the standard library. It starts another program and waits, holding one end
of a pipe whose other end only the asker has. When the program ends, or the pipe closes because the asker let go or died
in any way, every process that came of the program is killed, and then this one ends as the program did.

On Linux this is a child subreaper: a daemon that left its session and lost its parent is still found. Elsewhere the
program's process group is killed with all descendants that `ps` shows; a daemon without a living parent is missed.
SIGTERM is passed on to the program's group. Windows has job objects for all of this and does not use it.
"""

import os
import select
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress

_DUMPABLE, _CHILD_SUBREAPER = 4, 36

CANNOT_START = 127
"""The exit code when the program cannot be started, as a shell has it."""

_KILL_SECONDS = 10.0
"""How long to keep killing what does not die, such as the program of another user."""
_PASS_SECONDS = 0.002
"""Between two looks at what is left."""


def command(lifeline: int, program: Sequence[str]) -> list[str]:
    """The command line that runs a program under supervision.

    Args:
        lifeline: The descriptor to read from, passed on to the new process; the asker keeps the other end.
        program: The program and its arguments.
    """
    return [sys.executable, "-I", "-S", os.path.abspath(__file__), str(lifeline), *program]


def supervise(lifeline: int, program: Sequence[str]) -> int:
    """Run a program to its end or the asker's; its status as `os.waitpid` gives it."""
    if sys.platform == "linux":
        _prctl(_CHILD_SUBREAPER, 1)
        # Else what it started, with the same user, could write into this process through /proc.
        _prctl(_DUMPABLE, 0)
    waking, woken = os.pipe()
    for end in (waking, woken):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    main = _start(program)

    def forward(*_: object) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(main, signal.SIGTERM)

    signal.signal(signal.SIGTERM, forward)
    _let_go_of_streams()
    poll = select.poll()
    poll.register(lifeline, select.POLLIN | select.POLLHUP)
    poll.register(waking, select.POLLIN)
    ended: dict[int, int] = {}
    while main not in ended:
        ready = {descriptor for descriptor, _ in poll.poll()}
        if waking in ready:
            os.read(waking, 4096)
        _reap(ended)
        if lifeline in ready:
            break
    _kill_all(main, ended)
    return ended.get(main, signal.SIGKILL)


def _start(program: Sequence[str]) -> int:
    """Start the program in a session of its own; its process."""
    child = os.fork()
    if child:
        return child
    try:
        os.setsid()
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        os.execvp(program[0], list(program))
    except OSError as error:
        os.write(2, f"{program[0]}: {error.strerror}\n".encode())
    finally:
        os._exit(CANNOT_START)


def _let_go_of_streams() -> None:
    """Leave standard input and output to the program, so that their other ends see it close them."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1):
        os.dup2(nothing, stream)


def _kill_all(main: int, ended: dict[int, int]) -> None:
    """Kill everything that came of the program, and note how it ended.

    Whatever loses its parent becomes a child of this process, so there is always a next one to find; one look and one
    signal are quicker than a fork, so a chain of processes that fork and leave is caught too.
    """
    for number in range(int(_KILL_SECONDS / _PASS_SECONDS)):
        for pid in _descendants(main):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if not _reap(ended):
            break
        # At first without a pause: what forks and leaves must not get ahead.
        if number > 100:
            select.select([], [], [], _PASS_SECONDS)


def _reap(ended: dict[int, int]) -> bool:
    """Note how children ended that have done so since the last look; whether any are left."""
    try:
        while (found := os.waitpid(-1, os.WNOHANG))[0]:
            ended[found[0]] = found[1]
    except ChildProcessError:
        return False
    return True


def _descendants(main: int) -> Iterator[int]:
    """Every process that came of this one, the nearest first."""
    if sys.platform != "linux":
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(main, signal.SIGKILL)
    found = [os.getpid()]
    parents: dict[int, list[int]] | None = None
    for pid in found:
        if pid != found[0]:
            yield pid
        try:
            for thread in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{thread}/children") as file:
                    found += map(int, file.read().split())
        except OSError:
            if parents is None:
                parents = _parents()
            found += parents.get(pid, ())


def _parents() -> dict[int, list[int]]:
    """The children of every process, where the kernel does not tell them for one alone."""
    pairs = []
    if os.path.isdir("/proc/self"):
        for name in filter(str.isdigit, os.listdir("/proc")):
            with suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
                pairs.append((int(name), int(file.read().rpartition(b")")[2].split()[1])))
    else:
        with os.popen("ps -A -o pid= -o ppid=") as rows:
            pairs += [(int(pid), int(parent)) for pid, parent in map(str.split, rows)]
    children: dict[int, list[int]] = {}
    for pid, parent in pairs:
        children.setdefault(parent, []).append(pid)
    return children


def _prctl(option: int, value: int) -> None:
    from ctypes import CDLL, c_ulong

    CDLL(None).prctl(option, c_ulong(value), c_ulong(0), c_ulong(0), c_ulong(0))


def main() -> None:
    """Supervise the program on the command line, and end as it did."""
    status = supervise(int(sys.argv[1]), sys.argv[2:])
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main()
