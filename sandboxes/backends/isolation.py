"""How a host process is kept to its workspace, with what the platform has, and what to say when it has little.

In order: bubblewrap; else Landlock for files and a network namespace; else a plain process. Limits on memory
and the like come on top wherever the system knows them. Every mechanism can be switched off.
"""

import json
import os
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

from m3bench.sandboxes.backends import bubblewrap, visible
from m3bench.sandboxes.backends.base import Guard
from m3bench.sandboxes.backends.confinement import Confinement
from m3bench.sandboxes.workspace import STATE

_INHERITED = ("PATH", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "LD_LIBRARY_PATH")
"""Of the environment a host sees only this: where programs are, and what Windows cannot do without."""

QUIET = {"OMP_THREAD_LIMIT": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}
"""One thread per library: the same sums in the same order, and no memory set aside for more."""

_LACKING: dict[Guard, str] = {
    "files": "keep tools from files outside the workspace",
    "network": "keep tools from the network",
    "others": "hide other processes",
    "memory": "limit memory",
    "forks": "limit the number of processes",
}


@dataclass(frozen=True, kw_only=True)
class HostLimits:
    """What one host may use; 0 means no limit."""

    memory: int = 4 * 1024**3
    """Bytes of address space, of which libraries reserve far more than they use."""
    file_bytes: int = 256 * 1024**2
    open_files: int = 512
    processes: int = 256
    """Threads count as well."""
    cpu_seconds: int = 1800
    """Over the life of a host; one that reaches it is replaced."""


@dataclass(frozen=True, kw_only=True)
class Isolation:
    """Which mechanisms may be used, where the platform has them."""

    bubblewrap: bool = True
    landlock: bool = True
    namespaces: bool = True
    """A network namespace, where bubblewrap is not used."""
    rlimits: bool = True
    death_signal: bool = True
    """Linux kills a host with its parent; without it the host watches its standard input."""
    limits: HostLimits = HostLimits()

    @cached_property
    def lacking_bubblewrap(self) -> str | None:
        """Why bubblewrap is not used; the first time, this tries it."""
        return bubblewrap.problem() if self.bubblewrap else "bubblewrap is switched off"

    def command(self, program: Iterable[str], workspace: Path) -> list[str]:
        """The command line that starts a host."""
        walls = bubblewrap.command(workspace) if self.lacking_bubblewrap is None else ()
        return [*walls, *program, "--workspace", str(workspace.resolve()), "--confine", self._confinement()]

    def environment(self, workspace: Path) -> dict[str, str]:
        """All that a host sees of the environment."""
        inside = bubblewrap.TEMPORARY if self.lacking_bubblewrap is None else str(workspace.resolve() / STATE / "tmp")
        kept = {name: os.environ[name] for name in _INHERITED if name in os.environ}
        found = {"PYTHONPATH": os.pathsep.join(visible.search_path())} if visible.search_path() else {}
        return {
            **kept, **found, **QUIET,
            "LANG": "C.UTF-8", "HOME": inside, "TMPDIR": inside, "TEMP": inside, "TMP": inside,
        }  # fmt: skip

    def guards(self, confined: frozenset[Guard]) -> frozenset[Guard]:
        """What holds for a host, given what it says of itself."""
        walls: set[Guard] = {"files", "network", "others"} if self.lacking_bubblewrap is None else set()
        return confined | walls | {"process"}

    def notices(self, guards: frozenset[Guard]) -> tuple[str, ...]:
        """One sentence on what is missing, or none."""
        lacking = [text for guard, text in _LACKING.items() if guard not in guards]
        if not lacking:
            return ()
        reasons = [self.lacking_bubblewrap] if self.lacking_bubblewrap is not None else []
        if "files" not in guards and sys.platform == "linux":
            reasons.append("Landlock " + ("is not known to this kernel" if self.landlock else "is switched off"))
        if not self.rlimits:
            reasons.append("limits are switched off")
        elif lacking == [_LACKING["forks"]] and _is_superuser():
            reasons.append("nothing limits the superuser")
        why = f" ({', '.join(reasons)})" if reasons else ""
        return (f"Sandboxes here cannot {_and(lacking)}{why}.",)

    def _confinement(self) -> str:
        alone = self.lacking_bubblewrap is not None
        limits = asdict(self.limits) if self.rlimits else {}
        if _is_superuser():
            limits["processes"] = 0
        confinement = Confinement(
            landlock=self.landlock and alone,
            network=self.namespaces and alone,
            death_signal=self.death_signal,
            **limits,
        )
        return json.dumps(asdict(confinement))


def _is_superuser() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def _and(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} or {parts[-1]}"
