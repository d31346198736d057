"""A study of six scripted models with two solvers, killed and gone on with: nothing is lost, nothing is played twice.

    python bench/study.py [--tasks N] [--repeats N] [--kills N] [--parallel N] [--profile NAME] [FOLDER]

Plays one plan twice below a folder (a temporary one when left out): in `broken` it is killed so many times and gone on
with, in `straight` it is left alone. Then every sample of the one is held against that of the other. Half of the models
are written for `react`, half for `executor`, and each is played with both. A folder that holds results already is gone
on with. Exit code 1 when something does not hold. `--tasks 56 --repeats 3` makes 6 × 2 × 3 × 56 = 2016 samples, twice.
"""

import argparse
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from m3bench.server.lab.results.resultset import DATA, SAMPLES, read_resultset
from m3bench.server.store.sqlite import SqliteStore
from m3bench.tasks.library import BUNDLED, Library
from m3bench.tasks.task import Task

SOLVERS = ("react", "executor")
STUDY = "study"

Turn = dict[str, Any]
Key = tuple[str, str, int]
"""Cell, task and repeat."""


def main() -> None:
    """Play, kill, go on, compare."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("folder", type=Path, nargs="?")
    for name, usual in (("tasks", 4), ("repeats", 1), ("kills", 2), ("parallel", 3)):
        parser.add_argument(f"--{name}", type=int, default=usual)
    parser.add_argument("--profile", default="standard")
    parser.add_argument("--sandbox", default="process")
    options = parser.parse_args()
    with TemporaryDirectory(prefix="m3bench-study-") as scratch:
        folder = options.folder or Path(scratch)
        plans = [write_plan(folder / name, options) for name in ("broken", "straight")]
        total = len(models(folder)) * len(SOLVERS) * options.repeats * options.tasks
        play(plans[0], total, options.kills)
        play(plans[1], total, 0)
        problems = [*complete(plans[0], total), *complete(plans[1], total), *differences(*plans)]
    print(*problems, sep="\n", flush=True)
    print(f"{len(problems)} problems" if problems else f"{total} samples: nothing is lost, repeated or different.")
    sys.exit(1 if problems else 0)


def write_plan(folder: Path, options: argparse.Namespace) -> Path:
    """The plan of the study, below a folder of its own, and the scripts of its models beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    library = Library(BUNDLED)
    for name, path in models(folder.parent).items():
        turns = {task.id: script(name, task) for task in library.tasks.values()}
        path.write_text(json.dumps({"tasks": turns}))
    plan = folder / "plan.yaml"
    plan.write_text(json.dumps({
        "name": STUDY, "models": [{"model": f"m3bench/{path}", "name": name} for name, path in
                                  models(folder.parent).items()],
        "solvers": SOLVERS, "repeats": options.repeats, "sets": [{"name": "bundled", "limit": options.tasks}],
        "profiles": [options.profile], "parallel": options.parallel, "sandbox": options.sandbox,
    }))  # fmt: skip
    return plan


def models(folder: Path) -> dict[str, Path]:
    """Who plays: models that do all, half, or nothing right, written for one solver or the other."""
    names = ("react-right", "react-half", "react-wrong", "executor-right", "executor-half", "silent")
    return {name: folder.absolute() / f"{name}.json" for name in names}


