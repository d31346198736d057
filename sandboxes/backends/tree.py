"""A child process together with everything it starts: made to be ended as one, also when this process is killed.

On Windows that is a job object, under bubblewrap a PID namespace, and elsewhere a supervisor, which holds the other
end of a pipe and ends everything when that closes.
"""

import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TypedDict

from m3bench.tasks import supervisor


class ProcessOptions(TypedDict, total=False):
    """How `subprocess` starts a process that is to become a tree."""

    start_new_session: bool
    pass_fds: tuple[int, ...]
    creationflags: int


if sys.platform == "win32":
    import ctypes
    import subprocess
    from ctypes import wintypes

    _KILL_ON_CLOSE, _PROCESS_MEMORY, _ACTIVE_PROCESSES = 0x2000, 0x100, 0x8
    _EXTENDED_LIMITS = 9
    _SET_QUOTA_AND_TERMINATE = 0x0101

    class _BasicLimits(ctypes.Structure):
        _fields_ = (
            ("PerProcessUserTimeLimit", ctypes.c_int64),
            ("PerJobUserTimeLimit", ctypes.c_int64),
            ("LimitFlags", wintypes.DWORD),
            ("MinimumWorkingSetSize", ctypes.c_size_t),
            ("MaximumWorkingSetSize", ctypes.c_size_t),
            ("ActiveProcessLimit", wintypes.DWORD),
            ("Affinity", ctypes.c_size_t),
            ("PriorityClass", wintypes.DWORD),
            ("SchedulingClass", wintypes.DWORD),
        )

    class _Limits(ctypes.Structure):
        _fields_ = (
            ("BasicLimitInformation", _BasicLimits),
            ("IoInfo", ctypes.c_uint64 * 6),
            ("ProcessMemoryLimit", ctypes.c_size_t),
            ("JobMemoryLimit", ctypes.c_size_t),
            ("PeakProcessMemoryUsed", ctypes.c_size_t),
            ("PeakJobMemoryUsed", ctypes.c_size_t),
        )

    class Tree:
        """Starts a process and ends it with all its descendants; limits of 0 are none.

        Args:
            supervised: Unused: a job object holds without a supervisor.
        """

        def __init__(self, *, supervised: bool, memory: int = 0, processes: int = 0) -> None:
            self._limits = memory, processes
            self._job: wintypes.HANDLE | None = None
            self.is_limited = False

        def command(self, program: Sequence[str]) -> list[str]:
            """The command line that starts a program as a tree."""
            return list(program)

        def options(self) -> ProcessOptions:
            """How to start a process that is to become a tree."""
            return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW}

        def started(self, pid: int) -> None:
            """Take a process that was started with this command and these options."""
            memory, processes = self._limits
            kernel = ctypes.WinDLL("kernel32", use_last_error=True)
            for function in (kernel.CreateJobObjectW, kernel.OpenProcess):
                function.restype = wintypes.HANDLE
            limits = _Limits()
            basic = limits.BasicLimitInformation
            basic.LimitFlags = _KILL_ON_CLOSE
            if memory:
                basic.LimitFlags |= _PROCESS_MEMORY
                limits.ProcessMemoryLimit = memory
            if processes:
                basic.LimitFlags |= _ACTIVE_PROCESSES
                basic.ActiveProcessLimit = processes
            self._kernel = kernel
            self._job = wintypes.HANDLE(kernel.CreateJobObjectW(None, None))
            kernel.SetInformationJobObject(self._job, _EXTENDED_LIMITS, ctypes.byref(limits), ctypes.sizeof(limits))
            process = wintypes.HANDLE(kernel.OpenProcess(_SET_QUOTA_AND_TERMINATE, False, pid))
            self.is_limited = bool(kernel.AssignProcessToJobObject(self._job, process))
            kernel.CloseHandle(process)

        def kill(self) -> None:
            """End every process of the tree."""
            if self._job is not None:
                self._kernel.TerminateJobObject(self._job, 1)

        def close(self) -> None:
            """End what is left and let go."""
            if self._job is not None:
                self._kernel.CloseHandle(self._job)
                self._job = None

else:

    class Tree:
        """Starts a process and ends it with all its descendants; it sets its limits itself.

        Args:
            supervised: Whether a supervisor is needed, because the program has no namespace of its own.
        """

        is_limited = False

        def __init__(self, *, supervised: bool, memory: int = 0, processes: int = 0) -> None:
            self._group = 0
            self._theirs, self._ours = os.pipe() if supervised else (-1, -1)

        def command(self, program: Sequence[str]) -> list[str]:
            """The command line that starts a program as a tree."""
            return supervisor.command(self._theirs, program) if self._theirs >= 0 else list(program)

        def options(self) -> ProcessOptions:
            """How to start a process that is to become a tree."""
            return {"start_new_session": True, "pass_fds": (self._theirs,) if self._theirs >= 0 else ()}

        def started(self, pid: int) -> None:
            """Take a process that was started with this command and these options."""
            self._group = pid
            self._theirs = _closed(self._theirs)

        def kill(self) -> None:
            """End every process of the tree; a supervisor that cannot is ended too, with what is in reach then."""
            if self._ours >= 0:
                self._ours = _closed(self._ours)
                self._signal(signal.SIGCONT)
            else:
                self._signal(signal.SIGKILL)

        def close(self) -> None:
            """End what is left and let go."""
            self._theirs, self._ours = _closed(self._theirs), _closed(self._ours)
            self._signal(signal.SIGKILL)

        def _signal(self, number: int) -> None:
            if self._group:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._group, number)


def _closed(descriptor: int) -> int:
    """Close a descriptor, if it is one; what to remember it as."""
    if descriptor >= 0:
        os.close(descriptor)
    return -1
