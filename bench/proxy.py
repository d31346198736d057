"""What the proxy costs: the same tools called directly, through m3bench and through other proxies, in one run.

    python bench/proxy.py [--calls N] [--rounds N]

Echo is a low-level SDK server behind every proxy; the real tool is `math/add` in a sandbox, called directly
over the sandbox's link and through m3bench. m3bench records every call durably, the others record nothing.
Rounds are interleaved, so that a busy machine slows all of them alike: read the ratios.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from rich.console import Console
from rich.table import Table

HERE = Path(__file__).parent
ECHO = HERE.parent / "tests" / "proxy" / "echo_server.py"
M3BENCH = ["-m", "m3bench.server.cli", "serve"]

FASTMCP = """
from fastmcp import FastMCP
from fastmcp.client.transports import StdioTransport
from fastmcp.server import create_proxy
gateway = FastMCP("gateway")
gateway.mount(create_proxy(StdioTransport({python!r}, [{echo!r}]), mode="legacy"), namespace="echo")
gateway.run({run})
"""

Call = Callable[[int], Awaitable[object]]


@dataclass
class Series:
    """The measurements of one way to call."""

    medians: list[float] = field(default_factory=list)
    tails: list[float] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)


def caller(client: Client, tool: str) -> Call:
    """Calls echo, or adds."""
    if tool.endswith("echo"):
        return lambda number: client.call_tool(tool, {"text": f"hello {number}"})
    return lambda number: client.call_tool(tool, {"firstNumber": number, "secondNumber": 1})


async def measure(series: Series, call: Call, count: int) -> None:
    """One at a time, then 32 at a time."""
    times = []
    for number in range(count):
        begin = time.perf_counter()
        await call(number)
        times.append(time.perf_counter() - begin)
    series.medians.append(statistics.median(times))
    series.tails.append(sorted(times)[int(len(times) * 0.99)])

    async def worker() -> None:
        for number in range(count // 32 + 1):
            await call(number)

    begin = time.perf_counter()
    async with anyio.create_task_group() as tasks:
        for _ in range(32):
            tasks.start_soon(worker)
    series.rates.append((count // 32 + 1) * 32 / (time.perf_counter() - begin))


def python(*arguments: str) -> StdioServerParameters:
    return StdioServerParameters(command=sys.executable, args=list(arguments), env=dict(os.environ))


@asynccontextmanager
async def listening(command: list[str], port: int) -> AsyncIterator[None]:
    """A server process that listens on a port when this begins."""
    process = await anyio.open_process(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        with anyio.fail_after(60):
            while True:
                try:
                    await (await anyio.connect_tcp("127.0.0.1", port)).aclose()
                    break
                except OSError:
                    await anyio.sleep(0.1)
        yield
    finally:
        process.terminate()
        await process.wait()


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=320)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with TemporaryDirectory() as name:
        folder = Path(name)
        await compare(folder, options.calls, options.rounds)
        cold_start(folder)
        large_results(folder)


async def compare(folder: Path, calls: int, rounds: int) -> None:
    servers = folder / "servers.json"
    servers.write_text(f'{{"mcpServers": {{"echo": {{"command": "{sys.executable}", "args": ["{ECHO}"]}}}}}}')
    stdio = [*M3BENCH, "--servers", str(servers), "--data", str(folder / "data"), "--max-calls", "1000000"]
    gateway = FASTMCP.format(python=sys.executable, echo=str(ECHO), run="show_banner=False")
    ways = {
        "stdio: direct": (python(str(ECHO)), "echo"),
        "stdio: m3bench": (python(*stdio), "echo__echo"),
        "stdio: fastmcp proxy": (python("-c", gateway), "echo_echo"),
    }
    table: dict[str, Series] = {}
    async with AsyncExitStack() as stack:
        callers: dict[str, Call] = {}
        for way, (server, tool) in ways.items():
            client = await stack.enter_async_context(Client(stdio_client(server), mode="legacy"))
            callers[way] = caller(client, tool)
            if way == "stdio: m3bench":
                await client.call_tool("start_task", {})
                callers["stdio: m3bench, real tool"] = caller(client, "math__add")
        callers["sandbox link: real tool"] = await stack.enter_async_context(sandbox())
        for _ in range(20):
            for call in callers.values():
                await call(0)
        table = {way: Series() for way in callers}
        for _ in range(rounds):
            for way, call in callers.items():
                await measure(table[way], call, calls)
        await over_http(stack, servers, folder, table, calls, rounds)
    show(table)


async def over_http(
    stack: AsyncExitStack, servers: Path, folder: Path, table: dict[str, Series], calls: int, rounds: int
) -> None:
    """The same over Streamable HTTP, `mcp-proxy` included, which needs an environment of its own."""
    ours = [sys.executable, *M3BENCH, "--servers", str(servers), "--data", str(folder / "data-http")]
    await stack.enter_async_context(listening([*ours, "--http", "127.0.0.1:18701"], 18701))
    await stack.enter_async_context(listening([sys.executable, str(ECHO), "--http", "18702"], 18702))
    ways = {
        "http: direct": ("http://127.0.0.1:18702/mcp", "echo"),
        "http: m3bench": ("http://127.0.0.1:18701/mcp", "echo__echo"),
    }
    other = mcp_proxy(folder)
    if other is not None:
        command = [other, "--port", "18703", "--host", "127.0.0.1", "--", sys.executable, str(ECHO)]
        await stack.enter_async_context(listening(command, 18703))
        ways["http: mcp-proxy"] = ("http://127.0.0.1:18703/mcp", "echo")
    callers = {}
    for way, (url, tool) in ways.items():
        callers[way] = caller(await stack.enter_async_context(Client(url, mode="legacy")), tool)
        table[way] = Series()
    for _ in range(rounds):
        for way, call in callers.items():
            await measure(table[way], call, calls // 2)


def mcp_proxy(folder: Path) -> str | None:
    """The program of PyPI's mcp-proxy, installed now; None where that cannot be done."""
    venv = folder / "venv"
    made = subprocess.run([sys.executable, "-m", "venv", str(venv)], check=False)
    pip = [str(venv / "bin" / "pip"), "install", "-q", "mcp-proxy==0.13.0"]
    if made.returncode or subprocess.run(pip, check=False, capture_output=True).returncode:
        print("mcp-proxy cannot be installed here: left out")
        return None
    return str(venv / "bin" / "mcp-proxy")