def script(name: str, task: Task) -> list[Turn]:
    """What a model does in a task."""
    solver, _, how = name.partition("-")
    steps = [[{"tool": call.tool.replace("/", "__"), "arguments": call.arguments} for call in step]
             for step in task.references[0].steps]  # fmt: skip
    if not how:
        return [{"text": "I cannot see it."}]
    if how == "wrong":
        broken = [{"tool": call["tool"], "arguments": "{"} for call in steps[0]]
        return [{"calls": broken}, {"calls": [{"tool": "no__such_tool"}]}, {"text": "It is 42."}]
    done = steps if how == "right" else steps[: len(steps) // 2]
    answer: Turn = {"text": task.answer if how == "right" else "I got half of the way."}
    if solver == "react":
        return [*({"calls": step} for step in done), answer]
    turns: list[Turn] = []
    for step in done:
        turns += [{"text": json.dumps({"done": False, "tools": sorted({call["tool"] for call in step})})},
                  {"calls": step}]  # fmt: skip
    return [*turns, {"text": json.dumps({"done": True, "tools": []})}, answer]


def play(plan: Path, total: int, kills: int) -> None:
    """Play a plan to its end, killed so many times on the way."""
    command = [sys.executable, "-m", "m3bench.server.cli", "lab", "study", str(plan)]
    log = plan.with_suffix(".log")
    begun, there = time.monotonic(), len(lines(plan))
    for count in (total * (number + 1) // (kills + 1) for number in range(kills)):
        if len(lines(plan)) >= count:
            continue
        with log.open("ab") as output:
            process = subprocess.Popen(command, stdout=output, stderr=output)
            while process.poll() is None and len(lines(plan)) < count:
                time.sleep(0.2)
            process.kill()
            process.wait()
        print(f"{plan.parent.name}: killed with {len(lines(plan))} of {total} samples", flush=True)
    with log.open("ab") as output:
        code = subprocess.run(command, stdout=output, stderr=output, check=False).returncode
    took, played = time.monotonic() - begun, len(lines(plan)) - there
    each = f", {took / played:.2f} s each" if played else ""
    print(f"{plan.parent.name}: exit code {code}, {played} samples in {took:.0f} s{each}", flush=True)


def lines(plan: Path) -> list[Key]:
    """Every sample that was scored, by cell, task and repeat: what is void is played again, as it should be."""
    found = []
    for path in sorted((plan.parent / STUDY).glob(f"*/{SAMPLES}")):
        for line in path.read_bytes().rpartition(b"\n")[0].split(b"\n"):
            if line:
                sample = json.loads(line)
                if sample["state"] != "void":
                    found.append((path.parent.name, sample["task"], sample["repeat"]))
    return found


def complete(plan: Path, total: int) -> Iterator[str]:
    """Whatever is lost or was played twice."""
    found = lines(plan)
    where = plan.parent.name
    if len(set(found)) != total:
        yield f"{where}: {len(set(found))} of {total} samples are there"
    for key, count in Counter(found).items():
        if count > 1:
            yield f"{where}: {key} was played {count} times"
    for cell in sorted((plan.parent / STUDY).iterdir()):
        results = read_resultset(cell)
        if results.void or results.missing:
            yield f"{where}: {cell.name} has {len(results.void)} void samples, and {len(results.missing)} are missing"
        store = SqliteStore(cell / DATA)
        scored = sum(run.state == "scored" for run in store.runs())
        store.close()
        if scored != len(results.results):
            yield f"{where}: {cell.name} has {scored} scored runs for {len(results.results)} samples"


def differences(broken: Path, straight: Path) -> Iterator[str]:
    """Samples of the two that differ."""
    one, other = totals(broken), totals(straight)
    for key in sorted(one.keys() & other.keys()):
        for name, value in one[key].items():
            if value != other[key][name]:
                yield f"{key}: {name} is {value} when killed, {other[key][name]} when not"
    for name, found in (("broken", one), ("straight", other)):
        solved = sum(bool(value["success"]) for value in found.values())
        average = sum(value["metrics"]["average"] for value in found.values()) / max(1, len(found))
        tokens = sum(value["usage"].input_tokens + value["usage"].output_tokens for value in found.values())
        print(f"{name}: {len(found)} scored, {solved} solved, {average:.6f} on average, {tokens} tokens", flush=True)


def totals(plan: Path) -> dict[Key, dict[str, Any]]:
    """What every sample came to: its answer, what it used, and its whole score card."""
    return {
        (cell.name, result.sample.task, result.sample.repeat): {
            "answer": result.run.answer, "usage": result.sample.usage, **result.card.to_json(),
        }
        for cell in sorted((plan.parent / STUDY).iterdir())
        for result in read_resultset(cell).results
    }  # fmt: skip


if __name__ == "__main__":
    main()
