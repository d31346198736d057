"""What a host does to itself before it serves: limits, walls, another user, and an end when its parent ends.

This runs inside the host, right after start and before any tool's code is loaded, so the same program can be
confined on every platform without helpers. It does what the kernel lets it do and reports which guards hold;
the backend compares that with what it asked for and says what is missing.
"""

import ctypes
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from m3bench.sandboxes.backends import landlock, privileges, seccomp, visible

if sys.platform != "win32":
    import resource

_NEW_USER, _NEW_NET, _NEW_IPC = 0x10000000, 0x40000000, 0x08000000
_DEATH_SIGNAL, _NO_NEW_PRIVILEGES = 1, 38
_WHOLE_RANGE = 2**32 - 1

_HANG_UP_SECONDS = 2.0
"""How long a host that nobody listens to may take to end by itself."""

_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_KERNEL = ("/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/sys/devices/system/cpu")


@dataclass(frozen=True, kw_only=True)
class Confinement:
    """What to give up. A limit of 0 is none."""

    landlock: bool = False
    network: bool = False
    """Move into a network namespace of one's own."""
    seccomp: bool = False
    walled: bool = False
    """Whether this process sees no other files than it may have, and cannot write to /proc."""
    user: int = 0
    """The user to become when this process is root; 0 to stay root."""
    hang_up: bool = False
    """End soon after standard input closes, even when the event loop hangs: nobody else sees to it in a container."""
    server: int = 0
    """The process that wants this; no signal may reach it, nor the supervisor between the two."""
    address_space: int = 0
    """Bytes, for each process."""
    file_bytes: int = 0
    open_files: int = 0
    processes: int = 0
    cpu_seconds: int = 0


def confine(wanted: Confinement, workspace: Path, lifeline: int) -> tuple[str, ...]:
    """Do it; returns the guards that hold now.

    Args:
        wanted: What to give up.
        workspace: The folder that stays writable.
        lifeline: The descriptor of standard input, which hangs up when the other side ends.
    """
    os.umask(0o077)
    guards = []
    temporary = Path(os.environ.get("TMPDIR", workspace))
    if sys.platform == "linux":
        _prctl(_NO_NEW_PRIVILEGES, 1)
    in_namespace = wanted.network and _leave_network()
    closed = wanted.landlock and _close_files(workspace)
    if closed:
        guards.append("files")
    if privileges.become(wanted.user, [*visible.trees(), workspace], bounded=closed or wanted.walled):
        guards.append("user")
    if sys.platform == "linux":
        # After the user: a process that changes it loses this.
        _prctl(_DEATH_SIGNAL, signal.SIGKILL)
    temporary.mkdir(parents=True, exist_ok=True)
    guards += _set_limits(wanted)
    # Nearly last, because it takes away what the steps above need.
    untouchable = (wanted.server, os.getppid()) if wanted.server else ()
    if wanted.seccomp and seccomp.install(untouchable):
        guards += ["network", "sockets"]
        if "user" in guards or closed or wanted.walled:
            guards.append("kernel")
    elif in_namespace:
        guards.append("network")
    # Last, because the walls above bind only threads that start after them.
    if wanted.hang_up:
        _watch(lifeline)
    return tuple(guards)


def wall_in(readable: Iterable[Path], folder: Path) -> None:
    """Hold this process, as far as the kernel lets it, to files that it may read and one folder that it may write to.

    Args:
        readable: Beside Python, its libraries and all of this package.
        folder: The folder.
    """
    _hold([*visible.system(), *visible.trees(), *visible.withheld(), *readable], [], folder)
    seccomp.install((os.getppid(),))


def _leave_network() -> bool:
    """Enter namespaces without any network; needs a process without threads."""
    if sys.platform != "linux":
        return False
    user, group = os.geteuid(), os.getegid()
    # In a user namespace root would have nobody to become.
    if user == 0 and ctypes.CDLL(None).unshare(_NEW_NET | _NEW_IPC) == 0:
        return True
    if ctypes.CDLL(None).unshare(_NEW_USER | _NEW_NET | _NEW_IPC) != 0:
        return False
    # Without a map files would seem to belong to nobody; they are reachable all the same.
    with suppress(OSError):
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    return True


def _close_files(workspace: Path) -> bool:
    hidden = visible.withheld()
    whole = [part for tree in visible.trees() for part in visible.carved(tree, hidden)]
    parents = [tree for tree in visible.trees() if any(path.is_relative_to(tree) for path in hidden)]
    return _hold([*visible.system(), *whole, *visible.returned()], parents, workspace)


def _hold(readable: list[Path], listable: list[Path], folder: Path) -> bool:
    """Hold this process to what it may read or list and one folder that is its own; whether the kernel could."""
    if landlock.version() == 0:
        return False
    try:
        landlock.restrict([*readable, *map(Path, _KERNEL)], listable, [folder, *map(Path, _DEVICES)])
    except OSError:
        return False
    return True


def _set_limits(wanted: Confinement) -> list[str]:
    if sys.platform == "win32":
        return []

    def limit(kind: int, value: int, grace: int = 0) -> bool:
        if value == 0:
            return False
        _, hard = resource.getrlimit(kind)
        top = value + grace if hard == resource.RLIM_INFINITY else min(value + grace, hard)
        try:
            resource.setrlimit(kind, (min(value, top), top))
        except (ValueError, OSError):
            return False
        return True

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    limit(resource.RLIMIT_FSIZE, wanted.file_bytes)
    limit(resource.RLIMIT_NOFILE, wanted.open_files)
    limit(resource.RLIMIT_CPU, wanted.cpu_seconds, grace=5)
    # Elsewhere than on Linux the limit can be set but is not held.
    limit(resource.RLIMIT_AS, wanted.address_space)
    counted = os.geteuid() == wanted.user != 0 or _is_counted_alone()
    return ["forks"] if counted and limit(resource.RLIMIT_NPROC, wanted.processes) else []


def _is_counted_alone() -> bool:
    """Whether a limit on processes means those of this sandbox, although its user has others.

    It counts all processes of a user, except in a user namespace since Linux 5.14.
    """
    if sys.platform != "linux":
        return False
    major, minor = (int(part) for part in os.uname().release.split(".")[:2])
    try:
        count = Path("/proc/self/uid_map").read_text().split()[-1]
    except (OSError, IndexError):
        return False
    return (major, minor) >= (5, 14) and int(count) != _WHOLE_RANGE


def _prctl(option: int, value: int) -> bool:
    return int(ctypes.CDLL(None).prctl(option, value, 0, 0, 0)) == 0


def _watch(lifeline: int) -> None:
    """End this process soon after the other end of `lifeline` is gone, even when the event loop hangs."""

    def wait() -> None:
        poll = select.poll()
        poll.register(lifeline, select.POLLHUP)
        poll.poll()
        time.sleep(_HANG_UP_SECONDS)
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()
