"""Linux Landlock by system call: from here on this process reaches only the files that it was given.

What it does not do: UDP, pathname sockets and processes stay as they are. It binds the calling thread and
whatever that thread starts later, so it must come before any other thread. It cannot be undone.
"""

import ctypes
import os
import struct
import sys
from collections.abc import Iterable
from pathlib import Path

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_NO_NEW_PRIVILEGES = 38
_VERSION_FLAG = 1
_PATH_BENEATH = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_TRUNCATE, _IOCTL = 1 << 14, 1 << 15
_FILE_RIGHTS = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL

_FILE_SYSTEM = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
"""By version of the interface: every right on files it knows. Newer versions know at least those."""

_NO_TCP = 0b11
_NO_ABSTRACT_SOCKETS_NO_SIGNALS = 0b11


def version() -> int:
    """The interface's version, 0 where there is none."""
    if sys.platform != "linux":
        return 0
    try:
        return _syscall(_CREATE, None, 0, _VERSION_FLAG)
    except OSError:
        return 0


def restrict(readable: Iterable[Path], listable: Iterable[Path], writable: Iterable[Path]) -> None:
    """Give up every file but these and what lies below them, and TCP where the kernel can take it away.

    Raises:
        OSError: The kernel does not do this.
    """
    known = version()
    rights = max((known_rights for since, known_rights in _FILE_SYSTEM.items() if since <= known), default=0)
    attributes = struct.pack(
        "=QQQ", rights, _NO_TCP if known >= 4 else 0, _NO_ABSTRACT_SOCKETS_NO_SIGNALS if known >= 6 else 0
    )
    size = 24 if known >= 6 else 16 if known >= 4 else 8
    ruleset = _syscall(_CREATE, ctypes.create_string_buffer(attributes, 24), size, 0)
    try:
        for path in readable:
            _allow(ruleset, path, _EXECUTE | _READ_FILE | _READ_DIR)
        for path in listable:
            _allow(ruleset, path, _READ_DIR)
        for path in writable:
            _allow(ruleset, path, rights & ~_IOCTL)
        # Only root may do this while it could still gain privileges.
        ctypes.CDLL(None).prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        _syscall(_RESTRICT, ruleset, 0)
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: Path, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        if not path.is_dir():
            rights &= _FILE_RIGHTS
        rule = ctypes.create_string_buffer(struct.pack("=Qi", rights, place), 12)
        _syscall(_ADD, ruleset, _PATH_BENEATH, rule, 0)
    finally:
        os.close(place)


def _syscall(number: int, *arguments: object) -> int:
    library = ctypes.CDLL(None, use_errno=True)
    done = int(library.syscall(ctypes.c_long(number), *(_word(value) for value in arguments)))
    if done < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return done


def _word(value: object) -> object:
    return ctypes.c_long(value) if isinstance(value, int) else value
