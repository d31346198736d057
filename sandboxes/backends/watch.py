"""What a sandbox uses as a whole: memory and processes of its tree, bytes and files of its workspace.

A limit of the kernel is better where there is one. Where there is none, whoever started the sandbox looks at it from
outside several times a second, and stops it when it exceeds a limit; then the latest writes are removed until the
workspace is within its limits. Functions here block and are called in threads.
"""

import os
import stat
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from m3bench.sandboxes.workspace import WorkspaceLimits

_PAGE = os.sysconf("SC_PAGESIZE") if hasattr(os, "sysconf") else 4096
_BLOCK = 512
EXTRA_PROCESSES = 8
"""Those that belong to the walls, not to what is inside."""


@dataclass(frozen=True, kw_only=True)
class ResourceWatch:
    """What to look at and how much there may be; a limit of 0 is none."""

    workspace: Path | None = None
    """The folder, where this process sees it."""
    limits: WorkspaceLimits = field(default_factory=WorkspaceLimits)
    pid: int = 0
    """The first process of the tree; 0 leaves processes out."""
    memory: int = 0
    processes: int = 0
    """Threads count as well."""
    temporary: str = ""
    """A file system in memory, as the tree sees it, that counts as memory."""

    def problem(self, *, mapped: bool = True) -> str | None:
        """What there is too much of, in a sentence that says what happened to it.

        Args:
            mapped: Whether to look for nameless files that are only mapped, too: it costs as much as all the rest.
        """
        tree = list(_tree(self.pid)) if self.pid else []
        found = self._in_tree(tree) if tree and can_watch_processes() else None
        return found or (self._in_workspace(tree, mapped) if self.workspace is not None else None)

    def trim(self) -> None:
        """Remove what was written last until the workspace is within its limits."""
        if self.workspace is None:
            return
        found = sorted(_entries(self.workspace), key=lambda entry: entry[1].st_ctime_ns)
        used = _sum(info for _, info in found)
        while found and not self._is_within(used):
            path, info = found.pop()
            with suppress(OSError):
                path.rmdir() if stat.S_ISDIR(info.st_mode) else path.unlink()
                used.subtract(_sum([info]))

    def _in_workspace(self, tree: Sequence[int], mapped: bool) -> str | None:
        assert self.workspace is not None
        used = _sum(info for _, info in _entries(self.workspace))
        used["bytes"] += _deleted(tree, mapped)
        if self._is_within(used):
            return None
        return (
            f"The sandbox was stopped: its workspace held {used['bytes'] / 1024**2:.0f} MB, {used['files']} files and "
            f"{used['folders']} folders, and may hold {self.limits.bytes // 1024**2} MB, {self.limits.files} files and "
            f"{self.limits.files} folders. What was written last was removed."
        )

    def _is_within(self, used: Counter[str]) -> bool:
        return used["bytes"] <= self.limits.bytes and max(used["files"], used["folders"]) <= self.limits.files

    def _in_tree(self, tree: Sequence[int]) -> str | None:
        # Where the kernel has this limit too, it should be the first to refuse, with an error that costs no host.
        if self.processes and sum(map(_threads, tree)) > self.processes + EXTRA_PROCESSES:
            return f"The sandbox was stopped: it had more than the {self.processes} processes and threads it may have."
        if not self.memory:
            return None
        # What processes share counts for each of them here; only when that is too much, it is worth a closer look.
        used = self._in_temporary(tree)
        if used + sum(map(_resident, tree)) > self.memory and used + sum(map(_share, tree)) > self.memory:
            return (
                f"The sandbox was stopped: it needed more than the {self.memory // 1024**2} MB of memory it may have."
            )
        return None

    def _in_temporary(self, tree: Sequence[int]) -> int:
        if not self.temporary:
            return 0
        with suppress(OSError):
            found = os.statvfs(f"/proc/{tree[-1]}/root{self.temporary}")
            return (found.f_blocks - found.f_bfree) * found.f_frsize
        return 0


@cache
def can_watch_processes() -> bool:
    """Whether the tree of a process can be looked at here."""
    return sys.platform == "linux" and Path(f"/proc/self/task/{os.getpid()}/children").exists()


