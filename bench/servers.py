"""What each server costs: memory after its first call, and CPU per call once it is loaded.

    python bench/servers.py [SERVER ...]

Every server runs in a process of its own, makes its example calls once to load what they need, then again to
be measured. The base is the same process before any server is loaded.
"""

import json
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
from rich.console import Console
from rich.table import Table

from m3bench.sandboxes.context import Context
from m3bench.sandboxes.dispatcher import Dispatcher
from m3bench.sandboxes.workspace import Workspace
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.examples import load_examples

REPEATS = 3


def resident() -> float:
    """Megabytes this process holds."""
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmRSS"))


async def measure(server: str) -> dict[str, object]:
    """Memory, first call and slowest call of one server."""
    base = resident()
    examples = load_examples(server)
    with TemporaryDirectory() as folder:
        examples.write_files(Path(folder))
        context = Context(workspace=Workspace(Path(folder)), scenes=examples.scenes)
        dispatcher = Dispatcher(load_catalog().ready, context)
        for tool, arguments in examples.setup:
            await dispatcher.call(tool, arguments)
        first = 0.0
        for name, arguments in examples.calls.items():
            begin = time.process_time()
            await dispatcher.call(f"{server}/{name}", arguments)
            first = max(first, time.process_time() - begin)
        costs: dict[str, float] = {}
        for name, arguments in examples.calls.items():
            times = []
            for _ in range(REPEATS):
                begin = time.process_time()
                await dispatcher.call(f"{server}/{name}", arguments)
                times.append(time.process_time() - begin)
            costs[name] = min(times)
    slowest = max(costs, key=lambda name: costs[name])
    return {"memory": resident() - base, "first": first, "slowest": slowest, "seconds": costs[slowest]}


def main() -> None:
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(anyio.run(measure, sys.argv[2])))
        return
    table = Table(title="CPU milliseconds; memory beyond a host without any server")
    for heading in ("server", "MB", "first call", "slowest call", "then"):
        table.add_column(heading, justify="left" if heading in ("server", "slowest call") else "right")
    for server in sys.argv[1:] or [server.name for server in load_catalog().ready.servers]:
        done = subprocess.run(
            [sys.executable, __file__, "--measure", server], capture_output=True, text=True, check=True
        )
        found = json.loads(done.stdout)
        table.add_row(
            server, f"{found['memory']:.0f}", f"{found['first'] * 1000:.0f}", found["slowest"],
            f"{found['seconds'] * 1000:.1f}",
        )  # fmt: skip
    Console().print(table)


if __name__ == "__main__":
    main()
