"""Work on what somebody sent, in a process of its own under limits of time, memory and files.

Whatever that process comes to, ended by a limit or crashed, costs the work alone. It is a fork, because a fresh process
would load everything again; where there are no forks, the work is done here and without limits. On Linux it can be held
by the walls of a sandbox as well, unless it starts sandboxes itself, which cannot be done from within such walls.
"""

import json
import os
import select
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from m3bench.sandboxes.backends import confinement
from m3bench.tasks import errors
from m3bench.tasks.errors import InputFileError, M3Error, UserError

if sys.platform != "win32":
    import resource


@dataclass(frozen=True, kw_only=True)
class WorkLimits:
    """What the work may use."""

    processor_seconds: int = 3600
    """Of the process itself, not of the sandboxes that it starts."""
    seconds: float = 24 * 3600.0
    memory_bytes: int = 8 << 30
    """Addresses that it may have."""
    file_bytes: int = 2 << 30
    """Of one file that it writes."""


def work_apart(
    path: Path,
    work: Callable[[], dict[str, Any]],
    limits: WorkLimits | None = None,
    readable: Iterable[Path] | None = None,
) -> dict[str, Any]:
    """Do some work in a process of its own.

    Args:
        path: What is worked on.
        work: Gives an object of JSON.
        limits: What it may use.
        readable: All that it may read beside Python and this package, when it is held by walls: it then writes nowhere
            but to a temporary folder of its own, and reaches no network and no other process.

    Raises:
        InputFileError: It crashed, or went over its limits.
        M3Error: What the work raised.
    """
    if not hasattr(os, "fork"):
        return work()
    with ExitStack() as stack:
        walled = None
        if readable is not None:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="m3bench-apart-"))
            walled = (tuple(readable), Path(folder))
        return _worked(path, work, limits or WorkLimits(), walled)


_Walled = tuple[tuple[Path, ...], Path]
"""What may be read, and the folder that may be written to."""


def _worked(
    path: Path, work: Callable[[], dict[str, Any]], limits: WorkLimits, walled: _Walled | None
) -> dict[str, Any]:
    ours, theirs = os.pipe()
    with warnings.catch_warnings():
        # Threads of libraries that only compute are not in the child and are not needed there.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if not child:
        os.close(ours)
        _be_the_child(path, theirs, work, limits, walled)
    os.close(theirs)
    try:
        written = _read(ours, time.monotonic() + limits.seconds)
    except BaseException:
        # At Ctrl-C it gets its own signal, and ends its sandboxes.
        with suppress(ChildProcessError, KeyboardInterrupt):
            os.waitpid(child, 0)
        raise
    finally:
        os.close(ours)
    if written is None:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return _result(path, written, status)


def _result(path: Path, written: bytes | None, status: int) -> dict[str, Any]:
    try:
        found = json.loads(written or b"")
    except ValueError:
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGINT:
            raise KeyboardInterrupt from None
        raise InputFileError(path, f"could not be processed within the limits ({_end(status)})") from None
    if "result" in found:
        result: dict[str, Any] = found["result"]
        return result
    if found["error"] == "KeyboardInterrupt":
        raise KeyboardInterrupt
    if found["path"] is not None:
        raise InputFileError(found["path"], found["says"])
    kind = getattr(errors, found["error"], UserError)
    try:
        raise kind(found["says"])
    except TypeError:
        raise UserError(found["says"]) from None


def _end(status: int) -> str:
    if os.WIFSIGNALED(status):
        return f"ended by {signal.Signals(os.WTERMSIG(status)).name}"
    return f"ended with {os.waitstatus_to_exitcode(status)}"


def _read(pipe: int, until: float) -> bytes | None:
    """Everything that the other end writes before it closes; None when the time is over first."""
    parts: list[bytes] = []
    while (left := until - time.monotonic()) > 0:
        if select.select([pipe], [], [], min(left, 60))[0]:
            part = os.read(pipe, 1 << 16)
            if not part:
                return b"".join(parts)
            parts.append(part)
    return None


def _be_the_child(
    path: Path, pipe: int, work: Callable[[], dict[str, Any]], limits: WorkLimits, walled: _Walled | None
) -> None:
    """Do the work, write what came of it, and end."""
    told: dict[str, Any]
    try:
        _limit(limits)
        if walled is not None:
            readable, folder = walled
            tempfile.tempdir = str(folder)
            confinement.wall_in(readable, folder)
        told = {"result": work()}
    except InputFileError as error:
        told = {"error": "InputFileError", "path": str(error.path), "says": str(error).removeprefix(f"{error.path}: ")}
    except M3Error as error:
        told = {"error": type(error).__name__, "path": None, "says": str(error)}
    except KeyboardInterrupt:
        told = {"error": "KeyboardInterrupt"}
    except BaseException as error:
        says = f"could not be processed within the limits ({type(error).__name__})"
        told = {"error": "InputFileError", "path": str(path), "says": says}
    try:
        data = json.dumps(told).encode()
        while data:
            data = data[os.write(pipe, data) :]
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
    finally:
        os._exit(0)


def _limit(limits: WorkLimits) -> None:
    if sys.platform == "win32":
        return
    for kind, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, limits.processor_seconds),
        (resource.RLIMIT_FSIZE, limits.file_bytes),
        (resource.RLIMIT_AS, limits.memory_bytes),
    ):
        _, hard = resource.getrlimit(kind)
        most = value if hard == resource.RLIM_INFINITY else min(value, hard)
        with suppress(OSError, ValueError):
            resource.setrlimit(kind, (most, hard))
