"""The servers whose episodes are played: `m3bench serve --openenv`, one for each set of tasks, started when needed."""

import atexit
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

MOST_IDLE = 2
"""Servers that are kept although nobody plays on them."""

STOP_SECONDS = 20


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """What a server serves."""

    program: str
    tasks: str = ""
    """A folder; the bundled set when empty."""
    split: str = "test"
    reward: tuple[tuple[str, float], ...] = ()
    tools: str = "full"

    def command(self) -> list[str]:
        """The command line."""
        line = [self.program, "serve", "--openenv", "127.0.0.1:0", "--split", self.split, "--profile", self.tools]
        line += ["--tasks", self.tasks] if self.tasks else []
        for part, weight in self.reward:
            line += ["--reward", f"{part}={weight}"]
        return line


class Server:
    """A server that runs, and how many play on it."""

    def __init__(self, recipe: Recipe) -> None:
        self.players = 0
        self._said: list[str] = []
        self._process = subprocess.Popen(
            recipe.command(), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self._said.append(line)
            if "serves http" in line:
                break
        else:
            raise RuntimeError(f"{' '.join(recipe.command())} ended: {''.join(self._said[-10:])}")
        self.url = line.split()[-1].removesuffix("/mcp")
        threading.Thread(target=self._drain, daemon=True).start()

    def stop(self) -> None:
        """End it."""
        self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _drain(self) -> None:
        """Read on, so that it never waits for somebody to."""
        assert self._process.stderr is not None
        for _ in self._process.stderr:
            pass


class Servers:
    """Servers by what they serve; those that nobody needs any more are ended."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: dict[Recipe, Server] = {}
        atexit.register(self.close)

    def enter(self, recipe: Recipe) -> str:
        """The address of a server that lasts until it is left."""
        with self._lock:
            server = self._running.pop(recipe, None) or Server(recipe)
            self._running[recipe] = server
            server.players += 1
            idle = [kept for kept, other in self._running.items() if not other.players]
            for kept in idle[: max(0, len(idle) - MOST_IDLE)]:
                self._running.pop(kept).stop()
            return server.url

    def leave(self, recipe: Recipe) -> None:
        """Say that it is no longer needed."""
        with self._lock:
            if recipe in self._running:
                self._running[recipe].players -= 1

    @contextmanager
    def entered(self, recipe: Recipe) -> Iterator[str]:
        """The address of a server that lasts until the end of a block."""
        url = self.enter(recipe)
        try:
            yield url
        finally:
            self.leave(recipe)

    def close(self) -> None:
        """End all of them."""
        with self._lock:
            while self._running:
                self._running.popitem()[1].stop()


SERVERS = Servers()
"""Those of this process."""


def set_of(program: str, seed: int, families: list[str], per_family: int) -> str:
    """The folder with a seed's tasks, which are made unless they are there."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "m3bench-verifiers"
    folder = cache / f"{seed}-{per_family}-{'-'.join(sorted(families)) or 'all'}"
    line = [program, "tasks", "generate", "-o", str(folder), "--seed", str(seed), "--per-family", str(per_family)]
    for family in families:
        line += ["--family", family]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(line)} failed: {done.stderr[-2000:]}")
    return str(folder)
