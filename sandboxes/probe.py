"""A server that misbehaves on request: what the self-check calls to see what a backend is worth.

It is offered only to those who name it and stands in no catalog. Its tools crash, hang, flood, fork and look
around on purpose, with nothing but the sandbox to stop them.
"""

import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import anyio

from m3bench.sandboxes.content import compact
from m3bench.sandboxes.context import Context
from m3bench.sandboxes.escapes import ATTEMPTS
from m3bench.sandboxes.toolserver import ToolServer
from m3bench.tasks.catalog import Server, Tool
from m3bench.tasks.errors import ToolError

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
