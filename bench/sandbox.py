"""What sandboxes cost: starting one, keeping one, calling through one.

Run it on a quiet machine: `python bench/sandbox.py`. Times are medians; "own memory" is what would be freed
if the process ended (USS), shared pages not counted.
"""

import json
import os
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp

import anyio

from m3bench.sandboxes.backends.base import Backend, Sandbox, SandboxSpec
from m3bench.sandboxes.backends.docker.backend import DockerBackend
from m3bench.sandboxes.backends.docker.engine import DockerEngine, survey
from m3bench.sandboxes.backends.inprocess import InProcessBackend
from m3bench.sandboxes.backends.isolation import Isolation
from m3bench.sandboxes.backends.process import ProcessBackend
from m3bench.sandboxes.pool import SandboxPool
from m3bench.sandboxes.selfcheck import processes
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.errors import SandboxError
from m3bench.tasks.examples import load_examples

STARTS = 9
CALLS = 2000
ROUNDS = 5
ADD = ("math/add", b'{"firstNumber":1,"secondNumber":2}')

CROWD = 16

ISOLATIONS = {
    "process, as the platform gives": Isolation(),
    "process, without bubblewrap": Isolation(bubblewrap=False),
    "process, without any isolation": Isolation(
        bubblewrap=False, landlock=False, namespaces=False, limited=False, death_signal=False
    ),
}


def empty(folder: Path) -> Path:
    """A new folder: what belongs to a container's user is of no use to a process."""
    return Path(mkdtemp(dir=folder))


async def timed(action: Callable[[], Awaitable[object]]) -> float:
    """Seconds an action takes."""
    begin = time.perf_counter()
    await action()
    return time.perf_counter() - begin


async def starts(folder: Path) -> None:
    """From nothing to the first answer, and from the pool."""
    print(f"\n{'start to first answer':<44}{'median':>10}{'best':>10}")
    for name, isolation in ISOLATIONS.items():
        async with ProcessBackend(isolation) as backend:
            place = empty(folder)
            await started(backend, place)
            row(name, [await started(backend, place) for _ in range(STARTS)], 1e3, "ms")
    for name, backends in HOSTED.items():
        async with backends() as backend:
            place = empty(folder)
            await started(backend, place)
            row(name, [await started(backend, place) for _ in range(STARTS)], 1e3, "ms")
    for name, backends in {"process": ProcessBackend, **HOSTED}.items():
        async with backends() as backend, SandboxPool(backend, empty(folder), spares=1) as pool:

            async def leased(pool: SandboxPool = pool) -> None:
                lease = await pool.lease()
                lease.put("media/picture.png", bytes(100_000))
                await lease.call(*ADD)

            times = []
            for _ in range(STARTS):
                await pool.settled()
                times.append(await timed(leased))
            row(f"{name}, a spare from the pool", times, 1e3, "ms")


async def started(backend: Backend, folder: Path) -> float:
    """Seconds to the first answer of a sandbox, which is closed then."""
    opened: list[Sandbox] = []

    async def fresh() -> None:
        opened.append(await backend.open(SandboxSpec(workspace=folder)))
        await opened[0].call(*ADD)

    seconds = await timed(fresh)
    await opened[0].aclose()
    return seconds


async def crowd(folder: Path) -> None:
    """Many runs at the same time: until all of them have their first answer."""
    print(f"\n{f'{CROWD} runs at the same time':<44}{'until all answer':>20}")
    for name, backends in {"process": ProcessBackend, **HOSTED}.items():
        async with backends() as backend, SandboxPool(backend, empty(folder)) as pool:

            async def run(pool: SandboxPool = pool) -> None:
                await (await pool.lease()).call(*ADD)

            async def all_of_them() -> None:
                async with anyio.create_task_group() as tasks:
                    for _ in range(CROWD):
                        tasks.start_soon(run)

            print(f"{name:<44}{await timed(all_of_them):>18.1f} s")


async def memory(folder: Path) -> None:
    """A host's own memory as it loads servers."""
    if sys.platform != "linux":
        print("\nmemory of a host: measured on Linux only")
        return
    names = [server.name for server in load_catalog().ready.servers][:8]
    print(f"\n{'memory of a host':<44}{'own':>10}{'share':>10}")
    for kind, backends in {"process": ProcessBackend, **LOCAL}.items():
        place = empty(folder)
        async with backends() as backend:
            sandbox = await backend.open(SandboxSpec(workspace=place))
            pid = await _host(backend, place)
            for count, name in enumerate(["", *names]):
                if name:
                    await use(sandbox, name, place)
                if count in (0, 1, len(names)):
                    own, share = _own(pid)
                    label = f"{kind}, after " + ("start" if count == 0 else ", ".join(names[:count]))
                    print(f"{label[:43]:<44}{own:>7.1f} MB{share:>7.1f} MB")


