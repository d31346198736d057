"""What `make test` runs: the checks and one session of pytest side by side, then floors, leftovers and the bill.

    python -m tests.session [--budget MINUTES] PYTEST-ARGUMENTS

Processor time is that of every process that came of this one: what loses its parent becomes a child of ours, so a
process that is still there at the end is found too. To exceed a budget is a failure; without one the time is only told.

On a machine that is shared with others the same work takes up to twice the processor time. A small piece of work is
therefore timed again and again; the budget holds for the time at the best speed that was seen.
"""

import argparse
import ctypes
import os
import resource
import statistics
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

from tests.rooms import FLOOR, report

_CHILD_SUBREAPER = 36
_LEAVE_SECONDS = 5.0


class Yardstick(threading.Thread):
    """How much slower this machine is on average than at its best, by a small piece of work that is always the same."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self._times = [self._measure() for _ in range(200)]
        self._start_count = len(self._times)
        self._enough = threading.Event()

    @staticmethod
    def _measure() -> float:
        begin = time.thread_time()
        sum(number * number for number in range(10_000))
        return time.thread_time() - begin

    def run(self) -> None:
        """Measure twice a second."""
        while not self._enough.wait(0.5):
            self._times.append(self._measure())

    def slowness(self) -> float:
        """The factor, at least 1; measuring is over."""
        self._enough.set()
        meanwhile = self._times[self._start_count :]
        return max(1.0, statistics.median(meanwhile) / min(self._times)) if meanwhile else 1.0


def main() -> int:
    """Run everything, tell what failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.session", description=__doc__)
    parser.add_argument("--budget", type=float, default=0.0, help="processor minutes that may be used; 0 for any")
    options, arguments = parser.parse_known_args()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_CHILD_SUBREAPER, 1, 0, 0, 0)
    begin = time.monotonic()
    yardstick = Yardstick()
    yardstick.start()
    failed = []
    # Types take a core for a while: tests run beside them.
    with open(Path(sys.prefix, "check.log"), "w+", encoding="utf-8") as log:
        checks = subprocess.Popen(["make", "-s", "check"], stdout=log, stderr=subprocess.STDOUT)
        tests = subprocess.Popen([sys.executable, "-m", "pytest", "--rooms", *arguments])
        try:
            ended = _wait_for({checks.pid, tests.pid})
        except KeyboardInterrupt:
            # The terminal has told both of them too; one may have ended before.
            with suppress(ChildProcessError):
                _wait_for({checks.pid, tests.pid})
            return 130
        if ended[tests.pid]:
            failed.append("the tests")
        failed += [f"coverage of {room} (under {FLOOR} %)" for room, percent in report().items() if percent < FLOOR]
        if ended[checks.pid]:
            failed.append("make check")
        log.seek(0)
        sys.stdout.write(log.read())
    if left := _left():
        failed.append("processes were left behind")
        print(f"Left behind: {', '.join(left)}")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    minutes = (used.ru_utime + used.ru_stime) / 60
    at_best = minutes / yardstick.slowness()
    print(
        f"Took {(time.monotonic() - begin) / 60:.1f} minutes and {minutes:.1f} processor minutes, "
        f"{at_best:.1f} at the best speed of this machine."
    )
    if options.budget and at_best > options.budget:
        failed.append(f"the budget of {options.budget:g} processor minutes")
    if failed:
        print(f"Failed: {'; '.join(failed)}. See above.")
    return 1 if failed else 0


def _wait_for(wanted: set[int]) -> dict[int, int]:
    """How some children ended; whatever else became a child of ours is reaped on the way."""
    ended: dict[int, int] = {}
    while not wanted <= set(ended):
        pid, status = os.wait()
        ended[pid] = status
    return ended


def _left() -> list[str]:
    """The processes that are still there after a moment to leave, by their command lines; they are ended."""
    deadline = time.monotonic() + _LEAVE_SECONDS
    while time.monotonic() < deadline:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.05)
        except ChildProcessError:
            return []
    left: list[str] = []
    if sys.platform != "linux":
        return left
    for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split():
        left.append(f"{pid} ({Path('/proc', pid, 'cmdline').read_text().replace(chr(0), ' ').strip()[:200]})")
        os.kill(int(pid), 9)
        os.waitpid(int(pid), 0)
    return left


if __name__ == "__main__":
    sys.exit(main())
