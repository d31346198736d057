"""Runs a program that reads its standard input and prints an answer.

For decoders that are programs of their own or must be killable. The child is gone when the call returns, whether it
ended, computed too long or was cancelled. How long it may compute is counted in seconds of a processor: a busy
machine takes longer but gets equally far.
"""

import math
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from subprocess import DEVNULL
from typing import NamedTuple

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream, Process

if sys.platform == "linux":
    from resource import RLIMIT_CPU, prlimit


class ProgramOutput(NamedTuple):
    """How a program ended and what it printed."""

    code: int
    output: bytes


class OutOfBudgetError(Exception):
    """A program has used up its processor time; what it had printed until then is kept."""

    def __init__(self, output: bytes) -> None:
        self.output = output
        super().__init__("the program computed too long")


async def run_program(
    command: Sequence[str], given: bytes = b"", *, cpu_seconds: float, environment: Mapping[str, str] | None = None
) -> ProgramOutput:
    """The answer of a program; one that ends before it has read all its input answers nothing.

    Args:
        command: The program and its arguments; no shell is involved.
        given: What it reads from standard input.
        cpu_seconds: How long it may compute; rounded up. Elsewhere than on Linux, wall-clock time counts.
        environment: Variables on top of our own.

    Raises:
        OutOfBudgetError: It computed longer.
        OSError: It does not start.
    """
    output = bytearray()
    passed = anyio.CancelScope()
    # A start that is cancelled halfway leaves the child and its pipes to nobody.
    with anyio.CancelScope(shield=True):
        opened = await anyio.open_process(command, stderr=DEVNULL, env={**os.environ, **(environment or {})})
    async with opened as process:
        if not _limit(process.pid, math.ceil(cpu_seconds)):
            passed.deadline = anyio.current_time() + cpu_seconds
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            with passed:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(_collect, process.stdout, output)
                    read = await _feed(process.stdin, given)
                await process.wait()
        finally:
            _kill(process)
    if passed.cancelled_caught or process.returncode == -getattr(signal, "SIGXCPU", 0):
        raise OutOfBudgetError(bytes(output))
    assert process.returncode is not None
    return ProgramOutput(process.returncode, bytes(output)) if read else ProgramOutput(process.returncode or 1, b"")


async def _collect(stream: ByteReceiveStream, output: bytearray) -> None:
    async for part in stream:
        output += part


async def _feed(stream: ByteSendStream, given: bytes) -> bool:
    """Whether all of it was taken."""
    async with stream:
        try:
            if given:
                await stream.send(given)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return False
    return True


def _limit(pid: int, seconds: int) -> bool:
    """Have the kernel end a process after so many seconds of processor time; False where it cannot."""
    if sys.platform != "linux":
        return False
    try:
        # A second more for the kill, so that the signal before it tells why.
        prlimit(pid, RLIMIT_CPU, (seconds, seconds + 1))
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return True


def _kill(process: Process) -> None:
    with suppress(ProcessLookupError):
        process.kill()
