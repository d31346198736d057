"""Follows a server or a record in a terminal until Ctrl-C; writes plain lines where there is no terminal."""

import sys
import threading
import time
from collections.abc import Iterator

from rich.console import Console
from rich.live import Live

from m3bench.server.lab.live.board import Board
from m3bench.server.lab.live.record import Record
from m3bench.server.lab.live.screen import Screen, lines
from m3bench.server.lab.live.state import folder_state
from m3bench.server.lab.live.stream import Message
from m3bench.server.store.place import Place
from m3bench.tasks.errors import StoreError

LOOK_SECONDS = 0.5
"""Between two looks at a record."""


def record_messages(place: Place, version: str) -> Iterator[Message]:
    """The states of a record, a new one whenever something was written there.

    Args:
        place: Where the record is.
        version: Of m3bench.
    """
    record = Record(place, lambda mode: True)
    first = True
    try:
        while True:
            try:
                if record.changed() or first:
                    state = folder_state(record, version)
                    first = False
                    yield "state", state
                record.wait(LOOK_SECONDS)
            except StoreError:
                if first or place.url is None:
                    raise
                # A database comes back: whoever watches is told, and goes on then.
                yield "lost", None
                time.sleep(LOOK_SECONDS)
    finally:
        record.close()


def follow(messages: Iterator[Message], where: str, console: Console) -> None:
    """Show messages as they come, until there are no more."""
    if console.is_terminal:
        _draw(messages, where, console)
    else:
        _tell(messages, where)


def waiting_words(place: Place) -> str:
    """What is watched, in words."""
    return str(place) if place.begun else f"{place}, where no run is on record yet"


def _draw(messages: Iterator[Message], where: str, console: Console) -> None:
    board, drawing = Board(), threading.Lock()
    screen = Screen(board, where, drawing)
    # What is unknown is said before the screen is taken.
    first = next(messages, ("lost", None))
    with Live(screen, console=console, screen=True, refresh_per_second=4, vertical_overflow="crop"):
        while True:
            with drawing:
                screen.lost = not _take(board, first)
            following = next(messages, None)
            if following is None:
                return
            first = following


def _tell(messages: Iterator[Message], where: str) -> None:
    board = Board()
    before: Board | None = None
    for message in messages:
        if not _take(board, message):
            print(f"m3bench: lost {where}, trying again", file=sys.stderr, flush=True)
            continue
        if before is None:
            print(f"m3bench: watching {where}", file=sys.stderr, flush=True)
        else:
            for line in lines(before, board):
                print(line, flush=True)
        before = board.copy()


def _take(board: Board, message: Message) -> bool:
    """Put a message into the board; False when it says that the connection is lost."""
    kind, data = message
    if kind == "state":
        board.adopt(data)
    elif kind == "news":
        board.apply(data)
    return kind != "lost"
