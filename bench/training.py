"""Episodes for a trainer: how many a second, what they cost, and what is left when they are over.

    python bench/training.py [SET] [--flight 64] [--every 1] [--group 8] [--workers 2]

Every task of the set is played by its reference, first each once, then in groups, as GRPO plays them. Processor time is
that of the workers and their sandboxes; `--kills N` then kills as many trainers in the middle of their episodes.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

from m3bench.server.lab.training.environment import Environment, EnvironmentOptions
from m3bench.server.lab.training.train_set import oracle_answer, oracle_turns
from m3bench.server.lab.training.worker import PREFIX
from m3bench.tasks.task import Task

TICKS = os.sysconf("SC_CLK_TCK")


def descendants(pid: int) -> Iterator[int]:
    """A process and all that descend from it."""
    waiting = [pid]
    while waiting:
        pid = waiting.pop()
        yield pid
        for thread in Path(f"/proc/{pid}/task").glob("*/children"):
            try:
                waiting += map(int, thread.read_text().split())
            except OSError:
                continue


def cpu_seconds(workers: Sequence[int]) -> tuple[float, float, float]:
    """Processor time of this process, of its workers, and of their hosts with the programs that tools start."""
    found = {}
    for pid in descendants(os.getpid()):
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        found[pid] = sum(map(int, fields[11:15])) / TICKS
    own, played = found.pop(os.getpid()), sum(found.pop(pid, 0.0) for pid in workers)
    return own, played, sum(found.values())


def memory_bytes() -> int:
    """Memory of this process and its descendants; of shared pages their part."""
    total = 0
    for pid in descendants(os.getpid()):
        try:
            total += int(Path(f"/proc/{pid}/smaps_rollup").read_text().partition("\nPss:")[2].split()[0])
        except (OSError, IndexError):
            continue
    return total * 1024


def play(environment: Environment, task: Task) -> tuple[bool, str]:
    """Play a task by its reference; whether it was solved, and why it is void if it is."""
    episode = environment.reset(task.id, pictures=False)
    for calls in oracle_turns(task):
        episode.step([{"name": call.name, "arguments": call.arguments} for call in calls])
    turn = episode.submit(**oracle_answer(task))  # type: ignore[arg-type]
    return turn.reward.total == 1.0, turn.reward.void


def pass_over(environment: Environment, tasks: Sequence[Task], flight: int, name: str) -> dict[str, float | str | int]:
    """Play tasks, so many at a time, and what that took."""
    workers = [worker._process.pid for worker in environment._workers]
    before, began, peak = cpu_seconds(workers), time.perf_counter(), memory_bytes()
    found: list[tuple[bool, str]] = []
    with ThreadPoolExecutor(flight) as pool:
        for number, solved in enumerate(pool.map(lambda task: play(environment, task), tasks)):
            found.append(solved)
            if number % 64 == 32:
                peak = max(peak, memory_bytes())
    seconds = time.perf_counter() - began
    spent = [now - then for now, then in zip(cpu_seconds(workers), before, strict=True)]
    cpu = sum(spent)
    return {
        "what": name, "episodes": len(tasks), "solved": sum(solved for solved, _ in found),
        "void": sum(bool(void) for _, void in found), "why": next((void[:300] for _, void in found if void), ""),
        "seconds": round(seconds, 1), "per_second": round(len(tasks) / seconds, 2),
        "cpu_ms_per_episode": round(cpu / len(tasks) * 1000, 1),
        **{f"{part}_ms": round(each / len(tasks) * 1000, 1)
           for part, each in zip(("trainer", "workers", "tools"), spent, strict=True)},
        "per_second_at_two_cores": round(2 * len(tasks) / cpu, 1), "peak_mb": round(peak / 1e6),
    }  # fmt: skip


def leftovers(place: str) -> list[str]:
    """Folders of episodes that are there now."""
    return sorted(path.name for path in Path(place).glob(f"{PREFIX}*"))


def killed_trainers(number: int, tasks: Path) -> dict[str, float | str | int]:
    """Kill trainers in the middle of their episodes; what is left of them ten seconds later."""
    program = (
        "import sys, threading\n"
        "from m3bench.server.lab.training.environment import Environment, EnvironmentOptions\n"
        "with Environment(sys.argv[1], EnvironmentOptions(workers=1)) as environment:\n"
        "    held = [environment.reset(task, pictures=False) for task in environment.tasks[:8]]\n"
        "    print('ready', flush=True)\n"
        "    for episode in held * 1000:\n"
        "        episode.step([{'name': 'math__add', 'arguments': {'firstNumber': 1, 'secondNumber': 2}}])\n"
    )
    with TemporaryDirectory() as place:
        for _ in range(number):
            trainer = subprocess.Popen(
                [sys.executable, "-c", program, str(tasks)], stdout=subprocess.PIPE, start_new_session=True,
                env={**os.environ, "TMPDIR": place},
            )  # fmt: skip
            assert trainer.stdout is not None
            trainer.stdout.readline()
            os.kill(trainer.pid, signal.SIGKILL)
            trainer.wait()
            trainer.stdout.close()
        until = time.monotonic() + 60
        while leftovers(place) and time.monotonic() < until:
            time.sleep(0.5)
        return {"what": "killed trainers", "episodes": number, "left": len(leftovers(place))}


def main() -> None:
    """Measure and print a line of JSON for each part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", nargs="?", type=Path, default=Path("m3"), help="a set of tasks")
    parser.add_argument("--flight", type=int, default=64, help="episodes at a time")
    parser.add_argument("--every", type=int, default=1, help="of the tasks, play one in so many")
    parser.add_argument("--group", type=int, default=8, help="how often a task is played again")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--answers", type=Path, help="what tools saw in the pictures before")
    options = parser.parse_args()
    # Folders of other trainers on this machine are no leftovers of this one.
    with TemporaryDirectory() as place:
        tempfile.tempdir = os.environ["TMPDIR"] = place
        measured(options)
        if options.kills:
            print(json.dumps(killed_trainers(options.kills, options.tasks)), flush=True)


def measured(options: argparse.Namespace) -> None:
    """Play, and say what it took and what is left."""
    chosen = EnvironmentOptions(workers=options.workers, answers=options.answers)
    with Environment(options.tasks, chosen) as environment:
        tasks = list(environment.library.tasks.values())[:: options.every]
        empty = memory_bytes()
        first = pass_over(environment, tasks, options.flight, "first time")
        print(json.dumps(first), flush=True)
        again = [task for task in tasks for _ in range(options.group)]
        print(json.dumps(pass_over(environment, again, options.flight, "again")), flush=True)
        warm = memory_bytes()
        held = [environment.reset(task.id, pictures=False) for task in (tasks * options.flight)[: options.flight]]
        for episode in held:
            episode.step([{"name": "math__add", "arguments": {"firstNumber": 1, "secondNumber": 2}}])
        each = (memory_bytes() - warm) / len(held) / 1e6
        print(json.dumps({"what": "memory", "empty_mb": round(empty / 1e6), "warm_mb": round(warm / 1e6),
                          "mb_per_episode_in_flight": round(each, 2)}), flush=True)  # fmt: skip
        for episode in held:
            episode.close()
        files = sum(1 for _ in Path("/proc/self/fd").iterdir())
    processes = sum(1 for _ in descendants(os.getpid())) - 1
    left = {"what": "left", "folders": len(leftovers(gettempdir())), "processes": processes, "descriptors": files}
    print(json.dumps(left), flush=True)


if __name__ == "__main__":
    main()
