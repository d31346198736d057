"""Workers that a study starts for itself: none, or processes on this machine; on a cluster: `ray_crew`.

A crew is started when samples are in the queue, asked now and then whether somebody is left, and ended with the
study. Workers that somebody else started are no part of it.
"""

import os
import subprocess
import sys
from typing import Protocol

from m3bench.server.lab.studies.worker import Terms

LEAVE_SECONDS = 30.0
"""Time for a worker to give back what it has."""

AGAIN = 5
"""Workers that are started in place of others that died."""


class Crew(Protocol):
    """Workers of a study."""

    def start(self) -> None:
        """Have them begin."""
        ...

    def gone(self) -> str | None:
        """Why nobody of them is at work any more; None while somebody is, or when it is left to others."""
        ...

    def close(self) -> None:
        """Have them end, and give back what is not finished."""
        ...


class NoCrew:
    """Workers are started by others."""

    def start(self) -> None:
        """Nothing."""

    def gone(self) -> str | None:
        """Nobody knows."""
        return None

    def close(self) -> None:
        """Nothing."""


class LocalCrew:
    """Processes on this machine.

    Args:
        terms: How they work.
        count: How many.
    """

    def __init__(self, terms: Terms, count: int) -> None:
        self._terms = terms
        self._count = count
        self._again = AGAIN
        self.processes: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        """Start the processes."""
        self.processes = [self._started() for _ in range(self._count)]

    def gone(self) -> str | None:
        """One that was killed is replaced, a few times."""
        for place, process in enumerate(self.processes):
            code = process.poll()
            if code is not None and code < 0 and self._again > 0:
                self._again -= 1
                self.processes[place] = self._started()
        if any(process.poll() is None for process in self.processes):
            return None
        return "No worker is left, and samples are: see above what they said."

    def close(self) -> None:
        """Tell them to end, and wait for it."""
        for process in self.processes:
            if process.poll() is None:
                process.terminate()
        for process in self.processes:
            try:
                process.wait(LEAVE_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _started(self) -> subprocess.Popen[bytes]:
        environment = {**os.environ, **worker_environment(self._terms)}
        # In a session of their own, so that Ctrl-C is the study's, which then ends them.
        return subprocess.Popen(
            worker_command(self._terms), env=environment, stdout=subprocess.DEVNULL, start_new_session=True
        )


def worker_command(terms: Terms) -> list[str]:
    """The command that starts a worker."""
    return [sys.executable, "-m", "m3bench.server.cli", "worker", "--slots", str(terms.slots), "--until-empty",
            "--lease", str(terms.lease), *(["--study", terms.study] if terms.study else [])]  # fmt: skip


def worker_environment(terms: Terms) -> dict[str, str]:
    """What its environment has beside that of whoever starts it.

    The queue's address is not on the command line, which everybody on the machine can read: it may hold a password.
    """
    return {"M3BENCH_STORE": terms.place.url or ""}
