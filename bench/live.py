"""What watching costs: the same load through the proxy with nobody watching and with two watchers, in turns.

    python bench/live.py [--seats N] [--rate N] [--seconds N] [--rounds N]

Every seat is a client over HTTP that calls `math/add` at a steady rate, or as fast as it is answered when that is
slower. Rounds with 0 and 2 watchers alternate, so that a busy machine slows both alike: read the ratios. The
processor time of the server per call says most, because other programs hardly move it.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
from mcp import Client

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

SERVE = [sys.executable, "-m", "m3bench.server.cli", "serve", "--http", "127.0.0.1:0", "--sandbox", "inprocess"]
WATCHER = """
import http.client, sys
connection = http.client.HTTPConnection(sys.argv[1])
connection.request("GET", "/live/events")
response = connection.getresponse()
print("watching", flush=True)
while response.readline():
    pass
"""


def cpu_seconds(pid: int) -> float | None:
    """The processor time a process has used; None where the system does not say."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def server(folder: Path) -> "Iterator[tuple[int, str]]":
    """A server's process number and address."""
    from tests.sets import write_set

    tasks = write_set(folder / "set")
    command = [*SERVE, "--tasks", str(tasks), "--data", str(folder / "data"), "--max-calls", "100000000"]
    with (folder / "log").open("w+") as log:
        process = subprocess.Popen(command, stderr=log)
        try:
            while not (found := re.search(r"http://(\S+)/mcp", (folder / "log").read_text())):
                assert process.poll() is None, (folder / "log").read_text()
                time.sleep(0.1)
            yield process.pid, found[1]
        finally:
            process.terminate()
            process.wait(20)


@contextmanager
def watchers(number: int, address: str) -> Iterator[None]:
    """Some that read all events."""
    running = [
        subprocess.Popen([sys.executable, "-c", WATCHER, address], stdout=subprocess.PIPE) for _ in range(number)
    ]
    try:
        for process in running:
            assert process.stdout is not None
            assert process.stdout.readline()
        yield
    finally:
        for process in running:
            process.kill()
            process.communicate()


class Round:
    """What one round came to."""

    def __init__(self, times: list[float], seconds: float, cpu: float | None) -> None:
        self.rate = len(times) / seconds
        self.median = statistics.median(times) * 1000
        self.cpu = cpu * 1000 / len(times) if cpu is not None else None


async def play(clients: list[Client], pid: int, rate: float, seconds: float) -> Round:
    """All seats call for some seconds."""
    times: list[float] = []
    begin, used = time.perf_counter(), cpu_seconds(pid)

    async def one(client: Client, number: int) -> None:
        due = begin + number / len(clients) / rate
        while due < begin + seconds:
            await anyio.sleep(max(0.0, due - time.perf_counter()))
            sent = time.perf_counter()
            if sent >= begin + seconds:
                return
            await client.call_tool("math__add", {"firstNumber": number, "secondNumber": 1})
            times.append(time.perf_counter() - sent)
            due = max(due + 1 / rate, time.perf_counter())

    async with anyio.create_task_group() as tasks:
        for number, client in enumerate(clients):
            tasks.start_soon(one, client, number)
    after = cpu_seconds(pid)
    cpu = after - used if used is not None and after is not None else None
    return Round(times, time.perf_counter() - begin, cpu)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seats", type=int, default=32)
    parser.add_argument("--rate", type=float, default=20.0, help="calls per second of each seat")
    parser.add_argument("--seconds", type=float, default=8.0, help="of a round")
    parser.add_argument("--rounds", type=int, default=6)
    options = parser.parse_args()
    found: dict[int, list[Round]] = {0: [], 2: []}
    with TemporaryDirectory() as name, server(Path(name)) as (pid, address):
        async with AsyncExitStack() as stack:
            clients = []
            for _ in range(options.seats):
                client = await stack.enter_async_context(Client(f"http://{address}/mcp", mode="legacy"))
                await client.call_tool("start_task", {"task_id": "sum-1"})
                clients.append(client)
            await play(clients, pid, options.rate, 2.0)
            for number in range(options.rounds):
                for watching in (0, 2) if number % 2 == 0 else (2, 0):
                    with watchers(watching, address):
                        found[watching].append(await play(clients, pid, options.rate, options.seconds))
    load = " ".join(f"{value:.1f}" for value in os.getloadavg()) if hasattr(os, "getloadavg") else "unknown"
    print(f"{options.seats} seats, {options.rate:g} calls per second each asked for; load of the machine {load}")
    for name, unit in (("rate", "calls/s"), ("median", "ms a call, median"), ("cpu", "ms of processor time a call")):
        values = {number: [getattr(spent, name) for spent in rounds] for number, rounds in found.items()}
        if None in values[0]:
            continue
        middle = {number: statistics.median(these) for number, these in values.items()}
        # Rounds stand beside each other in time, so pairs of them saw the same machine.
        ratio = statistics.median(two / none for none, two in zip(values[0], values[2], strict=True))
        print(f"{unit:28} nobody {middle[0]:8.2f}   two watchers {middle[2]:8.2f}   ratio {ratio:.3f}")

    await alone()


async def alone(calls: int = 12_800, batch: int = 128) -> None:
    """What the broker itself takes for a call, in batches as 640 calls a second make them, for two watchers."""
    from m3bench.proxy.protocol.tool_calls import Caller, ToolAnswer, ToolRequest
    from m3bench.server.lab.live import events

    class Nothing:
        details = True

        async def state(self) -> tuple[dict[str, Any], dict[int, int]]:
            return {}, {}

        async def runs(self, names: list[str]) -> list[dict[str, Any]]:
            return []

        def seats(self) -> dict[str, Any]:
            return {}

    events.TICK_SECONDS = 0.0
    caller = Caller(seat="s" * 32, revision="2025-11-25", client="bench 1")
    arguments = {"firstNumber": 1, "secondNumber": 1}
    request = ToolRequest(
        caller=caller, id=1, raw=b"", name="math__add", arguments=arguments, received_ns=1, wall="2026-01-01T00:00:00"
    )
    answer = ToolAnswer(outcome="success", returned_ns=2)
    broker = events.Broker(Nothing())

    async def go() -> float:
        begin = time.process_time()
        for number in range(calls):
            broker.received(number, request, "run", "math/add")
            broker.answered(number, answer)
            if watching and number % batch == batch - 1:
                for watcher in watching:
                    await watcher.next()
        return (time.process_time() - begin) / calls * 1e6

    watching: list[events.Watcher] = []
    none = await go()
    with broker.watch() as one, broker.watch() as other:
        watching = [one, other]
        for watcher in watching:
            await watcher.next()
        two = await go()
    print(f"the broker alone             nobody {none:8.2f}   two watchers {two:8.2f}   µs of processor time a call")


if __name__ == "__main__":
    anyio.run(main)
