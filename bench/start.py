"""What a client waits for: time, CPU and memory of a server until the client has its tools, side by side.

    python bench/start.py [--repeats N] [--without-27]

Starts, in turn and again and again: m3bench as clients start it, m3bench with nothing prepared, an empty server on the
SDK, an empty one on fastmcp, and 27 empty SDK servers at once, the least that 27 servers could take. A client shakes
hands and lists the tools. Ratios are to the empty SDK server; exit code 1 when those of a prepared start in time or CPU
are above the goal. Linux only: CPU and memory are read from /proc.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

GOAL = 0.35
SERVERS = 27

SDK = """
import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
import mcp_types as types
async def tools(context, params):
    return types.ListToolsResult(tools=[])
async def main():
    server = Server("empty", on_list_tools=tools)
    async with stdio_server() as (reads, writes):
        await server.run(reads, writes, server.create_initialization_options())
anyio.run(main)
"""
FASTMCP = "from fastmcp import FastMCP\nFastMCP('empty').run(show_banner=False)\n"
M3BENCH = [sys.executable, "-m", "m3bench.server.cli", "serve"]

Cost = tuple[float, float, float]
"""Seconds, CPU seconds and megabytes."""


def main() -> None:
    """Measure, show, and judge."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--without-27", action="store_true")
    options = parser.parse_args()
    with TemporaryDirectory(prefix="m3bench-start-") as scratch:
        found = measure(Path(scratch), options.repeats, options.without_27)
    base = found["an empty SDK server"]
    table = Table(title=f"until tools/list is answered: medians of {options.repeats}, load {os.getloadavg()[0]:.1f}")
    for heading in ("", "seconds", "ratio", "CPU seconds", "ratio", "MB", "ratio"):
        table.add_column(heading, justify="left" if not heading else "right")
    for name, cost in found.items():
        cells = [
            (f"{value:.3f}" if unit < 2 else f"{value:.0f}", value / base[unit]) for unit, value in enumerate(cost)
        ]
        table.add_row(name, *(cell for value, ratio in cells for cell in (value, f"{ratio:.2f}")))
    Console().print(table)
    worst = max(found["m3bench"][unit] / base[unit] for unit in (0, 1))
    print(f"m3bench: {worst:.2f} x the empty server in time or CPU; the goal is {GOAL}")
    sys.exit(0 if worst <= GOAL else 1)


def measure(scratch: Path, repeats: int, without_27: bool) -> dict[str, Cost]:
    """The median cost of each kind of server."""
    ready = {"M3BENCH_CACHE": str(scratch / "cache"), "M3BENCH_DATA": str(scratch / "data")}
    make = "import anyio; from m3bench.server.commands import serving; anyio.run(serving.prepare_start, 'full', False)"
    subprocess.run([sys.executable, "-c", make], env={**os.environ, **ready}, check=True)
    kinds: dict[str, tuple[list[str], dict[str, str], int]] = {
        "m3bench": (M3BENCH, ready, 1),
        "m3bench, nothing prepared": (M3BENCH, {**ready, "M3BENCH_CACHE": "/dev/null"}, 1),
        "an empty SDK server": ([sys.executable, "-c", SDK], {}, 1),
        "an empty fastmcp server": ([sys.executable, "-c", FASTMCP], {}, 1),
    }
    if not without_27:
        kinds["27 empty SDK servers"] = ([sys.executable, "-c", SDK], {}, SERVERS)
    costs: dict[str, list[Cost]] = {name: [] for name in kinds}
    for number in range(repeats):
        for name, (command, env, count) in kinds.items():
            if count == 1 or number == 0:
                costs[name].append(start(command, env, count))
    return {name: middle(found) for name, found in costs.items()}


def middle(costs: list[Cost]) -> Cost:
    """The medians."""
    seconds, cpu, memory = zip(*costs, strict=True)
    return median(seconds), median(cpu), median(memory)


def start(command: list[str], env: dict[str, str], count: int) -> Cost:
    """Start servers at once; the time until the last has listed its tools, and what all have used then."""
    began = time.perf_counter()
    servers = [
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={**os.environ, **env}
        )
        for _ in range(count)
    ]
    for server in servers:
        info = {"name": "bench", "version": "1"}
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info}
        say(server, id=0, method="initialize", params=hello)
    cpu = memory = 0.0
    for server in servers:
        hear(server)
        say(server, method="notifications/initialized")
        say(server, id=1, method="tools/list")
        assert "tools" in hear(server)["result"]
        cpu, memory = cpu + cpu_seconds(server.pid), memory + megabytes(server.pid)
    seconds = time.perf_counter() - began
    for server in servers:
        server.kill()
        server.communicate()
    return seconds, cpu, memory


def say(server: "subprocess.Popen[bytes]", **message: object) -> None:
    """Send a message."""
    assert server.stdin is not None
    server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    server.stdin.flush()


def hear(server: "subprocess.Popen[bytes]") -> dict[str, dict[str, object]]:
    """The next answer."""
    assert server.stdout is not None
    found: dict[str, dict[str, object]] = json.loads(server.stdout.readline())
    return found


def cpu_seconds(pid: int) -> float:
    """What all threads of a process have used."""
    return sum(int(task.read_text().split()[0]) for task in Path(f"/proc/{pid}/task").glob("*/schedstat")) / 1e9


def megabytes(pid: int) -> float:
    """What a process holds."""
    status = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmRSS"))


if __name__ == "__main__":
    main()
