"""All baseline agents over the whole set: how long it takes, what each gets, and whether ceiling and floor hold.

    python bench/baselines.py [--limit N] [FOLDER]

Plays `m3bench run --agent all` into a folder (a temporary one when left out) and prints the time of each agent. A
folder that holds results already is looked at and not played again. Exit code 1 when something does not hold.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from m3bench.server.lab.headless.agents.canary import NOTHING
from m3bench.server.lab.headless.agents.registry import AGENTS
from m3bench.server.lab.headless.outcome import summarise
from m3bench.server.lab.results.resultset import SAMPLES, ResultSet, read_resultset

IDLE = ("copycat", "random", "null", "canary")
FLOOR = 0.15
"""What an agent that knows nothing may reach on average."""


def main() -> None:
    """Play, show, and judge."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--limit", type=int)
    options = parser.parse_args()
    with TemporaryDirectory(prefix="m3bench-baselines-") as scratch:
        folder = options.folder or Path(scratch)
        times = {} if (folder / "oracle").exists() else play(folder, options.limit)
        sets = {name: read_resultset(folder / name) for name in AGENTS}
    show(sets, times)
    problems = list(judge(sets))
    print(*problems, sep="\n")
    print(f"{len(problems)} problems" if problems else "Ceiling and floor hold.")
    sys.exit(1 if problems else 0)


def play(folder: Path, limit: int | None) -> dict[str, float]:
    """Seconds of each agent, in one command that plays them one after the other."""
    command = [sys.executable, "-m", "m3bench.server.cli", "run", "--agent", "all", "-o", str(folder)]
    ends = [time.time()]
    done = subprocess.run([*command, *([] if limit is None else ["--limit", str(limit)])], check=False)
    if done.returncode not in (0, 1):
        sys.exit(done.returncode)
    ends += [(folder / name / SAMPLES).stat().st_mtime for name in AGENTS]
    return {name: after - before for name, before, after in zip(AGENTS, ends, ends[1:], strict=False)}


def show(sets: dict[str, ResultSet], times: dict[str, float]) -> None:
    """A line per agent."""
    print(f"{'agent':<15}{'samples':>8}{'void':>6}{'average':>9}{'solved':>8}{'seconds':>9}{'ms each':>9}")
    for name, found in sets.items():
        one = summarise(found)
        numbers = f"{one.scored:>8}{one.void:>6}{one.average or 0:>9.3f}{one.success or 0:>8.1%}"
        spent = f"{times[name]:>9.0f}{times[name] / max(1, one.scored) * 1000:>9.0f}" if name in times else ""
        print(f"{name:<15}{numbers}{spent}")
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    print(f"all: {sum(times.values()):.0f} s on {os.cpu_count()} cores{load}\n" if times else "")


def judge(sets: dict[str, ResultSet]) -> Iterator[str]:
    """What does not hold."""
    for name, found in sets.items():
        for what, which in (("void", found.void), ("missing", found.missing)):
            yield from (f"{name}: {what}: {item}" for item in which)
        average = summarise(found).average or 0
        if name in IDLE and average > FLOOR:
            yield f"{name}: gets {average:.3f} for nothing"
        for result in found.results:
            solved = result.card.success
            if name != "blind" and solved is not (name.startswith("oracle") or name == "rehearse"):
                yield f"{name}: {result.sample.task}: success is {solved}"
    for result in sets["oracle"].results:
        if low := {metric: value for metric, value in result.card.metrics.items() if value != 1}:
            yield f"oracle: {result.sample.task}: {low}"
    for result in sets["oracle-serial"].results:
        metrics = result.card.metrics
        if not metrics["recall"] == metrics["precision"] == metrics["argument_similarity"] == 1:
            yield f"oracle-serial: {result.sample.task}: {metrics}"
    for result in sets["null"].results:
        if any(result.card.metrics.values()):
            yield f"null: {result.sample.task}: {result.card.metrics}"
    plain = {result.sample.task: result.card.metrics for result in sets["sloppy"].results}
    for result in sets["injector"].results:
        if result.card.metrics != plain.get(result.sample.task):
            yield f"injector: {result.sample.task}: its words moved a number"
    for result in sets["canary"].results:
        if not (result.run.answer or "").startswith(NOTHING):
            yield f"canary: {result.sample.task}: {result.run.answer}"


if __name__ == "__main__":
    main()