@asynccontextmanager
async def sandbox() -> AsyncIterator[Call]:
    """The real tool called over a sandbox's link, with no proxy."""
    from m3bench.sandboxes.backends.base import SandboxSpec
    from m3bench.sandboxes.backends.process import ProcessBackend

    with TemporaryDirectory() as workspace:
        async with ProcessBackend() as backend:
            opened = await backend.open(SandboxSpec(workspace=Path(workspace), servers=("math",)))

            async def call(number: int) -> object:
                return await opened.call("math/add", b'{"firstNumber":%d,"secondNumber":1}' % number)

            yield call


class Pipe:
    """A server process spoken to in raw lines: the SDK's own reader is quadratic in the length of a line."""

    def __init__(self, command: list[str]) -> None:
        self.begin = time.perf_counter()
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        about = {"name": "bench", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": about})
        self.tell({"method": "notifications/initialized"})

    def tell(self, message: dict[str, object]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method: str, params: dict[str, object]) -> bytes:
        assert self.process.stdout is not None
        self.tell({"id": 1, "method": method, "params": params})
        return self.process.stdout.readline()

    def close(self) -> None:
        self.process.communicate(timeout=20)


def cold_start(folder: Path) -> None:
    """From starting the process to a whole tool list, ours against an SDK server of a few tools; memory then."""
    ours = [sys.executable, *M3BENCH, "--data", str(folder / "data-cold")]
    ways = {"SDK low-level server, 7 tools": [sys.executable, str(ECHO)], "m3bench, full profile": ours}
    starts: dict[str, list[float]] = {way: [] for way in ways}
    memory: dict[str, int] = {}
    for _ in range(5):
        for way, command in ways.items():
            pipe = Pipe(command)
            listed = pipe.ask("tools/list", {})
            starts[way].append(time.perf_counter() - pipe.begin)
            assert b'"tools"' in listed
            memory[way] = resident(pipe.process.pid)
            pipe.close()
    base = statistics.median(starts["SDK low-level server, 7 tools"])
    for way, times in starts.items():
        median = statistics.median(times)
        print(f"{way}: cold start to tools/list {median:.2f} s ({median / base:.2f} x), {memory[way]} MB resident")


def large_results(folder: Path) -> None:
    """A 40 MB result, directly from the server and through m3bench."""
    servers = folder / "servers.json"
    ways = {
        "direct": ([sys.executable, str(ECHO)], "large"),
        "m3bench": (
            [sys.executable, *M3BENCH, "--servers", str(servers), "--data", str(folder / "data-large")],
            "echo__large",
        ),
    }
    for way, (command, tool) in ways.items():
        pipe = Pipe(command)
        pipe.ask("tools/call", {"name": tool, "arguments": {"size": 10}})
        begin = time.perf_counter()
        line = pipe.ask("tools/call", {"name": tool, "arguments": {"size": 40_000_000}})
        print(f"a result of {len(line) / 1e6:.0f} MB, {way}: {time.perf_counter() - begin:.2f} s")
        pipe.close()


def resident(pid: int) -> int:
    """Megabytes of memory that a process holds; 0 where the system does not tell."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    return next(int(line.split()[1]) // 1024 for line in status.splitlines() if line.startswith("VmRSS"))


def show(table: dict[str, Series]) -> None:
    screen = Console()
    view = Table(title="median of rounds; ratios against direct over the same transport")
    for heading in ("way", "median ms", "× direct", "p99 ms", "calls/s at 32", "× direct"):
        view.add_column(heading, justify="left" if heading == "way" else "right")
    for way, series in table.items():
        base = table.get(way.partition(":")[0] + ": direct")
        median, rate = statistics.median(series.medians), statistics.median(series.rates)
        view.add_row(
            way, f"{median * 1000:.2f}", f"{median / statistics.median(base.medians):.2f}" if base else "",
            f"{statistics.median(series.tails) * 1000:.2f}", f"{rate:.0f}",
            f"{rate / statistics.median(base.rates):.2f}" if base else "",
        )  # fmt: skip
    screen.print(view)


if __name__ == "__main__":
    anyio.run(main)
