"""Ending a child process and whatever it started; bounded, whatever they do."""

import os
import signal
import subprocess
from contextlib import suppress

import anyio
import anyio.to_thread

STOP_SECONDS = 3.0

_KILL = getattr(signal, "SIGKILL", signal.SIGTERM)


async def stop(process: "subprocess.Popen[bytes]") -> None:
    """End a child and whatever it started; bounded, whatever it does."""
    assert process.stdin is not None
    assert process.stdout is not None
    with anyio.CancelScope(shield=True):
        with suppress(OSError):
            process.stdin.close()
        for kill in (None, signal.SIGTERM, _KILL):
            if kill is not None:
                _signal(process, kill)
            if await _ended(process):
                break
        # Whatever the server itself started is still in its group.
        _signal(process, _KILL)
        process.stdout.close()


async def _ended(process: "subprocess.Popen[bytes]") -> bool:
    def wait() -> bool:
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            return False
        return True

    return await anyio.to_thread.run_sync(wait)


def _signal(process: "subprocess.Popen[bytes]", number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if os.name == "posix":
            os.killpg(process.pid, number)
        else:
            subprocess.run(["taskkill", "/T", "/F", "/PID", str(process.pid)], capture_output=True, check=False)
