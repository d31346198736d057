"""Dropping root and all capabilities, when m3bench was started as root.

Done inside the host before any tool's code is loaded. What is given up cannot be regained: neither root nor any
capability, with one exception. Where the installation or the workspace lies in a folder that is root's alone and
Landlock bounds what can be opened, the right to pass through such folders is kept.
"""

import ctypes
import os
import struct
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_KEEP_CAPABILITIES, _DUMPABLE, _AMBIENT, _RAISE = 8, 4, 47, 2
_READ_AND_SEARCH = 2
"""The number of the capability to read files and pass through folders whatever their permissions."""
_CAPABILITY_VERSION = 0x20080522


def become(user: int, needed: Iterable[Path], *, bounded: bool) -> bool:
    """Give up root for a user without name, group or capability; whether that could be done.

    Args:
        user: The user to become; 0 to stay the same, without capabilities.
        needed: Places that must still be within reach.
        bounded: Whether something else bounds what files can be opened.
    """
    if sys.platform != "linux" or os.geteuid() != 0:
        return True
    closed = not within_reach(needed, user)
    if user == 0 or (closed and not bounded):
        _set_capabilities(0)
        return False
    library = ctypes.CDLL(None, use_errno=True)
    kept = 1 << _READ_AND_SEARCH if closed else 0
    library.prctl(_KEEP_CAPABILITIES, 1 if kept else 0, 0, 0, 0)
    try:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    except OSError:
        _set_capabilities(0)
        return os.geteuid() != 0
    if kept and _set_capabilities(kept):
        library.prctl(_AMBIENT, _RAISE, _READ_AND_SEARCH, 0, 0)
    # Else what the kernel shows of this process in /proc would belong to root.
    library.prctl(_DUMPABLE, 1, 0, 0, 0)
    return True


def within_reach(places: Iterable[Path], user: int = -1) -> bool:
    """Whether a user may get to some places and read there, as their owner or as anybody."""
    for place in places:
        with suppress(OSError):
            real = place.resolve()
            found = real.stat()
            if not found.st_mode & 0o004 and found.st_uid != user:
                return False
            if any(not parent.stat().st_mode & 0o001 for parent in real.parents):
                return False
    return True


def _set_capabilities(kept: int) -> bool:
    library = ctypes.CDLL(None, use_errno=True)
    header = ctypes.create_string_buffer(struct.pack("=Ii", _CAPABILITY_VERSION, 0), 8)
    data = ctypes.create_string_buffer(struct.pack("=6I", kept, kept, kept, 0, 0, 0), 24)
    return int(library.capset(header, data)) == 0
