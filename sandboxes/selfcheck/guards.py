"""Checks of the guards: what tools are kept from, each where the sandbox claims it."""

import json
import os
import secrets
import shutil
import socket
import sys
import tempfile
from pathlib import Path
from typing import Any

from m3bench.sandboxes.backends.base import Sandbox
from m3bench.sandboxes.selfcheck.checks import Bench, call, check, nobody_left, require, text, words
from m3bench.tasks.errors import SandboxError

_PACKAGE = Path(__file__).resolve().parents[2]


@check("files")
async def files_outside_the_workspace_cannot_be_read(bench: Bench) -> None:
    """Not the neighbour's, the user's, the system's, nor the part of m3bench that knows the answers."""
    secret = bench.folder / "secret.txt"
    secret.write_text("secret")
    neighbour = bench.workspace("neighbour")
    (neighbour / "secret.txt").write_text("secret")
    async with bench.sandbox() as sandbox:
        os.symlink(secret, bench.workspace() / "link.txt")
        for place in (
            secret, bench.folder, neighbour, neighbour / "secret.txt", bench.workspace() / "link.txt",
            Path("/etc/passwd"), Path.home(), Path("/root"), Path("/home"), Path("/var"),
            _PACKAGE / "server" / "__init__.py", _PACKAGE / "proxy" / "__init__.py",
            _PACKAGE / "tasks" / "data" / "examples" / "math.json", Path(f"/proc/{os.getpid()}/environ"),
        ):  # fmt: skip
            reply = await call(sandbox, "read", path=str(place))
            seen = set(words(reply).split()) - _on_the_way(bench.workspace())
            blind = reply.outcome != "success" or not (seen & _names(place)) or await _is_another(sandbox, place)
            require(blind, f"{place} can be read: {words(reply)[:200]!r}")


@check("files")
async def files_outside_the_workspace_cannot_be_written(bench: Bench) -> None:
    """Nothing is seen of an attempt."""
    bench.workspace("neighbour")
    name = f"m3bench-selfcheck-{os.getpid()}"
    async with bench.sandbox() as sandbox:
        for place in (
            bench.folder, bench.folder / "neighbour", Path(tempfile.gettempdir()), Path.home(), Path("/dev/shm"),
            Path("/var/tmp"), _PACKAGE / "sandboxes", Path(sys.prefix),
        ):  # fmt: skip
            await call(sandbox, "write", path=str(place / name), text="x")
            found = (place / name).exists()
            (place / name).unlink(missing_ok=True)
            require(not found, f"{place} can be written")
        await text(sandbox, "write", path="mine.txt", text="x")
        require((bench.workspace() / "mine.txt").read_text() == "x", "the workspace cannot be written")


@check("network")
async def nothing_can_be_reached_over_the_network(bench: Bench) -> None:
    """Neither by TCP nor by UDP, not even this machine."""
    with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.bind(("127.0.0.1", 0))
        async with bench.sandbox() as sandbox:
            reply = await call(sandbox, "connect", host="127.0.0.1", port=tcp.getsockname()[1], kind="tcp")
            require(reply.outcome != "success", "TCP reaches this machine")
            await call(sandbox, "connect", host="127.0.0.1", port=udp.getsockname()[1], kind="udp")
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
                own.sendto(b"own", udp.getsockname())
            require(udp.recv(16) == b"own", "UDP reaches this machine")
            for host, kind in (("192.0.2.1", "tcp"), ("192.0.2.1", "udp"), ("2001:db8::1", "udp")):
                reply = await call(sandbox, "connect", host=host, port=53, kind=kind)
                require(reply.outcome != "success", f"there is a way to {host} by {kind}")


@check("process")
async def the_environment_is_not_inherited(bench: Bench) -> None:
    """Of the variables here, only harmless ones are there."""
    os.environ["M3BENCH_SELFCHECK_TOKEN"] = "secret"
    try:
        async with bench.sandbox() as sandbox:
            seen: dict[str, str] = json.loads(await text(sandbox, "environment"))
    finally:
        del os.environ["M3BENCH_SELFCHECK_TOKEN"]
    require("secret" not in seen.values(), "a secret is in the environment")
    strange = {name for name in seen if any(word in name for word in ("TOKEN", "KEY", "SECRET", "PROXY", "USER"))}
    require(not strange, f"the environment has {sorted(strange)}")


@check("others")
async def other_processes_cannot_be_seen(bench: Bench) -> None:
    """Only those of the sandbox."""
    async with bench.sandbox() as sandbox:
        seen = json.loads(await text(sandbox, "processes"))["pids"]
        require(len(seen) < 5, f"{len(seen)} processes can be seen")


@check("user")
async def tools_do_not_run_as_root(bench: Bench) -> None:
    """Whoever started m3bench."""
    async with bench.sandbox() as sandbox:
        user = json.loads(await text(sandbox, "who"))["user"]
        require(user != 0, "tools run as root")


