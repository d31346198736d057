"""What a seat, a run, a call and a sample cost, and what follows for many of them.

    python bench/scale.py [--seats N] [--runs N] [--calls N] [--samples N] [-o FILE]
    python bench/scale.py --show FILE

One server over HTTP, with a sandbox for each run, gets seats that only list their tools; then some of them start a task
and make calls; then whole tasks are played by their references. After each step the memory (PSS) and the processor time
of the server and of all sandboxes are read, and what the record holds; other programs on the machine hardly move them.
`-o` writes the numbers as JSON; `--show` prints the tables of `docs/scale.md` from such a file.
"""

import argparse
import ctypes
import json
import os
import platform
import re
import resource
import secrets
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from compileall import compile_dir
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import httpx2

from m3bench.server.lab.results.resultset import DATA
from m3bench.server.store.layout import database

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests.children import family
from tests.sets import write_set

REVISION = "2026-07-28"
COMMAND = [sys.executable, "-m", "m3bench.server.cli"]
THINK_SECONDS = 10.0
"""Between two calls of a seat that plays, in the tables: a model needs so long for a turn."""
SEATS_PER_SERVER = 256
_ROUNDS = 3
_SUBREAPER = 36
"""Linux's PR_SET_CHILD_SUBREAPER."""
Numbers = Mapping[str, float]


