"""Waiting for something that another process brings about, bounded in time."""

import time
from collections.abc import Callable

import anyio

_PAUSE_SECONDS = 0.02


def eventually(holds: Callable[[], bool], what: str, seconds: float = 120) -> None:
    """Return as soon as it holds; fail when it does not in time."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"not within {seconds} s: {what}"
        time.sleep(_PAUSE_SECONDS)


async def until(holds: Callable[[], bool]) -> None:
    """Return as soon as it holds, letting the loop go on; whoever waits bounds it in time."""
    # Others bring it about, and none of them sets an event.
    while not holds():  # noqa: ASYNC110
        await anyio.sleep(_PAUSE_SECONDS)
