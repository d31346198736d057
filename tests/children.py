"""The programs that a test has running, to see that it leaves none."""

import os
from contextlib import suppress
from pathlib import Path


def children() -> set[str]:
    """The child processes of this one, where the system tells."""
    found: set[str] = set()
    for thread in Path(f"/proc/{os.getpid()}/task").glob("*/children"):
        # A thread may end while one looks.
        with suppress(OSError):
            found.update(thread.read_text().split())
    return found


def family(pid: int) -> list[int]:
    """A process and all that came of it, whatever session they are in."""
    parents: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            after = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents.setdefault(int(after[1]), []).append(int(path.parent.name))
    found = [pid]
    for one in found:
        found += parents.get(one, [])
    return found
