"""What short commands cost beside a Python that does nothing: CPU time, which other work on the machine hardly changes.

    python bench/commands.py [--repeats N]

Exit code 1 when `world search` takes more than the goal, which is a second where an empty Python takes 25 ms.
"""

import argparse
import resource
import subprocess
import sys

GOAL = 40.0
PROGRAM = [sys.executable, "-m", "m3bench.server.cli"]
COMMANDS = {
    "an empty Python": [sys.executable, "-c", "pass"],
    "m3bench --help": [*PROGRAM, "--help"],
    "m3bench --version": [*PROGRAM, "--version"],
    "m3bench world search": [*PROGRAM, "world", "search", "casablanca"],
    "m3bench world search, three letters": [*PROGRAM, "world", "search", "ran"],
}


def main() -> None:
    """Measure, show, and judge."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--repeats", type=int, default=3)
    repeats = parser.parse_args().repeats
    found = {name: min(_seconds(command) for _ in range(repeats)) for name, command in COMMANDS.items()}
    base = found["an empty Python"]
    for name, seconds in found.items():
        print(f"{name:36} {seconds:6.2f} CPU s  {seconds / base:6.1f}")
    if any(seconds / base > GOAL for name, seconds in found.items() if "search" in name):
        sys.exit(f"world search takes more than {GOAL:g} times what an empty Python does")


def _seconds(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