async def use(sandbox: Sandbox, server: str, folder: Path) -> None:
    """Load a server by its examples."""
    examples = load_examples(server)
    examples.write_files(folder)
    for tool, arguments in examples.setup:
        await sandbox.call(tool, json.dumps(arguments).encode())
    for tool, arguments in examples.calls.items():
        await sandbox.call(f"{server}/{tool}", json.dumps(arguments).encode())


async def calls(folder: Path) -> None:
    """The same function in this process and in a host; CPU is that of both."""
    print(f"\n{'calls':<32}{'per second':>12}{'per call':>12}{'CPU':>12}{'ratio':>8}")
    for flight in (1, 32):
        plain = 0.0
        backends = {"inprocess": InProcessBackend, "process": ProcessBackend, **LOCAL}
        for backend in (make() for make in backends.values()):
            async with backend:
                place = empty(folder)
                sandbox = await backend.open(SandboxSpec(workspace=place))
                await sandbox.call(*ADD)
                hosts = [] if backend.name == "inprocess" else [await _host(backend, place)]
                begin = _cpu(hosts)
                best = min([await _flood(sandbox, flight) for _ in range(ROUNDS)]) / CALLS
                used = (_cpu(hosts) - begin) / ROUNDS / CALLS
                plain = plain or best
                label = f"{backend.name}, {flight} in flight"
                print(f"{label:<32}{1 / best:>12.0f}{best * 1e6:>9.0f} us{used * 1e6:>9.0f} us{best / plain:>8.1f}")


async def _flood(sandbox: Sandbox, flight: int) -> float:
    async def some() -> None:
        for _ in range(CALLS // flight):
            await sandbox.call(*ADD)

    async def all_of_them() -> None:
        async with anyio.create_task_group() as tasks:
            for _ in range(flight):
                tasks.start_soon(some)

    return await timed(all_of_them)


def row(name: str, times: list[float], scale: float, unit: str) -> None:
    """One line of a table of times."""
    middle, best = statistics.median(times) * scale, min(times) * scale
    print(f"{name:<44}{middle:>7.0f} {unit}{best:>7.0f} {unit}")


async def _host(backend: Backend, folder: Path) -> int:
    """The Python process among those of a sandbox, as this machine numbers it."""
    if isinstance(backend, DockerBackend):
        (name,) = await backend.traces(folder)
        listed = await backend.engine.ask(lambda client: client.top(name))
        column = listed["Titles"].index("PID")
        return int(listed["Processes"][-1][column])
    return next(pid for pid in processes(folder) if _is_ours(pid))


def _is_ours(pid: int) -> bool:
    """Whether a process runs the same Python as this one."""
    return os.path.realpath(f"/proc/{pid}/exe") == os.path.realpath(sys.executable)


def _docker() -> dict[str, Callable[[], Backend]]:
    """The Docker backend where there is an engine, and as it is when the engine is elsewhere."""
    engine = DockerEngine()
    try:
        engine.answer(survey)
    except SandboxError as error:
        print(f"without Docker: {error}")
        return {}
    finally:
        engine.close()
    return {"docker": DockerBackend, "docker, engine elsewhere": lambda: DockerBackend(shared=False)}


def _cpu(hosts: list[int]) -> float:
    """Seconds of CPU used so far, here and by hosts."""
    used = time.process_time()
    for pid in hosts:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        used += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return used


def _own(pid: int) -> tuple[float, float]:
    """Private memory and proportional share in megabytes."""
    fields = {
        line.split(":")[0]: float(line.split()[1]) / 1024
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    }
    return fields["Private_Clean"] + fields["Private_Dirty"], fields["Pss"]


HOSTED = _docker()
LOCAL = {name: make for name, make in HOSTED.items() if name == "docker"}
"""Those whose hosts are processes of this machine."""


async def main() -> None:
    """Everything, one table after the other."""
    with TemporaryDirectory(prefix="m3bench-bench-") as folder:
        await starts(Path(folder))
        await crowd(Path(folder))
        await memory(Path(folder))
        await calls(Path(folder))


if __name__ == "__main__":
    anyio.run(main)
