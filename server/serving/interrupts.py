"""Runs what a command does so that Ctrl-C ends it in order: everything under way is cancelled, and cleans up.

Python's own way cancels only the outermost task, whatever it was about to do, and what is inside can come apart:
groups of tasks are left in the wrong order, and an error takes the place of Ctrl-C. Presses while things are being
cleaned up change nothing.
"""

import logging
import signal
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from multiprocessing import active_children
from typing import TypeVar

import anyio

_Result = TypeVar("_Result")


def run(function: Callable[..., Awaitable[_Result]], *arguments: object) -> _Result:
    """Run an async function to its end.

    Raises:
        KeyboardInterrupt: Somebody pressed Ctrl-C, and everything is cleaned up.
    """
    if sys.platform == "win32" or threading.current_thread() is not threading.main_thread():
        return anyio.run(function, *arguments)  # no handlers of signals there: Ctrl-C is Python's own
    return anyio.run(_cancelled_by_ctrl_c, function, *arguments)


async def _cancelled_by_ctrl_c(function: Callable[..., Awaitable[_Result]], *arguments: object) -> _Result:
    pressed = False

    async def listen(scope: anyio.CancelScope) -> None:
        nonlocal pressed
        with anyio.open_signal_receiver(signal.SIGINT) as signals:
            ready.set()
            async for _ in signals:
                pressed = True
                scope.cancel()

    ready = anyio.Event()
    failed: BaseException | None = None
    made: list[_Result] = []
    async with anyio.create_task_group() as listening:
        listening.start_soon(listen, work := anyio.CancelScope())
        await ready.wait()
        with work:
            try:
                made.append(await function(*arguments))
            except Exception as error:
                failed = error
        listening.cancel_scope.cancel()
    if pressed:
        raise KeyboardInterrupt
    if failed is not None:
        raise failed
    return made[0]


@contextmanager
def held() -> Iterator[None]:
    """Hold back Ctrl-C and SIGTERM.

    Processes that are started meanwhile never see Ctrl-C, and leave it to the one that started them.
    """
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def also_on_request() -> Iterator[None]:
    """Treat SIGTERM as Ctrl-C, so that the processes that work for this one end with it."""

    def press(*_: object) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, press)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def end_on_request() -> None:
    """In a process that works for another one: clean up, without a word, when it is told to end."""

    def end(*_: object) -> None:
        logging.disable()
        raise SystemExit

    signal.signal(signal.SIGTERM, end)
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})


def end_helpers() -> None:
    """Tell the processes that work for this one to end."""
    for child in active_children():
        child.terminate()
