"""Who owns a workspace while tools work in it, when m3bench was started as root: a user of its own.

Nobody else has the number, so that what is limited by user is limited by sandbox, and no sandbox can touch the
files or processes of another. When the last host has ended, the files are root's again.
"""

import os
import secrets
import stat
import sys
from contextlib import suppress
from pathlib import Path

_RANGE = range(0x40000000, 0x60000000)
"""User numbers that no system assigns."""


def user_of(workspace: Path) -> int:
    """The user that the tools of a workspace run as: its owner, or a new one when that is root; 0 means our own."""
    if not is_superuser():
        return 0
    return workspace.stat().st_uid or _unused()


def is_superuser() -> bool:
    """Whether this process may do everything."""
    return sys.platform != "win32" and os.geteuid() == 0


def give(workspace: Path, user: int, group: int) -> None:
    """Give everything in a folder to a user.

    Goes by descriptors, not by paths: a tool may be moving folders about at the same time. A file with several names
    stays as it is: one of them may lie elsewhere.
    """
    os.chown(workspace, user, group)
    for _, folders, files, here in os.fwalk(workspace):
        for name in (*folders, *files):
            with suppress(FileNotFoundError):
                found = os.stat(name, dir_fd=here, follow_symlinks=False)
                if found.st_uid != user and (found.st_nlink == 1 or stat.S_ISDIR(found.st_mode)):
                    os.chown(name, user, group, dir_fd=here, follow_symlinks=False)


def _unused() -> int:
    """A number out of those that this process can give away."""
    try:
        first, _, count = map(int, Path("/proc/self/uid_map").read_text().split()[-3:])
    except (OSError, ValueError):
        return 0
    top = min(_RANGE.stop, first + count)
    bottom = _RANGE.start if top == _RANGE.stop else max(first, top - 20_000)
    return secrets.randbelow(top - bottom) + bottom if top - bottom > 1 and bottom > 0 else 0