def _tree(pid: int) -> Iterator[int]:
    """A process and all that descend from it."""
    found = [pid]
    while found:
        pid = found.pop()
        yield pid
        with suppress(OSError):
            for thread in os.listdir(f"/proc/{pid}/task"):
                with suppress(OSError):
                    found += map(int, _told(f"/proc/{pid}/task/{thread}/children").split())


def _told(path: str) -> bytes:
    """What a file of the kernel's says; a look reads dozens, so that Python's own files are left out."""
    file = os.open(path, os.O_RDONLY)
    try:
        said = b""
        while part := os.read(file, _PAGE):
            said += part
        return said
    finally:
        os.close(file)


def _threads(pid: int) -> int:
    with suppress(OSError):
        return len(os.listdir(f"/proc/{pid}/task"))
    return 0


def _resident(pid: int) -> int:
    with suppress(OSError, IndexError):
        return int(_told(f"/proc/{pid}/statm").split()[1]) * _PAGE
    return 0


def _share(pid: int) -> int:
    """The memory of a process, of shared pages its part; where that is not told, all that is not of files."""
    with suppress(OSError, IndexError):
        return int(Path(f"/proc/{pid}/smaps_rollup").read_text().partition("\nPss:")[2].split()[0]) * 1024
    with suppress(OSError, IndexError):
        _, resident, shared = Path(f"/proc/{pid}/statm").read_text().split()[:3]
        return (int(resident) - int(shared)) * _PAGE
    return 0


def _deleted(tree: Iterable[int], mapped: bool) -> int:
    """Bytes on disk of files without a name that processes hold open, or have mapped, each file once."""
    held: dict[tuple[int, int], int] = {}
    for pid in tree:
        with suppress(OSError):
            for name in os.listdir(f"/proc/{pid}/fd"):
                with suppress(OSError):
                    found = os.stat(f"/proc/{pid}/fd/{name}")
                    if found.st_nlink == 0 and stat.S_ISREG(found.st_mode):
                        held[found.st_dev, found.st_ino] = found.st_blocks * _BLOCK
        with suppress(OSError, ValueError):
            if mapped:
                _add_mapped(Path(f"/proc/{pid}/maps").read_text(errors="replace"), held)
    return sum(held.values())


def _add_mapped(maps: str, held: dict[tuple[int, int], int]) -> None:
    """Add the parts of nameless files that a process has mapped and need not hold open."""
    if " (deleted)\n" not in maps:
        return
    mapped: Counter[tuple[int, int]] = Counter()
    for line in maps.splitlines():
        if not line.endswith(" (deleted)"):
            continue
        span, _, _, device, inode, path = line.split(maxsplit=5)
        if not path.startswith(_IN_MEMORY):
            start, end = (int(address, 16) for address in span.split("-"))
            major, minor = (int(number, 16) for number in device.split(":"))
            mapped[os.makedev(major, minor), int(inode)] += end - start
    for file, size in mapped.items():
        held.setdefault(file, size)


_IN_MEMORY = ("/memfd:", "/dev/shm/", "/dev/zero", "/SYSV")
"""What is mapped without a name and is on no disk; it counts as memory."""


def _entries(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Everything below a folder, as far as it stays there while one looks."""
    places = [str(folder)]
    while places:
        place = places.pop()
        with suppress(OSError), _listed(place) as found:
            for entry in found:
                with suppress(OSError):
                    info = entry.stat(follow_symlinks=False)
                    yield Path(entry.path), info
                    if stat.S_ISDIR(info.st_mode):
                        places.append(entry.path)


def _listed(place: str) -> AbstractContextManager[Iterator["os.DirEntry[str]"]]:
    """What is in a folder, even in one that was made unreadable to hide it."""
    try:
        return os.scandir(place)
    except PermissionError:
        # By descriptor: by now there may be a link in its place.
        here = os.open(place, os.O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY)
        try:
            os.chmod(f"/proc/self/fd/{here}", 0o700)
        finally:
            os.close(here)
        return os.scandir(place)


def _sum(infos: Iterable[os.stat_result]) -> Counter[str]:
    """Bytes, files and folders."""
    total = Counter[str]()
    for info in infos:
        if stat.S_ISDIR(info.st_mode):
            total["folders"] += 1
        else:
            total["files"] += 1
            total["bytes"] += info.st_blocks * _BLOCK if hasattr(info, "st_blocks") else info.st_size
    return total
