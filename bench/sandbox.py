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
from tempfile import TemporaryDirectory

import anyio

from m3bench.sandboxes.backends.base import Backend, Sandbox, SandboxSpec
from m3bench.sandboxes.backends.inprocess import InProcessBackend
from m3bench.sandboxes.backends.isolation import Isolation
from m3bench.sandboxes.backends.process import ProcessBackend
from m3bench.sandboxes.pool import Pool
from m3bench.sandboxes.selfcheck import processes
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.examples import load_examples

STARTS = 9
CALLS = 2000
ROUNDS = 5
ADD = ("math/add", b'{"firstNumber":1,"secondNumber":2}')

ISOLATIONS = {
    "process, as the platform gives": Isolation(),
    "process, without bubblewrap": Isolation(bubblewrap=False),
    "process, without any isolation": Isolation(
        bubblewrap=False, landlock=False, namespaces=False, rlimits=False, death_signal=False
    ),
}


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

            async def fresh(backend: Backend = backend) -> None:
                await (await backend.open(SandboxSpec(workspace=folder))).call(*ADD)

            await fresh()
            row(name, [await timed(fresh) for _ in range(STARTS)], 1e3, "ms")
    async with ProcessBackend() as backend, Pool(backend, folder, spares=1) as pool:

        async def leased() -> None:
            await (await pool.lease()).call(*ADD)

        times = []
        for _ in range(STARTS):
            await pool.settled()
            times.append(await timed(leased))
        row("a spare from the pool", times, 1e3, "ms")


async def memory(folder: Path) -> None:
    """A host's own memory as it loads servers."""
    if sys.platform != "linux":
        print("\nmemory of a host: measured on Linux only")
        return
    names = [server.name for server in load_catalog().ready.servers][:8]
    print(f"\n{'memory of a host':<44}{'own':>10}{'share':>10}")
    async with ProcessBackend() as backend:
        sandbox = await backend.open(SandboxSpec(workspace=folder))
        pid = _host(folder)
        for count, name in enumerate(["", *names]):
            if name:
                await use(sandbox, name, folder)
            if count in (0, 1, len(names)):
                own, share = _own(pid)
                label = "after start" if count == 0 else f"after {', '.join(names[:count])}"
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
        for backend in (InProcessBackend(), ProcessBackend()):
            async with backend:
                sandbox = await backend.open(SandboxSpec(workspace=folder))
                await sandbox.call(*ADD)
                begin = _cpu(folder)
                best = min([await _flood(sandbox, flight) for _ in range(ROUNDS)]) / CALLS
                used = (_cpu(folder) - begin) / ROUNDS / CALLS
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


def _host(folder: Path) -> int:
    """The Python process among those of a sandbox."""
    return next(
        pid for pid in processes(folder) if Path(f"/proc/{pid}/exe").resolve() == Path(sys.executable).resolve()
    )


def _cpu(folder: Path) -> float:
    """Seconds of CPU used so far, here and by the hosts in a folder."""
    used = time.process_time()
    for pid in processes(folder):
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


async def main() -> None:
    """Everything, one table after the other."""
    with TemporaryDirectory(prefix="m3bench-bench-") as folder:
        await starts(Path(folder))
        await memory(Path(folder))
        await calls(Path(folder))


if __name__ == "__main__":
    anyio.run(main)
