"""Many calls from several processes into one record: each once, in order, in its run; and what a call costs.

    python bench/postgres.py [--calls N] [--processes N] [--at-once N] [--http-calls N] [--only postgres|sqlite]

First processes that put calls and answers on record as a server does, without tools, into PostgreSQL and then into a
SQLite file; then as many real servers over HTTP on one PostgreSQL, whose clients call `math/add`. PostgreSQL is started
here, waits for the disk with every commit, and is removed in the end. Every answer is checked against the record.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from m3bench.server.store.factory import look_over, open_store  # noqa: E402
from m3bench.server.store.location import RecordLocation  # noqa: E402

RUNS = 4
"""Runs of each process, played side by side."""

SERVE = [sys.executable, "-m", "m3bench.server.cli", "serve", "--http", "127.0.0.1:0", "--sandbox", "inprocess"]


def main() -> None:
    """Measure, and print a line for each load."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--calls", type=int, default=8000)
    options.add_argument("--processes", type=int, default=4)
    options.add_argument("--at-once", type=int, default=8, help="calls under way in each process")
    options.add_argument("--http-calls", type=int, default=800)
    options.add_argument("--only", choices=["postgres", "sqlite"])
    options.add_argument("--work", nargs=4, help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.work is not None:
        folder, url, name, calls = chosen.work
        anyio.run(work, RecordLocation(Path(folder), url or None), name, int(calls), chosen.at_once)
        return
    from tests.postgres import serving

    with TemporaryDirectory() as folder:
        if chosen.only != "sqlite":
            with serving(durable=True) as server:
                place = RecordLocation(Path(folder) / "postgres", server.new_database())
                write(place, "PostgreSQL", chosen)
                size = int(server.execute("SELECT pg_database_size(current_database())", place.url))
                print(f"  {size / chosen.calls:.0f} bytes of database a call", flush=True)
                if chosen.http_calls:
                    serve(Path(folder), server.new_database(), chosen)
        if chosen.only != "postgres":
            write(RecordLocation(Path(folder) / "sqlite"), "SQLite", chosen)


def write(place: RecordLocation, name: str, chosen: argparse.Namespace) -> None:
    """Put calls on record from several processes at once, and look for each of them."""
    each = chosen.calls // chosen.processes
    open_store(place).close()
    command = [sys.executable, __file__, "--at-once", str(chosen.at_once), "--work", str(place.folder), place.url or ""]
    began = time.monotonic()
    processes = [
        subprocess.Popen([*command, f"process-{number}", str(each)], stdout=subprocess.PIPE, text=True)
        for number in range(chosen.processes)
    ]
    told = [json.loads(process.communicate()[0]) for process in processes]
    seconds = max(report["ended"] for report in told) - min(report["began"] for report in told)
    for number in range(chosen.processes):
        check(place, [f"process-{number}-{run}" for run in range(RUNS)], each // RUNS)
    report(f"{name}: {chosen.processes} processes", each * chosen.processes, seconds, told)
    print(f"  with starting and checking: {time.monotonic() - began:.0f} s", flush=True)


def check(place: RecordLocation, runs: Sequence[str], calls: int) -> None:
    """Every call of these runs is on record, once, in order."""
    store = open_store(place)
    try:
        for run in runs:
            found = [(int(call.request_id), call.outcome) for call in store.calls(run)]
            assert found == [(number, "success") for number in range(calls)], run
    finally:
        store.close()


async def work(place: RecordLocation, name: str, calls: int, at_once: int) -> None:
    """One process: several runs side by side, each with calls one behind the other, some of them at once."""
    from m3bench.proxy.protocol.tool_calls import ToolAnswer
    from tests.server.store.clients import request, run_record

    store = open_store(place, owner=name)
    took: list[float] = []

    async def play(run: str, slots: int) -> None:
        turn = iter(range(calls // RUNS))

        async def keep_calling() -> None:
            for number in turn:
                began = time.perf_counter()
                call = await store.received(request(number, f"{run} {number}"), run, "echo/echo")
                await anyio.lowlevel.checkpoint()
                await store.answered(call, ToolAnswer(outcome="success", result=b'{"content": []}'))
                took.append(time.perf_counter() - began)
                store.sent(call, time.monotonic_ns())

        async with anyio.create_task_group() as tasks:
            for _ in range(slots):
                tasks.start_soon(keep_calling)

    for number in range(RUNS):
        store.add_seat(f"{name}-{number}", "full", "2026-01-01")
        store.add_run(run_record(f"{name}-{number}", seat=f"{name}-{number}"))
    began = time.time()
    async with anyio.create_task_group() as tasks:
        for number in range(RUNS):
            tasks.start_soon(play, f"{name}-{number}", max(1, at_once // RUNS))
    ended = time.time()
    store.close()
    print(json.dumps({"began": began, "ended": ended, "cpu": time.process_time(), "took": summary(took)}))


def serve(folder: Path, url: str, chosen: argparse.Namespace) -> None:
    """The same through real servers: clients over HTTP, one seat each, that check every sum."""
    from tests.sets import write_set

    tasks = write_set(folder / "set")
    each = chosen.http_calls // chosen.processes // RUNS
    with ExitStack() as stack:
        servers = [stack.enter_context(serving_http(folder, tasks, url, number)) for number in range(chosen.processes)]
        began = time.monotonic()
        took, runs = anyio.run(call_all, servers, each)
        seconds = time.monotonic() - began
    place = RecordLocation(folder / "http-0", url)
    store = open_store(place)
    try:
        for run, seen in runs.items():
            calls = [call for call in store.calls(run) if call.tool == "math/add"]
            assert [json.loads(call.request)["params"]["arguments"]["firstNumber"] for call in calls] == seen, run
            assert {call.outcome for call in calls} == {"success"}
    finally:
        store.close()
    assert look_over(place, beside=False).damage == ()
    report(f"{chosen.processes} servers over HTTP", len(took), seconds, [{"cpu": 0.0, "took": summary(took)}])


@contextmanager
def serving_http(folder: Path, tasks: Path, url: str, number: int) -> Iterator[str]:
    """The address of a server on the database."""
    files = ["--tasks", str(tasks), "--data", str(folder / f"http-{number}"), "--max-calls", "100000000"]
    log = folder / f"log-{number}"
    with log.open("w") as file:
        process = subprocess.Popen([*SERVE, *files, "--store", url], stderr=file)
        try:
            while not (found := re.search(r"http://\S+(?=/mcp)", log.read_text())):
                assert process.poll() is None, log.read_text()
                time.sleep(0.05)
            yield found[0]
        finally:
            process.terminate()
            process.wait()


async def call_all(servers: Sequence[str], calls: int) -> tuple[list[float], dict[str, list[int]]]:
    """What each call took, and for each run the numbers of its calls in order."""
    from mcp import Client

    took: list[float] = []
    runs: dict[str, list[int]] = {}

    async def play(url: str) -> None:
        async with AsyncExitStack() as stack:
            client: Any = await stack.enter_async_context(Client(f"{url}/seat/{os.urandom(18).hex()}/mcp"))
            begun = await client.call_tool("start_task", {"task_id": "sum-1"})
            handle = re.search(r"[0-9a-f]{40}", json.dumps(begun.model_dump(mode="json")))
            assert handle is not None
            runs[handle[0]] = []
            for number in range(calls):
                start = time.perf_counter()
                done = await client.call_tool("math__add", {"firstNumber": number, "secondNumber": 1})
                took.append(time.perf_counter() - start)
                assert str(number + 1) in done.content[0].text
                runs[handle[0]].append(number)

    async with anyio.create_task_group() as tasks:
        for url in servers:
            for _ in range(RUNS):
                tasks.start_soon(play, url)
    return took, runs


def summary(took: Sequence[float]) -> dict[str, float]:
    """The middle and the slow end of what calls took, in milliseconds."""
    ranked = sorted(took)
    return {"median": statistics.median(ranked) * 1e3, "p99": ranked[int(len(ranked) * 0.99)] * 1e3}


def report(name: str, calls: int, seconds: float, told: Sequence[dict[str, Any]]) -> None:
    """A line on a load."""
    median = statistics.median(report["took"]["median"] for report in told)
    slow = max(report["took"]["p99"] for report in told)
    cpu = sum(report["cpu"] for report in told) / calls * 1e6
    used = f", {cpu:.0f} µs of processor in the writers" if cpu else ""
    print(
        f"{name}: {calls} calls, each once, in order, in its run: {calls / seconds:.0f} a second; "
        f"a call took {median:.1f} ms, 99 of 100 under {slow:.1f} ms{used}",
        flush=True,
    )


if __name__ == "__main__":
    main()
