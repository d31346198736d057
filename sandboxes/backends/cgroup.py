"""A control group for each sandbox: the kernel's own limits on memory, processes and CPU of all that runs in it.

Needs control groups of version 2 and a part of their tree that is delegated to this process, with the controllers for
memory and processes: a service of systemd with `Delegate=yes`, or a container that may write its own. A group may hold
processes or give limits to groups below it, not both, so this process moves into a group beside those of sandboxes.
Where nothing is delegated, `watch` looks at sandboxes from outside.
"""

import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from shutil import which

NEEDED = frozenset({"memory", "pids"})

PERIOD = 100_000
"""Microseconds over which CPU time is shared out."""

SERVER = "m3bench-server"
"""The group that this process moves into."""

# The process that becomes the host enters the group by itself, before anything of the host is loaded.
_ENTER = "import os, sys; open(sys.argv[1], 'w').write('0'); os.execv(sys.argv[2], sys.argv[2:])"


@dataclass(frozen=True, kw_only=True)
class GroupLimits:
    """What all processes of a group may use together."""

    memory: int
    """Bytes; there is no swap on top."""
    processes: int
    """Threads count as well."""
    cpus: float = 1.0


class ControlGroup:
    """The control group of one sandbox.

    Args:
        folder: Its folder, which is made.
        limits: What may be used in it.

    Raises:
        OSError: It cannot be made.
    """

    def __init__(self, folder: Path, limits: GroupLimits) -> None:
        self.folder = folder
        self._limits = limits
        folder.mkdir()
        try:
            (folder / "memory.max").write_text(str(limits.memory))
            (folder / "pids.max").write_text(str(limits.processes))
            for name, value in (
                ("memory.swap.max", "0"),
                ("memory.oom.group", "1"),
                ("cpu.max", f"{int(limits.cpus * PERIOD)} {PERIOD}"),
            ):
                # Not every kernel has these.
                with suppress(OSError):
                    (folder / name).write_text(value)
        except BaseException:
            self.close()
            raise

    def command(self, command: list[str]) -> list[str]:
        """A command line that enters the group and becomes what it was."""
        program = command[0] if os.path.isabs(command[0]) else _found(command[0])
        return [sys.executable, "-I", "-S", "-c", _ENTER, str(self.folder / "cgroup.procs"), program, *command[1:]]

    def problem(self) -> str | None:
        """What the kernel ended the sandbox for, in a sentence."""
        with suppress(OSError, ValueError):
            events = dict(line.split() for line in (self.folder / "memory.events").read_text().splitlines())
            if int(events.get("oom_kill", 0)):
                megabytes = self._limits.memory // 1024**2
                return f"The sandbox was stopped: it needed more than the {megabytes} MB of memory it may have."
        return None

    def kill(self) -> None:
        """End everything in it, whatever it has become."""
        with suppress(OSError):
            (self.folder / "cgroup.kill").write_text("1")

    def close(self) -> None:
        """End what is left in it and remove it; a group that is not empty yet goes with the next one."""
        self.kill()
        with suppress(OSError):
            remove(self.folder)


class ControlGroups:
    """The groups of the sandboxes of this process.

    Args:
        base: The group below which they are made.
    """

    def __init__(self, base: Path) -> None:
        self.base = base

    def open(self, limits: GroupLimits) -> ControlGroup:
        """A group for one more sandbox.

        Raises:
            OSError: It cannot be made.
        """
        self._tidy()
        return ControlGroup(self.base / f"m3bench-{os.getpid()}-{secrets.token_hex(4)}", limits)

    def _tidy(self) -> None:
        """Remove the groups of processes that are gone; one in which something still runs stays."""
        for folder in self.base.glob("m3bench-*-*"):
            pid = folder.name.split("-")[1]
            if pid.isdigit() and not Path(f"/proc/{pid}").exists():
                with suppress(OSError):
                    remove(folder)


@dataclass(frozen=True)
class Delegation:
    """What of the tree of control groups is ours."""

    groups: ControlGroups | None
    why: str = ""
    """Why none is, in a few words."""


@cache
def delegation() -> Delegation:
    """What this process was given; found out once, because it moves this process."""
    if sys.platform != "linux":
        return Delegation(None, "only Linux has control groups")
    return find(Path("/proc/self/mountinfo"), Path("/proc/self/cgroup"))


def find(mounts: Path, membership: Path) -> Delegation:
    """What a process was given.

    Args:
        mounts: Its list of mounts, as in `/proc/self/mountinfo`.
        membership: The groups it is in, as in `/proc/self/cgroup`.
    """
    try:
        own = next(_places(mounts, membership), None)
        if own is None:
            return Delegation(None, "this system has no control groups of version 2")
        if not _words(own / "cgroup.controllers") >= NEEDED:
            return Delegation(None, "no control group with limits on memory and processes is delegated to m3bench")
        beside = own.parent
        if _gives_limits(beside) and _writable(beside):
            return Delegation(ControlGroups(beside))
        if not _writable(own):
            return Delegation(None, "the control group of m3bench belongs to somebody else")
        return _settle(own)
    except OSError as error:
        return Delegation(None, f"control groups cannot be used ({error.strerror})")


def remove(group: Path) -> None:
    """Remove a group in which nothing runs; its files go with it."""
    group.rmdir()


def _settle(own: Path) -> Delegation:
    """Move this process aside, so that its group can give limits to others."""
    if _gives_limits(own):
        return Delegation(ControlGroups(own))
    aside = own / SERVER
    aside.mkdir(exist_ok=True)
    pid = str(os.getpid())
    (aside / "cgroup.procs").write_text(pid)
    try:
        wanted = [name for name in ("memory", "pids", "cpu") if name in _words(own / "cgroup.controllers")]
        (own / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in wanted))
    except OSError:
        with suppress(OSError):
            (own / "cgroup.procs").write_text(pid)
            remove(aside)
        return Delegation(None, "other processes share the control group of m3bench")
    return Delegation(ControlGroups(own))


def _places(mounts: Path, membership: Path) -> Iterator[Path]:
    """The folder of the group that a process is in."""
    path = next((line[3:] for line in membership.read_text().splitlines() if line.startswith("0::")), None)
    if path is None:
        return
    for line in mounts.read_text().splitlines():
        where, _, kind = line.partition(" - ")
        if kind.split(" ")[0] == "cgroup2":
            root, point = where.split(" ")[3:5]
            yield Path(point, path.removeprefix(root).lstrip("/"))


def _gives_limits(group: Path) -> bool:
    with suppress(OSError):
        return _words(group / "cgroup.subtree_control") >= NEEDED
    return False


def _writable(group: Path) -> bool:
    return all(os.access(path, os.W_OK) for path in (group, group / "cgroup.procs", group / "cgroup.subtree_control"))


def _words(file: Path) -> set[str]:
    return set(file.read_text().split())


def _found(program: str) -> str:
    return which(program) or program