def main() -> None:
    """Measure, or show what was measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seats", type=int, default=200)
    parser.add_argument("--runs", type=int, default=24)
    parser.add_argument("--calls", type=int, default=50, help="of each run")
    parser.add_argument("--samples", type=int, default=28)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--show", type=Path)
    chosen = parser.parse_args()
    if chosen.show is not None:
        print(*tables(json.loads(chosen.show.read_text())), sep="\n\n")
        return
    # As it is where it is installed: else every process would compile it again.
    for room in ("proxy", "sandboxes", "server", "tasks"):
        compile_dir(Path(__file__).parent.parent / room, quiet=1)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with TemporaryDirectory(prefix="m3bench-scale-") as folder:
        measured: dict[str, Any] = {
            "cores": os.cpu_count(),
            "machine": platform.machine(),
            **anyio.run(serve, Path(folder), chosen.seats, chosen.runs, chosen.calls),
            **sample(Path(folder), chosen.samples),
        }
    if chosen.output is not None:
        chosen.output.write_text(json.dumps(measured, indent=1, sort_keys=True) + "\n")
    print(*tables(measured), sep="\n\n")


async def serve(folder: Path, seats: int, runs: int, calls: int) -> dict[str, float]:
    """Costs of a seat, of a run under way and of a call at one server."""
    found: dict[str, float] = {}
    with server(folder) as (pid, address):
        async with httpx2.AsyncClient(base_url=address, timeout=120) as client:
            everybody = [Seat(client) for _ in range(seats)]
            await everybody[0].ask("tools/list")
            before = Used.of(pid)
            for seat in everybody[1:]:
                await seat.ask("tools/list")
            listed = Used.of(pid)
            found["seat_memory"] = (listed.memory - before.memory) / (seats - 1)
            found["seat_cpu"] = (listed.cpu - before.cpu) / (seats - 1)
            found["server_memory"] = before.memory
            players = everybody[:runs]
            for seat in players:
                await seat.call("start_task", task_id="sum-1")
                await seat.call("math__sum", numbers=[1, 2])
            begun = Used.of(pid)
            found["run_memory"] = (begun.memory - listed.memory) / runs
            found["run_cpu"] = (begun.cpu - listed.cpu) / runs
            size = record(folder / "data")
            for number in range(calls):
                for seat in players:
                    await seat.call("math__sum", numbers=[number, 2])
            made = Used.of(pid)
            found["call_cpu"] = (made.cpu - begun.cpu) / (runs * calls)
            found["call_memory"] = max(0.0, made.memory - begun.memory) / (runs * calls)
            found["call_bytes"] = (record(folder / "data") - size) / (runs * calls)
    return found


def sample(folder: Path, samples: int) -> dict[str, float]:
    """Costs of a sample: a task of the bundled set, played by its reference, with its server, sandbox and score."""
    results = folder / "samples"
    command = [*COMMAND, "run", "--agent", "oracle", "--parallel", "2", "--limit"]
    # A busy machine takes longer for the same: the best of several is nearest to what it costs.
    started = min(cpu_of([*command, "1", "-o", str(folder / f"one-{number}")]) for number in range(_ROUNDS))
    rounds = [results, *(folder / f"samples-{number}" for number in range(1, _ROUNDS))]
    spent = min(cpu_of([*command, str(samples + 1), "-o", str(place)]) for place in rounds)
    with sqlite3.connect(f"file:{database(results / DATA)}?mode=ro", uri=True) as rows:
        tables = [name for (name,) in rows.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        counts = {name: rows.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in tables}
    return {
        "samples": samples,
        "start_cpu": started,
        "sample_cpu": (spent - started) / samples,
        "sample_calls": counts["calls"] / (samples + 1),
        "sample_rows": sum(counts.values()) / (samples + 1),
        "sample_bytes": sum(path.stat().st_size for path in results.rglob("*") if path.is_file()) / (samples + 1),
    }


def cpu_of(command: Sequence[str]) -> float:
    """The processor time of a command and of all that came of it, whoever started that and however it ended."""
    if (prctl := getattr(ctypes.CDLL(None), "prctl", None)) is not None:
        # What outlives its parent is waited for here.
        prctl(_SUBREAPER, 1, 0, 0, 0)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    with suppress(ChildProcessError):
        while True:
            os.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def tables(found: Numbers) -> list[str]:
    """What `docs/scale.md` shows of the numbers: costs, many seats, many runs."""
    return ["\n".join(lines) for lines in (_costs(found), _seats(found), _runs(found))]


def _costs(found: Numbers) -> list[str]:
    lines = ["| | processor | memory | record |", "|---|---|---|---|"]
    lines += [
        f"| a server, with one seat | – | {_size(found['server_memory'])} | – |",
        f"| a seat that listed its tools | {_time(found['seat_cpu'])} | {_size(found['seat_memory'])} | – |",
        f"| a run that began, with its sandbox | {_time(found['run_cpu'])} | {_size(found['run_memory'])} | – |",
        f"| a call with a short result | {_time(found['call_cpu'])} | {_size(found['call_memory'])} | "
        f"{_size(found['call_bytes'])} |",
        *_start(found),
        f"| a sample: a bundled task played by its reference, {found['sample_calls']:.0f} calls | "
        f"{_time(found['sample_cpu'])} | – | "
        f"{_size(found['sample_bytes'])}, {found['sample_rows']:.0f} rows |",
    ]
    return lines


def _start(found: Numbers) -> list[str]:
    # Measured since samples are counted without it.
    cost = found.get("start_cpu")
    return [] if cost is None else [f"| the start of `m3bench run`, with its first sample | {_time(cost)} | – | – |"]


def _seats(found: Numbers) -> list[str]:
    lines = ["| seats that play at once | memory | cores | servers |", "|---|---|---|---|"]
    for seats in (100, 1000, 10_000):
        servers = -(-seats // SEATS_PER_SERVER)
        memory = servers * found["server_memory"] + seats * (found["seat_memory"] + found["run_memory"])
        cores = seats * found["call_cpu"] / THINK_SECONDS
        lines.append(f"| {seats} | {_size(memory)} | {cores:.1f} | {servers} |")
    return lines


def _runs(found: Numbers) -> list[str]:
    lines = ["| runs on record | rows | size | hours of one core to play them |", "|---|---|---|---|"]
    for runs in (1000, 22_400, 1_000_000):
        lines.append(
            f"| {runs} | {_short(runs * found['sample_rows'])} | {_size(runs * found['sample_bytes'])} | "
            f"{runs * found['sample_cpu'] / 3600:.1f} |"
        )
    return lines


class Seat:
    """A client by handle.

    Args:
        client: Of all of them.
    """

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self._client = client
        self._path = f"/seat/{secrets.token_urlsafe(24)}/mcp?profile=task:sum-1"
        self._ids = count(1)

    async def call(self, tool: str, **arguments: Any) -> None:
        """Call a tool."""
        result = await self.ask("tools/call", {"name": tool, "arguments": arguments}, tool)
        assert not result.get("isError"), result

    async def ask(self, method: str, params: Mapping[str, Any] | None = None, name: str = "") -> dict[str, Any]:
        """The result of a request."""
        about = {
            "io.modelcontextprotocol/protocolVersion": REVISION,
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "scale", "version": "1"},
        }
        headers = {"accept": "application/json, text/event-stream", "mcp-protocol-version": REVISION,
                   "mcp-method": method, **({"mcp-name": name} if name else {})}  # fmt: skip
        message = {
            "jsonrpc": "2.0",
            "id": next(self._ids),
            "method": method,
            "params": {**(params or {}), "_meta": about},
        }
        answer = await self._client.post(self._path, json=message, headers=headers)
        assert answer.status_code == 200, answer.text
        lines = [line[6:] for line in answer.text.splitlines() if line.startswith("data: ")] or [answer.text]
        found: dict[str, Any] = json.loads(lines[-1])
        return dict(found["result"])


class Used:
    """What a process and all that came of it have used.

    Args:
        memory: Bytes, shared pages counted in parts.
        cpu: Seconds.
    """

    def __init__(self, memory: float, cpu: float) -> None:
        self.memory, self.cpu = memory, cpu

    @classmethod
    def of(cls, pid: int) -> "Used":
        """Read it now."""
        memory = cpu = 0.0
        for member in family(pid):
            with suppress(OSError):
                memory += int(Path(f"/proc/{member}/smaps_rollup").read_text().partition("\nPss:")[2].split()[0]) * 1024
                fields = Path(f"/proc/{member}/stat").read_text().rpartition(")")[2].split()
                cpu += sum(int(field) for field in fields[11:15]) / os.sysconf("SC_CLK_TCK")
        return cls(memory, cpu)


def record(data: Path) -> int:
    """Bytes that a record takes."""
    with sqlite3.connect(f"file:{database(data)}?mode=ro", uri=True) as rows:
        pages, page = (rows.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
    return int(pages) * int(page)


@contextmanager
def server(folder: Path) -> Iterator[tuple[int, str]]:
    """A server's process number and address."""
    tasks = write_set(folder / "set")
    command = [*COMMAND, "serve", "--http", "127.0.0.1:0", "--tasks", str(tasks), "--data", str(folder / "data"),
               "--max-calls", "100000"]  # fmt: skip
    with (folder / "log").open("w+") as log:
        process = subprocess.Popen(command, stderr=log)
        try:
            while not (found := re.search(r"http://([^/\s]+)/mcp", (folder / "log").read_text())):
                assert process.poll() is None, (folder / "log").read_text()
                time.sleep(0.1)
            yield process.pid, f"http://{found[1]}"
        finally:
            process.terminate()
            process.wait(60)


def _size(amount: float) -> str:
    for unit, scale in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if amount >= scale:
            return f"{amount / scale:.3g} {unit}" if amount < 1000 * scale else f"{amount / scale:.0f} {unit}"
    return f"{amount:.0f} bytes"


def _time(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 0.1 else f"{seconds * 1000:.1f} ms"


def _short(number: float) -> str:
    return f"{number / 1e6:.1f} million" if number >= 1e6 else f"{number:.0f}"


if __name__ == "__main__":
    main()
