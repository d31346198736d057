"""Checks of what tools are kept from, each where the sandbox claims it."""

import json
import os
import socket
import sys
import tempfile
from pathlib import Path

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


@check("memory")
async def memory_is_limited(bench: Bench) -> None:
    """A tool that takes all of it gets an error, or loses its host; either way the next call is answered."""
    async with bench.sandbox() as sandbox:
        try:
            reply = await call(sandbox, "allocate", size=64 * 1024**3)
            require(reply.outcome != "success", "64 GB could be had")
        except SandboxError:
            pass
        require(await text(sandbox, "echo", text="x") == "x", "no answer after a lack of memory")


@check("forks")
async def the_number_of_processes_is_limited(bench: Bench) -> None:
    """And the children end with the sandbox."""
    async with bench.sandbox() as sandbox:
        made = json.loads(await text(sandbox, "fork", times=2000))["made"]
        require(made < 2000, "2000 processes could be made")
    await nobody_left(bench)


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