@check("sockets")
async def no_socket_of_this_machine_can_be_reached(bench: Bench) -> None:
    """Not by path, even one that lies in the workspace, nor past it: virtual machines, the kernel."""
    place = bench.workspace() / "listening.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        # A path for a socket is short; the folder's may be long.
        here = os.open(place.parent, os.O_RDONLY)
        try:
            listener.bind(f"/proc/self/fd/{here}/{place.name}")
        finally:
            os.close(here)
        listener.listen()
        place.chmod(0o777)
        async with bench.sandbox() as sandbox:
            for family, path in (("AF_UNIX", place.name), ("AF_VSOCK", ""), ("AF_NETLINK", "")):
                reply = await call(sandbox, "open_socket", family=family, path=path)
                require(reply.outcome != "success", f"a socket of {family} could be opened")
            require(await text(sandbox, "echo", text="x") == "x", "no answer after some sockets")


@check("kernel")
async def the_kernel_cannot_be_set_or_asked_for_more(bench: Bench) -> None:
    """No setting can be written, and what tools have no use for is refused."""
    async with bench.sandbox() as sandbox:
        written = json.loads(await text(sandbox, "change_settings"))["written"]
        require(not written, f"{len(written)} settings can be written, such as {written[:3]}")
        done = json.loads(await text(sandbox, "use_kernel"))["done"]
        require(not done, f"{done} are not refused")


@check("files")
async def the_memory_of_others_cannot_be_searched(bench: Bench) -> None:
    """Nobody's, least of all that of the server, which may hold the secret of its set."""
    secret = secrets.token_hex(32)
    async with bench.sandbox("neighbour"), bench.sandbox() as sandbox:
        found = json.loads(await text(sandbox, "search_memory", backwards=secret[::-1], pid=os.getpid()))["found"]
        require(not found, f"what this process alone knows was found in the memory of {found}")


@check("memory")
async def memory_is_limited(bench: Bench) -> None:
    """Of one process and of several together; it costs an error or the host, the next call is answered."""
    async with bench.sandbox("neighbour") as neighbour, bench.sandbox() as sandbox:
        for tool, arguments in (
            ("allocate", {"size": 64 * 1024**3}),
            ("allocate_apart", {"times": 8, "size": 125_000_256}),
        ):
            message = await _refused(sandbox, tool, **arguments)
            require(message is not None, f"{tool} got all of {arguments}")
            require(await text(sandbox, "echo", text="x") == "x", "no answer after a lack of memory")
        require(await text(neighbour, "echo", text="x") == "x", "another sandbox noticed")


@check("forks")
async def the_number_of_processes_is_limited(bench: Bench) -> None:
    """300 are too many, and the children end with the sandbox; another one has its own."""
    async with bench.sandbox("neighbour") as neighbour, bench.sandbox() as sandbox:
        message = await _refused(sandbox, "fork", times=300)
        require(message is not None, "300 processes could be made")
        made = json.loads(await text(neighbour, "fork", times=20))["made"]
        require(made == 20, "the processes of one sandbox count for another")
    await nobody_left(bench)


@check("disk")
async def the_workspace_is_limited(bench: Bench) -> None:
    """512 MB or 5000 files are too much; the call fails and says so, and what fits is still there."""
    async with bench.sandbox("neighbour") as neighbour, bench.sandbox() as sandbox:
        await text(sandbox, "write", path="before.txt", text="x")
        for arguments in ({"files": 8, "size": 64 * 1024**2}, {"files": 5000, "size": 1}):
            message = await _refused(sandbox, "fill", folder="much", **arguments)
            require(message is not None, f"{arguments} could be written")
            require("workspace" in str(message) and "MB" in str(message), f"the message says nothing: {message}")
            require(await text(sandbox, "read", path="before.txt") == "x", "a file within the limits is gone")
            found = [path for path in bench.workspace().rglob("*") if path.is_file()]
            require(len(found) <= 2000, f"{len(found)} files are left")
            require(sum(path.stat().st_size for path in found) <= 256 * 1024**2, "too many bytes are left")
            shutil.rmtree(bench.workspace() / "much")
        require(await text(neighbour, "echo", text="x") == "x", "another sandbox noticed")


async def _refused(sandbox: Sandbox, tool: str, **arguments: Any) -> str | None:
    """What is said when there is not as much as was asked for; None when there is."""
    try:
        reply = await call(sandbox, tool, **arguments)
    except SandboxError as error:
        return str(error)
    if reply.outcome != "success":
        return words(reply)
    wanted = next((arguments[name] for name in ("times", "files") if name in arguments), None)
    told = words(reply)
    got = next(iter(json.loads(told).values())) if told.startswith("{") else wanted
    return None if got == wanted else told


async def _is_another(sandbox: Sandbox, place: Path) -> bool:
    """Whether what has this path inside is not what has it outside: a sandbox may have a system of its own."""
    found = os.stat(place)
    told = await text(sandbox, "identity", path=str(place))
    return bool(json.loads(told)["identity"] != [found.st_dev, found.st_ino])


def _on_the_way(workspace: Path) -> set[str]:
    """Names of folders that lead to what must be seen; they are there, with nothing else in them."""
    return {name for place in (workspace, _PACKAGE, Path(sys.prefix), Path(sys.base_prefix)) for name in place.parts}


def _names(place: Path) -> set[str]:
    """Words that give away that a place was seen."""
    try:
        return set(os.listdir(place)) if place.is_dir() else set(place.read_text(errors="replace").split())
    except OSError:
        return set()
