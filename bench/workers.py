"""Workers that share a queue: rates with one, two and four of them, and what is left after kills.

    python bench/workers.py [--samples N] [--pause SECONDS] [--slots N] [--workers 1,2,4] [--kill] [--ray] [FOLDER]

A scripted model that mostly waits plays small tasks; PostgreSQL is started for it and waits for the disk as in real
use. For each number of workers the same number of samples is played, and the rate is that between the first and the
last result. With `--kill` a worker and the database are killed once each in the middle of the run with the most
workers. With `--ray` the workers are on a Ray cluster of two nodes, which are started for it as processes of their own,
and one of the nodes is killed too, with all that runs on it; another takes its place. Every run is looked over in the
end: nothing lost, nothing twice. Exit code 1 when something does not hold.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from m3bench.server.lab.results.resultset import DATA, SAMPLES, read_resultset
from m3bench.server.store.sqlite import SqliteStore

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests.postgres import Server, serving
from tests.ray_nodes import Nodes, cluster, workers_of
from tests.sets import write_set

COMMAND = [sys.executable, "-m", "m3bench.server.cli"]
TASKS = 2
"""In the set that is played."""
CELL = "waiting.react.task.small"
LEASE_SECONDS = 10
CPUS = 4
"""What each of the two nodes of a cluster says it has; a worker takes one."""


def main() -> None:
    """Play with each number of workers, then compare."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--samples", type=int, default=48)
    parser.add_argument("--pause", type=float, default=8.0)
    parser.add_argument("--slots", type=int, default=1)
    parser.add_argument("--workers", default="1,2,4")
    parser.add_argument("--kill", action="store_true")
    parser.add_argument("--ray", action="store_true")
    options = parser.parse_args()
    problems: list[str] = []
    rates: dict[int, float] = {}
    counts = [int(count) for count in options.workers.split(",")]
    with ExitStack() as held:
        scratch = held.enter_context(TemporaryDirectory(prefix="m3bench-workers-"))
        postgres = held.enter_context(serving(durable=True))
        nodes = held.enter_context(cluster(CPUS)) if options.ray else None
        if nodes is not None:
            nodes.add()
        folder = options.folder or Path(scratch)
        for count in counts:
            kill = options.kill and count == max(counts)
            played = Played(folder / f"workers-{count}", options, postgres, nodes)
            rates[count] = played.play(count, kill=kill)
            problems += played.problems()
    first = min(rates)
    for count, rate in rates.items():
        print(f"{count} workers: {rate * 60:.1f} samples a minute, {rate / rates[first]:.2f} times that of {first}")
    print(*problems, sep="\n")
    print(f"{len(problems)} problems" if problems else "Nothing is lost, nothing is there twice.")
    sys.exit(1 if problems else 0)


class Played:
    """One study.

    Args:
        folder: Where it is.
        options: Of the program.
        postgres: The database server.
        nodes: The cluster that plays; None for processes.
    """

    def __init__(self, folder: Path, options: argparse.Namespace, postgres: Server, nodes: Nodes | None) -> None:
        folder.mkdir(parents=True)
        self.nodes = nodes
        self.folder, self.options, self.postgres = folder, options, postgres
        self.repeats = options.samples // TASKS
        self.url = postgres.new_database()
        script = folder / "waiting.json"
        turns = [{"pause": options.pause, "text": "I do not know."}]
        script.write_text(json.dumps({"tasks": {"*": turns}}))
        self.plan = folder / "plan.yaml"
        self.plan.write_text(json.dumps({
            "models": [{"model": f"m3bench/{script}", "name": "waiting"}], "profiles": ["task"], "ask": False,
            "sandbox": "inprocess", "repeats": self.repeats,
            "sets": [{"name": "small", "tasks": str(write_set(folder / "set"))}],
        }))  # fmt: skip

    def play(self, count: int, *, kill: bool) -> float:
        """Play with so many workers; samples a second between the first and the last result."""
        log = (self.folder / "log").open("ab")
        common = ["--store", self.url, "--slots", str(self.options.slots), "--lease", str(LEASE_SECONDS)]
        worker, workers = [*COMMAND, "lab", "worker", *common], []
        on, environment = [], dict(os.environ)
        if self.nodes is not None:
            on = ["--on", "ray", "--workers", str(count)]
            environment["RAY_ADDRESS"] = self.nodes.address
        else:
            workers = [subprocess.Popen(worker, stdout=log, stderr=log) for _ in range(count)]
        study = subprocess.Popen(
            [*COMMAND, "lab", "study", str(self.plan), *common, *on], stdout=log, stderr=log, env=environment
        )
        total = self.repeats * TASKS
        try:
            if kill:
                self._wait(lambda: self.done() >= total // 4, study)
                if self.nodes is None:
                    workers[0].kill()
                    workers.append(subprocess.Popen(worker, stdout=log, stderr=log))
                else:
                    # Started again by Ray.
                    os.kill(workers_of(self.url)[0], signal.SIGKILL)
                print(f"{count} workers: one was killed with {self.done()} of {total} samples", flush=True)
                if self.nodes is not None:
                    self._wait(lambda: self.done() >= total * 3 // 8, study)
                    self.nodes.nodes[-1].kill()
                    print(f"{count} workers: a node was killed with {self.done()} of {total} samples", flush=True)
                    self.nodes.add()
                self._wait(lambda: self.done() >= total // 2, study)
                self.postgres.kill()
                print(f"{count} workers: the database was killed with {self.done()} of {total} samples", flush=True)
                self.postgres.start()
            # All are at work when each has finished something.
            self._wait(lambda: self.done() >= count * self.options.slots, study)
            begun, there = time.monotonic(), self.done()
            self._wait(lambda: self.done() >= total, study)
            took, played = time.monotonic() - begun, total - there
            print(f"{count} workers: {played} samples in {took:.1f} s", flush=True)
            assert study.wait(60) == 0, (self.folder / "log").read_text()
        finally:
            for process in workers:
                process.terminate()
            for process in workers:
                process.wait()
            study.kill()
            study.wait()
            log.close()
        return played / took

    def done(self) -> int:
        """Samples that were gathered."""
        path = self.folder / "study" / CELL / SAMPLES
        return path.read_bytes().count(b"\n") if path.exists() else 0

    def _wait(self, holds: Callable[[], bool], study: "subprocess.Popen[Any]") -> None:
        while not holds():
            assert study.poll() in (None, 0), (self.folder / "log").read_text()
            time.sleep(0.05)

    def problems(self) -> Iterator[str]:
        """Whatever is lost or there twice."""
        total, cell = self.repeats * TASKS, self.folder / "study" / CELL
        lines = [json.loads(line) for line in (cell / SAMPLES).read_bytes().splitlines()]
        found = Counter((line["task"], line["repeat"]) for line in lines if line["state"] == "scored")
        if len(found) != total:
            yield f"{self.folder.name}: {len(found)} of {total} samples are there"
        yield from (f"{self.folder.name}: {key} is there {count} times" for key, count in found.items() if count > 1)
        results = read_resultset(cell)
        if results.void or results.missing:
            yield f"{self.folder.name}: {len(results.void)} samples are void, {len(results.missing)} are missing"
        store = SqliteStore(cell / DATA)
        states = Counter(run.state for run in store.runs())
        store.close()
        if states["scored"] != total:
            yield f"{self.folder.name}: {states['scored']} runs are scored"


if __name__ == "__main__":
    main()
