"""The hosts of the sandboxes of a server, whatever the backend: to see, kill, stop and wake them."""

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from m3bench.sandboxes.backends.docker.engine import DockerEngine
from m3bench.sandboxes.backends.docker.leases import holdings
from m3bench.tasks.errors import SandboxError


class Hosts:
    """Hosts that work in a data folder.

    Args:
        data: The folder.
        sandbox: The backend's name.
    """

    def __init__(self, data: Path, sandbox: str) -> None:
        self._data = str(data.resolve())
        self._in_containers = sandbox == "docker"

    def alive(self) -> list[str]:
        """Process numbers, or names of containers and volumes."""
        if self._in_containers:
            return [holding.name for holding in _ask(holdings) if holding.folder.startswith(self._data)]
        return [str(pid) for pid in self._processes()]

    def kill(self) -> None:
        """Kill every one."""
        self._do(signal.SIGKILL, lambda client, name: client.kill(name))

    def pause(self) -> None:
        """Have every one stand still."""
        self._do(signal.SIGSTOP, lambda client, name: client.pause(name))

    def resume(self) -> None:
        """Have those go on that are still there."""
        self._do(signal.SIGCONT, lambda client, name: client.unpause(name))

    def _do(self, number: int, action: Callable[[Any, str], object]) -> None:
        for name in self.alive():
            with suppress(ProcessLookupError, SandboxError):
                if self._in_containers:
                    _ask(_about(name, action))
                else:
                    os.kill(int(name), number)

    def _processes(self) -> list[int]:
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                line = (entry / "cmdline").read_bytes().decode()
            except OSError:
                continue
            if "m3bench.sandboxes.host" in line and self._data in line:
                found.append(int(entry.name))
        return found


def _about(name: str, action: Callable[[Any, str], object]) -> Callable[[Any], object]:
    return lambda client: action(client, name)


def _ask(question: Callable[[Any], Any]) -> Any:
    engine = DockerEngine()
    try:
        return engine.answer(question)
    finally:
        engine.close()
