"""A server that misbehaves on request: what the self-check calls to see what a backend is worth.

It is offered only to those who name it and is in no catalog. Its tools crash, hang, flood, fork and look around on
purpose, with nothing but the sandbox to stop them. Some try to escape: by sockets, by settings and interfaces of the
kernel, by more rights, to other places. Each attempt says what worked.
"""

import ctypes
import errno
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio

from m3bench.sandboxes.content import compact
from m3bench.sandboxes.context import Context
from m3bench.sandboxes.toolserver import ToolServer
from m3bench.tasks.catalog import Server, Tool
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


def search_memory(backwards: str, pid: int) -> dict[str, list[int]]:
    """Which other processes, one that is named among them, have words, told backwards, in memory that can be read."""
    words = backwards[::-1].encode()
    found, pids = [], {pid, os.getppid()}
    with suppress(OSError):
        pids |= {int(name) for name in os.listdir("/proc") if name.isdigit()}
    for other in sorted(pids - {os.getpid()}):
        try:
            with open(f"/proc/{other}/maps") as maps, open(f"/proc/{other}/mem", "rb", 0) as memory:
                ranges = [line.split()[0].split("-") for line in maps if " rw" in line]
                if any(words in os.pread(memory.fileno(), int(end, 16) - int(first, 16), int(first, 16))
                       for first, end in ranges):  # fmt: skip
                    found.append(other)
        except (OSError, OverflowError):
            continue
    return {"found": found}


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


ATTEMPTS: tuple[Callable[..., object], ...] = (
    connect, open_socket, change_settings, use_kernel, look_around, search_memory, rise,
)  # fmt: skip
"""As tools of the probe."""


server = ToolServer("probe", layout=compact)

for attempt in ATTEMPTS:
    server.tool(attempt)


@server.tool
async def echo(text: str) -> str:
    """The same again."""
    return text


@server.tool
async def repeat(text: str, times: int) -> str:
    """The same many times."""
    return text * times


@server.tool
async def refuse(message: str) -> None:
    """A failure of the ordinary kind."""
    raise ToolError(message)


@server.tool
async def rest(context: Context) -> str:
    """Wait for ever, as a tool does that waits for something."""
    context.memory["resting"] = context.memory.get("resting", 0) + 1
    try:
        await anyio.sleep_forever()
    finally:
        context.memory["resting"] -= 1
    return "never"


@server.tool
async def wait_for(path: str) -> str:
    """Wait until there is a file."""
    while not await anyio.Path(path).exists():  # noqa: ASYNC110 - the file comes from another process
        await anyio.sleep(0.01)
    return "there it is"


@server.tool
async def resting(context: Context) -> dict[str, int]:
    """How many calls of `rest` there are now."""
    return {"resting": context.memory.get("resting", 0)}


@server.tool
async def hang_loop() -> None:
    """Stop the event loop for good."""
    threading.Event().wait()


@server.tool
def hang_thread() -> None:
    """Stop a worker thread for good."""
    threading.Event().wait()


@server.tool
def spin() -> None:
    """Keep a worker thread busy for good."""
    while True:
        pass


@server.tool
def crash(code: int) -> None:
    """End the process without a word; a negative code is a signal."""
    if code < 0:
        os.kill(os.getpid(), -code)
    os._exit(code)


@server.tool
def noise(text: str, times: int) -> str:
    """Print to wherever printing goes, from Python and below it."""
    for _ in range(times):
        print(text)
        print(text, file=sys.stderr)
    sys.stdout.flush()
    os.write(1, b'{"jsonrpc":"2.0","id":1,"result":{}}\n')
    os.write(2, b"raw\n")
    return f"{len(sys.stdin.read())} characters on standard input"


@server.tool
def write(path: str, text: str) -> str:
    """Write a file without asking anybody."""
    try:
        Path(path).write_text(text)
    except OSError as error:
        raise ToolError(f"{type(error).__name__}: {error.strerror}") from error
    return "written"


@server.tool
def read(path: str) -> str:
    """Read a file, or the names in a folder, without asking anybody."""
    try:
        place = Path(path)
        return "\n".join(sorted(os.listdir(place))) if place.is_dir() else place.read_text(errors="replace")
    except OSError as error:
        raise ToolError(f"{type(error).__name__}: {error.strerror}") from error


@server.tool
def identity(path: str) -> dict[str, list[int]]:
    """What tells a file or folder from all others on a machine."""
    try:
        found = os.stat(path)
    except OSError as error:
        raise ToolError(f"{type(error).__name__}: {error.strerror}") from error
    return {"identity": [found.st_dev, found.st_ino]}


@server.tool
def environment() -> dict[str, str]:
    """All environment variables."""
    return dict(os.environ)


