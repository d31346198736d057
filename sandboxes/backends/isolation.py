"""How a host process is kept to its workspace, with what the platform has, and what to say when it has little.

In order: bubblewrap; else Landlock for files and a network namespace; else a plain process. A filter of system calls,
a user of its own for what root starts, and limits, by a control group where one can be had, come on top wherever the
system knows them. Every mechanism can be switched off.
"""

import json
import logging
import os
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path

from m3bench.sandboxes.backends import bubblewrap, landlock, seccomp, visible
from m3bench.sandboxes.backends.base import Guard, Prospect, notice
from m3bench.sandboxes.backends.cgroup import ControlGroup, Delegation, GroupLimits, delegation
from m3bench.sandboxes.backends.confinement import Confinement
from m3bench.sandboxes.backends.ownership import is_superuser
from m3bench.sandboxes.backends.privileges import within_reach
from m3bench.sandboxes.backends.tree import Tree
from m3bench.sandboxes.backends.watch import EXTRA_PROCESSES, ResourceWatch, can_watch_processes
from m3bench.sandboxes.workspace import STATE, WorkspaceLimits

_INHERITED = ("PATH", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "LD_LIBRARY_PATH")
"""Of the environment a host sees only this: where programs are, and what Windows cannot do without."""

QUIET = {"OMP_THREAD_LIMIT": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}
"""One thread per library: the same sums in the same order, and no memory set aside for more."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class HostLimits:
    """What a sandbox may use; 0 means no limit."""

    memory: int = 768 * 1024**2
    """Bytes, of all its processes together."""
    address_space: int = 4 * 1024**3
    """Bytes for each process; libraries reserve far more than they use."""
    file_bytes: int = 128 * 1024**2
    """The size of one file; tools refuse to make one half as large."""
    open_files: int = 512
    processes: int = 256
    """Threads count as well."""
    cpu_seconds: int = 1800
    """Over the life of a process; a host that reaches it is replaced."""


@dataclass(frozen=True, kw_only=True)
class Isolation:
    """Which mechanisms may be used, where the platform has them."""

    bubblewrap: bool = True
    landlock: bool = True
    namespaces: bool = True
    """A network namespace, where bubblewrap is not used."""
    seccomp: bool = True
    own_user: bool = True
    """Another user than root, when m3bench was started as root."""
    limited: bool = True
    """Limits of the kernel, and a look from outside at what it cannot limit."""
    control_groups: bool = True
    """A control group for each sandbox, where m3bench may make some."""
    limits: HostLimits = HostLimits()
    workspace: WorkspaceLimits = field(default_factory=WorkspaceLimits)
    """What the folder of a host may hold."""

    @cached_property
    def lacking_bubblewrap(self) -> str | None:
        """Why bubblewrap is not used; the first time, this tries it."""
        return bubblewrap.problem() if self.bubblewrap else "bubblewrap is switched off"

    @cached_property
    def lets_others_in(self) -> bool:
        """Whether another user than root can run a host: one that reads the installation, or may read what it sees."""
        walled, closed = self.lacking_bubblewrap is None, self.landlock and landlock.version() > 0
        return walled or closed or within_reach(visible.trees())

    @cached_property
    def delegation(self) -> Delegation:
        """The control groups that m3bench may make; the first time, this may move it into another one."""
        if not self.limited or not self.control_groups:
            return Delegation(None, "control groups are switched off")
        return delegation()

    def group(self) -> ControlGroup | None:
        """A control group for one more sandbox, where there can be one."""
        groups = self.delegation.groups
        if groups is None:
            return None
        try:
            limits = self.limits
            return groups.open(GroupLimits(memory=limits.memory, processes=limits.processes + EXTRA_PROCESSES))
        except OSError as error:
            logger.warning("A sandbox has no control group and is watched instead: %s", error)
            return None

    @property
    def limited_by(self) -> str:
        """What holds a sandbox to its memory and processes."""
        return "nothing" if not self.limited else "control group" if self.delegation.groups else "watch"

    def tree(self) -> Tree:
        """What starts a host and ends it with all its descendants; bubblewrap's PID namespace does that by itself."""
        supervised = self.lacking_bubblewrap is not None
        if not self.limited:
            return Tree(supervised=supervised)
        return Tree(supervised=supervised, memory=self.limits.memory, processes=self.limits.processes)

    def command(self, program: Iterable[str], workspace: Path, user: int) -> list[str]:
        """The command line that starts a host, which then becomes a user, unless that is 0."""
        walls = bubblewrap.command(workspace) if self.lacking_bubblewrap is None else ()
        confinement = self._confinement(user)
        return [*walls, *program, "--workspace", str(workspace.resolve()), "--confine", confinement]

    def environment(self, workspace: Path) -> dict[str, str]:
        """All that a host sees of the environment."""
        inside = bubblewrap.TEMPORARY if self.lacking_bubblewrap is None else str(workspace.resolve() / STATE / "tmp")
        kept = {name: os.environ[name] for name in _INHERITED if name in os.environ}
        found = {"PYTHONPATH": os.pathsep.join(visible.search_path())} if visible.search_path() else {}
        return {
            **kept, **found, **QUIET,
            "LANG": "C.UTF-8", "HOME": inside, "TMPDIR": inside, "TEMP": inside, "TMP": inside,
        }  # fmt: skip

    def watch(self, pid: int, workspace: Path, group: ControlGroup | None = None) -> ResourceWatch:
        """What to look at from outside: of a sandbox in a control group only what it writes."""
        if not self.limited:
            return ResourceWatch()
        if group is not None:
            return ResourceWatch(workspace=workspace, limits=self.workspace, pid=pid)
        inside = bubblewrap.TEMPORARY if self.lacking_bubblewrap is None else ""
        limits = self.limits
        return ResourceWatch(
            workspace=workspace, limits=self.workspace, pid=pid, memory=limits.memory, processes=limits.processes,
            temporary=inside,
        )  # fmt: skip

    def guards(self, confined: frozenset[Guard]) -> frozenset[Guard]:
        """What holds for a host, given what it says of itself."""
        walls: set[Guard] = {"files", "network", "others"} if self.lacking_bubblewrap is None else set()
        watched: set[Guard] = {"disk"} if self.limited else set()
        if self.limited and (can_watch_processes() or self.delegation.groups is not None):
            watched |= {"memory", "forks"}
        return confined | walls | watched | {"process"}

    def prospect(self) -> Prospect:
        """What will hold for hosts here; the first time, this tries bubblewrap."""
        walled, closed = self.lacking_bubblewrap is None, self.landlock and landlock.version() > 0
        confined: set[Guard] = {"files"} if closed else set()
        if not is_superuser() or (self.own_user and self.lets_others_in):
            confined.add("user")
        if self.seccomp and seccomp.problem() is None:
            confined |= {"network", "sockets"}
            if confined & {"user", "files"} or walled:
                confined.add("kernel")
        guards = self.guards(frozenset(confined))
        return Prospect(guards, self.notices(guards))

    def notices(self, guards: frozenset[Guard]) -> tuple[str, ...]:
        """One sentence on what is missing, or none."""
        reasons = [self.lacking_bubblewrap] if self.lacking_bubblewrap is not None else []
        if "files" not in guards and sys.platform == "linux":
            reasons.append("Landlock " + ("is not known to this kernel" if self.landlock else "is switched off"))
        if "sockets" not in guards:
            unusable = seccomp.problem() or "seccomp cannot be used"
            reasons.append(unusable if self.seccomp else "seccomp is switched off")
        if not self.limited:
            reasons.append("limits are switched off")
        if "user" not in guards:
            reasons.append("nobody but root can read the installation" if self.own_user else "root was asked for")
        return notice(guards, reasons)

    def _confinement(self, user: int) -> str:
        alone = self.lacking_bubblewrap is not None
        kernel = asdict(self.limits) if self.limited else {}
        kernel.pop("memory", None)
        confinement = Confinement(
            landlock=self.landlock and alone,
            network=self.namespaces and alone,
            seccomp=self.seccomp,
            walled=not alone,
            user=user,
            server=os.getpid() if alone else 0,
            **kernel,
        )
        return json.dumps(asdict(confinement))
