"""What scoring costs, side by side with the naive way, on the same generated set in one run.

    python bench/scoring.py                 everything; takes minutes, most of them in the naive way
    python bench/scoring.py --effect        only the bundled set by effect, beside the paper's metric
    python bench/scoring.py --golden FILE   write a small set with the naive way's numbers, for the tests

The naive way is sentence-transformers with one encode per task and every call embedded, texts seen before kept in a
dict: what the public evaluator does. Each way runs in a process of its own, single-threaded, and is charged the CPU
time of that process. The growth tables use a stand-in encoder, because there the question is what we add to it.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from workload.generator import Generator
from workload.naive import naive

from m3bench.server.scoring import EFFECT, ScorableRun, find_profile, score_many
from m3bench.tasks.trajectory import Call, Step, Trajectory
from m3bench.tasks.trajectory_files import write_public_tasks

SINGLE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class StandIn:
    """An encoder that costs next to nothing: a vector drawn from the text's checksum."""

    id = "stand-in"

    def key(self, text: str) -> str:
        return text

    def encode(self, texts: Sequence[str]) -> Any:
        import numpy as np

        rows = [np.random.default_rng(zlib.crc32(text.encode())).standard_normal(64) + 1.5 for text in texts]
        vectors = np.array(rows, np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def run(*command: str | Path, out: Path | None = None) -> tuple[float, float]:
    """CPU and wall seconds of a command in a process of its own."""
    environment = os.environ | SINGLE_THREAD | {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    # Both ways run as installed, with compiled bytecode.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    with (out or Path(os.devnull)).open("w") as stream:
        done = subprocess.run(
            [str(part) for part in command], stdout=stream, stderr=subprocess.PIPE, env=environment, text=True
        )
    if done.returncode:
        sys.exit(done.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return cpu, time.perf_counter() - start


def compare(folder: Path, tasks: int, seed: int) -> bool:
    """The whole set and single runs, both ways. Whether every ratio holds."""
    references, runs = Generator(seed).tasks(tasks)
    calls = sum(len(task.trajectories[0].calls) for task in references)
    print(f"{tasks} tasks, {calls} reference calls, {sum(len(t.trajectories[0].calls) for t in runs)} actual calls")
    both = folder / "references.json", folder / "actual.json"
    write_public_tasks(both[0], references)
    write_public_tasks(both[1], runs)
    ours = (Path(sys.executable).parent / "m3bench", "lab", "score", *both, "--metric", "open-m3-bench", "--json")
    theirs = (sys.executable, __file__, "--naive", *both)
    measured = {
        "ours, cold": run(*ours, "--cache", folder / "cache.sqlite", out=folder / "ours.json"),
        "ours, warm cache": run(*ours, "--cache", folder / "cache.sqlite"),
        "naive, cold": run(*theirs, "--cache", folder / "cache.json", out=folder / "naive.json"),
        "naive, warm cache": run(*theirs, "--cache", folder / "cache.json"),
    }
    _table(f"the set of {tasks} tasks", measured, measured["naive, cold"][0])
    _agreement(folder)
    # One run of middling size, from a cold process; three of them, and the median.
    middling = sorted(references, key=lambda task: len(task.trajectories[0].calls))[tasks // 2 : tasks // 2 + 3]
    singles: dict[str, list[tuple[float, float]]] = {"ours, cold": [], "naive, cold": []}
    for task in middling:
        pair = folder / "one-reference.json", folder / "one-actual.json"
        write_public_tasks(pair[0], [task])
        write_public_tasks(pair[1], [next(run for run in runs if run.id == task.id)])
        program = Path(sys.executable).parent / "m3bench"
        command = (program, "lab", "score", *pair, "--metric", "open-m3-bench", "--json")
        singles["ours, cold"].append(run(*command, "--no-cache"))
        singles["naive, cold"].append(run(sys.executable, __file__, "--naive", *pair))
    single = {name: tuple(map(statistics.median, zip(*times, strict=True))) for name, times in singles.items()}
    size = len(middling[0].trajectories[0].calls)
    _table(f"a single run of {size} reference calls", single, single["naive, cold"][0])  # type: ignore[arg-type]
    wanted = (
        ("single run, cold", single["naive, cold"][0] / single["ours, cold"][0], 8),
        ("set, cold", measured["naive, cold"][0] / measured["ours, cold"][0], 4),
        ("set, warm", measured["naive, cold"][0] / measured["ours, warm cache"][0], 20),
    )
    for name, ratio, least in wanted:
        print(f"  {name:<18} {ratio:6.1f} times cheaper (at least {least}): {'yes' if ratio >= least else 'NO'}")
    return all(ratio >= least for _, ratio, least in wanted)


def _table(title: str, measured: dict[str, tuple[float, float]], base: float) -> None:
    print(f"\n{title:<44} {'CPU s':>8} {'wall s':>8} {'CPU ratio':>10}")
    for name, (cpu, wall) in measured.items():
        print(f"  {name:<42} {cpu:8.2f} {wall:8.2f} {base / cpu:9.1f}x")


def _agreement(folder: Path) -> None:
    ours = json.loads((folder / "ours.json").read_text())["tasks"]
    theirs = json.loads((folder / "naive.json").read_text())
    pairs = [[[match[:2] for match in side[name]["matches"]] for side in (ours, theirs)] for name in theirs]
    same = sum(one == other for one, other in pairs)
    metrics = [name for name in next(iter(theirs.values())) if name != "matches"]
    worst = max(abs(ours[task][name] - theirs[task][name]) for task in theirs for name in metrics)
    print(f"  equal match sets in {same} of {len(pairs)} tasks, largest difference of a metric {worst:.1e}")


def growth() -> bool:
    """Scoring alone, as tasks and as buckets grow. Whether it stays linear in tasks."""
    from scipy.optimize import linear_sum_assignment  # noqa: F401  (its import is not what grows)

    print(f"\n{'tasks, stand-in encoder':<44} {'CPU s':>8} {'ms/task':>8}")
    costs = []
    for count in (100, 1000, 10_000):
        references, runs = Generator(count).tasks(count)
        attempts = [
            ScorableRun(actual=run.trajectories[0], references=task.trajectories)
            for task, run in zip(references, runs, strict=True)
        ]
        start = time.process_time()
        for _ in score_many(attempts, encoder=StandIn(), profile=find_profile("open-m3-bench")):
            pass
        costs.append((time.process_time() - start) / count)
        print(f"  {count:<42} {costs[-1] * count:8.2f} {costs[-1] * 1000:8.2f}")
    print(f"\n{'calls of one tool on each side':<44} {'CPU s':>8}")
    generator = Generator(0)
    for count in (10, 30, 100, 300, 1000, 3000):
        sides = [Trajectory(steps=(Step(calls=tuple(generator.details() for _ in range(count))),)) for _ in range(2)]
        start = time.process_time()
        attempt = ScorableRun(actual=sides[0], references=[sides[1]])
        next(score_many([attempt], encoder=StandIn(), profile=find_profile("open-m3-bench")))
        print(f"  {count:<42} {time.process_time() - start:8.2f}")
    linear = costs[-1] < 2 * costs[1]
    print(f"  linear in tasks (a task of 10 000 costs less than two of 1000): {'yes' if linear else 'NO'}")
    return linear


def effect() -> bool:
    """The bundled set by effect, beside the paper's metric with every text embedded already. Whether it is as cheap.

    The references as they are, and with every call in a step of its own and a word changed in every third.
    """
    from m3bench.server.scoring import open_encoder, score
    from m3bench.server.scoring.signatures import catalog_signatures
    from m3bench.tasks.catalog import load_catalog
    from m3bench.tasks.library import Library

    library, signatures, encoder = Library(), catalog_signatures(load_catalog()), open_encoder()
    runs = [
        ScorableRun(actual=actual, references=[way.trajectory for way in task.references], plans=library.plans(task))
        for task in library.tasks.values()
        for actual in (task.references[0].trajectory, _spoiled(task.references[0].trajectory))
    ]

    start = time.process_time()
    for run in runs:
        next(score_many([run], profile=EFFECT, signatures=signatures))
    took = time.process_time() - start
    print(f"\n{'the bundled set':<44} {'CPU s':>8} {'ms/run':>8}")
    print(f"  {f'{len(runs)} runs by effect':<42} {took:8.2f} {took * 1000 / len(runs):8.2f}")
    some = runs[::17]
    ways: dict[str, Callable[[ScorableRun], Any]] = {
        "m3": lambda run: score(run.actual, run.references, encoder=encoder, signatures=signatures),
        "effect": lambda run: next(score_many([run], profile=EFFECT, signatures=signatures)),
    }
    costs = {}
    for name, way in ways.items():
        times = []
        for _ in range(4):
            start = time.process_time()
            for run in some:
                way(run)
            times.append(time.process_time() - start)
        costs[name] = min(times)
        print(f"  {f'{len(some)} of them, warm, {name}':<42} {costs[name]:8.2f} {costs[name] * 1000 / len(some):8.2f}")
    cheap = costs["effect"] <= 1.3 * costs["m3"]
    print(f"  effect costs {costs['effect'] / costs['m3']:.2f} times m3 (at most 1.3): {'yes' if cheap else 'NO'}")
    print(f"\n{'calls on each side, by effect':<44} {'CPU s':>8} {'ms/call':>8}")
    each = []
    for count in (100, 300, 1000, 3000):
        calls = [Call(tool=f"bench/tool_{number}", arguments={"of": number}) for number in range(count)]
        long = Trajectory(steps=tuple(Step(calls=(call,)) for call in calls))
        start = time.process_time()
        run = ScorableRun(actual=long, references=[_together(calls)])
        next(score_many([run], profile=EFFECT, signatures=signatures))
        each.append((time.process_time() - start) / count)
        print(f"  {count:<42} {each[-1] * count:8.2f} {each[-1] * 1000:8.3f}")
    linear = each[-1] < 3 * each[0]
    print(f"  linear in calls (one of 3000 costs less than three of 100): {'yes' if linear else 'NO'}")
    return cheap and linear


def _together(calls: Sequence[Call]) -> Trajectory:
    return Trajectory(steps=(Step(calls=tuple(calls)),))


def _spoiled(reference: Trajectory) -> Trajectory:
    calls = []
    for number, call in enumerate(reference.calls):
        arguments = dict(call.arguments)
        name = next((name for name, value in arguments.items() if isinstance(value, str)), None)
        if name is not None and number % 3 == 0:
            arguments[name] = f"{arguments[name]} other"
        calls.append(Call(tool=call.tool, arguments=arguments))
    return Trajectory(steps=tuple(Step(calls=(call,)) for call in calls))


def golden(path: Path, model: str) -> None:
    """A small set and what the naive way makes of it."""
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder) / "references.json", Path(folder) / "actual.json"
        for file, tasks in zip(files, Generator(28).tasks(28), strict=True):
            write_public_tasks(file, tasks)
        data = {name: json.loads(file.read_text()) for name, file in zip(("references", "actual"), files, strict=True)}
        path.write_text(json.dumps(data | {"expected": naive(*files, model)}, separators=(",", ":")) + "\n")


def main() -> int:
    """Measure, and say whether the promises hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--golden", type=Path, help="write the golden set for the tests")
    parser.add_argument("--effect", action="store_true", help="only profile effect")
    parser.add_argument("--naive", nargs=2, type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--cache", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.naive or options.golden:
        from m3bench.server.scoring.weights import find

        model = str(find().folder)
        if options.golden:
            golden(options.golden, model)
        else:
            print(json.dumps(naive(*options.naive, model, options.cache)))
        return 0
    if options.effect:
        return 0 if effect() else 1
    with tempfile.TemporaryDirectory() as folder:
        cheap = compare(Path(folder), options.tasks, options.seed)
    linear = growth()
    return 0 if all([cheap, linear, effect()]) else 1


if __name__ == "__main__":
    sys.exit(main())