@server.tool
def who() -> dict[str, int]:
    """As whom tools run."""
    return {"user": os.geteuid() if hasattr(os, "geteuid") else -1}


@server.tool
def fill(folder: str, files: int, size: int) -> dict[str, int]:
    """Write as many files of a size as can be; how many there came to be."""
    made = 0
    os.makedirs(folder, exist_ok=True)
    block = bytes(1024 * 1024)
    try:
        for number in range(files):
            with open(os.path.join(folder, f"{number}.bin"), "wb", buffering=0) as file:
                for begin in range(0, size, len(block)):
                    file.write(block[: size - begin])
            made += 1
    except OSError:
        pass
    return {"made": made}


@server.tool
def allocate_apart(times: int, size: int) -> dict[str, int]:
    """Take memory in several child processes at the same time; how many of them got it."""
    children = []
    for _ in range(times):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                block = bytearray(os.urandom(4096)) * (size // 4096)
                os.write(writing, b"!" if len(block) == size else b"?")
                threading.Event().wait()
            finally:
                os._exit(1)
        os.close(writing)
        children.append((child, reading))
    got = sum(os.read(reading, 1) == b"!" for _, reading in children)
    for child, reading in children:
        os.close(reading)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return {"got": got}


@server.tool
def allocate(size: int) -> str:
    """Take memory and use it."""
    block = bytearray(size)
    for page in range(0, size, 4096):
        block[page] = 1
    return f"{size} bytes"


@server.tool
def fork(times: int) -> dict[str, int]:
    """Make idle child processes that outlive the call; how many there came to be."""
    made = 0
    for _ in range(times):
        try:
            child = os.fork()
        except OSError:
            break
        if child == 0:
            threading.Event().wait()
        made += 1
    return {"made": made}


@server.tool
def daemonise(times: int) -> dict[str, int]:
    """Make daemons: processes that left their session and lost their parent; how many there came to be."""
    made = 0
    for _ in range(times):
        child = os.fork()
        if child == 0:
            os.setsid()
            if os.fork():
                os._exit(0)
            threading.Event().wait()
        os.waitpid(child, 0)
        made += 1
    return {"made": made}


@server.tool
def keep_forking() -> str:
    """Start a process that leaves its session, forks and ends, and its child does the same, for ever."""
    if os.fork() == 0:
        os.setsid()
        while True:
            if os.fork():
                os._exit(0)
    return "started"


@server.tool
def signal_parents() -> dict[str, list[int]]:
    """Try to kill the processes that this one came of; those that got the signal."""
    reached, pid = [], os.getppid()
    while pid > 1:
        try:
            above = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            above = 0
        for target in (-pid, pid):
            try:
                os.kill(target, signal.SIGKILL)
                reached.append(target)
            except OSError:
                continue
        pid = above
    try:
        os.kill(-1, signal.SIGKILL)
        reached.append(-1)
    except OSError:
        pass
    return {"reached": reached}


@server.tool
def processes() -> dict[str, list[int]]:
    """The processes that can be seen."""
    return {"pids": sorted(int(name) for name in os.listdir("/proc") if name.isdigit())}


def _tool(name: str, **arguments: str) -> Tool:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {argument: {"type": kind} for argument, kind in arguments.items()},
        "required": list(arguments),
    }
    annotations = {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False, "openWorldHint": False}
    return Tool(
        server=server.name, name=name, description="Used by the self-check.", input_schema=schema,
        annotations=annotations, strict=True,
    )  # fmt: skip


ENTRY = Server(
    name=server.name,
    title="Probe",
    category="self-check",
    ready=True,
    stateful=True,
    tools=(
        _tool("echo", text="string"),
        _tool("repeat", text="string", times="integer"),
        _tool("refuse", message="string"),
        _tool("rest"),
        _tool("resting"),
        _tool("wait_for", path="string"),
        _tool("hang_loop"),
        _tool("hang_thread"),
        _tool("spin"),
        _tool("crash", code="integer"),
        _tool("noise", text="string", times="integer"),
        _tool("write", path="string", text="string"),
        _tool("read", path="string"),
        _tool("identity", path="string"),
        _tool("environment"),
        _tool("connect", host="string", port="integer", kind="string"),
        _tool("allocate", size="integer"),
        _tool("allocate_apart", times="integer", size="integer"),
        _tool("open_socket", family="string", path="string"),
        _tool("change_settings"),
        _tool("use_kernel"),
        _tool("search_memory", backwards="string", pid="integer"),
        _tool("who"),
        _tool("fill", folder="string", files="integer", size="integer"),
        _tool("fork", times="integer"),
        _tool("daemonise", times="integer"),
        _tool("keep_forking"),
        _tool("signal_parents"),
        _tool("look_around"),
        _tool("rise"),
        _tool("processes"),
    ),
)
"""The probe's place in a catalog."""
