"""What the probe tries in order to get out: sockets, settings and interfaces of the kernel, more rights, other places.

Each attempt says what worked; none asks anybody for leave.
"""

import ctypes
import errno
import os
import socket
import stat
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from m3bench.tasks.errors import ToolError

_NEW_USER = 0x10000000
_REFUSALS = (errno.EPERM, errno.ENOSYS)
_NUMBERS = {
    "x86_64": {
        "ptrace": 101, "keyctl": 250, "add_key": 248, "bpf": 321, "mount": 165, "unshare": 272, "clone": 56,
        "clone3": 435, "setns": 308, "io_uring_setup": 425, "memfd_create": 319, "shmget": 29, "perf_event_open": 298,
    },
    "aarch64": {
        "ptrace": 117, "keyctl": 219, "add_key": 217, "bpf": 280, "mount": 40, "unshare": 97, "clone": 220,
        "clone3": 435, "setns": 268, "io_uring_setup": 425, "memfd_create": 279, "shmget": 194, "perf_event_open": 241,
    },
}  # fmt: skip


def connect(host: str, port: int, kind: str) -> str:
    """Send a byte to an address: `tcp` or `udp`."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM if kind == "udp" else socket.SOCK_STREAM) as line:
            line.settimeout(5)
            line.connect((host, port))
            line.sendall(b"!")
    except OSError as error:
        raise ToolError(f"{type(error).__name__}: {error.strerror or error}") from error
    return "connected"


def open_socket(family: str, path: str) -> str:
    """Open a socket of a family, and connect it to a path when there is one."""
    try:
        with socket.socket(getattr(socket, family), socket.SOCK_STREAM if path else socket.SOCK_DGRAM) as line:
            if path:
                line.settimeout(5)
                line.connect(path)
                line.sendall(b"!")
    except AttributeError as error:
        raise ToolError(f"There is no {family} here") from error
    except OSError as error:
        raise ToolError(f"{type(error).__name__}: {error.strerror or error}") from error
    return "opened"


def change_settings() -> dict[str, list[str]]:
    """Write back what is written in every setting of the kernel; those that could be written."""
    written = []
    for folder, _, names in os.walk("/proc/sys"):
        for name in names:
            path = os.path.join(folder, name)
            try:
                # Opened for writing is as good as written, and changes nothing.
                os.close(os.open(path, os.O_WRONLY))
            except OSError:
                continue
            written.append(path)
    return {"written": sorted(written)}


def use_kernel() -> dict[str, list[str]]:
    """Try what tools have no use for; what was not refused."""
    numbers = _NUMBERS.get(os.uname().machine, {})
    library = ctypes.CDLL(None, use_errno=True)
    zeros = [ctypes.c_long(0)] * 5
    done = []
    for name, number in numbers.items():
        first = ctypes.c_long(_NEW_USER if name in ("unshare", "clone") else 0)
        # What is refused by the filter fails so before its arguments are looked at.
        if library.syscall(ctypes.c_long(number), first, *zeros) >= 0 or ctypes.get_errno() not in _REFUSALS:
            done.append(name)
    return {"done": sorted(done)}


def look_around() -> dict[str, list[str]]:
    """Where files can be written, and which sockets and devices there are, anywhere."""
    found: dict[str, list[str]] = {"writable": [], "sockets": [], "devices": []}
    for folder, folders, files in os.walk("/"):
        folders[:] = [name for name in folders if os.path.join(folder, name) not in ("/proc", "/sys")]
        if _can_write(folder):
            found["writable"].append(folder)
        for name in files:
            path = os.path.join(folder, name)
            mode = os.lstat(path).st_mode
            if stat.S_ISSOCK(mode):
                found["sockets"].append(path)
            elif stat.S_ISBLK(mode) or stat.S_ISCHR(mode):
                found["devices"].append(path)
            elif stat.S_ISREG(mode) and os.access(path, os.W_OK):
                found["writable"].append(path)
    return {kind: sorted(places) for kind, places in found.items()}


def rise() -> dict[str, list[str]]:
    """Try what gives a process more rights; what worked."""
    attempts: dict[str, Callable[[], object]] = {
        "setuid": lambda: os.setuid(0),
        "setgid": lambda: os.setgid(0),
        "setgroups": lambda: os.setgroups([0]),
        "chroot": lambda: os.chroot("."),
        "mknod": lambda: os.mknod("device", stat.S_IFBLK | 0o600, os.makedev(7, 0)),
        "mount": lambda: _system("mount", b"none", b"/tmp", b"tmpfs", 0, None),
        "unshare": lambda: _system("unshare", 0x10000000),
        "raw socket": lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP).close(),
        "nice": lambda: os.setpriority(os.PRIO_PROCESS, 0, -10),
        "chown": lambda: os.chown("mine", 0, 0),
    }
    Path("mine").touch()
    worked = []
    for name, attempt in attempts.items():
        try:
            attempt()
        except OSError:
            continue
        worked.append(name)
    return {"worked": worked, "users": sorted(map(str, set(_privileged_programs())))}


def _privileged_programs() -> Iterator[int]:
    """The users as which programs run that ask to be run as another."""
    for folder in ("/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/lib", "/usr/local/bin"):
        for path in Path(folder).glob("*"):
            if path.is_file() and path.stat().st_mode & (stat.S_ISUID | stat.S_ISGID):
                with subprocess.Popen(
                    [path], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
                ) as program:
                    status = Path(f"/proc/{program.pid}/status").read_text()
                    program.kill()
                yield from map(int, status.partition("Uid:")[2].split()[:4])


def _system(function: str, *arguments: object) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    if getattr(library, function)(*arguments) != 0:
        raise OSError(ctypes.get_errno(), function)


def _can_write(folder: str) -> bool:
    path = os.path.join(folder, ".probe")
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        os.unlink(path)
    except OSError:
        return False
    return True


ATTEMPTS: tuple[Callable[..., object], ...] = (connect, open_socket, change_settings, use_kernel, look_around, rise)
"""As tools of the probe."""
