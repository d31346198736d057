"""A seccomp filter: the system calls that a sandbox has no use for fail as if they were not permitted.

What goes: sockets of every kind (pairs of connected ones stay), other processes' memory, keys, BPF, mounts,
namespaces, memory that no process is charged for, signals to processes that are named and to all at once, and what only
administrators use. The filter is written here as
the kernel takes it, for x86-64 and arm64. It binds the calling thread and whatever that thread starts later, so it
must come before any other thread. It cannot be undone.
"""

import ctypes
import os
import struct
import sys
from collections.abc import Iterable
from errno import EFAULT, ENOSYS, EPERM

_SET_NO_NEW_PRIVILEGES, _SET_SECCOMP, _FILTER = 38, 22, 2

_ALLOW, _FAIL = 0x7FFF0000, 0x00050000
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_NUMBER, _ARCHITECTURE, _FIRST, _SECOND = 0, 4, 16, 24
"""Offsets in what a filter looks at; of the arguments, the lower half."""

_ARCHITECTURES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
"""The kernel's name of a machine, and the column in the table below."""

_X32 = 0x40000000
"""From here on, numbers of x86-64 are those of another calling convention."""

_NEW_NAMESPACES = 0x7E020000
_TYPE_INPUT, _CONSOLE = 0x5412, 0x541C
_STREAM, _SEQUENCED = 1, 5

_SOCKET_PAIR, _CLONE, _CLONE3, _CONTROL = (53, 199), (56, 220), (435, 435), (16, 29)

_SIGNALS = (
    (62, 129), (200, 130), (234, 131), (129, 138), (297, 240), (302, 261),
)  # fmt: skip
"""kill, tkill, tgkill, rt_sigqueueinfo, rt_tgsigqueueinfo and prlimit64: the first argument says which process."""
_EVERYBODY = 2**32 - 1

_REFUSED = {
    "socket": (41, 198),
    # Would do what is refused here without a system call for each.
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "pidfd_getfd": (438, 438), "pidfd_send_signal": (424, 424), "process_madvise": (440, 440),
    "keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "fanotify_init": (300, 262),
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51),
    "move_mount": (429, 429), "open_tree": (428, 428), "fsopen": (430, 430), "fsconfig": (431, 431),
    "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442),
    "unshare": (272, 97), "setns": (308, 268),
    "open_by_handle_at": (304, 265), "name_to_handle_at": (303, 264), "lookup_dcookie": (212, 18),
    # Memory that shows in no process.
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "shmget": (29, 194), "msgget": (68, 186),
    "semget": (64, 190), "mq_open": (240, 180),
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "init_module": (175, 105),
    "finit_module": (313, 273), "delete_module": (176, 106), "reboot": (169, 142), "swapon": (167, 224),
    "swapoff": (168, 225), "acct": (163, 89), "quotactl": (179, 60), "quotactl_fd": (443, 443),
    "syslog": (103, 116), "settimeofday": (164, 170), "clock_settime": (227, 112), "adjtimex": (159, 171),
    "clock_adjtime": (305, 266), "sethostname": (170, 161), "setdomainname": (171, 162), "vhangup": (153, 58),
    "iopl": (172, None), "ioperm": (173, None),
}  # fmt: skip
"""System calls by number: on x86-64, on arm64."""


def problem() -> str | None:
    """Why no filter can be used here, in a few words; None when one can."""
    if sys.platform != "linux":
        return "seccomp is for Linux only"
    if os.uname().machine not in _ARCHITECTURES or struct.calcsize("P") != 8:
        return f"there is no seccomp filter for {os.uname().machine}"
    # Asked for a filter at an address where there is none, a kernel that knows filters complains of the address.
    if _prctl(_SET_SECCOMP, _FILTER, None) == 0 or ctypes.get_errno() != EFAULT:
        return "this kernel has no seccomp filters"
    return None


def program(machine: str, untouchable: Iterable[int] = ()) -> bytes:
    """The filter for a machine, as the kernel takes it, with processes that get no signal."""
    architecture, column = _ARCHITECTURES[machine]
    refuse, missing = _FAIL | EPERM, _FAIL | ENOSYS
    steps = [
        (_LOAD, 0, 0, _ARCHITECTURE), (_EQUAL, 1, 0, architecture), (_RETURN, 0, 0, refuse),
        (_LOAD, 0, 0, _NUMBER),
    ]  # fmt: skip
    if machine == "x86_64":
        steps += [(_AT_LEAST, 0, 1, _X32), (_RETURN, 0, 0, missing)]
    # Its flags are in memory, which a filter cannot read; without it, libraries use clone.
    steps += [(_EQUAL, 0, 1, _CLONE3[column]), (_RETURN, 0, 0, missing)]
    for number in (numbers[column] for numbers in _REFUSED.values()):
        if number is not None:
            steps += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, refuse)]
    steps += [
        (_EQUAL, 0, 4, _CLONE[column]), (_LOAD, 0, 0, _FIRST), (_ANY_BIT, 0, 1, _NEW_NAMESPACES),
        (_RETURN, 0, 0, refuse), (_RETURN, 0, 0, _ALLOW),
        # A pair for datagrams could still be sent from to any path.
        (_EQUAL, 0, 6, _SOCKET_PAIR[column]), (_LOAD, 0, 0, _SECOND), (_AND, 0, 0, 0xF), (_EQUAL, 2, 0, _STREAM),
        (_EQUAL, 1, 0, _SEQUENCED), (_RETURN, 0, 0, refuse), (_RETURN, 0, 0, _ALLOW),
        (_EQUAL, 0, 5, _CONTROL[column]), (_LOAD, 0, 0, _SECOND), (_EQUAL, 1, 0, _TYPE_INPUT),
        (_EQUAL, 0, 1, _CONSOLE), (_RETURN, 0, 0, refuse), (_RETURN, 0, 0, _ALLOW),
    ]  # fmt: skip
    for number in (numbers[column] for numbers in _SIGNALS):
        # A group is named by its number below zero.
        spared = {_EVERYBODY, *(name & _EVERYBODY for pid in untouchable for name in (pid, -pid))}
        steps += [(_EQUAL, 0, 2 * len(spared) + 2, number), (_LOAD, 0, 0, _FIRST)]
        for name in sorted(spared):
            steps += [(_EQUAL, 0, 1, name), (_RETURN, 0, 0, refuse)]
        steps += [(_RETURN, 0, 0, _ALLOW)]
    steps += [(_RETURN, 0, 0, _ALLOW)]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


def install(untouchable: Iterable[int] = ()) -> bool:
    """Put the filter in force; whether that could be done.

    Args:
        untouchable: Processes that get no signal from here on.
    """
    if problem() is not None:
        return False
    code = program(os.uname().machine, untouchable)
    held = ctypes.create_string_buffer(code, len(code))
    description = struct.pack("@HP", len(code) // 8, ctypes.addressof(held))
    _prctl(_SET_NO_NEW_PRIVILEGES, 1)
    return _prctl(_SET_SECCOMP, _FILTER, ctypes.create_string_buffer(description, len(description))) == 0


def _prctl(option: int, value: int, more: object = 0) -> int:
    library = ctypes.CDLL(None, use_errno=True)
    last = more if more is None or isinstance(more, ctypes.Array) else ctypes.c_ulong(0)
    return int(library.prctl(option, ctypes.c_ulong(value), last, ctypes.c_ulong(0), ctypes.c_ulong(0)))
