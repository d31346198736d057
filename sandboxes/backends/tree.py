"""A child process together with everything it starts: made to be ended as one.

On POSIX that is a session and process group of its own, on Windows a job object, which the system ends even
when this process is killed. A program that leaves its group on purpose is not caught here; namespaces do that.
"""

import os
import signal
import sys
from contextlib import suppress
from typing import Any

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

    def options() -> dict[str, Any]:
        """How to start a process that shall become a tree."""
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW}

    class Tree:
        """The tree of a process just started; limits of 0 are none."""

        def __init__(self, pid: int, *, memory: int = 0, processes: int = 0) -> None:
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

        def terminate(self) -> None:
            """Windows knows no gentle way."""

        def kill(self) -> None:
            """End every process of the tree."""
            self._kernel.TerminateJobObject(self._job, 1)

        def close(self) -> None:
            """End what is left and let go."""
            self._kernel.CloseHandle(self._job)

else:

    def options() -> dict[str, Any]:
        """How to start a process that shall become a tree."""
        return {"start_new_session": True}

    class Tree:
        """The tree of a process just started; its limits are its own business."""

        is_limited = False

        def __init__(self, pid: int, *, memory: int = 0, processes: int = 0) -> None:
            self._group = pid

        def terminate(self) -> None:
            """Ask every process of the tree to end."""
            self._signal(signal.SIGTERM)

        def kill(self) -> None:
            """End every process of the tree."""
            self._signal(signal.SIGKILL)

        def close(self) -> None:
            """End what is left: children of a host that is gone."""
            self._signal(signal.SIGKILL)

        def _signal(self, number: int) -> None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._group, number)
