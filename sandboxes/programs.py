"""Runs a program that reads its standard input and prints an answer.

For decoders that are programs of their own or must be killable. The child is gone when the call returns,
whether it ended, took too long or was cancelled.
"""

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import anyio


class Answer(NamedTuple):
    """How a program ended and what it printed."""

    code: int
    output: bytes


async def run_program(
    command: Sequence[str], given: bytes = b"", *, seconds: float, environment: Mapping[str, str] | None = None
) -> Answer:
    """The answer of a program; one that ends before it has read all its input answers nothing.

    Args:
        command: The program and its arguments; no shell is involved.
        given: What it reads from standard input.
        seconds: Time after which it is killed.
        environment: Variables on top of our own.

    Raises:
        TimeoutError: It took too long.
        OSError: It does not start.
    """
    try:
        with anyio.fail_after(seconds):
            done = await anyio.run_process(
                command, input=given or None, env={**os.environ, **(environment or {})}, check=False
            )
    except ExceptionGroup as group:
        if group.split(anyio.BrokenResourceError)[1] is not None:
            raise
        return Answer(1, b"")
    return Answer(done.returncode, done.stdout)
